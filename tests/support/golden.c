/* Golden files: reading NumPy's answers, comparing results with them. */
#include "golden.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "files.h"
#include "model/dtype.h"
#include "model/layout.h"
#include "parallel.h"

/* ---- Reading ---- */

typedef struct reader {
    const unsigned char *at, *end;
} reader;

static void die(const char *text, const char *detail)
{
    fprintf(stderr, "golden: %s %s\n", text, detail);
    exit(1);
}

static const unsigned char *take(reader *r, size_t nbytes)
{
    if ((size_t)(r->end - r->at) < nbytes)
        die("file is cut short", "");
    const unsigned char *at = r->at;
    r->at += nbytes;
    return at;
}

static int take_u8(reader *r)
{
    return *take(r, 1);
}

static uint32_t take_u32(reader *r)
{
    uint32_t value;
    memcpy(&value, take(r, 4), 4);
    return value;
}

static void read_blob(reader *r, golden_blob *blob)
{
    blob->dtype = (ga_dtype)take_u8(r);
    blob->ndim = take_u8(r);
    take(r, 2);
    blob->size = 1;
    for (int i = 0; i < blob->ndim; i++) {
        memcpy(&blob->shape[i], take(r, 8), 8);
        blob->size *= blob->shape[i];
    }
    const size_t nbytes = (size_t)blob->size * ga_dtype_size(blob->dtype);
    unsigned char *data = malloc(nbytes + 1); /* the file's own bytes are not aligned */
    if (!data)
        die("no memory", "");
    blob->data = memcpy(data, take(r, nbytes), nbytes);
}

static void read_argument(reader *r, const golden_file *file, golden_case *c, int k)
{
    uint32_t blob = take_u32(r);
    if (blob != UINT32_MAX) {
        c->arg[k] = &file->blobs[blob];
        return;
    }
    c->number[k].kind = GA_VALUE_NUMBER;
    c->number[k].dtype = (ga_dtype)take_u8(r);
    memcpy(&c->number[k].as, take(r, 16), 16);
}

static void read_case(reader *r, const golden_file *file, golden_case *c)
{
    int length = take_u8(r);
    memcpy(c->name, take(r, (size_t)length), (size_t)length);
    c->nargs = take_u8(r);
    c->nouts = take_u8(r);
    c->flags = (unsigned)take_u8(r);
    c->dtype = (ga_dtype)take_u8(r);
    c->ddof = (int)take_u32(r);
    c->naxes = (signed char)take_u8(r);
    for (int i = 0; i < c->naxes; i++)
        c->axes[i] = (signed char)take_u8(r);
    memcpy(&c->tolerance, take(r, 4), 4);
    for (int i = 0; i < c->nargs; i++)
        read_argument(r, file, c, i);
    for (int i = 0; i < c->nouts; i++)
        c->out[i] = &file->blobs[take_u32(r)];
}

golden_file *golden_open(const char *name)
{
    const char *path = golden_path(name);
    size_t nbytes;
    golden_file *file = calloc(1, sizeof *file);
    if (!file)
        die("no memory for", name);
    file->memory = (unsigned char *)read_bytes(path, &nbytes);
    reader r = {file->memory, file->memory + nbytes};
    if (memcmp(take(&r, 8), "QGOLD1\n", 8) != 0)
        die("not a golden file:", path);
    file->nblobs = (int)take_u32(&r);
    file->ncases = (int)take_u32(&r);
    file->blobs = calloc((size_t)file->nblobs, sizeof *file->blobs);
    file->cases = calloc((size_t)file->ncases, sizeof *file->cases);
    if (!file->blobs || !file->cases)
        die("no memory for", name);
    for (int i = 0; i < file->nblobs; i++)
        read_blob(&r, &file->blobs[i]);
    for (int i = 0; i < file->ncases; i++)
        read_case(&r, file, &file->cases[i]);
    return file;
}

void golden_close(golden_file *file)
{
    for (int i = 0; i < file->nblobs; i++)
        free((void *)file->blobs[i].data);
    free(file->blobs);
    free(file->cases);
    free(file->memory);
    free(file);
}

/* ---- Comparing ---- */

/* Floats as integers in the order of the numbers; both zeros are 0. */
static int64_t ordered(const unsigned char *element, size_t nbytes)
{
    uint64_t bits = 0;
    memcpy(&bits, element, nbytes);
    uint64_t sign = (uint64_t)1 << (8 * nbytes - 1);
    return bits & sign ? -(int64_t)(bits & (sign - 1)) : (int64_t)bits;
}

static double part(ga_dtype real, const unsigned char *element)
{
    return ga__dtype_fetch(real, element).as.z[0];
}

static bool parts_match(const golden_case *c, ga_dtype real, const unsigned char *want,
                        const unsigned char *got, double tolerance)
{
    double w = part(real, want), g = part(real, got);
    if (isnan(w) || isnan(g))
        return isnan(w) && isnan(g);
    if (w == 0 && g == 0)
        return (c->flags & GOLDEN_LOOSE_ZERO) || signbit(w) == signbit(g);
    size_t nbytes = ga_dtype_size(real);
    return fabs((double)ordered(want, nbytes) - (double)ordered(got, nbytes)) <= tolerance;
}

static bool both_parts_match(const golden_case *c, ga_dtype real, const unsigned char *want,
                             const unsigned char *got, double tolerance)
{
    size_t half = ga_dtype_size(real);
    return parts_match(c, real, want, got, tolerance) &&
           parts_match(c, real, want + half, got + half, tolerance);
}

/* Complex numbers: special values part by part, finite ones by the distance over the modulus. */
static bool normwise_match(const golden_case *c, ga_dtype real, const unsigned char *want,
                           const unsigned char *got)
{
    size_t half = ga_dtype_size(real);
    double wr = part(real, want), wi = part(real, want + half);
    double gr = part(real, got), gi = part(real, got + half);
    double epsilon = half == 4 ? 0x1p-23 : 0x1p-52, smallest = half == 4 ? 0x1p-149 : 0x1p-1074;
    if (isfinite(wr) && isfinite(wi) && isfinite(gr) && isfinite(gi))
        return hypot(wr - gr, wi - gi) <= c->tolerance * (epsilon * hypot(wr, wi) + smallest);
    if (c->flags & GOLDEN_LOOSE_INF) {
        bool infinite = isinf(wr) || isinf(wi);
        bool found = isinf(gr) || isinf(gi);
        return infinite == found && (infinite || isnan(gr) || isnan(gi));
    }
    if ((isinf(wr) && isnan(wi)) || (isnan(wr) && isinf(wi))) /* C99 leaves the sign unspecified */
        return isnan(gr) == isnan(wr) && isnan(gi) == isnan(wi) && (isinf(gr) || isinf(gi));
    return both_parts_match(c, real, want, got, 0x1p20);
}

/* The smallest of several complex numbers with a NaN depends on the order of comparison. */
static bool both_have_nan(const golden_case *c, ga_dtype real, const unsigned char *want,
                          const unsigned char *got)
{
    size_t half = ga_dtype_size(real);
    if (strcmp(c->name, "min") != 0 && strcmp(c->name, "max") != 0)
        return false;
    return (isnan(part(real, want)) || isnan(part(real, want + half))) &&
           (isnan(part(real, got)) || isnan(part(real, got + half)));
}

static bool element_matches(const golden_case *c, ga_dtype dtype, const unsigned char *want,
                            const unsigned char *got)
{
    char kind = ga__dtype_kind(dtype);
    ga_dtype real = ga__dtype_real(dtype);
    if (kind == 'f')
        return parts_match(c, dtype, want, got, c->tolerance);
    if (kind == 'c' && (c->flags & GOLDEN_NORMWISE))
        return normwise_match(c, real, want, got);
    if (kind == 'c')
        return both_have_nan(c, real, want, got) ||
               both_parts_match(c, real, want, got, c->tolerance);
    return memcmp(want, got, ga_dtype_size(dtype)) == 0;
}

/* Reductions: the distance is at most `bound`; special values match exactly. */
static bool bounded_match(ga_dtype dtype, const unsigned char *want, const unsigned char *got,
                          double bound)
{
    double distance = 0;
    ga_dtype real = ga__dtype_real(dtype);
    for (size_t k = 0; k < ga_dtype_size(dtype) / ga_dtype_size(real); k++) {
        double w = part(real, want + k * ga_dtype_size(real));
        double g = part(real, got + k * ga_dtype_size(real));
        if (isnan(w) != isnan(g) || (isinf(w) || isinf(g) ? w != g : false))
            return false;
        if (!isnan(w) && !isinf(w))
            distance = hypot(distance, w - g);
    }
    return distance <= bound;
}

static void print_element(ga_dtype dtype, const unsigned char *element, char *text, size_t nbytes)
{
    ga_value v = ga__dtype_fetch(dtype, element);
    char kind = ga__dtype_kind(dtype);
    if (kind == 'c')
        snprintf(text, nbytes, "(%.17g, %.17g)", v.as.z[0], v.as.z[1]);
    else if (kind == 'f')
        snprintf(text, nbytes, "%.17g", v.as.z[0]);
    else
        snprintf(text, nbytes, kind == 'u' ? "%llu" : "%lld", (unsigned long long)v.as.u);
}

int golden_difference(char *text, size_t nbytes, ga_dtype dtype, int64_t i, const void *found,
                      const void *wanted)
{
    char is[80], was[80];
    print_element(dtype, found, is, sizeof is);
    print_element(dtype, wanted, was, sizeof was);
    return snprintf(text, nbytes, "element %lld is %s, wanted %s", (long long)i, is, was);
}

void assert_elements(ga_dtype dtype, int64_t count, const void *found, const void *wanted)
{
    const size_t size = ga_dtype_size(dtype);
    const char *f = found, *w = wanted;
    char text[200];
    for (int64_t i = 0; i < count; i++, f += size, w += size)
        if (memcmp(f, w, size) != 0) {
            golden_difference(text, sizeof text, dtype, i, f, w);
            fail_msg("%s", text);
        }
}

/* Compares like ==: a NaN equals nothing, and -0 equals 0. */
static bool equal_numbers(ga_dtype dtype, const unsigned char *a, const unsigned char *b)
{
    const char kind = ga__dtype_kind(dtype);
    const ga_dtype real = ga__dtype_real(dtype);
    const size_t nbytes = ga_dtype_size(dtype);
    if (kind != 'f' && kind != 'c')
        return memcmp(a, b, nbytes) == 0;
    for (size_t k = 0; k < nbytes; k += ga_dtype_size(real))
        if (!(part(real, a + k) == part(real, b + k)))
            return false;
    return true;
}

static bool equal_elements(ga_dtype dtype, int64_t count, const unsigned char *found,
                           const unsigned char *wanted, char *why, size_t why_bytes)
{
    const size_t size = ga_dtype_size(dtype);
    for (int64_t i = 0; i < count; i++, found += size, wanted += size)
        if (!equal_numbers(dtype, found, wanted)) {
            golden_difference(why, why_bytes, dtype, i, found, wanted);
            return false;
        }
    return true;
}

bool equal_arrays(const gpuarray *found, const gpuarray *wanted, char *why, size_t why_bytes)
{
    snprintf(why, why_bytes, "failed: %s", ga_error_message());
    if (!found || !wanted)
        return false;
    if (ga_dtype_of(found) != ga_dtype_of(wanted) ||
        !ga__same_shape(ga_ndim(found), ga_shape(found), ga_ndim(wanted), ga_shape(wanted))) {
        snprintf(why, why_bytes, "%s %s, wanted %s %s", ga_dtype_name(ga_dtype_of(found)),
                 ga__shape_text(ga_ndim(found), ga_shape(found)),
                 ga_dtype_name(ga_dtype_of(wanted)),
                 ga__shape_text(ga_ndim(wanted), ga_shape(wanted)));
        return false;
    }
    const size_t nbytes = ga_nbytes(found);
    unsigned char *f = malloc(nbytes + 1), *w = malloc(nbytes + 1);
    const bool read =
        f && w && ga_to_host(found, f, nbytes) == GA_OK && ga_to_host(wanted, w, nbytes) == GA_OK;
    const bool equal =
        read && equal_elements(ga_dtype_of(found), ga_size(found), f, w, why, why_bytes);
    free(f);
    free(w);
    return equal;
}

void assert_arrays_equal(const gpuarray *found, const gpuarray *wanted)
{
    char why[300];
    if (!equal_arrays(found, wanted, why, sizeof why))
        fail_msg("%s", why);
}

static void explain(const golden_case *c, const golden_blob *want, int64_t i,
                    const unsigned char *got, char *why, size_t why_bytes)
{
    const unsigned char *wanted = want->data + (size_t)i * ga_dtype_size(want->dtype);
    int used = golden_difference(why, why_bytes, want->dtype, i, got, wanted);
    if (c->nargs > 0 && (size_t)used < why_bytes)
        used += snprintf(why + used, why_bytes - (size_t)used, "; of");
    for (int k = 0; k < c->nargs && used > 0 && (size_t)used < why_bytes; k++) {
        char text[80] = "a number";
        const golden_blob *arg = c->arg[k];
        if (arg && arg->size == want->size)
            print_element(arg->dtype, arg->data + (size_t)i * ga_dtype_size(arg->dtype), text,
                          sizeof text);
        used += snprintf(why + used, why_bytes - (size_t)used, " %s", text);
    }
}

bool golden_matches(const golden_case *c, const golden_blob *want, const void *got, int copies,
                    char *why, size_t why_bytes)
{
    size_t size = ga_dtype_size(want->dtype);
    bool bounded = c->flags & GOLDEN_BOUNDED;
    for (int64_t i = 0; i < want->size * copies; i++) {
        int64_t k = i % want->size;
        const unsigned char *w = want->data + (size_t)k * size;
        const unsigned char *g = (const unsigned char *)got + (size_t)i * size;
        double bound = 0;
        if (bounded)
            memcpy(&bound, c->out[c->nouts - 1]->data + 8 * k, 8);
        if (bounded ? bounded_match(want->dtype, w, g, bound)
                    : element_matches(c, want->dtype, w, g))
            continue;
        explain(c, want, k, g, why, why_bytes);
        return false;
    }
    return true;
}

static bool shape_matches(const golden_blob *want, const gpuarray *got, int copies)
{
    int extra = copies > 1;
    if (copies > 1 && ga_ndim(got) > 0 && ga_shape(got)[0] != copies)
        return false;
    int64_t size = 1;
    for (int i = 0; i < ga_ndim(got); i++)
        size *= ga_shape(got)[i];
    return ga_ndim(got) >= extra && size == want->size * copies;
}

bool golden_result(const golden_case *c, const golden_blob *want, const gpuarray *got, int copies,
                   char *why, size_t why_bytes)
{
    if (!got) {
        snprintf(why, why_bytes, "failed: %s", ga_error_message());
        return false;
    }
    if (ga_dtype_of(got) != want->dtype) {
        snprintf(why, why_bytes, "dtype is %s, wanted %s", ga_dtype_name(ga_dtype_of(got)),
                 ga_dtype_name(want->dtype));
        return false;
    }
    if (!shape_matches(want, got, copies)) {
        snprintf(why, why_bytes, "size is %lld, wanted %lld", (long long)ga_size(got),
                 (long long)want->size * copies);
        return false;
    }
    void *host = malloc(ga_nbytes(got) + 1);
    bool same = host && ga_to_host(got, host, ga_nbytes(got)) == GA_OK;
    if (!same)
        snprintf(why, why_bytes, "ga_to_host: %s", ga_error_message());
    same = same && golden_matches(c, want, host, copies, why, why_bytes);
    free(host);
    return same;
}

enum { CALL_BYTES = 256 };

static const char *write_call(const golden_case *c, bool values, char text[CALL_BYTES])
{
    int used = snprintf(text, CALL_BYTES, "%s(", c->name);
    for (int k = 0; k < c->nargs && used < CALL_BYTES; k++) {
        const size_t room = CALL_BYTES - (size_t)used;
        const char *comma = k ? ", " : "";
        if (c->arg[k])
            used += snprintf(text + used, room, "%s%s", comma, ga_dtype_name(c->arg[k]->dtype));
        else if (values)
            used +=
                snprintf(text + used, room, "%snumber %g", comma, ga__number_double(c->number[k]));
        else
            used += snprintf(text + used, room, "%snumber", comma);
    }
    if (used < CALL_BYTES)
        snprintf(text + used, CALL_BYTES - (size_t)used, ")");
    return text;
}

const char *golden_call(const golden_case *c)
{
    static _Thread_local char text[CALL_BYTES];
    return write_call(c, true, text);
}

const char *golden_row(const golden_case *c)
{
    static _Thread_local char text[2 * CALL_BYTES + 3];
    char family[CALL_BYTES];
    snprintf(text, sizeof text, "%s; %s", write_call(c, false, family), golden_call(c));
    return text;
}

gpuarray *golden_array(const golden_blob *blob)
{
    return ga_from_host(blob->data, blob->dtype, blob->ndim, blob->shape);
}

void golden_refuses(const golden_case *c, const char *text, const gpuarray *got)
{
    if (got)
        fail_later("%s gives %s, wanted an error", text, ga_dtype_name(ga_dtype_of(got)));
    else if (ga_error() == GA_OK || strncmp(ga_error_message(), c->name, strlen(c->name)) != 0)
        fail_later("%s: %s: %s", text, ga_status_name(ga_error()), ga_error_message());
    ga_clear_error();
}
