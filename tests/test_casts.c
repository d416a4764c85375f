/* Every dtype to every other: the ends of ranges, NaN, infinities and halfway cases, as NumPy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
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

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        table_test(arrays_are_cast_as_numpys),
        table_test(numbers_are_cast_the_same),
    };
    file = golden_open("casts.bin");
    const int failed = run_named_tests(argc, argv, tests, NULL, NULL);
    golden_close(file);
    return failed;
}
