/* The names of expressions: checks those that are given, and knows the constants. */
#include "expr/named.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "array/array.h"
#include "base/error.h"
#include "expr/text/lexer.h"
#include "expr/text/nearest.h"

static ga_status fail_name(int k, const char *name)
{
    return ga__fail(GA_ERR_INVALID, "eval: argument %d: \"%.64s\" is not a name", k + 1, name);
}

ga_status ga__eval_check_names(int count, const ga_named *args)
{
    for (int k = 0; k < count; k++) {
        if (!ga__eval_is_name(args[k].name))
            return fail_name(k, args[k].name);
        for (int i = 0; i < k; i++)
            if (strcmp(args[i].name, args[k].name) == 0)
                return ga__fail(GA_ERR_INVALID, "eval: two arguments are named %.64s",
                                args[k].name);
    }
    return GA_OK;
}

/* Sets *device to the array's; fails if an earlier array has set another one. */
static ga_status check_device(const gpuarray *x, ga__device **device)
{
    ga__device *its = x->buffer->device;
    if (*device && its != *device)
        return ga__fail(GA_ERR_DEVICE, "eval: operands on %s and %s", (*device)->name, its->name);
    *device = its;
    return GA_OK;
}

/* Checks an argument that is not an array: a number, a source, or an error. */
static ga_status check_other(const ga_named *arg, bool takes_sources)
{
    const ga_value *value = &arg->value;
    const bool is_source = value->kind == GA_VALUE_SOURCE;
    if (ga__is_number(*value))
        return GA_OK;
    if (is_source && !takes_sources)
        return ga__fail(GA_ERR_INVALID, "eval: %.64s is a source: use ga_eval_chunked()",
                        arg->name);
    if (value->kind != GA_VALUE_ARRAY && !is_source)
        return ga__fail(GA_ERR_INVALID, "eval: %.64s is neither a gpuarray nor a number",
                        arg->name);
    if (!is_source || !value->as.source)
        return ga__fail(GA_ERR_INVALID, "eval: %.64s is NULL", arg->name);
    return GA_OK;
}

ga_status ga__eval_check_values(int count, const ga_named *args, bool takes_sources,
                                ga__device **device)
{
    *device = NULL;
    if (count < 0 || count > GA__MAX_EVAL_ARGS)
        return ga__fail(GA_ERR_INVALID, "eval: %d arguments; expected 0 to %d", count,
                        GA__MAX_EVAL_ARGS);
    if (count > 0 && !args)
        return ga__fail(GA_ERR_INVALID, "eval: %d arguments, but the list is NULL", count);
    for (int k = 0; k < count; k++) {
        if (!args[k].name)
            return fail_name(k, "NULL");
        const ga_value *value = &args[k].value;
        const gpuarray *x = value->kind == GA_VALUE_ARRAY ? value->as.array : NULL;
        const ga_status status = x ? check_device(x, device) : check_other(&args[k], takes_sources);
        if (status != GA_OK)
            return status;
    }
    if (!*device)
        *device = ga__current_device();
    return *device ? GA_OK : ga_error();
}

ga_status ga__eval_check(int count, const ga_named *args, bool takes_sources, ga__device **device)
{
    const ga_status status = ga__eval_check_values(count, args, takes_sources, device);
    return status == GA_OK ? ga__eval_check_names(count, args) : status;
}

static const struct {
    const char *name;
    double number;
    ga_dtype dtype;
} constants[] = {{"pi", 3.14159265358979323846, GA_FLOAT64},
                 {"e", 2.71828182845904523536, GA_FLOAT64},
                 {"inf", (double)INFINITY, GA_FLOAT64},
                 {"nan", (double)NAN, GA_FLOAT64},
                 {"True", 1, GA_BOOL},
                 {"False", 0, GA_BOOL}};

#define NCONSTANTS (sizeof(constants) / sizeof(constants[0]))

bool ga__constant_named(const char *name, size_t length, ga_value *number)
{
    size_t k = 0;
    while (k < NCONSTANTS &&
           (strncmp(constants[k].name, name, length) != 0 || constants[k].name[length] != '\0'))
        k++;
    if (k == NCONSTANTS)
        return false;
    *number = constants[k].dtype == GA_BOOL ? ga_value_bool(constants[k].number != 0)
                                            : ga_value_double(constants[k].number);
    return true;
}

void ga__unknown_name(const ga__ast *ast, int count, const ga_named *args, size_t length,
                      const char *name, char *what, size_t room)
{
    ga__nearest near = ga__nearest_to(name, length);
    const bool calls = ga__row_find(name, length) < GA__ROW_COUNT;
    for (int k = 0; k < count; k++)
        ga__nearest_add(&near, args[k].name);
    for (int k = 0; k < ast->nlocals; k++)
        ga__nearest_add_bytes(&near, ast->text + ast->locals[k].at, ast->locals[k].length);
    for (size_t k = 0; k < NCONSTANTS; k++)
        ga__nearest_add(&near, constants[k].name);
    snprintf(what, room, "no argument is named %.*s%s", length < 64 ? (int)length : 64, name,
             calls ? " (a function is called)" : "");
    if (!calls)
        ga__nearest_append(&near, what, room);
}
