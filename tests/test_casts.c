/* Every dtype to every other: the ends of ranges, NaN, infinities and halfway cases, as NumPy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "model/dtype.h"

static golden_file *file;

static void check_answer(const golden_case *c, const gpuarray *got, const char *how)
{
    char why[300];
    if (!golden_result(c, c->out[0], got, 1, why, sizeof why))
        fail_later("%s to %s, %s: %s", golden_call(c), ga_dtype_name(c->dtype), how, why);
    ga_clear_error();
}

/* Layouts matter to no element, except where 16-bit floats take a way of their own. */
static void cast_array(int item)
{
    const golden_case *c = &file->cases[item];
    const golden_blob *from = c->arg[0];
    const bool narrow = from->dtype == GA_FLOAT16 || c->dtype == GA_FLOAT16;
    const bool layouts = narrow && (from->dtype == GA_FLOAT32 || c->dtype == GA_FLOAT32);
    for (layout how = LAYOUT_CONTIGUOUS; how < (layouts ? LAYOUT_BROADCAST : 1); how++)
        GA_SCOPE {
            gpuarray *x = layout_array(how, from->data, from->dtype, 1, &from->size);
            check_answer(c, ga_astype(x, c->dtype), layout_names[how]);
        }
}

static void arrays_are_cast_as_numpys(void **state)
{
    (void)state;
    in_threads(file->ncases, cast_array);
    assert_int_equal(failures(), 0);
}

/* The host's own, which numbers take on their way to kernels. */
static void numbers_are_cast_the_same(void **state)
{
    (void)state;
    unsigned char got[16];
    char why[300];
    for (int item = 0; item < file->ncases; item++) {
        const golden_case *c = &file->cases[item];
        const size_t size = ga_dtype_size(c->dtype), from_size = ga_dtype_size(c->arg[0]->dtype);
        for (int64_t k = 0; k < c->out[0]->size; k++) {
            golden_blob one = *c->out[0];
            one.data += (size_t)k * size;
            one.size = 1;
            ga__dtype_store(
                c->dtype,
                ga__dtype_fetch(c->arg[0]->dtype, c->arg[0]->data + (size_t)k * from_size), got);
            if (!golden_matches(c, &one, got, 1, why, sizeof why))
                fail_later("%s to %s, number %lld: %s", golden_call(c), ga_dtype_name(c->dtype),
                           (long long)k, why);
        }
    }
    assert_int_equal(failures(), 0);
}

static int open_file(void **state)
{
    (void)state;
    file = golden_open("casts.bin");
    return 0;
}

static int close_file(void **state)
{
    (void)state;
    golden_close(file);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_cast_as_numpys),
        cmocka_unit_test(numbers_are_cast_the_same),
    };
    return cmocka_run_group_tests(tests, open_file, close_file);
}
