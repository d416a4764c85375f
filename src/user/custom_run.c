/* Runs the user's own kernels. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <quarry/kernel.h>

#include "base/error.h"
#include "base/range.h"
#include "model/promote.h"
#include "ops/check_nan.h"
#include "ops/elementwise_op.h"
#include "ops/slice.h"
#include "user/custom_check.h"
#include "user/custom_given.h"
#include "kernels/reduce.h"
#include "kernels/scan/scan.h"

static bool is_reduction(const ga__custom *kernel)
{
    return kernel->base.kind == GA__REDUCTION_KERNEL;
}

/* The state of one run. */
typedef struct run {
    ga__device *device;
    ga__operand operands[GA__MAX_ARGUMENTS];
    gpuarray
        *temporaries[GA__MAX_ARGUMENTS]; /* flattened views and copies, freed after the launch */
    bool flat;                           /* its arrays have several shapes of the same size */
    int ndim;
    int64_t shape[GA_MAX_NDIM];
    const ga_range *range; /* of the indices; NULL: all */
} run;

static void free_temporaries(const ga__custom *kernel, run *r)
{
    for (int k = 0; k < kernel->arguments.count; k++)
        if (r->temporaries[k]) /* saves most of the calls */
            ga_free(r->temporaries[k]);
}

static ga_status check_given(const ga__custom *kernel, int count, const ga_value *args, run *r)
{
    r->range = NULL;
    return ga__custom_check_given(kernel, count, args, &r->device);
}

/* Raises unless the written arrays are writable; an ACCESSOR array that is only read may be
 * read-only. */
static ga_status check_writable(const ga__custom *kernel, const run *r)
{
    for (int k = 0; k < kernel->arguments.count; k++) {
        const ga__operand *operand = &r->operands[k];
        if (!operand->array || !operand->writes)
            continue;
        const bool surely = operand->access == GA__ELEMENT;
        if ((surely || !operand->array->readonly) &&
            !ga__array_writable(kernel->base.name, operand->array))
            return ga_error();
    }
    return GA_OK;
}

static void set_operands(const ga__custom *kernel, bool direct, const ga_value *args, run *r)
{
    for (int k = 0; k < kernel->arguments.count; k++) {
        const ga__argument *argument = &kernel->arguments.argument[k];
        const bool free_access = argument->array && direct;
        r->operands[k] =
            (ga__operand){.name = argument->name,
                          .array = args[k].kind == GA_VALUE_ARRAY ? args[k].as.array : NULL,
                          .number = args[k],
                          .type = argument->dtype,
                          .access = free_access ? GA__ACCESSOR : argument->access,
                          .reads = argument->reads || free_access,
                          .writes = argument->writes ||
                                    (free_access && !argument->is_const && !is_reduction(kernel)),
                          .is_const = argument->is_const || is_reduction(kernel),
                          .named = true};
    }
}

static bool gives_size(const ga__custom *kernel, int k)
{
    const ga__argument *argument = &kernel->arguments.argument[k];
    return argument->array && argument->access == GA__ELEMENT;
}

/* The run has the shape of the arrays that are only indexed by [i], or else of the first array.
 * Arrays of the same size but different shapes run flat. */
static ga_status choose_shape(const ga__custom *kernel, const ga_value *args, run *r)
{
    int first = -1;
    r->flat = false;
    for (int k = 0; k < kernel->arguments.count; k++) {
        if (!gives_size(kernel, k))
            continue;
        if (first < 0) {
            first = k;
            continue;
        }
        const gpuarray *x = args[k].as.array, *y = args[first].as.array;
        if (x->size != y->size)
            return ga__fail(GA_ERR_SHAPE, "%s: %s has %lld elements, %s has %lld",
                            kernel->base.name, kernel->arguments.argument[first].name,
                            (long long)y->size, kernel->arguments.argument[k].name,
                            (long long)x->size);
        r->flat |= !ga__same_shape(x->ndim, x->shape, y->ndim, y->shape);
    }
    for (int k = 0; first < 0; k++)
        if (kernel->arguments.argument[k].array)
            first = k;
    const gpuarray *x = args[first].as.array;
    r->ndim = r->flat ? 1 : x->ndim;
    memcpy(r->shape, r->flat ? &x->size : x->shape, sizeof(int64_t) * (size_t)r->ndim);
    return GA_OK;
}

/* Reshapes streamed arrays to the run's shape; an array that has no such view becomes an
 * accessor. */
static ga_status match_shapes(const ga__custom *kernel, run *r)
{
    for (int k = 0; k < kernel->arguments.count; k++) {
        ga__operand *operand = &r->operands[k];
        if (!operand->array || operand->access != GA__ELEMENT ||
            ga__same_shape(operand->array->ndim, operand->array->shape, r->ndim, r->shape))
            continue;
        if (!operand->array->contiguous) {
            operand->access = GA__ACCESSOR;
            continue;
        }
        r->temporaries[k] = ga_reshape(operand->array, r->ndim, r->shape);
        if (!r->temporaries[k])
            return ga_error();
        operand->array = r->temporaries[k];
    }
    return GA_OK;
}

/* Copies an input that partly overlaps a written array: every element is read before it is written,
 * as if all were read first. Overlap of accessors is up to the user. */
static ga_status separate_inputs(const ga__custom *kernel, run *r)
{
    for (int w = 0; w < kernel->arguments.count; w++) {
        const ga__operand *written = &r->operands[w];
        if (!written->array || !written->writes || written->access != GA__ELEMENT)
            continue;
        for (int k = 0; k < kernel->arguments.count; k++) {
            ga__operand *input = &r->operands[k];
            gpuarray *copy;
            if (k == w || !input->array || input->writes || input->access == GA__ACCESSOR)
                continue;
            if (ga__separate(written->array, &input->array, &copy) != GA_OK)
                return ga_error();
            if (copy) {
                ga_free(r->temporaries[k]);
                r->temporaries[k] = copy;
            }
        }
    }
    return GA_OK;
}

static bool any_free_access(const ga__custom *kernel, const run *r)
{
    for (int k = 0; k < kernel->arguments.count; k++)
        if (r->operands[k].array && r->operands[k].access == GA__ACCESSOR)
            return true;
    return false;
}

/* Does everything up to the launch, for either kind of kernel. */
static ga_status prepare(const ga__custom *kernel, bool direct, const ga_value *args, run *r)
{
    memset(r->temporaries, 0, sizeof(r->temporaries[0]) * (size_t)kernel->arguments.count);
    set_operands(kernel, direct, args, r);
    ga_status status = choose_shape(kernel, args, r);
    if (status == GA_OK)
        status = check_writable(kernel, r);
    if (status == GA_OK && r->flat)
        status = match_shapes(kernel, r);
    if (status == GA_OK)
        status = separate_inputs(kernel, r);
    return status;
}

/* A formula's id identifies its texts and how each name is used. A shape mismatch turns streamed
 * arrays into accessors, which changes the texts as `direct` does; such a run therefore uses the
 * direct id and form. */
static ga__formula make_formula(const ga__custom *kernel, bool direct, const run *r)
{
    const char *loop_prep = kernel->loop_prep && *kernel->loop_prep ? kernel->loop_prep : NULL;
    const char *after_loop = kernel->after_loop && *kernel->after_loop ? kernel->after_loop : NULL;
    return (ga__formula){.id = direct ? kernel->direct_id : kernel->id,
                         .name = kernel->identifier,
                         .body = kernel->operation ? kernel->operation : "",
                         .preamble = *kernel->preamble ? kernel->preamble : NULL,
                         .loop_prep = loop_prep,
                         .after_loop = after_loop,
                         .uses_index = kernel->uses_index || any_free_access(kernel, r),
                         .fast_math = kernel->fast_math,
                         .cuda_words = kernel->cuda_words,
                         .user_text = true};
}

static ga_status run_elementwise(const ga__custom *kernel, bool direct, const ga_value *args,
                                 run *r, gpuarray *unused)
{
    (void)unused;
    ga_status status = prepare(kernel, direct, args, r);
    if (status == GA_OK) {
        const ga__formula formula = make_formula(kernel, direct, r);
        status = ga__elementwise(&formula, r->device, r->ndim, r->shape, kernel->arguments.count,
                                 r->operands);
    }
    free_temporaries(kernel, r);
    return status;
}

static ga_status run_reduction(const ga__custom *kernel, bool direct, const ga_value *args, run *r,
                               gpuarray *out)
{
    bool reduced[GA_MAX_NDIM];
    memset(reduced, true, sizeof(reduced));
    ga_status status = prepare(kernel, direct, args, r);
    if (status == GA_OK) {
        const ga_dtype dtype = kernel->dtype_out;
        const bool raw = dtype == GA_NO_DTYPE;
        const ga__part_formula part = {
            .accumulator = raw ? kernel->struct_name : ga__dtype_compute_type(dtype),
            .neutral = kernel->neutral,
            .step = kernel->map_expr,
            .combine = kernel->reduce_expr,
            .holds = raw ? GA__ACCUMULATOR_STRUCT : GA__ACCUMULATOR_VALUE,
            .struct_bytes = kernel->struct_bytes,
            .rounds = true};
        const ga__reduction reduction = {.formula = {.base = make_formula(kernel, direct, r),
                                                     .map = "",
                                                     .raw_result = raw,
                                                     .nparts = 1,
                                                     .nresults = 1,
                                                     .parts = {&part},
                                                     .results = {"a.part0"}},
                                         .type = {dtype}};
        status = ga__reduce(&reduction, r->device, r->ndim, r->shape, reduced,
                            kernel->arguments.count, r->operands, &out);
    }
    free_temporaries(kernel, r);
    return status;
}

/* One launch of a scan with this output statement; `last` has its last item, or receives it. */
static ga_status launch_scan(const ga__custom *kernel, bool totals, const run *r, gpuarray *last)
{
    const ga__scan_texts texts = {.accumulator = ga__dtype_compute_type(kernel->dtype_out),
                                  .neutral = kernel->neutral,
                                  .lift = "x",
                                  .combine = kernel->reduce_expr,
                                  .finish = "a",
                                  .values = 1,
                                  .sums = kernel->sums};
    ga__scan scan = {.formula = {.base = make_formula(kernel, !totals, r),
                                 .map = kernel->map_expr,
                                 .texts = &texts,
                                 .uses_last = last && !totals,
                                 .starts = *kernel->starts ? kernel->starts : NULL},
                     .type = kernel->dtype_out};
    ga__operand operands[GA__MAX_ARGUMENTS + 1];
    const int count = kernel->arguments.count;
    memcpy(operands, r->operands, sizeof *operands * (size_t)count);
    operands[count] = (ga__operand){.name = "ga_last_item",
                                    .array = last,
                                    .type = ga__dtype_compute(kernel->dtype_out),
                                    .access = GA__ACCESSOR,
                                    .reads = true,
                                    .writes = true,
                                    .named = true};
    if (totals)
        scan.formula.base.body = "if (i + 1 == n) ga_last_item[0] = item";
    const int64_t n = ga__shape_size(r->ndim, r->shape);
    return ga__scan_run(&scan, r->device, 1, &n, 0, count + (last != NULL), operands);
}

/* Its arrays are indexed freely: the texts may name any element. */
static ga_status run_scan(const ga__custom *kernel, bool direct, const ga_value *args, run *r,
                          gpuarray *last)
{
    (void)direct;
    ga_status status = prepare(kernel, true, args, r);
    if (status == GA_OK && last)
        status = launch_scan(kernel, true, r, last);
    if (status == GA_OK)
        status = launch_scan(kernel, false, r, last);
    free_temporaries(kernel, r);
    return status;
}

/* ---- A range of indices ---- */

static ga_status launch_range(const ga__custom *kernel, run *r, const int64_t *numbers,
                              int64_t count)
{
    static const char *const names[] = {"ga_size", "ga_start", "ga_step"};
    const int n = kernel->arguments.count;
    ga__operand operands[GA__MAX_ARGUMENTS + 3];
    memcpy(operands, r->operands, sizeof *operands * (size_t)n);
    for (int k = 0; k < 3; k++)
        operands[n + k] = (ga__operand){.name = names[k],
                                        .number = ga_value_llong(numbers[k]),
                                        .type = GA_INT64,
                                        .reads = true};
    ga__formula formula = make_formula(kernel, true, r);
    formula.id = kernel->ranged_id;
    formula.body = kernel->ranged;
    formula.uses_index = true;
    return ga__elementwise(&formula, r->device, 1, &count, n + 3, operands);
}

/* All arrays are indexed in memory: their elements are not those that the nest follows. */
static ga_status run_range(const ga__custom *kernel, const ga_value *args, run *r)
{
    ga__slice slice;
    const int64_t one = 1;
    set_operands(kernel, false, args, r);
    ga_status status = choose_shape(kernel, args, r);
    if (status == GA_OK)
        status = check_writable(kernel, r);
    const int64_t n = ga__shape_size(r->ndim, r->shape);
    if (status == GA_OK && r->range->kind != 0)
        status = ga__fail(GA_ERR_INVALID, "%s: an index is not a range", kernel->base.name);
    if (status == GA_OK)
        status = ga__slice_make(kernel->base.name, 1, &n, &one, 1, r->range, &slice);
    if (status != GA_OK)
        return status;
    for (int k = 0; k < kernel->arguments.count; k++)
        if (r->operands[k].access == GA__ELEMENT)
            r->operands[k].access = GA__ACCESSOR;
    const int64_t numbers[] = {n, slice.offset, slice.strides[0]};
    return launch_range(kernel, r, numbers, slice.shape[0]);
}

/* Tries with elements in registers first. Text that takes an element's address in a way that the
 * scanner missed compiles only against memory; the errors of that second attempt are reported. */
static ga_status run_either_way(ga__custom *kernel, const ga_value *args, run *r, gpuarray *out)
{
    ga_status (*const go)(const ga__custom *, bool, const ga_value *, run *, gpuarray *) =
        is_reduction(kernel)                   ? run_reduction
        : kernel->base.kind == GA__SCAN_KERNEL ? run_scan
                                               : run_elementwise;
    if (r->range)
        return run_range(kernel, args, r);
    if (atomic_load_explicit(&kernel->direct, memory_order_relaxed))
        return go(kernel, true, args, r, out);
    const ga__saved_error before = ga__error_save();
    ga_status status = go(kernel, false, args, r, out);
    if (status == GA_ERR_COMPILE) {
        ga_clear_error();
        status = go(kernel, true, args, r, out);
        if (status == GA_OK)
            atomic_store_explicit(&kernel->direct, true, memory_order_relaxed);
    }
    ga__error_settle(before);
    return status;
}

/* ---- QUARRY_CHECK=nan ---- */

__attribute__((noinline, cold)) static ga_status
run_checked(ga__custom *kernel, const ga_value *args, run *r, gpuarray *last)
{
    ga__watched w;
    ga__check_begin();
    ga_status status = ga__custom_watch(kernel, args, &w);
    if (status == GA_OK)
        status = run_either_way(kernel, args, r, last);
    if (status == GA_OK)
        status = ga__custom_check_written(kernel, args, &w);
    ga__check_end();
    return status;
}

/* The bytes of a result as the struct that they are. */
static gpuarray *as_struct(gpuarray *bytes, ga_dtype dtype)
{
    gpuarray *one = ga_view(bytes, dtype);
    gpuarray *x = one ? ga_reshape(one, 0, NULL) : NULL;
    ga_free(one);
    ga_free(bytes);
    return x;
}

static ga_status run_over(const char *caller, ga_kernel *kernel, const ga_range *range, int count,
                          const ga_value *args)
{
    run r;
    ga_status status = ga__kernel_check(caller, kernel, GA__ELEMENTWISE_KERNEL);
    if (status == GA_OK)
        status = check_given((ga__custom *)kernel, count, args, &r);
    if (status != GA_OK)
        return status;
    r.range = range;
    GA__RANGE(kernel->name);
    return ga__checks_nan() ? run_checked((ga__custom *)kernel, args, &r, NULL)
                            : run_either_way((ga__custom *)kernel, args, &r, NULL);
}

ga_status(ga_run)(ga_kernel *kernel, int count, const ga_value *args)
{
    return run_over("run", kernel, NULL, count, args);
}

ga_status(ga_run_over)(ga_kernel *kernel, ga_range range, int count, const ga_value *args)
{
    return run_over("run_over", kernel, &range, count, args);
}

gpuarray *(ga_reduce)(ga_kernel *reduction, int count, const ga_value *args)
{
    run r;
    ga__custom *kernel = (ga__custom *)reduction;
    if (ga__kernel_check("reduce", reduction, GA__REDUCTION_KERNEL) != GA_OK ||
        check_given(kernel, count, args, &r) != GA_OK)
        return NULL;
    const bool raw = kernel->dtype_out == GA_NO_DTYPE;
    GA__RANGE(reduction->name);
    const int64_t bytes = (int64_t)kernel->struct_bytes;
    gpuarray *out =
        ga__array_new("reduce", r.device, raw ? GA_UINT8 : kernel->dtype_out, raw ? 1 : 0, &bytes);
    if (!out)
        return NULL;
    if (run_either_way(kernel, args, &r, out) == GA_OK &&
        (!ga__checks_nan() || ga__custom_check_reduction(kernel, args, out) == GA_OK))
        return kernel->struct_type == GA_NO_DTYPE ? out : as_struct(out, kernel->struct_type);
    ga_free(out);
    return NULL;
}

ga_status(ga_scan)(ga_kernel *scan, int count, const ga_value *args)
{
    run r;
    ga__custom *kernel = (ga__custom *)scan;
    gpuarray *last = NULL;
    ga_status status = ga__kernel_check("scan", scan, GA__SCAN_KERNEL);
    if (status == GA_OK)
        status = check_given(kernel, count, args, &r);
    GA__RANGE(scan ? scan->name : NULL);
    if (status == GA_OK && kernel->uses_last) {
        last = ga__array_new("scan", r.device, ga__dtype_compute(kernel->dtype_out), 0, NULL);
        status = last ? GA_OK : ga_error();
    }
    if (status == GA_OK)
        status = ga__checks_nan() ? run_checked(kernel, args, &r, last)
                                  : run_either_way(kernel, args, &r, last);
    ga_free(last);
    return status;
}
