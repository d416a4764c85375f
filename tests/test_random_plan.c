/* The shares of a generator's numbers in a draw, planned for an H200 (without one) and for the
 * host: all elements, each once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "array/array.h"
#include "kernels/draw_plan.h"
#include "random.h"
#include "run.h"

enum { PROCESSORS = 132, MOST_BLOCKS = PROCESSORS * 5 * 2 };

typedef struct planned {
    ga__device device;
    ga__distribution distribution;
    ga__draw draw;
    gpuarray out;
    ga__draw_plan plan;
} planned;

/* `rows` numbers of a generator's block produce this many elements. */
static const ga__draw_plan *plan_it(planned *p, int arch, ga_dtype dtype, int rows, uintptr_t data,
                                    int64_t count, uint64_t position)
{
    memset(p, 0, sizeof *p);
    p->device.arch = arch;
    p->device.processors = PROCESSORS;
    p->out = (gpuarray){.dtype = dtype, .size = count};
    p->distribution.computes = true;
    p->draw.distribution = &p->distribution;
    p->plan.draw = &p->draw;
    p->plan.device = &p->device;
    p->plan.out = &p->out;
    p->plan.data = (char *)data;
    p->plan.count = count;
    p->plan.rows = rows;
    ga__draw_plan_make(&p->plan, position);
    return &p->plan;
}

static void neighbours_are_stored_together_where_they_can_be(void **state)
{
    (void)state;
    planned p;
    for (uint64_t position = 0; position < 9; position++)
        for (uintptr_t at = 0; at < 9; at++) {
            const ga__draw_plan *q = plan_it(&p, 90, GA_FLOAT32, 4, 4096 + 4 * at, 100000,
                                             UINT64_C(4096) * 1000000 + position);
            assert_int_equal(ga__draw_lanes(&q->v), 4);
            assert_int_equal(q->before, position);
            assert_int_equal(q->v.together, position % 4 == 0 && at % 4 == 0);
            q = plan_it(&p, 90, GA_FLOAT64, 2, 4096 + 8 * at, 100000, position);
            assert_int_equal(ga__draw_lanes(&q->v), 2);
            assert_int_equal(q->v.together, position % 2 == 0 && at % 2 == 0);
        }
    assert_true(plan_it(&p, 90, GA_INT8, 4, 4096 + 4, 1000, 8)->v.together);
    assert_false(plan_it(&p, 90, GA_INT8, 4, 4096 + 2, 1000, 8)->v.together);
}

static void thread_blocks_come_in_waves_where_numbers_are_computed(void **state)
{
    (void)state;
    planned p;
    const ga__draw_plan *q = plan_it(&p, 90, GA_FLOAT32, 4, 4096, INT64_C(1) << 30, 0);
    assert_int_equal(q->share, 4 * 4 * 256);
    assert_int_equal(q->shares, (1 << 30) / q->share);
    assert_int_equal(q->grid, MOST_BLOCKS);
    q = plan_it(&p, 90, GA_FLOAT32, 4, 4096, q->share * 7, 0);
    assert_int_equal(q->grid, 7);
    p.distribution.computes = false;
    p.plan.count = INT64_C(1) << 30;
    ga__draw_plan_make(&p.plan, 0);
    assert_int_equal(q->grid, q->shares);
}

/* Share by share: the number of its elements that belong to the array. */
static void check_shares(const ga__draw_plan *q, uint64_t position)
{
    int64_t found = 0, whole = 0;
    assert_true(q->before >= 0 && q->before < q->share);
    assert_int_equal((position - (uint64_t)q->before) % (uint64_t)q->share, 0);
    for (int64_t k = 0; k < q->shares; k++) {
        const int64_t from = k * q->share < q->before ? q->before : k * q->share;
        const int64_t end = q->before + q->count, next = (k + 1) * q->share;
        const int64_t own = (next < end ? next : end) - from;
        assert_true(own > 0);
        found += own;
        whole += own == q->share;
    }
    assert_int_equal(found, q->count);
    assert_int_equal(ga__draw_plan_whole(q), whole);
}

static void any_draw_is_covered(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64};
    uint64_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        planned p;
        const ga_dtype dtype = dtypes[next_random(&seed) % 4];
        const int64_t count =
            1 + (int64_t)(next_random(&seed) % (UINT64_C(2) << next_random(&seed) % 24));
        const uint64_t position = next_random(&seed) >> next_random(&seed) % 64;
        const ga__draw_plan *q =
            plan_it(&p, next_random(&seed) % 2 ? 90 : 0, dtype, 1 << next_random(&seed) % 3,
                    4096 + next_random(&seed) % 4 * ga_dtype_size(dtype), count, position);
        check_shares(q, position);
        if (q->v.host) {
            assert_true(q->tiles_per_block >= 1 && q->tiles_per_block * q->share <= (1 << 15));
            assert_true(q->grid * q->tiles_per_block >= q->shares &&
                        (q->grid - 1) * q->tiles_per_block < q->shares);
        } else {
            assert_true(q->grid >= 1 && q->grid <= q->shares && q->grid <= MOST_BLOCKS);
            assert_int_equal(q->share, (int64_t)q->rows * ga__draw_lanes(&q->v) * 256);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_stored_together_where_they_can_be),
        cmocka_unit_test(thread_blocks_come_in_waves_where_numbers_are_computed),
        cmocka_unit_test(any_draw_is_covered),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
