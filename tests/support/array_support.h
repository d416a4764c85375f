/* What the tests of arrays share: assertions, failing allocations. */
#ifndef GA_TESTS_ARRAY_SUPPORT_H
#define GA_TESTS_ARRAY_SUPPORT_H

#include <quarry.h>

/* Asserts the thread's error and that its message contains `text`; then clears it. */
void assert_error(ga_status status, const char *text);

/* The same for the status that a call returned. */
void assert_fails(ga_status got, ga_status status, const char *text);

/* The same, with both errors in the failure's message. */
void expect_raised(ga_status status, const char *part);

void assert_shape(const gpuarray *x, int ndim, const int64_t *shape);

/* 0, 1, 2, ... as int32 in a shape. */
gpuarray *counting(int ndim, const int64_t *shape);

/* Asserts the int32 elements of x in C order, at most 64. */
void assert_numbers(const gpuarray *x, int64_t count, const int32_t *numbers);
#define NUMBERS(...)                                                                               \
    (int64_t)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)), (const int32_t[])               \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* The number of live allocations, without the memory that the device's pool keeps. */
int64_t live_blocks(void);

/* Fails each allocation of `work` in turn. It must return false with GA_ERR_MEMORY, or recover and
 * return true; in both cases it must leave nothing allocated. */
void survive_failures(bool (*work)(void));

/* The same for work that a GPU's driver takes part in: it says so there and does nothing. */
void survive_failures_on_host(bool (*work)(void));

/* A teardown: no allocation is to fail, and the thread has no error. */
int leave_no_error(void **state);

/* Whether the current device is the host. Exits if there is no device. */
bool on_host(void);

/* For programs most of whose items compile kernels, for 0.1 s each, and wait for the GPU: there
 * samples are about one of `share` items (run.h), and a line says so. */
void sample_on_gpu(uint64_t share);

/* For the same reason: `host` on the host, `gpu` on a GPU. */
int items_here(int host, int gpu);

#endif
