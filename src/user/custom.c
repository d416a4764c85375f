/* Makes the user's own kernels from their texts. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <quarry/kernel.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "base/word.h"
#include "model/structs.h"
#include "user/cuda_words.h"
#include "user/custom.h"

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

static void free_custom(ga__custom *kernel)
{
    ga__arguments_reset(&kernel->arguments);
    char *const texts[] = {kernel->base.name,   kernel->identifier,  kernel->operation,
                           kernel->preamble,    kernel->loop_prep,   kernel->after_loop,
                           kernel->neutral,     kernel->reduce_expr, kernel->map_expr,
                           kernel->struct_name, kernel->starts,      kernel->ranged};
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
        ga__free(texts[k]);
    ga__free(kernel);
}

void ga_kernel_free(ga_kernel *kernel)
{
    if (kernel && kernel->kind != GA__MODULE_KERNEL)
        free_custom((ga__custom *)kernel);
}

/* Sets the ids of a complete kernel, and whether it uses CUDA's words. The ids identify everything
 * that its texts depend on, except the arrays of a run. */
static ga_status set_ids(ga__custom *kernel, const char *arguments)
{
    const char *const texts[] = {arguments,           kernel->identifier,  kernel->operation,
                                 kernel->preamble,    kernel->loop_prep,   kernel->after_loop,
                                 kernel->neutral,     kernel->reduce_expr, kernel->map_expr,
                                 kernel->struct_name, kernel->starts};
    ga__strbuf s = GA__STRBUF_INIT;
    ga__strbuf_addf(&s, "custom %d %d %d %zu ", (int)kernel->base.kind, kernel->fast_math,
                    (int)kernel->dtype_out, kernel->struct_bytes);
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
        ga__describe(&s, texts[k]);
        kernel->cuda_words |= ga__uses_cuda_words(texts[k]);
    }
    ga_status status = ga__description_id(&s, &kernel->id);
    ga__describe(&s, "direct");
    if (status == GA_OK)
        status = ga__description_id(&s, &kernel->direct_id);
    ga__describe(&s, "ranged");
    if (status == GA_OK)
        status = ga__description_id(&s, &kernel->ranged_id);
    ga__strbuf_reset(&s);
    return status;
}

static const char *name_of(const char *name)
{
    return name && *name ? name : "kernel";
}

/* Puts the definitions of the structs among the arguments and results before the preamble. */
static ga_status define_structs(ga__custom *kernel)
{
    bool added[GA__STRUCTS] = {false};
    ga__strbuf text = GA__STRBUF_INIT;
    if (kernel->struct_type != GA_NO_DTYPE)
        ga__struct_define(kernel->struct_type, added, &text);
    for (int k = 0; k < kernel->arguments.count; k++)
        if (ga__dtype_is_struct(kernel->arguments.argument[k].dtype))
            ga__struct_define(kernel->arguments.argument[k].dtype, added, &text);
    if (text.length == 0 && !text.failed)
        return GA_OK;
    ga__strbuf_add(&text, kernel->preamble);
    char *const preamble = ga__strbuf_take(&text);
    if (!preamble)
        return GA_ERR_MEMORY;
    ga__free(kernel->preamble);
    kernel->preamble = preamble;
    return GA_OK;
}

/* A kernel with its name and arguments. */
static ga__custom *new_kernel(ga__kernel_kind kind, const char *name, const char *arguments)
{
    name = name_of(name);
    if (!arguments)
        return ga__fail_null(GA_ERR_INVALID, "%s: the argument list is NULL", name);
    ga__custom *kernel = ga__calloc(1, sizeof(*kernel));
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

/* The operation after what makes `i` of the number of a run's element. Its lines keep their
 * numbers. */
static char *ranged_operation(const char *operation)
{
    ga__strbuf text = GA__STRBUF_INIT;
    ga__strbuf_addf(&text,
                    "const ga_index ga_of = i; const ga_index n = (ga_index)ga_size, "
                    "i = (ga_index)(ga_start + ga_step * ga_of); (void)n; (void)i; "
                    "do { %s; } while (0)",
                    operation);
    return ga__strbuf_take(&text);
}

ga_kernel *(ga_elementwise_kernel)(size_t size, const ga_elementwise_args *options)
{
    ga_elementwise_args args;
    if (ga__options_read("elementwise_kernel", &args, sizeof args, options, size) != GA_OK)
        return NULL;
    if (!args.operation)
        return ga__fail_null(GA_ERR_INVALID, "%s: the operation is NULL", name_of(args.name));
    ga__custom *kernel = new_kernel(GA__ELEMENTWISE_KERNEL, args.name, args.arguments);
    if (!kernel)
        return NULL;
    kernel->fast_math = args.fast_math;
    kernel->operation = copy_text(args.operation);
    kernel->ranged = ranged_operation(args.operation);
    kernel->preamble = copy_text(args.preamble);
    kernel->loop_prep = copy_text(args.loop_prep);
    kernel->after_loop = copy_text(args.after_loop);
    if (!kernel->operation || !kernel->ranged || !kernel->preamble || !kernel->loop_prep ||
        !kernel->after_loop)
        goto failed;
    if (define_structs(kernel) != GA_OK)
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

#define MOST_STRUCT_BYTES 1024 /* of an accumulator */

/* Raises if an accumulator of this dtype is too large. */
static ga_status check_accumulator(const ga__custom *kernel, const char *what, ga_dtype dtype)
{
    if (!ga__dtype_valid(dtype))
        return ga__fail(GA_ERR_DTYPE, "%s: %s: %d is not a dtype", kernel->base.name, what,
                        (int)dtype);
    if (ga__dtype_size(dtype) > MOST_STRUCT_BYTES)
        return ga__fail(GA_ERR_INVALID, "%s: %s: %s has %zu bytes, more than %d", kernel->base.name,
                        what, ga_dtype_name(dtype), ga__dtype_size(dtype), MOST_STRUCT_BYTES);
    return GA_OK;
}

static ga_status check_reduction(const ga__custom *kernel, const ga_reduction_args *args)
{
    if (!args->neutral || !args->reduce_expr)
        return ga__fail(GA_ERR_INVALID, "%s: %s is NULL", kernel->base.name,
                        args->neutral ? "reduce_expr" : "neutral");
    if (!args->struct_name)
        return check_accumulator(kernel, "dtype_out", args->dtype_out);
    if (args->struct_bytes == 0 || args->struct_bytes > MOST_STRUCT_BYTES)
        return ga__fail(GA_ERR_INVALID, "%s: struct_bytes is %zu, expected 1 to %d",
                        kernel->base.name, args->struct_bytes, MOST_STRUCT_BYTES);
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

ga_kernel *(ga_reduction_kernel)(size_t size, const ga_reduction_args *options)
{
    ga_reduction_args args;
    if (ga__options_read("reduction_kernel", &args, sizeof args, options, size) != GA_OK)
        return NULL;
    ga__custom *kernel = new_kernel(GA__REDUCTION_KERNEL, args.name, args.arguments);
    if (!kernel)
        return NULL;
    if (check_reduction(kernel, &args) != GA_OK)
        goto failed;
    kernel->fast_math = args.fast_math;
    const bool typed = !args.struct_name && ga__dtype_is_struct(args.dtype_out);
    kernel->struct_type = typed ? args.dtype_out : GA_NO_DTYPE;
    kernel->dtype_out = args.struct_name || typed ? GA_NO_DTYPE : args.dtype_out;
    kernel->struct_bytes = typed ? ga__dtype_size(args.dtype_out) : args.struct_bytes;
    kernel->neutral = copy_text(args.neutral);
    kernel->reduce_expr = copy_text(args.reduce_expr);
    kernel->preamble = copy_text(args.preamble);
    kernel->struct_name =
        copy_text(typed ? ga__dtype_memory_type(args.dtype_out) : args.struct_name);
    kernel->map_expr = args.map_expr && *args.map_expr ? copy_text(args.map_expr)
                                                       : default_map(&kernel->arguments);
    if (!kernel->neutral || !kernel->reduce_expr || !kernel->preamble || !kernel->struct_name ||
        !kernel->map_expr || define_structs(kernel) != GA_OK)
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

static ga_status check_scan(const ga__custom *kernel, const ga_scan_kernel_args *args)
{
    const char *const texts[] = {args->input_expr, args->scan_expr, args->neutral,
                                 args->output_statement};
    static const char *const names[] = {"input_expr", "scan_expr", "neutral", "output_statement"};
    for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
        if (!texts[k])
            return ga__fail(GA_ERR_INVALID, "%s: %s is NULL", kernel->base.name, names[k]);
    for (int k = 0; k < kernel->arguments.count; k++)
        if (kernel->arguments.argument[k].single)
            return ga__fail(GA_ERR_UNSUPPORTED,
                            "%s: argument %d (%s) is a struct; a scan takes arrays of structs",
                            kernel->base.name, k + 1, kernel->arguments.argument[k].name);
    return check_accumulator(kernel, "dtype", args->dtype);
}

/* Whether the operator is a + b, whatever blanks are in its text. */
static bool is_sum(const char *text)
{
    char words[3];
    size_t count = 0;
    for (; *text; text++) {
        if (strchr(" \t\n", *text))
            continue;
        if (count == sizeof words)
            return false;
        words[count++] = *text;
    }
    return count == sizeof words && memcmp(words, "a+b", sizeof words) == 0;
}

/* Arrays that all texts index by [i] give the number of elements. */
static ga_status use_arguments(ga__custom *kernel)
{
    ga__strbuf texts = GA__STRBUF_INIT;
    ga__strbuf_addf(&texts, "%s; %s; %s;", kernel->map_expr, kernel->starts, kernel->operation);
    char *const all = ga__strbuf_take(&texts);
    if (!all)
        return GA_ERR_MEMORY;
    const char *const others[] = {kernel->neutral, kernel->reduce_expr, NULL};
    ga__arguments_use(&kernel->arguments, all, kernel->preamble, others);
    ga__free(all);
    return GA_OK;
}

ga_kernel *(ga_scan_kernel)(size_t size, const ga_scan_kernel_args *options)
{
    ga_scan_kernel_args args;
    if (ga__options_read("scan_kernel", &args, sizeof args, options, size) != GA_OK)
        return NULL;
    ga__custom *kernel = new_kernel(GA__SCAN_KERNEL, args.name, args.arguments);
    if (!kernel)
        return NULL;
    if (check_scan(kernel, &args) != GA_OK)
        goto failed;
    kernel->fast_math = args.fast_math;
    kernel->dtype_out = args.dtype;
    kernel->struct_type = ga__dtype_is_struct(args.dtype) ? args.dtype : GA_NO_DTYPE;
    kernel->neutral = copy_text(args.neutral);
    kernel->map_expr = copy_text(args.input_expr);
    kernel->reduce_expr = copy_text(args.scan_expr);
    kernel->operation = copy_text(args.output_statement);
    kernel->preamble = copy_text(args.preamble);
    kernel->starts = copy_text(args.is_segment_start_expr);
    if (!kernel->neutral || !kernel->map_expr || !kernel->reduce_expr || !kernel->operation ||
        !kernel->preamble || !kernel->starts || define_structs(kernel) != GA_OK ||
        use_arguments(kernel) != GA_OK)
        goto failed;
    kernel->uses_last = ga__find_word(kernel->operation, "last_item") != NULL;
    kernel->sums = is_sum(kernel->reduce_expr);
    atomic_store_explicit(&kernel->direct, true, memory_order_relaxed);
    if (set_ids(kernel, args.arguments) == GA_OK)
        return &kernel->base;
failed:
    free_custom(kernel);
    return NULL;
}
