/* QUARRY_CHECK=nan: finds operations that make a NaN or infinity of finite operands. */
#ifndef GA_OPS_CHECK_NAN_H
#define GA_OPS_CHECK_NAN_H

#include "array/array.h"
#include "device/context.h"

/* Whether results are to be checked now. Nothing is checked while a graph is recorded, or while a
 * check runs operations of its own. The first half is all that a program without the variable
 * executes. */
#define ga__checks_nan() (__builtin_expect(ga__check_nan, 0) && ga__may_check())
bool ga__may_check(void);

/* Around an operation whose result the caller checks itself: opens a scope, and the operation runs
 * as without the variable. */
void ga__check_begin(void);
void ga__check_end(void);

/* Raises GA_ERR_INVALID if an element of `result` is NaN or infinite although those of all operands
 * that it was computed from are finite; the message has the index and the operands' elements. The
 * operands broadcast to the result; their names are a, b, ... if `names` is NULL. */
ga_status ga__check_elements(const char *name, const gpuarray *result, int count,
                             const ga_value *operands, const char *const *names);

/* Whether all elements are finite, or it is unknown because memory ran out. */
bool ga__check_finite(const gpuarray *x);

/* The same for a reduction of the operands along these axes (0: all of them). */
ga_status ga__check_reduced(const char *name, const gpuarray *result, bool keepdims, int naxes,
                            const int *axes, int count, const gpuarray *const *operands);

/* Copies the operands that overlap `written`, before it is. The copies belong to the caller's
 * scope. GA_ERR_MEMORY and others. */
ga_status ga__check_keep(const gpuarray *written, int count, const ga_value *operands,
                         ga_value *kept);

#endif
