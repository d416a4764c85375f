/* Ranges of NVTX, which NVIDIA's profilers show: a public call is one if QUARRY_NVTX=1 asks for it.
 */
#ifndef GA_BASE_RANGE_H
#define GA_BASE_RANGE_H

#include <stdbool.h>

/* Whether calls are ranges; all that a program without the variable executes is the test. */
extern bool ga__ranges;

/* Reads QUARRY_NVTX. */
void ga__ranges_read(void);

void ga__range_push(const char *name);
void ga__range_pop(void);

static inline bool ga__range_open(const char *name)
{
    const bool wanted = __builtin_expect(ga__ranges, 0);
    if (wanted)
        ga__range_push(name);
    return wanted;
}

static inline void ga__range_close(const bool *opened)
{
    if (__builtin_expect(*opened, 0))
        ga__range_pop();
}

/* A declaration: the enclosing block is a range from here on. */
#define GA__RANGE(name)                                                                            \
    __attribute__((cleanup(ga__range_close))) const bool ga__opened = ga__range_open(name)

#endif
