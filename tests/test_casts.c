/* Every dtype to every other: the ends of ranges, NaN, infinities and halfway cases, as NumPy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>
#include <quarry.h>

#include "golden.h"
#include "layouts.h"
#include "model/dtype.h"
#include "parallel.h"
#include "run.h"

static golden_file *file;

/* "cast(float32) to int8" */
static const char *case_text(int item)
{
    static _Thread_local char text[100];
    const golden_case *c = &file->cases[item];
    snprintf(text, sizeof text, "%s to %s", golden_call(c), ga_dtype_name(c->dtype));
    return text;
}

static void check_answer(int item, const gpuarray *got, const char *how)
{
    char why[300];
    const golden_case *c = &file->cases[item];
    if (!golden_result(c, c->out[0], got, 1, why, sizeof why))
        fail_later("%s, %s: %s", case_text(item), how, why);
    ga_clear_error();
}

/* The layout affects no element, except that 16-bit floats take another path. */
static void cast_array(int item)
{
    const golden_case *c = &file->cases[item];
    const golden_blob *from = c->arg[0];
    const bool narrow = from->dtype == GA_FLOAT16 || c->dtype == GA_FLOAT16;
    const bool layouts = narrow && (from->dtype == GA_FLOAT32 || c->dtype == GA_FLOAT32);
    for (layout how = LAYOUT_CONTIGUOUS; how < (layouts ? LAYOUT_BROADCAST : 1); how++)
        GA_SCOPE {
            gpuarray *x = layout_array(how, from->data, from->dtype, 1, &from->size);
            check_answer(item, ga_astype(x, c->dtype), layout_names[how]);
        }
}

static void arrays_are_cast_as_numpys(void **state)
{
    (void)state;
    rows_in_threads(file->ncases, case_text, cast_array);
    assert_int_equal(failures(), 0);
}

/* The host's own conversion, which numbers take on their way to kernels. */
static void cast_numbers(int item)
{
    unsigned char got[16];
    char why[300];
    const golden_case *c = &file->cases[item];
    const golden_blob *from = c->arg[0];
    for (int64_t k = 0; k < c->out[0]->size; k++) {
        const unsigned char *number = from->data + (size_t)k * ga_dtype_size(from->dtype);
        golden_blob one = *c->out[0];
        one.data += (size_t)k * ga_dtype_size(c->dtype);
        one.size = 1;
        ga__dtype_store(c->dtype, ga__dtype_fetch(from->dtype, number), got);
        if (!golden_matches(c, &one, got, 1, why, sizeof why))
            fail_later("%s, number %lld: %s", case_text(item), (long long)k, why);
    }
}

static void numbers_are_cast_the_same(void **state)
{
    (void)state;
    for (int item = 0; item < file->ncases; item++)
        if (row_selected(case_text(item)))
            cast_numbers(item);
    assert_int_equal(failures(), 0);
}

/* ---- Floats that are only stored, against the bits that C stores ---- */

enum { MOST_NUMBERS = 3 * 0x8000 };

/* free() it. */
static unsigned char *host_copy(const gpuarray *x)
{
    const size_t nbytes = ga_nbytes(x);
    unsigned char *bytes = malloc(nbytes + 1);
    assert_int_equal(ga_to_host(x, bytes, nbytes), GA_OK);
    return bytes;
}

/* The elements of x as dtype, each the one that C makes of it; of NaN any with its sign. */
static void check_conversion(const gpuarray *x, ga_dtype dtype)
{
    const ga_dtype from = ga_dtype_of(x);
    const size_t n = (size_t)ga_size(x), from_size = ga_dtype_size(from),
                 size = ga_dtype_size(dtype);
    unsigned char *given = host_copy(x), *got = host_copy(ga_astype(x, dtype)), want[16];
    for (size_t k = 0; k < n; k++) {
        const ga_value number = ga__dtype_fetch(from, given + k * from_size);
        ga__dtype_store(dtype, number, want);
        const double g = ga__dtype_fetch(dtype, got + k * size).as.z[0];
        if (memcmp(got + k * size, want, size) != 0 && !(isnan(number.as.z[0]) && isnan(g)))
            fail_msg("%.17g, %s to %s, is %.17g, not %.17g", number.as.z[0], ga_dtype_name(from),
                     ga_dtype_name(dtype), g, ga__dtype_fetch(dtype, want).as.z[0]);
    }
    free(given);
    free(got);
}

static gpuarray *every_code(ga_dtype dtype)
{
    const int64_t codes = INT64_C(1) << 8 * ga_dtype_size(dtype);
    return ga_view(ga_astype(ga_arange(GA_INT32, 0, (double)codes, 1),
                             ga_dtype_size(dtype) == 1 ? GA_UINT8 : GA_UINT16),
                   dtype);
}

static double value_of(ga_dtype dtype, int code)
{
    const uint16_t element = (uint16_t)code;
    return ga__dtype_fetch(dtype, &element).as.z[0];
}

/* The points between two neighbours of `dtype`, also past its largest number, and those next to
 * them. */
static gpuarray *numbers_about(ga_dtype dtype, ga_dtype wide)
{
    static double number[MOST_NUMBERS];
    const int top = ga__dtype_rows[dtype].format.top;
    int n = 0;
    for (int code = 1; code <= top; code++) {
        const double below = value_of(dtype, code - 1), at = value_of(dtype, code);
        const double gap = code < top ? at - below : below - value_of(dtype, code - 2);
        const double middle = below + gap / 2;
        const bool single = wide == GA_FLOAT32;
        number[n++] = middle;
        number[n++] = single ? (double)nextafterf((float)middle, 0) : nextafter(middle, 0);
        number[n++] =
            single ? (double)nextafterf((float)middle, INFINITY) : nextafter(middle, INFINITY);
    }
    return ga_astype(ga_from_host(number, GA_FLOAT64, GA_SHAPE(n)), wide);
}

static void small_floats_round_once_from_everywhere(void **state)
{
    (void)state;
    for (int d = GA_NO_DTYPE + 1; d < GA_DTYPE_COUNT; d++) {
        const ga_dtype dtype = (ga_dtype)d;
        if (!ga__dtype_is_stored(dtype))
            continue;
        GA_SCOPE {
            ga_rng *rng = ga_rng_new((uint64_t)d);
            check_conversion(every_code(dtype), GA_FLOAT32);
            check_conversion(every_code(dtype), GA_FLOAT64);
            check_conversion(every_code(GA_FLOAT16), dtype);
            check_conversion(every_code(GA_BFLOAT16), dtype);
            for (ga_dtype wide = GA_FLOAT32; wide <= GA_FLOAT64; wide++) {
                gpuarray *about = numbers_about(dtype, wide), *negative = ga_negative(about);
                check_conversion(about, dtype);
                check_conversion(negative, dtype);
                check_conversion(ga_view(ga_rng_bytes(rng, 1000000), wide), dtype);
            }
            ga_rng_free(rng);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        table_test(arrays_are_cast_as_numpys),
        table_test(numbers_are_cast_the_same),
        cmocka_unit_test(small_floats_round_once_from_everywhere),
    };
    file = golden_open("casts.bin");
    const int failed = run_named_tests(argc, argv, tests, NULL, NULL);
    golden_close(file);
    return failed;
}
