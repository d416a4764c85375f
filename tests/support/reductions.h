/* The public reductions by name. */
#ifndef REDUCTIONS_H
#define REDUCTIONS_H

#include <quarry.h>

typedef gpuarray *(*reduce_function)(size_t size, const ga_reduce_args *args);

typedef struct named_reduction {
    const char *name;
    reduce_function call;
} named_reduction;

/* The rows of reduce.def; the last has no name. */
extern const named_reduction reductions[];

/* NULL: no row of reduce.def has the name. */
reduce_function find_reduction(const char *name);

#endif
