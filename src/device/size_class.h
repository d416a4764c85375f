/* Size classes of memory that is kept for reuse. */
#ifndef GA_DEVICE_SIZE_CLASS_H
#define GA_DEVICE_SIZE_CLASS_H

#include <stddef.h>

/* Classes between two powers of two: rounding up to one wastes at most 1/8. */
enum { GA__CLASS_STEPS = 8 };

static inline int ga__exponent_of(size_t n)
{
    return 63 - __builtin_clzll((unsigned long long)n);
}

/* nbytes >= GA__CLASS_STEPS rounded up to the size of its class. */
static inline size_t ga__class_capacity(size_t nbytes)
{
    const size_t step = (size_t)1 << (ga__exponent_of(nbytes) - 3);
    return (nbytes + step - 1) & ~(step - 1);
}

/* The index of the class of this capacity; the first has 2**first_exponent bytes. */
static inline size_t ga__class_index(size_t capacity, int first_exponent)
{
    const int exponent = ga__exponent_of(capacity);
    return (size_t)(exponent - first_exponent) * GA__CLASS_STEPS +
           ((capacity >> (exponent - 3)) & (GA__CLASS_STEPS - 1));
}

#endif
