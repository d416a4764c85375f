/* Reads name=value arguments: numbers as numbers, all others as .npy files. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Numbers ---- */

static bool is_integer(const char *digits)
{
    if (digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X'))
        return digits[2] && strspn(digits + 2, "0123456789abcdefABCDEF") == strlen(digits + 2);
    return *digits && strspn(digits, "0123456789") == strlen(digits);
}

/* As in Python: digits with a point or an exponent; no hexadecimal fractions, no "inf". */
static bool is_float(const char *digits)
{
    char *end;

    if (strspn(digits, "0123456789.eE+-") != strlen(digits) || !strpbrk(digits, "0123456789"))
        return false;
    strtod(digits, &end);
    return *end == '\0' && strchr("0123456789.", *digits);
}

/* Whether the integer fits int64 or uint64. */
static bool read_integer(const char *digits, bool negative, ga_value *number)
{
    const int base = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X') ? 16 : 10;

    errno = 0;
    const uint64_t size = strtoull(digits, NULL, base);
    if (errno || (negative && size > (uint64_t)INT64_MAX + 1))
        return false;
    if (negative)
        *number = ga_value_signed(GA_INT64, size ? -(int64_t)(size - 1) - 1 : 0);
    else if (size <= INT64_MAX)
        *number = ga_value_signed(GA_INT64, (int64_t)size);
    else
        *number = ga_value_unsigned(GA_UINT64, size);
    return true;
}

typedef enum reading { READ, OUT_OF_RANGE, NO_NUMBER } reading;

static reading read_number(const char *text, ga_value *number)
{
    const bool negative = *text == '-';
    const char *digits = text + (*text == '-' || *text == '+');

    if (is_integer(digits))
        return read_integer(digits, negative, number) ? READ : OUT_OF_RANGE;
    if (!is_float(digits))
        return NO_NUMBER;
    *number = ga_value_double(negative ? -strtod(digits, NULL) : strtod(digits, NULL));
    return READ;
}

/* ---- Arguments ---- */

/* Splits a name=value and determines its kind, but opens nothing. */
static bool read_argument(arguments *a, const char *text)
{
    const char *equals = strchr(text, '='), *value = equals ? equals + 1 : text;
    const int k = a->count;

    if (!equals || equals == text || !*value)
        return complain_usage(&eval_command, "eval: \"%s\" is not name=file.npy or name=number",
                              text),
               false;
    for (int i = 0; i < k; i++)
        if (strncmp(a->names[i], text, (size_t)(equals - text)) == 0 && !a->names[i][equals - text])
            return complain("eval: %s is given twice", a->names[i]), false;
    const reading found = read_number(value, &a->named[k].value);
    if (found == OUT_OF_RANGE)
        return complain("eval: %s does not fit 64 bits", text), false;
    a->names[k] = strndup(text, (size_t)(equals - text));
    if (!a->names[k])
        return complain("eval: out of memory"), false;
    a->named[k].name = a->names[k];
    a->paths[k] = found == READ ? NULL : value;
    a->count++;
    return true;
}

bool arguments_init(arguments *a, int count, char **texts)
{
    const size_t room = (size_t)count + 1; /* calloc(0) may return NULL */

    *a = (arguments){0,
                     calloc(room, sizeof *a->named),
                     calloc(room, sizeof *a->names),
                     calloc(room, sizeof *a->paths),
                     calloc(room, sizeof *a->sources),
                     calloc(room, sizeof *a->arrays)};
    bool good = a->named && a->names && a->paths && a->sources && a->arrays;
    if (!good)
        complain("eval: out of memory");
    for (int k = 0; k < count && good; k++)
        good = read_argument(a, texts[k]);
    if (good)
        return true;
    arguments_reset(a);
    return false;
}

/* Opens the file, unless an earlier argument has opened it. Complains on failure. */
static bool open_file(arguments *a, int k)
{
    ga_value *value = &a->named[k].value;
    for (int i = 0; i < k; i++)
        if (a->paths[i] && strcmp(a->paths[i], a->paths[k]) == 0) {
            *value = a->named[i].value;
            return true;
        }
    if (strcmp(a->paths[k], "-") == 0 || has_suffix(a->paths[k], ".csv")) {
        a->arrays[k] = file_load("eval", a->paths[k]);
        *value = ga_value_array(a->arrays[k]);
        return a->arrays[k] != NULL;
    }
    a->sources[k] = ga_source_open(a->paths[k]);
    *value = ga_value_source(a->sources[k]);
    return a->sources[k] || (complain_error(), false);
}

bool arguments_open(arguments *a)
{
    for (int k = 0; k < a->count; k++) {
        if (!a->paths[k])
            continue;
        if (!open_file(a, k))
            return false;
    }
    return true;
}

void arguments_reset(arguments *a)
{
    for (int k = 0; k < a->count; k++) {
        ga_source_free(a->sources[k]);
        ga_free(a->arrays[k]);
        free(a->names[k]);
    }
    free(a->named);
    free(a->names);
    free(a->paths);
    free(a->sources);
    free(a->arrays);
}
