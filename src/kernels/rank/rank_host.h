/* Which rows a thread of the host selects from by itself. */
#ifndef GA_KERNELS_RANK_RANK_HOST_H
#define GA_KERNELS_RANK_RANK_HOST_H

#include "kernels/rank/ranking.h"

/* Elements of a block of whole rows, or of a part of a row. */
enum { GA__RANK_HOST_GRAIN = 1 << 15 };

/* The bytes that each thread has for a row. */
size_t ga__rank_host_scratch(const ga__ranking *r);

/* Whether each row is one thread's; otherwise all threads work on each row in rounds. */
bool ga__rank_host_takes_rows(const ga__ranking *r, const ga__device *device);

#endif
