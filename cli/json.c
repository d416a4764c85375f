/* Writes texts, numbers and arrays to standard output as JSON. */
#include "cli.h"

#include <math.h>

void json_text(const char *text)
{
    if (!text) {
        fputs("null", stdout);
        return;
    }
    putchar('"');
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < ' ')
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

void json_shape(const gpuarray *x)
{
    putchar('[');
    for (int axis = 0; axis < ga_ndim(x); axis++)
        printf("%s%lld", axis > 0 ? ", " : "", (long long)ga_length(x, axis));
    putchar(']');
}

/* What the elements of an array become. */
typedef struct form {
    const elements *e;
    int precision;
    bool truths, pairs;
} form;

static void print_cell(const form *f, int64_t k)
{
    if (f->truths)
        fputs(f->e->cells[k].i ? "true" : "false", stdout);
    else if (f->e->kind == 'f' && !isfinite(f->e->cells[k].f))
        fputs("null", stdout);
    else
        elements_write(stdout, f->e, k, f->precision);
}

static void print_element(const form *f, int64_t k)
{
    if (!f->pairs) {
        print_cell(f, k);
        return;
    }
    putchar('[');
    print_cell(f, 2 * k);
    fputs(", ", stdout);
    print_cell(f, 2 * k + 1);
    putchar(']');
}

/* The list of an axis from cell k on; returns the cell after it. */
static int64_t print_nested(const form *f, const gpuarray *x, int axis, int64_t k)
{
    if (axis == ga_ndim(x)) {
        print_element(f, k);
        return k + 1;
    }
    putchar('[');
    for (int64_t i = 0; i < ga_length(x, axis); i++) {
        fputs(i > 0 ? ", " : "", stdout);
        k = print_nested(f, x, axis + 1, k);
    }
    putchar(']');
    return k;
}

bool json_array(const gpuarray *x, int precision)
{
    elements e;
    const ga_dtype dtype = ga_dtype_of(x);
    if (!elements_init(&e, x))
        return false;
    const form f = {&e, precision, ga_isdtype(dtype, "bool"),
                    ga_isdtype(dtype, "complex floating")};
    printf("{\"dtype\": \"%s\", \"shape\": ", ga_dtype_name(dtype));
    json_shape(x);
    fputs(", \"value\": ", stdout);
    print_nested(&f, x, 0, 0);
    fputs("}\n", stdout);
    elements_reset(&e);
    return true;
}
