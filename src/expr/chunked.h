/* Shared by evaluation by chunks and its explanation. */
#ifndef GA_EXPR_CHUNKED_H
#define GA_EXPR_CHUNKED_H

#include <quarry/eval.h>

#include "expr/chunk_plan.h"

/* Finds the memory available on the device; `chunks` may be NULL. */
/* The program's chunks, `size` bytes of them, or the defaults for NULL. */
ga_status ga__chunks_read(ga_chunks *known, size_t size, const ga_chunks *chunks);

ga_status ga__room_make(ga__room *room, const ga_chunks *chunks, ga__device *device, bool saves);

#endif
