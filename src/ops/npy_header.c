/* The headers of .npy files: Python dict literals with the dtype, order and shape. */
#include "ops/npy_header.h"

#include <stdio.h>
#include <string.h>

#include <quarry/struct.h>

#include "base/error.h"
#include "model/structs.h"

#define HEADER_ALIGNMENT ((size_t)64)
/* NumPy reserves space for the first length to grow to this many characters. */
#define GROWTH_DIGITS 21
#define DESCR_SIZE 64

/* ---- Reading ---- */

/* The text and the current position in it. */
typedef struct reader {
    const char *path;
    const char *text, *at, *end;
} reader;

static ga_status fail_header(const reader *r, const char *expected)
{
    return ga__fail(GA_ERR_FORMAT, "load: %s: %s expected at byte %lld of the header", r->path,
                    expected, (long long)(r->at - r->text));
}

static void skip_blanks(reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n\f", *r->at) && *r->at)
        r->at++;
}

static bool take(reader *r, const char *word)
{
    const size_t length = strlen(word);

    skip_blanks(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* Reads a string without escapes: no key and no supported descr needs any. */
static ga_status read_string(reader *r, char *string, size_t room)
{
    skip_blanks(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
        return fail_header(r, "a string");
    const char quote = *r->at++;
    size_t length = 0;
    for (; r->at < r->end && *r->at != quote; r->at++) {
        if (*r->at == '\\' || *r->at == '\n' || *r->at == '\0' || length + 1 == room)
            return fail_header(r, "the end of the string");
        string[length++] = *r->at;
    }
    if (r->at == r->end)
        return fail_header(r, "the end of the string");
    r->at++;
    string[length] = '\0';
    return GA_OK;
}

static ga_status read_boolean(reader *r, bool *value)
{
    *value = take(r, "True");
    return *value || take(r, "False") ? GA_OK : fail_header(r, "True or False");
}

static ga_status read_length(reader *r, int64_t *length)
{
    int64_t value = 0;

    skip_blanks(r);
    if (r->at == r->end || *r->at < '0' || *r->at > '9')
        return fail_header(r, "a length");
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        const int digit = *r->at - '0';
        if (value > (INT64_MAX - digit) / 10)
            return ga__fail(GA_ERR_FORMAT, "load: %s: a length of the shape exceeds 2^63 - 1",
                            r->path);
        value = value * 10 + digit;
    }
    if (r->at < r->end && *r->at == 'L') /* as Python 2 wrote it */
        r->at++;
    *length = value;
    return GA_OK;
}

/* "()", "(3,)", "(3, 4)" or "(3, 4,)". */
static ga_status read_shape(reader *r, ga__npy_header *h)
{
    bool comma = true;

    if (!take(r, "("))
        return fail_header(r, "'('");
    h->ndim = 0;
    while (!take(r, ")")) {
        if (!comma)
            return fail_header(r, "',' or ')'");
        if (h->ndim == GA_MAX_NDIM)
            return ga__fail(GA_ERR_FORMAT, "load: %s: more than %d dimensions", r->path,
                            GA_MAX_NDIM);
        const ga_status status = read_length(r, &h->shape[h->ndim]);
        if (status != GA_OK)
            return status;
        h->ndim++;
        comma = take(r, ",");
    }
    if (h->ndim == 1 && !comma)
        return fail_header(r, "the ',' of a 1-tuple, as in (3,),");
    return GA_OK;
}

/* ---- Structured dtypes ---- */

#define MOST_NESTED 16 /* lists within each other */

static ga_status read_fields(reader *r, int depth, int64_t *nbytes);

static ga_status fail_member(const reader *r, const char *descr)
{
    return ga__fail(GA_ERR_FORMAT, "load: %s: descr '%s' of a struct's member is not supported",
                    r->path, descr);
}

/* The bytes of a member: a dtype of ours in this machine's order, or bytes, "|V4" or "|S4". */
static ga_status member_bytes(const reader *r, const char *descr, int64_t *nbytes)
{
    bool swapped = false;
    int size = 0, length = 0;
    const ga_dtype dtype = ga__dtype_from_npy(descr, &swapped);

    if (dtype != GA_NO_DTYPE && !swapped) {
        *nbytes = (int64_t)ga__dtype_size(dtype);
        return GA_OK;
    }
    const bool bytes = descr[0] == '|' && (descr[1] == 'V' || descr[1] == 'S') &&
                       sscanf(descr + 2, "%9d%n", &size, &length) == 1 && !descr[2 + length];
    *nbytes = size;
    return bytes && size >= 0 ? GA_OK : fail_member(r, descr);
}

/* "(2, 3)" or "3" after a comma: the member is an array of that shape. */
static ga_status read_counts(reader *r, int64_t *nbytes)
{
    const bool tuple = take(r, "(");
    bool comma = true;

    do {
        int64_t length;
        if (tuple && take(r, ")"))
            return GA_OK;
        if (!comma)
            return fail_header(r, "',' or ')'");
        const ga_status status = read_length(r, &length);
        if (status != GA_OK)
            return status;
        if (__builtin_mul_overflow(*nbytes, length, nbytes) || *nbytes > INT32_MAX)
            return ga__fail(GA_ERR_FORMAT, "load: %s: a struct of more than %d bytes", r->path,
                            INT32_MAX);
        comma = tuple && take(r, ",");
    } while (tuple);
    return GA_OK;
}

/* "('x', '<f4')", "('x', '<f4', (3,))"; the name may be a title and a name. */
static ga_status read_field(reader *r, int depth, int64_t *nbytes)
{
    char text[DESCR_SIZE];
    if (!take(r, "("))
        return fail_header(r, "'('");
    const bool titled = take(r, "(");
    ga_status status = read_string(r, text, sizeof text);

    if (status == GA_OK && titled)
        status = take(r, ",") ? read_string(r, text, sizeof text) : fail_header(r, "','");
    if (status == GA_OK && titled && !take(r, ")"))
        status = fail_header(r, "')'");
    if (status == GA_OK && !take(r, ","))
        status = fail_header(r, "','");
    if (status != GA_OK)
        return status;
    if (take(r, "["))
        status = read_fields(r, depth + 1, nbytes);
    else if ((status = read_string(r, text, sizeof text)) == GA_OK)
        status = member_bytes(r, text, nbytes);
    if (status == GA_OK && take(r, ",")) {
        if (take(r, ")"))
            return GA_OK;
        status = read_counts(r, nbytes);
    }
    return status != GA_OK ? status : take(r, ")") ? GA_OK : fail_header(r, "')'");
}

/* The fields after "[", up to "]"; the sum of their bytes. */
static ga_status read_fields(reader *r, int depth, int64_t *nbytes)
{
    int64_t sum = 0, bytes = 0;
    bool comma = true;

    if (depth > MOST_NESTED)
        return fail_header(r, "a shallower struct");
    while (!take(r, "]")) {
        if (!comma)
            return fail_header(r, "',' or ']'");
        const ga_status status = read_field(r, depth, &bytes);
        if (status != GA_OK)
            return status;
        sum += bytes;
        if (sum > INT32_MAX)
            return ga__fail(GA_ERR_FORMAT, "load: %s: a struct of more than %d bytes", r->path,
                            INT32_MAX);
        comma = take(r, ",");
    }
    *nbytes = sum;
    return GA_OK;
}

/* A struct is its bytes: its dtype is "V12". */
static ga_status set_bytes(const reader *r, ga__npy_header *h, int64_t nbytes)
{
    if (nbytes < 1 || nbytes > GA_MAX_STRUCT_BYTES)
        return ga__fail(GA_ERR_FORMAT, "load: %s: a struct of %lld bytes, not 1 to %d", r->path,
                        (long long)nbytes, GA_MAX_STRUCT_BYTES);
    h->dtype = ga__bytes_dtype((size_t)nbytes);
    h->swapped = false;
    return h->dtype == GA_NO_DTYPE ? ga_error() : GA_OK;
}

static ga_status read_struct(reader *r, ga__npy_header *h)
{
    int64_t nbytes = 0;
    const ga_status status = read_fields(r, 1, &nbytes);

    return status == GA_OK ? set_bytes(r, h, nbytes) : status;
}

static ga_status read_descr(reader *r, ga__npy_header *h)
{
    char descr[DESCR_SIZE];

    skip_blanks(r);
    if (take(r, "["))
        return read_struct(r, h);
    const ga_status status = read_string(r, descr, sizeof descr);
    if (status != GA_OK)
        return status;
    int nbytes = 0, length = 0;
    h->dtype = ga__dtype_from_npy(descr, &h->swapped);
    if (h->dtype == GA_NO_DTYPE && sscanf(descr, "|V%9d%n", &nbytes, &length) == 1 &&
        !descr[length])
        return set_bytes(r, h, nbytes);
    if (h->dtype == GA_NO_DTYPE)
        return ga__fail(GA_ERR_FORMAT, "load: %s: descr '%s' is not a supported dtype", r->path,
                        descr);
    return GA_OK;
}

enum { HAS_DESCR = 1, HAS_FORTRAN = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static int key_bit(const char *key)
{
    return strcmp(key, "descr") == 0           ? HAS_DESCR
           : strcmp(key, "fortran_order") == 0 ? HAS_FORTRAN
           : strcmp(key, "shape") == 0         ? HAS_SHAPE
                                               : 0;
}

static ga_status read_entry(reader *r, ga__npy_header *h, int *seen)
{
    char key[DESCR_SIZE];
    const ga_status status = read_string(r, key, sizeof key);

    if (status != GA_OK)
        return status;
    const int bit = key_bit(key);
    if (bit == 0 || (*seen & bit))
        return ga__fail(GA_ERR_FORMAT, "load: %s: the header has the key '%s'%s", r->path, key,
                        bit ? " twice" : "");
    *seen |= bit;
    if (!take(r, ":"))
        return fail_header(r, "':'");
    return bit == HAS_DESCR     ? read_descr(r, h)
           : bit == HAS_FORTRAN ? read_boolean(r, &h->fortran)
                                : read_shape(r, h);
}

static ga_status read_dict(reader *r, ga__npy_header *h)
{
    bool comma = true;
    int seen = 0;

    if (!take(r, "{"))
        return fail_header(r, "'{'");
    while (!take(r, "}")) {
        if (!comma)
            return fail_header(r, "',' or '}'");
        const ga_status status = read_entry(r, h, &seen);
        if (status != GA_OK)
            return status;
        comma = take(r, ",");
    }
    if (seen != HAS_ALL)
        return ga__fail(GA_ERR_FORMAT, "load: %s: the header lacks '%s'", r->path,
                        !(seen & HAS_DESCR)     ? "descr"
                        : !(seen & HAS_FORTRAN) ? "fortran_order"
                                                : "shape");
    skip_blanks(r);
    return r->at == r->end ? GA_OK : fail_header(r, "the end");
}

ga_status ga__npy_parse(ga__npy_header *header, const char *path, const char *text, size_t length)
{
    reader r = {path, text, text, text + length};

    return read_dict(&r, header);
}

/* ---- Writing ---- */

void ga__npy_add_header(ga__strbuf *text, ga_dtype dtype, int ndim, const int64_t *shape)
{
    const size_t start = GA__NPY_MAGIC_SIZE + 4;
    ga__strbuf dict = GA__STRBUF_INIT;
    char first[32];

    ga__strbuf_addf(&dict,
                    "{'descr': '%s', 'fortran_order': False, 'shape': ", ga__dtype_npy(dtype));
    ga__strbuf_add_shape(&dict, ndim, shape);
    ga__strbuf_add(&dict, ", }");
    if (ndim > 0) {
        const int digits = snprintf(first, sizeof first, "%lld", (long long)shape[0]);
        ga__strbuf_addf(&dict, "%*s", GROWTH_DIGITS - digits, "");
    }
    const size_t padding = HEADER_ALIGNMENT - (start + dict.length + 1) % HEADER_ALIGNMENT;
    const size_t length = dict.length + padding + 1;
    const unsigned char count[4] = {1, 0, (unsigned char)(length & 255),
                                    (unsigned char)(length >> 8)};
    ga__strbuf_add_bytes(text, GA__NPY_MAGIC, GA__NPY_MAGIC_SIZE);
    ga__strbuf_add_bytes(text, count, sizeof count);
    ga__strbuf_add_bytes(text, dict.text, dict.length);
    ga__strbuf_addf(text, "%*s\n", (int)padding, "");
    text->failed = text->failed || dict.failed;
    ga__strbuf_reset(&dict);
}
