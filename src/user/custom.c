/* The user's own kernels: elementwise operations and reductions, given as texts. */
#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <quarry/kernel.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "ops/elementwise_op.h"
#include "user/arguments.h"
#include "user/kernel.h"
#include "kernels/reduce.h"

/* A kernel owns copies of all its texts. Several threads may run it at once: only `direct` changes,
 * and only from false to true. */
typedef struct custom {
    ga_kernel base; /* its name as the user wrote it */
    ga__arguments arguments;
    bool fast_math;
    char *identifier;                                     /* the name as a C identifier */
    char *operation, *preamble, *loop_prep, *after_loop;  /* elementwise */
    char *neutral, *reduce_expr, *map_expr, *struct_name; /* reductions */
    ga_dtype dtype_out;
    size_t struct_bytes;
    bool uses_index;
    ga__hash128 id, direct_id;
    atomic_bool
        direct; /* the text does not compile with elements in registers: index memory instead */
} custom;

/* ---- Making and freeing ---- */

static bool is_reduction(const custom *kernel)
{
    return kernel->base.kind == GA__REDUCTION_KERNEL;
}

static char *copy_text(const char *text)
{
    return ga__strdup(text ? text : "");
}

static char *make_identifier(const char *name)
{
    char *identifier = ga__strndup(name, strlen(name) < 64 ? strlen(name) : 64);
    for (char *c = identifier; c && *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    return identifier;
}

static void free_custom(custom *kernel)
{
    ga__arguments_reset(&kernel->arguments);
    char *const texts[] = {kernel->base.name,  kernel->identifier,  kernel->operation,
                           kernel->preamble,   kernel->loop_prep,   kernel->after_loop,
                           kernel->neutral,    kernel->reduce_expr, kernel->map_expr,
                           kernel->struct_name};
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
        ga__free(texts[k]);
    ga__free(kernel);
}

void ga_kernel_free(ga_kernel *kernel)
{
    if (kernel && kernel->kind != GA__MODULE_KERNEL)
        free_custom((custom *)kernel);
}

/* Sets the ids of a complete kernel. They identify everything that its texts depend on, except the
 * arrays of a run. */
static ga_status set_ids(custom *kernel, const char *arguments)
{
    const char *const texts[] = {arguments,          kernel->identifier,  kernel->operation,
                                 kernel->preamble,   kernel->loop_prep,   kernel->after_loop,
                                 kernel->neutral,    kernel->reduce_expr, kernel->map_expr,
                                 kernel->struct_name};
    ga__strbuf s = GA__STRBUF_INIT;
    ga__strbuf_addf(&s, "custom %d %d %d %zu ", (int)kernel->base.kind, kernel->fast_math,
                    (int)kernel->dtype_out, kernel->struct_bytes);
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
        ga__describe(&s, texts[k]);
    ga_status status = ga__description_id(&s, &kernel->id);
    ga__describe(&s, "direct");
    if (status == GA_OK)
        status = ga__description_id(&s, &kernel->direct_id);
    ga__strbuf_reset(&s);
    return status;
}

/* A kernel with its name and arguments. */
static custom *new_kernel(ga__kernel_kind kind, const char *name, const char *arguments)
{
    name = name && *name ? name : "kernel";
    if (!arguments)
        return ga__fail_null(GA_ERR_INVALID, "%s: the argument list is NULL", name);
    custom *kernel = ga__calloc(1, sizeof(*kernel));
    if (!kernel)
        return NULL;
    kernel->base.kind = kind;
    kernel->base.name = ga__strdup(name);
    kernel->identifier = make_identifier(name);
    if (!kernel->base.name || !kernel->identifier ||
        ga__arguments_parse(&kernel->arguments, name, arguments) != GA_OK) {
        free_custom(kernel);
        return NULL;
    }
    for (int k = 0; k < kernel->arguments.count; k++)
        if (kernel->arguments.argument[k].array)
            return kernel;
    ga__fail(GA_ERR_INVALID, "%s: no argument is an array", name);
    free_custom(kernel);
    return NULL;
}

ga_kernel *(ga_elementwise_kernel)(ga_elementwise_args args)
{
    custom *kernel = new_kernel(GA__ELEMENTWISE_KERNEL, args.name, args.arguments);
    if (!kernel)
        return NULL;
    if (!args.operation) {
        ga__fail(GA_ERR_INVALID, "%s: the operation is NULL", kernel->base.name);
        goto failed;
    }
    kernel->fast_math = args.fast_math;
    kernel->operation = copy_text(args.operation);
    kernel->preamble = copy_text(args.preamble);
    kernel->loop_prep = copy_text(args.loop_prep);
    kernel->after_loop = copy_text(args.after_loop);
    if (!kernel->operation || !kernel->preamble || !kernel->loop_prep || !kernel->after_loop)
        goto failed;
    const char *const others[] = {kernel->loop_prep, kernel->after_loop, NULL};
    ga__arguments_use(&kernel->arguments, kernel->operation, kernel->preamble, others);
    kernel->uses_index = ga__text_uses_index(kernel->operation);
    if (set_ids(kernel, args.arguments) == GA_OK)
        return &kernel->base;
failed:
    free_custom(kernel);
    return NULL;
}

static ga_status check_reduction(const custom *kernel, const ga_reduction_args *args)
{
    if (!args->neutral || !args->reduce_expr)
        return ga__fail(GA_ERR_INVALID, "%s: %s is NULL", kernel->base.name,
                        args->neutral ? "reduce_expr" : "neutral");
    if (args->struct_name ? args->struct_bytes == 0 || args->struct_bytes > 1024 : false)
        return ga__fail(GA_ERR_INVALID, "%s: struct_bytes is %zu, not 1 to 1024", kernel->base.name,
                        args->struct_bytes);
    if (!args->struct_name && !ga__dtype_valid(args->dtype_out))
        return ga__fail(GA_ERR_DTYPE, "%s: dtype_out: %d is not a dtype", kernel->base.name,
                        (int)args->dtype_out);
    return GA_OK;
}

/* "x[i]" of the first array, for a kernel without a map. */
static char *default_map(const ga__arguments *arguments)
{
    int k = 0;
    while (!arguments->argument[k].array)
        k++;
    const char *name = arguments->argument[k].name;
    char *map = ga__malloc(strlen(name) + sizeof("[i]"));
    if (map)
        sprintf(map, "%s[i]", name);
    return map;
}

ga_kernel *(ga_reduction_kernel)(ga_reduction_args args)
{
    custom *kernel = new_kernel(GA__REDUCTION_KERNEL, args.name, args.arguments);
    if (!kernel)
        return NULL;
    if (check_reduction(kernel, &args) != GA_OK)
        goto failed;
    kernel->fast_math = args.fast_math;
    kernel->dtype_out = args.struct_name ? GA_NO_DTYPE : args.dtype_out;
    kernel->struct_bytes = args.struct_bytes;
    kernel->neutral = copy_text(args.neutral);
    kernel->reduce_expr = copy_text(args.reduce_expr);
    kernel->preamble = copy_text(args.preamble);
    kernel->struct_name = copy_text(args.struct_name);
    kernel->map_expr = args.map_expr && *args.map_expr ? copy_text(args.map_expr)
                                                       : default_map(&kernel->arguments);
    if (!kernel->neutral || !kernel->reduce_expr || !kernel->preamble || !kernel->struct_name ||
        !kernel->map_expr)
        goto failed;
    const char *const others[] = {kernel->neutral, kernel->reduce_expr, NULL};
    ga__arguments_use(&kernel->arguments, kernel->map_expr, kernel->preamble, others);
    kernel->uses_index = ga__text_uses_index(kernel->map_expr);
    if (set_ids(kernel, args.arguments) == GA_OK)
        return &kernel->base;
failed:
    free_custom(kernel);
    return NULL;
}

/* ---- One run ---- */

/* The state of one run. */
typedef struct run {
    ga__device *device;
    ga__operand operands[GA__MAX_ARGUMENTS];
    gpuarray
        *temporaries[GA__MAX_ARGUMENTS]; /* flattened views and copies, freed after the launch */
    bool flat;                           /* its arrays have several shapes of the same size */
    int ndim;
    int64_t shape[GA_MAX_NDIM];
} run;

static void free_temporaries(const custom *kernel, run *r)
{
    for (int k = 0; k < kernel->arguments.count; k++)
        ga_free(r->temporaries[k]);
}

static ga_status check_argument(const custom *kernel, int k, ga_value value)
{
    const ga__argument *argument = &kernel->arguments.argument[k];
    if (!argument->array) {
        if (value.kind == GA_VALUE_ARRAY)
            return ga__fail(GA_ERR_INVALID, "%s: argument %d (%s) is a number, not an array",
                            kernel->base.name, k + 1, argument->name);
        return GA_OK;
    }
    if (value.kind == GA_VALUE_NUMBER)
        return ga__fail(GA_ERR_INVALID, "%s: argument %d (%s) is an array, not a number",
                        kernel->base.name, k + 1, argument->name);
    if (value.as.array->dtype != argument->dtype)
        return ga__fail(GA_ERR_DTYPE, "%s: argument %d (%s) is declared %s, the array is %s",
                        kernel->base.name, k + 1, argument->name, ga_dtype_name(argument->dtype),
                        ga_dtype_name(value.as.array->dtype));
    return GA_OK;
}

static ga_status check_arguments(const custom *kernel, int count, const ga_value *args, run *r)
{
    ga_status status = ga__kernel_check_list(&kernel->base, kernel->arguments.count, count, args);
    if (status == GA_OK)
        status = ga__check_values(kernel->base.name, count, args, &r->device);
    for (int k = 0; k < count && status == GA_OK; k++)
        status = check_argument(kernel, k, args[k]);
    return status;
}

/* Raises unless the written arrays are writable; an ACCESSOR array that is only read may be
 * read-only. */
static ga_status check_writable(const custom *kernel, const run *r)
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

static void set_operands(const custom *kernel, bool direct, const ga_value *args, run *r)
{
    for (int k = 0; k < kernel->arguments.count; k++) {
        const ga__argument *argument = &kernel->arguments.argument[k];
        const bool free_access = argument->array && direct;
        r->operands[k] =
            (ga__operand){.name = argument->name,
                          .array = argument->array ? args[k].as.array : NULL,
                          .number = args[k],
                          .type = argument->dtype,
                          .access = free_access ? GA__ACCESSOR : argument->access,
                          .reads = argument->reads || free_access,
                          .writes = argument->writes ||
                                    (free_access && !argument->is_const && !is_reduction(kernel)),
                          .is_const = argument->is_const || is_reduction(kernel)};
    }
}

static bool gives_size(const custom *kernel, int k)
{
    const ga__argument *argument = &kernel->arguments.argument[k];
    return argument->array && argument->access == GA__ELEMENT;
}

/* The run has the shape of the arrays that are only indexed by [i], or else of the first array.
 * Arrays of the same size but different shapes run flat. */
static ga_status choose_shape(const custom *kernel, const ga_value *args, run *r)
{
    int first = -1;
    r->flat = false;
    for (int k = 0; k < kernel->arguments.count; k++) {
        if (!gives_size(kernel, k))
            continue;
        const gpuarray *x = args[k].as.array;
        if (first < 0)
            first = k;
        const gpuarray *y = args[first].as.array;
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
static ga_status match_shapes(const custom *kernel, run *r)
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
static ga_status separate_inputs(const custom *kernel, run *r)
{
    for (int w = 0; w < kernel->arguments.count; w++) {
        const ga__operand *written = &r->operands[w];
        if (!written->array || !written->writes || written->access != GA__ELEMENT)
            continue;
        for (int k = 0; k < kernel->arguments.count; k++) {
            ga__operand *input = &r->operands[k];
            gpuarray *copy;
            if (k == w || !input->array || input->writes || input->access != GA__ELEMENT)
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

static bool any_free_access(const custom *kernel, const run *r)
{
    for (int k = 0; k < kernel->arguments.count; k++)
        if (r->operands[k].array && r->operands[k].access == GA__ACCESSOR)
            return true;
    return false;
}

/* Does everything up to the launch, for either kind of kernel. */
static ga_status prepare(const custom *kernel, bool direct, const ga_value *args, run *r)
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
static ga__formula make_formula(const custom *kernel, bool direct, const run *r)
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
                         .user_text = true};
}

static ga_status run_elementwise(const custom *kernel, bool direct, const ga_value *args, run *r,
                                 gpuarray *unused)
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

static ga_status run_reduction(const custom *kernel, bool direct, const ga_value *args, run *r,
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

/* Tries with elements in registers first. Text that takes an element's address in a way that the
 * scanner missed compiles only against memory; the errors of that second attempt are reported. */
static ga_status run_either_way(custom *kernel, const ga_value *args, run *r, gpuarray *out)
{
    ga_status (*const go)(const custom *, bool, const ga_value *, run *, gpuarray *) =
        is_reduction(kernel) ? run_reduction : run_elementwise;
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
    if (before.status != GA_OK)
        ga__error_restore(before);
    return status;
}

ga_status(ga_run)(ga_kernel *kernel, int count, const ga_value *args)
{
    run r;
    ga_status status = ga__kernel_check("run", kernel, GA__ELEMENTWISE_KERNEL);
    if (status == GA_OK)
        status = check_arguments((custom *)kernel, count, args, &r);
    return status == GA_OK ? run_either_way((custom *)kernel, args, &r, NULL) : status;
}

gpuarray *(ga_reduce)(ga_kernel *reduction, int count, const ga_value *args)
{
    run r;
    custom *kernel = (custom *)reduction;
    if (ga__kernel_check("reduce", reduction, GA__REDUCTION_KERNEL) != GA_OK ||
        check_arguments(kernel, count, args, &r) != GA_OK)
        return NULL;
    const bool raw = kernel->dtype_out == GA_NO_DTYPE;
    const int64_t bytes = (int64_t)kernel->struct_bytes;
    gpuarray *out =
        ga__array_new(r.device, raw ? GA_UINT8 : kernel->dtype_out, raw ? 1 : 0, &bytes);
    if (!out)
        return NULL;
    if (run_either_way(kernel, args, &r, out) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}
