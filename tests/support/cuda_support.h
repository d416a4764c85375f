/* For tests of CUDA modules through the backend: building them, and launching kernels of one or two
 * arrays. */
#ifndef GA_TESTS_CUDA_SUPPORT_H
#define GA_TESTS_CUDA_SUPPORT_H

#include <quarry/error.h>

#include "device_support.h"

/* A test's teardown. */
int clear_error(void **state);

void assert_ok(ga_status status);

/* Asserts the status, and that the error's message contains `part`; then clears the error. */
void assert_message(ga_status status, ga_status wanted, const char *part);

/* A loaded module and its kernels, in the order in which they were named. */
typedef struct program {
    ga__image *image;
    ga__function *kernels[8];
} program;

/* Compiles and loads; on failure nothing is left. */
ga_status build_source(program *p, const ga__cuda_source *source);

#define KERNELS(...)                                                                               \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

program build(const char *text, const char *const *kernels);

typedef struct shape {
    int64_t grid[3], block[3];
    size_t shared;
} shape;

shape line(int64_t grid, int64_t block);

/* Checks the launch, and launches with the addresses of the arguments. */
ga_status launch_at(ga__function *kernel, shape s, void **args);

/* Runs kernel(out, n): the kernel gets the n elements of `out`, which are copied there and back. */
ga_status run(ga__function *kernel, shape s, void *out, int n, size_t itemsize);

/* Builds the text and runs its kernel k(T *out, int n). */
ga_status run_text(const char *text, shape s, void *out, int n, size_t itemsize);

#endif
