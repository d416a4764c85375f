/* Sobol sequences: P. Bratley and B. L. Fox, "Algorithm 659" (1988), with Gray codes (I. A. Antonov
 * and V. M. Saleev, 1979).
 *
 * Point i is the sum, by exclusive or, of the direction numbers at the bits of i's Gray code, which
 * is a linear function of the bits of i. So a point is the sum of a row of a table for i's low bits
 * and one for its high bits: one exclusive or for each number of the result. */
#include <quarry/random.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "device/stream.h"
#include "kernels/elementwise.h"
#include "kernels/rng.h"
#include "model/dtype.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"

enum { BITS = 32, LOW_BITS = 8, LOW_ROWS = 1 << LOW_BITS, HIGH_BITS = 14 };

typedef struct packed {
    uint32_t polynomial_and_high; /* above HIGH_BITS bits */
    uint64_t low;
} packed;

static const packed table[] = {
#include "ops/random/sobol_numbers.h"
};
enum { MOST_DIMENSIONS = sizeof table / sizeof *table };

/* ---- Direction numbers ---- */

static int degree_of(uint32_t polynomial)
{
    int degree = 0;
    while (polynomial >> (degree + 1))
        degree++;
    return degree;
}

/* The first numbers, from their packed bits. */
static void unpack(const packed *d, int degree, uint32_t *number)
{
    uint64_t low = d->low, high = d->polynomial_and_high & ((1 << HIGH_BITS) - 1);
    for (int k = 0; k < degree; k++) {
        number[k] = ((uint32_t)low & (((uint32_t)1 << k) - 1)) << 1 | 1;
        low = k == 0 ? low : low >> k | high << (64 - k);
        high >>= k;
    }
}

/* The direction numbers of a dimension as fractions of 2^32. */
static void set_directions(int dimension, uint32_t v[BITS])
{
    const packed *d = &table[dimension];
    const uint32_t polynomial = d->polynomial_and_high >> HIGH_BITS;
    const int degree = dimension == 0 ? 0 : degree_of(polynomial);
    unpack(d, degree, v);
    for (int k = 0; k < BITS; k++) {
        if (k < degree) {
            v[k] <<= BITS - 1 - k;
            continue;
        }
        if (degree == 0) {
            v[k] = (uint32_t)1 << (BITS - 1 - k);
            continue;
        }
        v[k] = v[k - degree] ^ v[k - degree] >> degree;
        for (int j = 1; j < degree; j++)
            if (polynomial >> (degree - j) & 1)
                v[k] ^= v[k - j];
    }
}

/* ---- Scrambling ---- */

/* Multiplies each number by a random lower triangular matrix of bits with ones on its diagonal (J.
 * Matousek, "On the L2-discrepancy for anchored boxes", 1998), and returns the digital shift. The
 * bits are those of calls of a generator with this seed: 16 for the matrix and one for the shift.
 */
static uint32_t scramble(uint64_t seed, int dimension, uint32_t v[BITS])
{
    uint32_t made[BITS] = {0};
    uint64_t bits[2] = {0, 0};
    const uint64_t first = (uint64_t)dimension * (BITS / 2 + 1);
    for (int row = 0; row < BITS; row++) {
        if (row % 2 == 0)
            ga__rng_call_bits((ga_rng_state){seed, first + (uint64_t)row / 2}, bits);
        const uint32_t diagonal = (uint32_t)1 << (BITS - 1 - row);
        const uint32_t before = row == 0 ? 0 : UINT32_MAX << (BITS - row);
        const uint32_t matrix = ((uint32_t)bits[row % 2] & before) | diagonal;
        for (int k = 0; k < BITS; k++)
            if (__builtin_parity(matrix & v[k]))
                made[k] |= diagonal;
    }
    for (int k = 0; k < BITS; k++)
        v[k] = made[k];
    ga__rng_call_bits((ga_rng_state){seed, first + BITS / 2}, bits);
    return (uint32_t)bits[0];
}

/* A row for each bit, and the shifts: an array (33, dimensions). */
static gpuarray *make_directions(const ga_sobol_args *args, ga__device *device)
{
    const int64_t d = args->dimensions, shape[] = {BITS + 1, d};
    uint32_t v[BITS], *const rows = ga__malloc(sizeof *rows * (size_t)(d * (BITS + 1)));
    if (!rows)
        return NULL;
    for (int j = 0; j < d; j++) {
        set_directions(j, v);
        rows[BITS * d + j] = args->scrambled ? scramble(args->seed, j, v) : 0;
        for (int k = 0; k < BITS; k++)
            rows[k * d + j] = v[k];
    }
    gpuarray *made = ga__array_from("sobol", device, GA_UINT32, 2, shape, rows);
    ga__free(rows);
    return made;
}

/* ---- Points ---- */

/* The sums of the points (first + row) << shift, and of the shifts if these are the high bits. */
static gpuarray *make_sums(const gpuarray *directions, int64_t rows, int64_t first, int shift)
{
    static const ga__formula formula = {.id = GA__FORMULA_ID(11),
                                        .name = "sobol_sums",
                                        .body = "r = ga::sobol_sum(v, i, m, first, shift)",
                                        .uses_index = true};
    const int64_t d = directions->shape[1], shape[] = {rows, d};
    gpuarray *made = ga__array_new("sobol", directions->buffer->device, GA_UINT32, 2, shape);
    if (!made)
        return NULL;
    const ga__operand operands[] = {{.name = "r", .array = made, .type = GA_UINT32, .writes = true},
                                    {.name = "v",
                                     .array = directions,
                                     .type = GA_UINT32,
                                     .access = GA__ACCESSOR,
                                     .reads = true},
                                    ga__unsigned_operand("m", (uint64_t)d),
                                    ga__unsigned_operand("first", (uint64_t)first),
                                    ga__unsigned_operand("shift", (uint64_t)shift)};
    if (ga__elementwise(&formula, made->buffer->device, 2, shape, 5, operands) == GA_OK)
        return made;
    ga_free(made);
    return NULL;
}

/* Some rows of an array (rows, d) as (above, rows, d), for broadcasts. */
static gpuarray *rows_view(const gpuarray *x, int64_t row, int64_t above, int64_t rows, bool low,
                           bool high)
{
    const int64_t shape[] = {above, rows, x->shape[1]};
    const int64_t strides[] = {low ? 0 : x->strides[0] * (high ? 1 : rows),
                               high ? 0 : x->strides[0], x->strides[1]};
    return ga__array_view(x, x->dtype, 3, shape, strides, row * x->strides[0]);
}

/* The tables of a call, and the binary digits of a result. */
typedef struct sobol {
    gpuarray *out, *low, *high;
    int64_t skip;
    int digits;
} sobol;

/* `above` times `rows` points from one that begins `rows` low ones, or within them. */
static ga_status fill_points(const sobol *s, int64_t at, int64_t above, int64_t rows)
{
    static const ga__formula formula = {.id = GA__FORMULA_ID(22),
                                        .name = "sobol",
                                        .body = "r = (ga_v0)((a ^ b) >> drop) * (ga_v0)unit"};
    const int64_t point = s->skip + at, first_high = s->skip >> LOW_BITS;
    gpuarray *out = rows_view(s->out, at, above, rows, false, false);
    gpuarray *low =
        out ? rows_view(s->low, point & (LOW_ROWS - 1), above, rows, true, false) : NULL;
    gpuarray *high =
        low ? rows_view(s->high, (point >> LOW_BITS) - first_high, above, rows, false, true) : NULL;
    ga_status status = high ? GA_OK : ga_error();
    if (status == GA_OK) {
        const double unit = 1 / (double)((uint64_t)1 << s->digits);
        const ga__operand operands[] = {
            {.name = "r", .array = out, .type = s->out->dtype, .writes = true},
            {.name = "a", .array = low, .type = GA_UINT32, .reads = true},
            {.name = "b", .array = high, .type = GA_UINT32, .reads = true},
            ga__unsigned_operand("drop", (uint64_t)(BITS - s->digits)),
            {.name = "unit", .number = ga_value_double(unit), .type = GA_FLOAT64, .reads = true}};
        status = ga__elementwise(&formula, out->buffer->device, 3, out->shape, 5, operands);
    }
    ga_free(high);
    ga_free(low);
    ga_free(out);
    return status;
}

/* Whole runs of low bits, and what is before and after them. */
static ga_status fill_all(const sobol *s)
{
    const int64_t n = s->out->shape[0];
    ga_status status = GA_OK;
    for (int64_t at = 0; at < n && status == GA_OK;) {
        const int64_t within = (s->skip + at) & (LOW_ROWS - 1), left = n - at;
        const int64_t above = within == 0 ? left >> LOW_BITS : 0;
        const int64_t here = LOW_ROWS - within < left ? LOW_ROWS - within : left;
        status = above > 0 ? fill_points(s, at, above, LOW_ROWS) : fill_points(s, at, 1, here);
        at += above > 0 ? above << LOW_BITS : here;
    }
    return status;
}

static ga_status check(const ga_sobol_args *args)
{
    const int64_t most = (int64_t)1 << BITS;
    if (ga__dtype_kind(args->dtype) != 'f')
        return ga__fail(GA_ERR_DTYPE, "sobol: the dtype must be a float, not %s",
                        ga_dtype_name(args->dtype));
    if (args->dimensions < 1 || args->dimensions > MOST_DIMENSIONS)
        return ga__fail(GA_ERR_INVALID, "sobol: %d dimensions, expected 1 to %d", args->dimensions,
                        (int)MOST_DIMENSIONS);
    if (args->n < 0 || args->skip < 0 || args->n > most || args->skip > most - args->n)
        return ga__fail(GA_ERR_INVALID,
                        "sobol: %lld points after %lld skipped ones are not within the sequence of "
                        "2^32 points",
                        (long long)args->n, (long long)args->skip);
    return GA_OK;
}

gpuarray *(ga_sobol)(size_t size, const ga_sobol_args *args)
{
    GA__CALL("sobol");
    ga_sobol_args known;
    if (ga__options_read("sobol", &known, sizeof known, args, size) != GA_OK ||
        check(&known) != GA_OK)
        return NULL;
    const int64_t shape[] = {known.n, known.dimensions};
    const int digits = ga_finfo(known.dtype).nmant + 1;
    sobol s = {.out = ga__array_new("sobol", ga__current_device(), known.dtype, 2, shape),
               .skip = known.skip,
               .digits = digits < BITS ? digits : BITS};
    if (!s.out || s.out->size == 0)
        return s.out;
    const int64_t first = known.skip >> LOW_BITS, last = (known.skip + known.n - 1) >> LOW_BITS;
    gpuarray *directions = make_directions(&known, s.out->buffer->device);
    s.low = directions ? make_sums(directions, LOW_ROWS, 0, 0) : NULL;
    s.high = s.low ? make_sums(directions, last - first + 1, first, LOW_BITS) : NULL;
    const ga_status status = s.high ? fill_all(&s) : ga_error();
    ga_free(s.high);
    ga_free(s.low);
    ga_free(directions);
    if (status == GA_OK)
        return s.out;
    ga_free(s.out);
    return NULL;
}
