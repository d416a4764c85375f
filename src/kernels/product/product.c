/* The product engine: chooses a library, another engine or the own kernel. */
#include "kernels/product/product.h"

#include <string.h>

#include "base/error.h"
#include "kernels/product/product_engines.h"
#include "kernels/product/product_finish.h"
#include "kernels/product/product_library.h"
#include "kernels/product/product_plan.h"
#include "kernels/request.h"

typedef ga__product_plan plan;

/* ---- The kernel ---- */

static const ga__formula formula = {.id = GA__FORMULA_ID(80), .name = "matmul", .body = ""};

static ga__record *describe(const void *variant)
{
    return ga__product_text(&formula, variant);
}

static const ga__loaded_kernel *find_kernel(ga__device *device, const ga__product_variant *v)
{
    const ga__request request = {&formula, device, "product.tmpl", describe, v, 0};
    return ga__request_find_variant(&request, GA__PRODUCT, v, sizeof *v);
}

enum { MOST_WORDS = 32 + GA_MAX_NDIM * GA__PRODUCT_AXIS_WORDS };
_Static_assert(sizeof(ga__product_params) + sizeof(ga__product_scratch) <= 32 * sizeof(uint64_t),
               "parameters have room");

static uint64_t address_of(const gpuarray *x)
{
    return (uint64_t)(uintptr_t)x->data;
}

static void add_factor(ga__params *params, ga_dtype type, ga__factor f)
{
    ga__params_add_number(params, type,
                          ga__dtype_kind(type) == 'c' ? ga_value_floating(GA_COMPLEX128, f.re, f.im)
                                                      : ga_value_double(f.re));
}

static void add_head(ga__params *params, const plan *p)
{
    ga__product_params *head = ga__params_reserve(params, sizeof *head);
    *head = (ga__product_params){.a = address_of(p->a.array),
                                 .b = address_of(p->b.array),
                                 .c = address_of(p->c.array),
                                 .m = (uint64_t)p->m,
                                 .n = (uint64_t)p->n,
                                 .k = (uint64_t)p->k,
                                 .a_row = (uint64_t)p->a.row,
                                 .a_column = (uint64_t)p->a.column,
                                 .b_row = (uint64_t)p->b.row,
                                 .b_column = (uint64_t)p->b.column,
                                 .c_row = (uint64_t)p->c.row,
                                 .c_column = (uint64_t)p->c.column,
                                 .tile_m = (uint64_t)p->tile_m,
                                 .tile_n = (uint64_t)p->tile_n,
                                 .tiles_m = (uint64_t)p->tiles_m,
                                 .tiles_n = (uint64_t)p->tiles_n,
                                 .blocks = (uint64_t)(p->tiles_m * p->tiles_n * p->places)};
    ga__params numbers = ga__params_in(&head->alpha, 4);
    add_factor(&numbers, p->call->type, ga__product_alpha(p->call));
    add_factor(&numbers, p->call->type, p->call->beta);
}

static void add_scratch(ga__params *params, const plan *p, const ga__buffer *scratch)
{
    ga__product_scratch *own = ga__params_reserve(params, sizeof *own);
    int (*const worker)(void) = p->device->backend->code.worker;
    own->scratch = (uint64_t)(uintptr_t)scratch->memory;
    own->scratch_bytes = p->scratch_bytes;
    memcpy(&own->worker, &worker, sizeof worker);
}

static void add_stack(ga__params *params, const plan *p)
{
    for (int axis = 0; axis < p->axes; axis++) {
        ga__params_add(params, (uint64_t)p->length[axis]);
        ga__params_add(params, (uint64_t)p->a.stack[axis]);
        ga__params_add(params, (uint64_t)p->b.stack[axis]);
        ga__params_add(params, (uint64_t)p->c.stack[axis]);
    }
}

static ga_status launch(const plan *p, const ga__loaded_kernel *kernel, const ga__buffer *scratch)
{
    uint64_t words[MOST_WORDS];
    ga__params params = ga__params_in(words, MOST_WORDS);
    add_head(&params, p);
    if (scratch)
        add_scratch(&params, p, scratch);
    add_stack(&params, p);
    const ga__launch shape = {.grid = p->v.host || p->blocks < INT32_MAX ? p->blocks : INT32_MAX,
                              .block = p->block,
                              .shared = p->shared_bytes,
                              .words = words,
                              .nwords = ga__params_count(&params)};
    ga__stream *stream = ga__product_stream(p);
    return stream ? ga__request_launch(kernel, stream, &shape) : ga_error();
}

static ga_status run_template(plan *p)
{
    ga__product_plan_tiles(p);
    ga__buffer *scratch = NULL;
    if (p->v.host) {
        scratch = ga__buffer_new(p->device, p->scratch_bytes * (size_t)p->device->processors);
        if (!scratch)
            return ga_error();
    }
    const ga__loaded_kernel *kernel = find_kernel(p->device, &p->v);
    const ga_status status = kernel ? launch(p, kernel, scratch) : ga_error();
    if (kernel)
        ga__request_leave();
    if (scratch)
        ga__buffer_release(scratch);
    return status;
}

/* ---- The whole ---- */

/* c's elements, or NULL and an error: `type` and c's shape, in C order. */
static gpuarray *result_apart(const ga__product *call, ga_dtype type)
{
    gpuarray *c = call->c,
             *apart = ga__array_new(call->name, c->buffer->device, type, c->ndim, c->shape);
    if (apart && !ga__factor_is(call->beta, 0) && ga__product_copy(apart, c) != GA_OK) {
        ga_free(apart);
        return NULL;
    }
    return apart;
}

/* The result replaces c's elements when all of them are there. */
static ga_status run_apart(const ga__product *call, ga_dtype type)
{
    ga__product inner = *call;
    inner.c = result_apart(call, type);
    if (!inner.c)
        return ga_error();
    ga_status status = ga__product_run(&inner);
    if (status == GA_OK)
        status = ga__product_copy(call->c, inner.c);
    ga_free(inner.c);
    return status;
}

/* A copy of an operand in the dtype that a library takes, or the operand itself. */
static const gpuarray *suited(const gpuarray *x, ga_dtype type, bool fits, gpuarray **copy)
{
    *copy = NULL;
    if (fits)
        return x;
    *copy = ga__array_new("matmul", x->buffer->device, type, x->ndim, x->shape);
    if (*copy && ga__product_copy(*copy, x) != GA_OK) {
        ga_free(*copy);
        *copy = NULL;
    }
    return *copy;
}

/* Copies the operands that the library does not take as they are. */
static ga_status run_copies(const plan *p, const ga__product_fit *fit)
{
    const ga__product *call = p->call;
    if (!fit->c)
        return run_apart(call, fit->c_type);
    gpuarray *a, *b = NULL;
    ga__product inner = *call;
    inner.a = suited(call->a, fit->type, p->turned ? fit->b : fit->a, &a);
    inner.b = inner.a ? suited(call->b, fit->type, p->turned ? fit->a : fit->b, &b) : NULL;
    const ga_status status = inner.b ? ga__product_run(&inner) : ga_error();
    ga_free(a);
    ga_free(b);
    return status;
}

/* The product, then one kernel over its result. */
static ga_status run_and_finish(const ga__product *call)
{
    ga__product inner = *call;
    if (call->c->dtype != call->type)
        return run_apart(call, call->type);
    inner.bias = NULL;
    inner.relu = false;
    const ga_status status = ga__product_run(&inner);
    return status == GA_OK ? ga__product_finish(call) : status;
}

static bool reads_result(const ga__product *call)
{
    return ga__arrays_overlap(call->c, call->a) || ga__arrays_overlap(call->c, call->b) ||
           (call->bias && ga__arrays_overlap(call->c, call->bias));
}

/* Whether the reduction engine comes before a library. On the host the library, if it takes the
 * product, multiplies a row as fast as memory allows. */
static bool is_first_of_rows(const plan *p)
{
    return !ga__on_host(p->device) && ga__product_is_rows(p);
}

/* Of one column, which a library would have taken, as of one row. */
static ga_status run_own(plan *p)
{
    if (p->n == 1 && p->m > 1)
        ga__product_turn(p);
    return ga__product_is_rows(p) ? ga__product_by_rows(p) : run_template(p);
}

static ga_status run_plain(plan *p)
{
    ga__product_fit fit;
    if (ga__product_is_outer(p))
        return ga__product_by_elements(p);
    if (is_first_of_rows(p) || !ga__product_fits(p, &fit))
        return run_own(p);
    if (!fit.a || !fit.b || !fit.c)
        return run_copies(p, &fit);
    const ga_status status = ga__product_by_library(p, &fit);
    return status == GA_ERR_UNSUPPORTED ? run_own(p) : status;
}

/* The library or a kernel computes what follows the product. */
static ga_status run_finished(plan *p)
{
    ga__product_fit fit;
    if (is_first_of_rows(p) || !ga__product_fits(p, &fit) || !ga__product_finishes(p, &fit))
        return run_and_finish(p->call);
    if (!fit.a || !fit.b)
        return run_copies(p, &fit);
    const ga_status status = ga__product_by_library(p, &fit);
    return status == GA_ERR_UNSUPPORTED ? run_and_finish(p->call) : status;
}

ga_status ga__product_run(const ga__product *call)
{
    plan p;
    if (call->c->size == 0)
        return GA_OK;
    if (reads_result(call))
        return run_apart(call, call->c->dtype);
    ga__product_plan_read(&p, call);
    return call->bias || call->relu ? run_finished(&p) : run_plain(&p);
}
