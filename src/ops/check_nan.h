/* QUARRY_CHECK=nan: finds operations that make a NaN or infinity of finite operands. */
#ifndef GA_OPS_CHECK_NAN_H
#define GA_OPS_CHECK_NAN_H

#include "array/array.h"
#include "device/context.h"

/* Whether results are to be checked. Nothing is checked while a check runs operations of its own.
 * The first half is all that a program without the variable executes. While a graph is recorded,
 * the work of a check is recorded too, and each launch of the graph ends with its verdict. */
#define ga__checks_nan() (__builtin_expect(ga__check_nan, 0) && ga__may_check())
bool ga__may_check(void);

/* Around an operation whose result the caller checks itself: opens a scope, and the operation runs
 * as without the variable. */
void ga__check_begin(void);
void ga__check_end(void);

/* A condition on which a check depends: arrays that are finite before an operation. In a graph,
 * .flag is a 0-d array of the caller's scope, or NULL: no condition. It does not hold, too, if
 * memory ran out. */
typedef struct ga__guard {
    bool holds;
    gpuarray *flag;
} ga__guard;
#define GA__GUARD_INIT                                                                             \
    {                                                                                              \
        true, NULL                                                                                 \
    }

/* Adds that all elements of x are finite. */
void ga__guard_add(ga__guard *guard, const gpuarray *x);

/* Sets the guard to: x has an element that is NaN or infinite. False if it has none; in a graph
 * that is not known, and the result is true. */
bool ga__guard_fails(ga__guard *guard, const gpuarray *x);

/* Raises GA_ERR_INVALID if an element of `result` is NaN or infinite although those of all operands
 * that it was computed from are finite; the message has the index and the operands' elements. The
 * operands broadcast to the result; their names are a, b, ... if `names` is NULL. Checks nothing if
 * the guard, which may be NULL, does not hold. While a graph is recorded, its launches raise. */
ga_status ga__check_elements(const char *name, const gpuarray *result, const ga__guard *guard,
                             int count, const ga_value *operands, const char *const *names);

/* What a reduction runs over; all zero: all axes. */
typedef struct ga__reduced {
    bool keepdims;
    int naxes; /* 0: all */
    const int *axes;
    const gpuarray *offsets; /* of segments along the axis, or NULL */
} ga__reduced;

/* The same for a reduction of the operands; `over` may be NULL: all axes. */
ga_status ga__check_reduced(const char *name, const gpuarray *result, const ga__guard *guard,
                            const ga__reduced *over, int count, const gpuarray *const *operands);

/* Copies the operands that overlap `written`, before it is. The copies belong to the caller's
 * scope. GA_ERR_MEMORY and others. */
ga_status ga__check_keep(const gpuarray *written, int count, const ga_value *operands,
                         ga_value *kept);

#endif
