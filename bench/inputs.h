/* What setups, runs and expectations of cases share. */
#ifndef BENCH_INPUTS_H
#define BENCH_INPUTS_H

#include <math.h>

#include "cases.h"

static inline ga_dtype dtype_of(random_kind kind)
{
    static const ga_dtype dtypes[] = {GA_FLOAT16, GA_BFLOAT16, GA_FLOAT32, GA_FLOAT32, GA_FLOAT64,
                                      GA_INT64,   GA_INT32,    GA_INT8,    GA_BOOL,    GA_UINT8};

    return dtypes[kind];
}

static inline gpuarray *filled(workload *w, random_kind kind, uint32_t seed, int ndim,
                               const int64_t *shape)
{
    gpuarray *x = ga_empty(dtype_of(kind), ndim, shape);

    if (x)
        w->machine->fill(ga_data(x), kind, ga_size(x), seed);
    return x;
}

static inline bool made(const workload *w)
{
    return w->x && w->a && w->out;
}

static inline int64_t side_of(const workload *w)
{
    return (int64_t)sqrt((double)w->n);
}

/* A reduction with .out returns out itself. */
static inline ga_status status_of(const gpuarray *result)
{
    return result ? GA_OK : ga_error();
}

/* The results are new arrays. */
static inline ga_status set_out(workload *w, gpuarray *made_now)
{
    if (!made_now)
        return ga_error();
    ga_free(w->out);
    w->out = made_now;
    return GA_OK;
}

static inline double x_at(const workload *w, const bench_case *c, int64_t k)
{
    return random_value(c->kind, w->seed, (uint64_t)k);
}

#endif
