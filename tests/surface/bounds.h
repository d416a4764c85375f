/* Numbers beyond the ends of an array's integer dtype, in calls and in formulas. */
#ifndef SURFACE_BOUNDS_H
#define SURFACE_BOUNDS_H

#include "program.h"

/* A call and the formula of the same text, beside NumPy's. */
#define BOTH(expression, formula, ...)                                                             \
    do {                                                                                           \
        SHOW(expression, __VA_ARGS__);                                                             \
        show_(expression, "formula " formula,                                                      \
              ga_eval(formula, GA(i8), GA(u8), GA(i64), GA(u64), GA(far)), __LINE__);              \
    } while (0)

/* Asserts that both fail with this message. */
#define NEITHER(message, formula, ...)                                                             \
    do {                                                                                           \
        fails_(message, #__VA_ARGS__, __VA_ARGS__, __LINE__);                                      \
        fails_("eval: " message, "formula " formula,                                               \
               ga_eval(formula, GA(i8), GA(u8), GA(i64), GA(u64), GA(far)), __LINE__);             \
    } while (0)

static void fails_(const char *message, const char *call, const gpuarray *result, int line)
{
    if (result || ga_error() != GA_ERR_INVALID ||
        strncmp(ga_error_message(), message, strlen(message)) != 0)
        printf("%d\terror\t%s\t%s\t%s\n", line, message, call, ga_error_message());
    ga_clear_error();
}

static void numbers_beyond_the_ends(void)
{
    const int8_t bytes[] = {-5, 0, 100};
    const uint8_t counts[] = {0, 5, 200};
    const int64_t longs[] = {-1, 2, 400};
    gpuarray *i8 = ga_from_host(bytes, GA_INT8, GA_SHAPE(3));
    gpuarray *u8 = ga_from_host(counts, GA_UINT8, GA_SHAPE(3));
    gpuarray *i64 = ga_from_host(longs, GA_INT64, GA_SHAPE(3));
    gpuarray *u64 = ga_astype(u8, GA_UINT64), *far = ga_full(GA_INT64, GA_SHAPE(3), 200);
    BOTH("np.clip(i8, 0, 300)", "clip(i8, 0, 300)", ga_clip(i8, 0, 300));
    BOTH("np.clip(i8, -300, 5)", "clip(i8, -300, 5)", ga_clip(i8, -300, 5));
    BOTH("np.clip(i8, -300, 300)", "clip(i8, -300, 300)", ga_clip(i8, -300, 300));
    BOTH("np.clip(i8, far, 300)", "clip(i8, far, 300)", ga_clip(i8, far, 300));
    BOTH("np.clip(i8, far, 127)", "clip(i8, far, 127)", ga_clip(i8, far, 127));
    BOTH("np.clip(i8, 200.5, 128)", "clip(i8, 200.5, 128)", ga_clip(i8, 200.5, 128));
    BOTH("np.clip(i8, -300, u8)", "clip(i8, -300, u8)", ga_clip(i8, -300, u8));
    BOTH("np.clip(u8, -1, 300)", "clip(u8, -1, 300)", ga_clip(u8, -1, 300));
    BOTH("np.clip(u64, -1, 6)", "clip(u64, -1, 6)", ga_clip(u64, -1, 6));
    BOTH("np.clip(i64, 0, 2**63)", "clip(i64, 0, 2**63)", ga_clip(i64, 0, 1ull << 63));
    BOTH("i8 < 300", "i8 < 300", ga_less(i8, 300));
    BOTH("300 <= i8", "300 <= i8", ga_less_equal(300, i8));
    BOTH("u8 == -1", "u8 == -1", ga_equal(u8, -1));
    BOTH("u64 > -1", "u64 > -1", ga_greater(u64, -1));
    BOTH("i64 < 2**63", "i64 < 2**63", ga_less(i64, 1ull << 63));
    NEITHER("clip: 200 does not fit int8", "clip(i8, 200, 300)", ga_clip(i8, 200, 300));
    NEITHER("clip: -400 does not fit int8", "clip(i8, -300, -400)", ga_clip(i8, -300, -400));
    NEITHER("maximum: 300 does not fit int8", "maximum(i8, 300)", ga_maximum(i8, 300));
    NEITHER("minimum: -1 does not fit uint8", "minimum(u8, -1)", ga_minimum(u8, -1));
    NEITHER("add: 300 does not fit int8", "i8 + 300", ga_add(i8, 300));
    /* NumPy wraps this one. */
    NEITHER("where: 300 does not fit int8", "where(i8, i8, 300)", ga_where(i8, i8, 300));
    for (int top = 50; top <= 300; top += 50) { /* one formula, whose number varies */
        char expression[64];
        snprintf(expression, sizeof expression, "np.clip(i8, far, %d)", top);
        SHOW(expression, ga_eval("clip(i8, far, top)", GA(i8), GA(far), GA(top)));
        snprintf(expression, sizeof expression, "np.clip(i8, %d, 300)", -top);
        SHOW(expression, ga_eval("clip(i8, -top, 300)", GA(i8), GA(top)));
    }
}

#endif
