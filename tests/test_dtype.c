/* Tests of the dtype table, its names, and numbers to and from elements. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

#include <quarry.h>

#include "model/dtype.h"
#include "run.h"

static uint64_t random_state = 1;

static uint64_t next_bits(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return random_state ^ random_state >> 29;
}

/* ---- The table ---- */

static void dtypes_have_names_sizes_and_kinds(void **state)
{
    (void)state;
    assert_string_equal(ga_dtype_name(GA_FLOAT32), "float32");
    assert_string_equal(ga_dtype_name(GA_NO_DTYPE), "no dtype");
    assert_string_equal(ga_dtype_name((ga_dtype)-1), "no dtype");
    assert_int_equal(ga_dtype_size(GA_COMPLEX128), 16);
    assert_int_equal(ga_dtype_size(GA_DTYPE_COUNT), 0);
    assert_int_equal(ga__dtype_kind(GA_BFLOAT16), 'f');
    assert_int_equal(ga__dtype_kind(GA_NO_DTYPE), '-');
    assert_int_equal(ga__dtype_compute(GA_FLOAT16), GA_FLOAT32);
    assert_int_equal(ga__dtype_compute(GA_BFLOAT16), GA_FLOAT32);
    assert_int_equal(ga__dtype_real(GA_COMPLEX64), GA_FLOAT32);
    assert_int_equal(ga__dtype_integer('u', 2), GA_UINT16);
    assert_int_equal(ga__dtype_integer('i', 16), GA_NO_DTYPE);
    assert_int_equal(ga__dtype_complex(GA_BFLOAT16), GA_COMPLEX64);
    for (int d = 1; d < GA_DTYPE_COUNT; d++) {
        const ga_dtype dtype = (ga_dtype)d;
        assert_true(ga__dtype_valid(dtype));
        assert_string_equal(ga__dtype_compute_type(dtype),
                            ga__dtype_memory_type(ga__dtype_compute(dtype)));
        assert_int_equal(ga__dtype_compute(ga__dtype_compute(dtype)), ga__dtype_compute(dtype));
        if (ga__dtype_kind(dtype) == 'i' || ga__dtype_kind(dtype) == 'u')
            assert_int_equal(ga__dtype_integer(ga__dtype_kind(dtype), ga_dtype_size(dtype)), dtype);
    }
}

static void npy_descriptions_go_there_and_back(void **state)
{
    (void)state;
    bool swapped = true;

    for (int d = 1; d < GA_DTYPE_COUNT; d++) {
        char descr[8];
        assert_int_equal(ga__dtype_from_npy(ga__dtype_npy((ga_dtype)d), &swapped), d);
        assert_false(swapped);
        strcpy(descr, ga__dtype_npy((ga_dtype)d));
        descr[0] = '>';
        assert_int_equal(ga__dtype_from_npy(descr, &swapped), d);
        assert_int_equal(swapped, ga_dtype_size((ga_dtype)d) > 1);
        descr[0] = '=';
        assert_int_equal(ga__dtype_from_npy(descr, &swapped), d);
        assert_false(swapped);
        assert_int_equal(ga__dtype_from_npy(ga_dtype_name((ga_dtype)d), &swapped), d);
    }
    const char *const bad[] = {"", "<", "f4", "<f", "<f3", "<f44", "|O", "<U5", "<M8[ns]", "<i16"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++)
        assert_int_equal(ga__dtype_from_npy(bad[k], &swapped), GA_NO_DTYPE);
}

static void c_types_have_their_dtypes(void **state)
{
    (void)state;
    const struct {
        const char *name;
        ga_dtype dtype;
    } names[] = {
        {"float", GA_FLOAT32},
        {"double", GA_FLOAT64},
        {"unsigned long long", GA_UINT64},
        {"long long unsigned int", GA_UINT64},
        {"long", GA_INT64},
        {"unsigned", GA_UINT32},
        {"  unsigned   char ", GA_UINT8},
        {"char", GA_INT8},
        {"signed char", GA_INT8},
        {"short int", GA_INT16},
        {"int", GA_INT32},
        {"int8_t", GA_INT8},
        {"std::uint16_t", GA_UINT16},
        {"size_t", GA_UINT64},
        {"bool", GA_BOOL},
        {"_Bool", GA_BOOL},
        {"half", GA_FLOAT16},
        {"ga::float16", GA_FLOAT16},
        {"__nv_bfloat16", GA_BFLOAT16},
        {"__nv_fp8_e4m3", GA_FLOAT8_E4M3FN},
        {"ga::float8_e5m2", GA_FLOAT8_E5M2},
        {"complex<float>", GA_COMPLEX64},
        {"std::complex<double>", GA_COMPLEX128},
        {"ga::complex< float >", GA_COMPLEX64},
        {"float _Complex", GA_COMPLEX64},
        {"float32", GA_FLOAT32},
        {"", GA_NO_DTYPE},
        {" ", GA_NO_DTYPE},
        {"long char", GA_NO_DTYPE},
        {"unsigned float", GA_NO_DTYPE},
        {"signed unsigned", GA_NO_DTYPE},
        {"int int", GA_NO_DTYPE},
        {"long long long", GA_NO_DTYPE},
        {"floaty", GA_NO_DTYPE},
        {"complex<half>", GA_NO_DTYPE},
        {"a_name_much_longer_than_any_type_that_a_kernel_could_ever_declare_float", GA_NO_DTYPE},
    };

    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        assert_int_equal(ga__dtype_from_c(names[k].name), names[k].dtype);
    for (int d = 1; d < GA_DTYPE_COUNT; d++)
        assert_int_equal(ga__dtype_from_c(ga__dtype_memory_type((ga_dtype)d)), d);
}

/* ---- Floats that are only stored ---- */

/* The format of a dtype's elements, as its row has it. */
typedef struct format {
    ga_dtype dtype;
    int nfraction, bias, top, sign;
} format;

static format format_of(ga_dtype dtype)
{
    const ga__dtype_row *r = &ga__dtype_rows[dtype];

    return (format){dtype, r->format.fraction_bits, r->format.bias, r->format.top,
                    1 << (8 * r->nbytes - 1)};
}

/* The value by the definition of the format; with one exponent more, where its range ends. */
static double by_definition(const format *f, int code)
{
    const int exponent = code >> f->nfraction, fraction = code & ((1 << f->nfraction) - 1);

    if (exponent == 0)
        return ldexp(fraction, 1 - f->bias - f->nfraction);
    return ldexp((1 << f->nfraction) + fraction, exponent - f->bias - f->nfraction);
}

static int narrow(const format *f, double value)
{
    uint16_t element = 0;

    ga__dtype_store(f->dtype, ga_value_double(value), &element);
    return element;
}

static double widen(const format *f, int code)
{
    const uint16_t element = (uint16_t)code;

    return ga__dtype_fetch(f->dtype, &element).as.z[0];
}

static void check_every_code(const format *f)
{
    const bool has_infinity = !(f->top & 1);

    for (int code = 0; code < f->sign; code++) {
        const double value = widen(f, code), other = widen(f, code | f->sign);
        assert_false(signbit(value));
        assert_true(signbit(other));
        if (code < f->top) {
            assert_true(value == by_definition(f, code) && other == -value);
            assert_int_equal(narrow(f, value), code);
            assert_int_equal(narrow(f, other), code | f->sign);
        } else if (code == f->top && has_infinity) {
            assert_true(isinf(value) && isinf(other));
        } else {
            assert_true(isnan(value) && isnan(other));
        }
    }
    assert_int_equal(narrow(f, INFINITY), f->top);
    assert_int_equal(narrow(f, -INFINITY), f->top | f->sign);
    assert_true(isnan(widen(f, narrow(f, NAN))));
    assert_int_equal(narrow(f, copysign(NAN, -1)), narrow(f, copysign(NAN, 1)) | f->sign);
}

/* The midpoint between two neighbours rounds to the even one, and the next double to the nearer
 * one. What is past the largest number rounds as if there were another, which is `top`. */
static void check_between(const format *f, int low)
{
    const double a = by_definition(f, low), b = by_definition(f, low + 1);
    const double middle = a + (b - a) / 2;

    assert_int_equal(narrow(f, middle), low & 1 ? low + 1 : low);
    assert_int_equal(narrow(f, nextafter(middle, a)), low);
    assert_int_equal(narrow(f, nextafter(middle, b)), low + 1);
    assert_int_equal(narrow(f, -nextafter(middle, b)), f->sign | (low + 1));
    assert_int_equal(narrow(f, nextafter(b, a)), low + 1);
}

static void stored_floats_come_back_and_round_once(void **state)
{
    (void)state;
    for (int d = 1; d < GA_DTYPE_COUNT; d++) {
        if (!ga__dtype_is_stored((ga_dtype)d))
            continue;
        const format f = format_of((ga_dtype)d);
        check_every_code(&f);
        for (int low = 0; low < f.top; low++)
            check_between(&f, low);
        assert_int_equal(narrow(&f, 1.75 * by_definition(&f, f.top)), f.top);
        assert_int_equal(narrow(&f, 1e300), f.top);
        assert_int_equal(narrow(&f, -1e-300), f.sign);
        assert_int_equal(narrow(&f, 0x1p-1074), 0);
    }
}

/* ---- Storing and fetching ---- */

static int64_t stored_int(ga_dtype dtype, ga_value number)
{
    unsigned char element[16] = {0};

    ga__dtype_store(dtype, number, element);
    return ga__dtype_fetch(dtype, element).as.i;
}

static double stored_real(ga_dtype dtype, ga_value number)
{
    unsigned char element[16] = {0};

    ga__dtype_store(dtype, number, element);
    return ga__dtype_fetch(dtype, element).as.z[0];
}

static void floats_saturate_as_integers(void **state)
{
    (void)state;
    for (int d = GA_INT8; d <= GA_UINT64; d++) {
        const ga_dtype dtype = (ga_dtype)d;
        const bool is_signed = ga__dtype_kind(dtype) == 'i';
        const int nbits = 8 * (int)ga_dtype_size(dtype) - is_signed;
        const int64_t high = (int64_t)(UINT64_MAX >> (64 - nbits)), low = is_signed ? ~high : 0;
        assert_int_equal(stored_int(dtype, ga_value_double(1e300)), high);
        assert_int_equal(stored_int(dtype, ga_value_double(INFINITY)), high);
        assert_int_equal(stored_int(dtype, ga_value_double(ldexp(1, nbits))), high);
        assert_int_equal(stored_int(dtype, ga_value_double(-1e300)), low);
        assert_int_equal(stored_int(dtype, ga_value_double(-ldexp(1, nbits))), low);
        assert_int_equal(stored_int(dtype, ga_value_double(NAN)), 0);
        assert_int_equal(stored_int(dtype, ga_value_double(-0.9)), 0);
        assert_int_equal(stored_int(dtype, ga_value_double(100.9)), 100);
        assert_int_equal(stored_int(dtype, ga_value_double(-100.9)), is_signed ? -100 : 0);
        assert_int_equal(stored_int(dtype, ga_value_floating(GA_COMPLEX128, 3.5, 9)), 3);
    }
    assert_int_equal(stored_int(GA_INT8, ga_value_double(127.9)), 127);
    assert_int_equal(stored_int(GA_INT8, ga_value_double(-128.9)), -128);
    assert_int_equal(stored_int(GA_UINT8, ga_value_double(255.9)), 255);
}

static void integers_wrap(void **state)
{
    (void)state;
    assert_int_equal(stored_int(GA_INT8, ga_value_int(300)), 44);
    assert_int_equal(stored_int(GA_INT8, ga_value_int(200)), -56);
    assert_int_equal(stored_int(GA_UINT16, ga_value_int(-1)), 65535);
    assert_int_equal(stored_int(GA_UINT64, ga_value_int(-1)), -1);
    assert_int_equal(stored_int(GA_INT64, ga_value_ullong(UINT64_MAX)), -1);
    assert_int_equal(stored_int(GA_BOOL, ga_value_int(256)), 1);
    assert_int_equal(stored_int(GA_BOOL, ga_value_double(NAN)), 1);
    assert_int_equal(stored_int(GA_BOOL, ga_value_double(-0.0)), 0);
    assert_int_equal(stored_int(GA_BOOL, ga_value_floating(GA_COMPLEX64, 0, 2)), 1);
}

static void integers_round_once_to_floats(void **state)
{
    (void)state;
    const uint64_t tie = (UINT64_C(1) << 62) + (UINT64_C(1) << 38) + 1;

    assert_true(stored_real(GA_FLOAT64, ga_value_ullong(UINT64_MAX)) == 0x1p64);
    assert_true(stored_real(GA_FLOAT64, ga_value_llong(INT64_MIN)) == -0x1p63);
    assert_true(stored_real(GA_FLOAT32, ga_value_ullong(tie)) == (double)(float)tie);
    assert_true(stored_real(GA_FLOAT32, ga_value_llong(-(int64_t)tie)) == -(double)(float)tie);
    assert_true(stored_real(GA_BFLOAT16, ga_value_llong(-257)) == -256);
    assert_true(stored_real(GA_BFLOAT16, ga_value_llong(259)) == 260);
    assert_true(isinf(stored_real(GA_FLOAT16, ga_value_int(65520))));
    assert_true(stored_real(GA_FLOAT16, ga_value_int(65519)) == 65504);
    assert_true(isinf(stored_real(GA_FLOAT32, ga_value_double(1e300))));
    for (int k = 0; k < 20000; k++) {
        const uint64_t bits = next_bits() >> (next_bits() & 63);
        assert_true(stored_real(GA_FLOAT32, ga_value_ullong(bits)) == (double)(float)bits);
        assert_true(stored_real(GA_FLOAT32, ga_value_llong((int64_t)bits)) ==
                    (double)(float)(int64_t)bits);
    }
}

static void complex_numbers_keep_their_parts(void **state)
{
    (void)state;
    unsigned char element[16];

    ga__dtype_store(GA_COMPLEX64, ga_value_floating(GA_COMPLEX128, 1.5, -2.25), element);
    const ga_value fetched = ga__dtype_fetch(GA_COMPLEX64, element);
    assert_int_equal(fetched.kind, GA_VALUE_NUMBER);
    assert_int_equal(fetched.dtype, GA_COMPLEX64);
    assert_true(fetched.as.z[0] == 1.5 && fetched.as.z[1] == -2.25);
    ga__dtype_store(GA_COMPLEX128, ga_value_int(-7), element);
    assert_true(ga__dtype_fetch(GA_COMPLEX128, element).as.z[0] == -7);
    assert_true(ga__dtype_fetch(GA_COMPLEX128, element).as.z[1] == 0);
    assert_true(stored_real(GA_FLOAT32, ga_value_floating(GA_COMPLEX128, 4, 5)) == 4);
}

/* Every element's bytes come back, also from an odd address, and no other bytes are written. */
static void every_elements_bytes_come_back(void **state)
{
    (void)state;
    for (int d = 1; d < GA_DTYPE_COUNT; d++) {
        const ga_dtype dtype = (ga_dtype)d;
        for (int k = 0; k < 1000; k++) {
            unsigned char room[18], want[18];
            ga_value number = ga_value_llong((int64_t)next_bits());
            if (strchr("fc", ga__dtype_kind(dtype)))
                number = ga_value_floating(GA_COMPLEX128, (double)number.as.i, (double)k);
            memset(room, 0xa5, sizeof room);
            ga__dtype_store(dtype, number, room + 1);
            memcpy(want, room, sizeof room);
            ga__dtype_store(dtype, ga__dtype_fetch(dtype, room + 1), room + 1);
            assert_memory_equal(room, want, sizeof room);
            assert_int_equal(room[0], 0xa5);
            assert_int_equal(room[1 + ga_dtype_size(dtype)], 0xa5);
        }
    }
}

static void numbers_are_read_in_any_type(void **state)
{
    (void)state;
    assert_true(ga__number_double(ga_value_int(-3)) == -3);
    assert_true(ga__number_double(ga_value_ullong(UINT64_MAX)) == 0x1p64);
    assert_true(ga__number_double(ga_value_floating(GA_COMPLEX64, 2, 3)) == 2);
    assert_int_equal(ga__number_int64(ga_value_double(-2.7)), -2);
    assert_int_equal(ga__number_int64(ga_value_double(1e30)), INT64_MAX);
    assert_int_equal(ga__number_int64(ga_value_double(-1e30)), INT64_MIN);
    assert_int_equal(ga__number_int64(ga_value_double(NAN)), 0);
    assert_int_equal(ga__number_int64(ga_value_bool(true)), 1);
    assert_true(ga__number_bool(ga_value_double(1e-300)));
    assert_true(ga__number_bool(ga_value_floating(GA_COMPLEX64, 0, 1)));
    assert_false(ga__number_bool(ga_value_int(0)));
}

static void bytes_are_swapped_part_by_part(void **state)
{
    (void)state;
    unsigned char bytes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const unsigned char shorts[16] = {1, 0, 3, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const unsigned char parts[16] = {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 12, 13, 14, 15};

    ga__dtype_swap_bytes(GA_INT16, bytes, 2);
    assert_memory_equal(bytes, shorts, 16);
    ga__dtype_swap_bytes(GA_BFLOAT16, bytes, 2);
    ga__dtype_swap_bytes(GA_UINT8, bytes, 16);
    ga__dtype_swap_bytes(GA_COMPLEX64, bytes, 1);
    ga__dtype_swap_bytes(GA_FLOAT32, bytes + 8, 1);
    assert_memory_equal(bytes, parts, 16);
    ga__dtype_swap_bytes(GA_FLOAT64, bytes, 0);
    assert_memory_equal(bytes, parts, 16);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dtypes_have_names_sizes_and_kinds),
        cmocka_unit_test(npy_descriptions_go_there_and_back),
        cmocka_unit_test(c_types_have_their_dtypes),
        cmocka_unit_test(stored_floats_come_back_and_round_once),
        cmocka_unit_test(floats_saturate_as_integers),
        cmocka_unit_test(integers_wrap),
        cmocka_unit_test(integers_round_once_to_floats),
        cmocka_unit_test(complex_numbers_keep_their_parts),
        cmocka_unit_test(every_elements_bytes_come_back),
        cmocka_unit_test(numbers_are_read_in_any_type),
        cmocka_unit_test(bytes_are_swapped_part_by_part),
    };

    return run_named_tests(argc, argv, tests, NULL, NULL);
}
