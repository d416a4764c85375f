/* Reductions over chunks: any number of them, and over two sources with different rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <quarry.h>

#include "random.h"
#include "run.h"
#include "views.h"

/* ---- A source whose elements have a formula ---- */

static int64_t element(int64_t k)
{
    return k * k % 1013 - 300 + k % 7;
}

static ga_status read_elements(void *user, int64_t first, int64_t count, void *elements)
{
    (void)user;
    for (int64_t k = 0; k < count; k++)
        ((int64_t *)elements)[k] = element(first + k);
    return GA_OK;
}

static ga_source *new_source(int ndim, const int64_t *shape)
{
    ga_source *source = ga_source_new(GA_INT64, ndim, shape, read_elements, NULL);
    assert_non_null(source);
    return source;
}

/* ---- Numbers of chunks ---- */

/* For column `column` of `width`: the sum, and the positions of its first largest and smallest
 * elements. */
static void reduce_column(int64_t rows, int64_t width, int64_t column, int64_t *want)
{
    int64_t most = INT64_MIN, least = INT64_MAX;
    memset(want, 0, 3 * sizeof *want);
    for (int64_t row = 0; row < rows; row++) {
        const int64_t x = element(row * width + column);
        want[0] += x;
        if (x > most)
            most = element((want[1] = row) * width + column);
        if (x < least)
            least = element((want[2] = row) * width + column);
    }
}

/* Chunks of one row each. */
static void check_chunks(int64_t chunks, int64_t width)
{
    static const char *const texts[] = {"sum(x, axis=0)", "argmax(x, axis=0)", "argmin(x, axis=0)"};
    const ga_chunks size = {.bytes = 8 * width};
    ga_source *x = new_source(2, (int64_t[]){chunks, width});
    int64_t got[8], want[3];
    for (int t = 0; t < 3; t++)
        GA_SCOPE {
            gpuarray *r = ga_eval_chunked(&size, texts[t], GA(x));
            if (ga_to_host(r, got, (size_t)width * sizeof *got) != GA_OK)
                fail_msg("%s in %lld chunks: %s", texts[t], (long long)chunks, ga_error_message());
            for (int64_t column = 0; column < width; column++) {
                reduce_column(chunks, width, column, want);
                if (got[column] != want[t])
                    fail_msg("%s in %lld chunks: %lld, wanted %lld", texts[t], (long long)chunks,
                             (long long)got[column], (long long)want[t]);
            }
        }
    ga_source_free(x);
}

static void any_number_of_chunks_is_combined_right(void **state)
{
    (void)state;
    static const int64_t more[] = {47, 48, 49, 240, 255, 256, 257, 258, 272, 273};
    for (int64_t chunks = 1; chunks <= 35; chunks++)
        check_chunks(chunks, 1 + chunks % 3);
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        check_chunks(more[k], 3);
    if (!getenv("QUARRY_TEST_REDUCED"))
        check_chunks(4370, 1); /* 0x1112 */
}

/* ---- Sources with different rows ---- */

typedef struct box {
    int ndim;
    int64_t shape[4];
} box;

static int64_t bytes_from(const box *b, int axis)
{
    int64_t bytes = sizeof(int64_t);
    for (; axis < b->ndim; axis++)
        bytes *= b->shape[axis];
    return bytes;
}

/* Whether rows of both fit the chunk, split along all axes that the two share. */
static bool rows_fit(const box *a, const box *b, int64_t bytes)
{
    int depth = 1;
    if (bytes_from(a, 0) + bytes_from(b, 0) + 16 <= bytes)
        return true;
    while (depth < a->ndim && depth < b->ndim && a->shape[depth] == b->shape[depth] &&
           bytes_from(a, depth) + bytes_from(b, depth) > bytes)
        depth++;
    return bytes_from(a, depth) + bytes_from(b, depth) <= bytes;
}

static int64_t sum_of(const box *b)
{
    int64_t sum = 0;
    for (int64_t k = 0; k < bytes_from(b, 0) / 8; k++)
        sum += element(k);
    return sum;
}

static box random_box(int64_t length, uint64_t *seed)
{
    box b = {.ndim = 1 + (int)random_below(seed, 3), .shape = {length}};
    for (int axis = 1; axis < b.ndim; axis++)
        b.shape[axis] = 2 + random_below(seed, 3);
    return b;
}

static void check_boxes(const box *a, const box *b, int64_t bytes, uint64_t seed)
{
    const ga_chunks chunks = {.bytes = bytes};
    ga_source *x = new_source(a->ndim, a->shape), *y = new_source(b->ndim, b->shape);
    gpuarray *r = ga_eval_chunked(&chunks, "sum(x) + 3*sum(y)", GA(x), GA(y));
    const bool refused = !r && ga_error() == GA_ERR_UNSUPPORTED &&
                         strstr(ga_error_message(), "one row takes") != NULL;
    if (refused == rows_fit(a, b, bytes))
        fail_msg("seed %llu, %lld bytes: %s", (unsigned long long)seed, (long long)bytes,
                 r ? "not refused" : ga_error_message());
    ga_clear_error();
    if (r && ga_item_int64(r) != sum_of(a) + 3 * sum_of(b))
        fail_msg("seed %llu, %lld bytes: %lld, wanted %lld", (unsigned long long)seed,
                 (long long)bytes, (long long)ga_item_int64(r),
                 (long long)(sum_of(a) + 3 * sum_of(b)));
    ga_free(r);
    ga_source_free(x);
    ga_source_free(y);
}

static void rows_that_are_not_alike_are_not_cut_further(void **state)
{
    (void)state;
    for (uint64_t first = 1; first <= 60; first++) {
        uint64_t seed = first;
        const int64_t length = 2 + random_below(&seed, 5);
        const box a = random_box(length, &seed), b = random_box(length, &seed);
        for (int64_t bytes = 8; bytes <= bytes_from(&a, 0) + bytes_from(&b, 0);
             bytes += 8 + bytes / 4)
            check_boxes(&a, &b, bytes, first);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_number_of_chunks_is_combined_right),
        cmocka_unit_test(rows_that_are_not_alike_are_not_cut_further),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
