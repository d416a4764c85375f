/* Selection by one launch: reads every element once, and stores what is chosen. */
#ifndef GA_OPS_SCAN_ONCE_H
#define GA_OPS_SCAN_ONCE_H

#include "ops/scan/chosen.h"

/* What is chosen of an expression. The id stands for all texts. */
typedef struct ga__once {
    const char *name; /* of the operation, for messages */
    ga__hash128 id;
    const ga__predicate *where;
    const char *value; /* a text "return ..." over the condition's operands */
    const char *store; /* statements that store `value` in `y` as element `to`, where `to < m` */
    ga_dtype dtype;    /* of `y` */
} ga__once;

/* Whether one launch takes less time than two: on CUDA, if the cache does not keep the operands
 * between these. The values must be computed from what the condition reads. */
bool ga__goes_once(const ga__predicate *where, ga_dtype dtype);

/* A new array of what is chosen, whose memory may have room for a 64th of all elements more. Waits
 * for the number. *out is NULL if more are chosen than a sample tells: two launches then do it. */
ga_status ga__choose_once(const ga__once *once, gpuarray **out);

#endif
