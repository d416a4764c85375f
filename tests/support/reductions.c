/* The public reductions by name. */
#include "reductions.h"

#include <string.h>

const named_reduction reductions[] = {
#define GA_REDUCE(name, ...) {#name, (ga_##name)},
#include <quarry/reduce.def>
#undef GA_REDUCE
    {NULL, NULL},
};

reduce_function find_reduction(const char *name)
{
    for (const named_reduction *row = reductions; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return row->call;
    return NULL;
}
