/* What evaluation by chunks and its explanation share. */
#ifndef GA_KERNELS_EVAL_STREAM_H
#define GA_KERNELS_EVAL_STREAM_H

#include <quarry/eval.h>

#include "kernels/eval_split.h"

/* What there is room for on the device; `chunks` may be NULL. */
ga_status ga__room_make(ga__room *room, const ga_chunks *chunks, ga__device *device, bool saves);

#endif
