/* hypot and moduli of complex numbers, where parts of any two sizes meet: within their bound of
 * the exact value, with infinities, NaN, zeros and subnormal numbers, in vectors and beside them.
 */
#include <float.h>
#include <math.h>

#include <quarry.h>

#include "run.h"

enum { SIZES = 26, COUNT = 4 * SIZES * SIZES };

/* Parts about the sizes at which the host scales, and the ends of both ranges. */
static int parts_of(double *part, bool is_float)
{
    static const int powers[] = {60, 59, 61, -40, -39, -41, 500, 501, -400, -401, 70, -70, 0, 1};
    int n = 0;
    for (size_t k = 0; k < sizeof powers / sizeof *powers; k++)
        part[n++] = ldexp(k % 2 ? 1.0 : 1.4142135, powers[k]);
    part[n++] = is_float ? FLT_MAX : DBL_MAX;
    part[n++] = is_float ? 0x1p-149 : 0x1p-1074;
    part[n++] = is_float ? FLT_MIN : DBL_MIN;
    part[n++] = is_float ? 0x1.8p63 : 0x1.8p511;
    part[n++] = 0;
    part[n++] = 3;
    part[n++] = (double)INFINITY;
    part[n++] = NAN;
    return n;
}

static int pairs_of(double *a, double *b, bool is_float)
{
    double part[SIZES];
    const int n = parts_of(part, is_float);
    int count = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int signs = 0; signs < 4; signs++) {
                a[count] = signs & 1 ? -part[i] : part[i];
                b[count] = signs & 2 ? -part[j] : part[j];
                a[count] = is_float ? (float)a[count] : a[count];
                b[count] = is_float ? (float)b[count] : b[count];
                count++;
            }
    return count;
}

static void check_one(bool is_float, double a, double b, double got)
{
    const double wanted = is_float ? (float)hypot(a, b) : hypot(a, b);
    const double next =
        is_float ? (double)nextafterf((float)wanted, INFINITY) : nextafter(wanted, INFINITY);
    const bool same = isnan(wanted) ? isnan(got) : got == wanted;
    if (!same && !(fabs(got - wanted) <= 4 * (next - wanted)))
        fail_msg("%s hypot(%a, %a) = %a, wanted %a", is_float ? "float32" : "float64", a, b, got,
                 wanted);
}

static void check(bool is_float)
{
    static double a[COUNT], b[COUNT], got[2][COUNT];
    const int count = pairs_of(a, b, is_float);
    const ga_dtype dtype = is_float ? GA_FLOAT32 : GA_FLOAT64;
    GA_SCOPE {
        const gpuarray *x = ga_astype(ga_from_host(a, GA_FLOAT64, GA_SHAPE(count)), dtype);
        const gpuarray *y = ga_astype(ga_from_host(b, GA_FLOAT64, GA_SHAPE(count)), dtype);
        const size_t nbytes = (size_t)count * sizeof **got;
        gpuarray *z = ga_zeros(is_float ? GA_COMPLEX64 : GA_COMPLEX128, GA_SHAPE(count));
        ga_assign(ga_real(z), x);
        ga_assign(ga_imag(z), y);
        ga_to_host(ga_astype(ga_hypot(x, y), GA_FLOAT64), got[0], nbytes);
        ga_to_host(ga_astype(ga_absolute(z), GA_FLOAT64), got[1], nbytes);
        assert_int_equal(ga_error(), GA_OK);
    }
    for (int k = 0; k < count; k++) {
        check_one(is_float, a[k], b[k], got[0][k]);
        check_one(is_float, a[k], b[k], got[1][k]);
    }
}

static void float32_moduli_are_within_their_bound(void **state)
{
    (void)state;
    check(true);
}

static void float64_moduli_are_within_their_bound(void **state)
{
    (void)state;
    check(false);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float32_moduli_are_within_their_bound),
        cmocka_unit_test(float64_moduli_are_within_their_bound),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
