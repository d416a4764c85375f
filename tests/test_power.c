/* Powers: complex ones beside NumPy's, infinities too, and the same bits for every way to request
 * them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "golden.h"
#include "model/dtype.h"
#include "parallel.h"
#include "random.h"
#include "run.h"

/* ---- Complex powers ---- */

static void fetch(const golden_blob *b, const void *data, int64_t i, double *z)
{
    const ga_value v =
        ga__dtype_fetch(b->dtype, (const char *)data + (size_t)i * ga_dtype_size(b->dtype));
    z[0] = v.as.z[0], z[1] = v.as.z[1];
}

/* Where NumPy's power is infinite, so is ours, with the same parts where NumPy's parts are not
 * NaN. */
static bool keeps_infinity(const double *numpys, const double *got)
{
    if (isnan(numpys[0]) || isnan(numpys[1]))
        return isinf(got[0]) || isinf(got[1]);
    for (int part = 0; part < 2; part++) {
        const bool near = fabs(got[part] - numpys[part]) <= 1e-3 * fabs(numpys[part]);
        if (got[part] != numpys[part] && !near)
            return false;
    }
    return true;
}

/* The error of e ** (b ln a) grows with the exponent. */
static bool is_near(ga_dtype dtype, const double *exact, const double *got, const double *a,
                    const double *b)
{
    const double epsilon = dtype == GA_COMPLEX64 ? 0x1p-23 : 0x1p-52;
    const double smallest = dtype == GA_COMPLEX64 ? 0x1p-149 : 0x1p-1074;
    const double turn = fmin(fabs(log(hypot(a[0], a[1]))), 800) + 4;
    const double ulps = 8 + 4 * hypot(b[0], b[1]) * turn;
    return hypot(exact[0] - got[0], exact[1] - got[1]) <=
           ulps * (epsilon * hypot(exact[0], exact[1]) + smallest);
}

static void check_power(const golden_case *c, int64_t i, const void *data, const char *how)
{
    double a[2], b[2], numpys[2], exact[2], got[2];
    fetch(c->arg[0], c->arg[0]->data, i, a);
    fetch(c->arg[1], c->arg[1]->data, i, b);
    fetch(c->out[0], c->out[0]->data, i, numpys);
    fetch(c->out[1], c->out[1]->data, i, exact);
    fetch(c->out[0], data, i, got);
    const bool finite = isfinite(numpys[0]) && isfinite(numpys[1]);
    const bool infinite = isinf(numpys[0]) || isinf(numpys[1]);
    const bool decided = isfinite(exact[0]) && isfinite(exact[1]);
    if ((finite && decided && !is_near(c->out[0]->dtype, exact, got, a, b)) ||
        (infinite && !keeps_infinity(numpys, got)))
        fail_later("%s: %s (%g, %g) ** (%g, %g) is (%.17g, %.17g), not (%.17g, %.17g)", how,
                   ga_dtype_name(c->out[0]->dtype), a[0], a[1], b[0], b[1], got[0], got[1],
                   infinite ? numpys[0] : exact[0], infinite ? numpys[1] : exact[1]);
}

static void check_all(const golden_case *c, gpuarray *got, const char *how)
{
    void *data = malloc(ga_nbytes(got) + 1);
    assert_int_equal(ga_to_host(got, data, ga_nbytes(got)), GA_OK);
    for (int64_t i = 0; i < c->out[0]->size; i++)
        check_power(c, i, data, how);
    free(data);
}

static void complex_powers_keep_numpys_infinities(void **state)
{
    (void)state;
    golden_file *file = golden_open("power.bin");
    for (int k = 0; k < file->ncases; k++)
        GA_SCOPE {
            const golden_case *c = &file->cases[k];
            gpuarray *a = ga_from_host(c->arg[0]->data, c->arg[0]->dtype, 1, c->arg[0]->shape);
            gpuarray *b = ga_from_host(c->arg[1]->data, c->arg[1]->dtype, 1, c->arg[1]->shape);
            check_all(c, ga_power(a, b), "ga_power");
            check_all(c, ga_eval("a**b", GA(a), GA(b)), "a**b");
        }
    golden_close(file);
    assert_int_equal(failures(), 0);
}

/* ---- One power, requested in several ways ---- */

static const ga_dtype dtypes[] = {GA_INT32,   GA_UINT8,   GA_FLOAT16,   GA_BFLOAT16,
                                  GA_FLOAT32, GA_FLOAT64, GA_COMPLEX64, GA_COMPLEX128};

static gpuarray *bases_of(ga_dtype dtype, uint64_t *seed)
{
    enum { COUNT = 500 };
    double numbers[2 * COUNT] = {0.0, -0.0, INFINITY, -INFINITY, (double)NAN,
                                 1,   -1,   1e300,    1e38,      1e-30};
    const bool is_complex = ga__dtype_kind(dtype) == 'c';
    for (int k = 10; k < 2 * COUNT; k++)
        numbers[k] = random_real(seed) * pow(10, 4 * random_real(seed));
    gpuarray *x = ga_from_host(numbers, is_complex ? GA_COMPLEX128 : GA_FLOAT64, GA_SHAPE(COUNT));
    return ga_astype(x, dtype);
}

static bool same_element(ga_dtype dtype, const void *a, const void *b)
{
    const ga_value x = ga__dtype_fetch(dtype, a), y = ga__dtype_fetch(dtype, b);
    const char kind = ga__dtype_kind(dtype);
    if (kind != 'f' && kind != 'c')
        return x.as.i == y.as.i;
    for (int part = 0; part < 1 + (kind == 'c'); part++) {
        const double p = x.as.z[part], q = y.as.z[part];
        if (isnan(p) ? !isnan(q) : p != q || signbit(p) != signbit(q))
            return false;
    }
    return true;
}

static void compare(const gpuarray *x, const char *exponent, const gpuarray *a, const gpuarray *b,
                    const char *how)
{
    const ga_dtype dtype = ga_dtype_of(a);
    const size_t size = ga_dtype_size(dtype);
    assert_non_null(b);
    assert_int_equal(ga_dtype_of(b), dtype);
    char *p = malloc(ga_nbytes(a)), *q = malloc(ga_nbytes(b));
    assert_int_equal(ga_to_host(a, p, ga_nbytes(a)), GA_OK);
    assert_int_equal(ga_to_host(b, q, ga_nbytes(b)), GA_OK);
    for (int64_t i = 0; i < ga_size(a); i++)
        if (!same_element(dtype, p + (size_t)i * size, q + (size_t)i * size)) {
            char why[300];
            golden_difference(why, sizeof why, dtype, i, q + (size_t)i * size,
                              p + (size_t)i * size);
            fail_later("%s ** %s, %s beside ga_power: %s", ga_dtype_name(ga_dtype_of(x)), exponent,
                       how, why);
            break;
        }
    free(p);
    free(q);
}

static void check_exponent(const gpuarray *x, const char *exponent)
{
    char text[40];
    const bool is_float = strchr(exponent, '.') != NULL;
    const ga_value number =
        is_float ? ga_value_double(atof(exponent)) : ga_value_int(atoi(exponent));
    gpuarray *eager = ga_power(x, number);
    snprintf(text, sizeof text, "x**%s", exponent);
    compare(x, exponent, eager, ga_eval(text, GA(x)), text);
    snprintf(text, sizeof text, "power(x, %s)", exponent);
    compare(x, exponent, eager, ga_eval(text, GA(x)), text);
    compare(x, exponent, eager, ga_eval("x**p", GA(x), GA_NAMED("p", number)), "x**p");
    gpuarray *p = (ga_full)(ga_dtype_of(x), GA_SHAPE(ga_size(x)), number);
    if (!is_float)
        compare(x, exponent, eager, ga_power(x, p), "an array of exponents");
    if (!is_float && atoi(exponent) == 2)
        compare(x, exponent, eager, ga_square(x), "ga_square");
}

static void every_way_gives_the_same_bits(void **state)
{
    static const char *const exponents[] = {"2", "3", "4", "5", "2.0", "3.0", "0.5", "1.5", "1"};
    uint64_t seed = 20261122;
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++)
            GA_SCOPE {
                const gpuarray *bases = bases_of(dtypes[d], &seed);
                if (in_short_sample("bases", (int)d, sizeof dtypes / sizeof *dtypes))
                    check_exponent(bases, exponents[k]);
            }
    assert_int_equal(ga_error(), GA_OK);
    assert_int_equal(failures(), 0);
}

/* Each product is rounded, so a number times its conjugate has no imaginary part. */
static void a_product_of_conjugates_is_real(void **state)
{
    uint64_t seed = 5;
    (void)state;
    GA_SCOPE {
        gpuarray *z = ga_slice(bases_of(GA_COMPLEX128, &seed), "10:");
        assert_int_equal(ga_item_int64(ga_count_nonzero(ga_imag(ga_multiply(z, ga_conj(z))))), 0);
        assert_int_equal(ga_item_int64(ga_eval("count_nonzero((z*conj(z)) - (conj(z)*z))", GA(z))),
                         0);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complex_powers_keep_numpys_infinities),
        cmocka_unit_test(every_way_gives_the_same_bits),
        cmocka_unit_test(a_product_of_conjugates_is_real),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
