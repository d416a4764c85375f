/* Large blocks that a stream keeps: which one serves a request, and which ones leave. */
#include "device/recent.h"

#include <stdlib.h>

#include "random.h"
#include "run.h"

enum { MOST = 1000 };

static int length(const ga__block *b)
{
    int n = 0;
    for (; b != NULL; b = b->next)
        n++;
    return n;
}

/* The smallest capacity that serves a request, or 0. */
static size_t best_of(const ga__block *b, size_t nbytes)
{
    size_t best = 0;
    for (; b != NULL; b = b->next)
        if (b->capacity >= nbytes && 16 * (b->capacity - nbytes) <= nbytes &&
            (best == 0 || b->capacity < best))
            best = b->capacity;
    return best;
}

static void the_smallest_block_serves(void **state)
{
    (void)state;
    ga__block blocks[] = {{NULL, 164, NULL}, {NULL, 160, NULL}, {NULL, 172, NULL}}, *list = NULL;
    for (int k = 0; k < 3; k++)
        assert_null(ga__recent_put(&list, &blocks[k], MOST));
    assert_null(ga__recent_take(&list, 173)); /* larger than all */
    assert_null(ga__recent_take(&list, 150)); /* the smallest is more than 1/16 larger */
    assert_ptr_equal(ga__recent_take(&list, 151), &blocks[1]);
    assert_null(ga__recent_take(&list, 154));
    assert_ptr_equal(ga__recent_take(&list, 155), &blocks[0]);
    assert_ptr_equal(ga__recent_take(&list, 172), &blocks[2]);
    assert_null(ga__recent_take(&list, 172));
    assert_null(list);
}

static void the_oldest_blocks_leave(void **state)
{
    (void)state;
    ga__block blocks[GA__RECENT_BLOCKS + 1], *list = NULL;
    for (int k = 0; k < GA__RECENT_BLOCKS; k++) {
        blocks[k] = (ga__block){.capacity = 10 + (size_t)k};
        assert_null(ga__recent_put(&list, &blocks[k], MOST));
    }
    blocks[GA__RECENT_BLOCKS] = (ga__block){.capacity = 1};
    assert_ptr_equal(ga__recent_put(&list, &blocks[GA__RECENT_BLOCKS], MOST), &blocks[0]);
    assert_int_equal(length(list), GA__RECENT_BLOCKS);

    ga__block large = {.capacity = MOST - 1}, *left = ga__recent_put(&list, &large, MOST);
    assert_int_equal(length(left), GA__RECENT_BLOCKS - 1); /* all but the block of one byte */
    assert_int_equal(length(list), 2);

    ga__block too_large = {.capacity = MOST + 1};
    left = ga__recent_put(&list, &too_large, MOST);
    assert_ptr_equal(left, &too_large);
    assert_int_equal(length(left), 3);
    assert_null(list);
}

/* Random requests and frees: no block is lost or kept twice, and limits hold. */
static void random_requests(void **state)
{
    (void)state;
    ga__block *list = NULL;
    uint64_t seed = 20;
    int live = 0, in_list = 0;
    for (int k = 0; k < 100000; k++) {
        const size_t nbytes = 50 + (size_t)random_below(&seed, 60), best = best_of(list, nbytes);
        ga__block *b = ga__recent_take(&list, nbytes);
        assert_int_equal(b == NULL ? 0 : b->capacity, best);
        if (b == NULL) {
            b = calloc(1, sizeof *b);
            assert_non_null(b);
            b->capacity = nbytes;
            live++;
        } else {
            in_list--;
        }
        in_list++;
        for (ga__block *next, *out = ga__recent_put(&list, b, 6 * 80); out != NULL; out = next) {
            next = out->next;
            free(out);
            live--;
            in_list--;
        }
        size_t total = 0;
        for (const ga__block *at = list; at != NULL; at = at->next)
            total += at->capacity;
        assert_true(total <= 6 * 80 && length(list) == in_list && live == in_list);
    }
    while (list != NULL) {
        ga__block *next = list->next;
        free(list);
        list = next;
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_smallest_block_serves),
        cmocka_unit_test(the_oldest_blocks_leave),
        cmocka_unit_test(random_requests),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
