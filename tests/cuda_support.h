/* For tests of CUDA modules through the backend: building them, and launching kernels of one or two
 * arrays. */
#ifndef GA_TESTS_CUDA_SUPPORT_H
#define GA_TESTS_CUDA_SUPPORT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>
#include <quarry/device.h>
#include <quarry/error.h>

#include "base/alloc.h"
#include "device/memory.h"
#include "device_support.h"

static inline int clear_error(void **state)
{
    (void)state;
    ga__alloc_fail_at(0);
    ga_clear_error();
    return 0;
}

static inline void assert_ok(ga_status status)
{
    if (status != GA_OK)
        fail_msg("%s: %s", ga_status_name(status), ga_error_message());
}

static inline void assert_message(ga_status status, ga_status wanted, const char *part)
{
    assert_int_equal(status, wanted);
    if (strstr(ga_error_message(), part) == NULL)
        fail_msg("no \"%s\" in: %s", part, ga_error_message());
    ga_clear_error();
}

/* A loaded module and its kernels, in the order in which they were named. */
typedef struct program {
    ga__image *image;
    ga__function *kernels[8];
} program;

static inline ga_status find_kernels(program *p, char *symbols)
{
    ga_status status = GA_OK;
    int n = 0;
    char *rest = NULL;
    for (char *symbol = strtok_r(symbols, "\n", &rest); symbol != NULL && status == GA_OK;
         symbol = strtok_r(NULL, "\n", &rest))
        status = backend->code.find(p->image, symbol, &p->kernels[n++]);
    return status;
}

/* Compiles and loads; on failure nothing is left. */
static inline ga_status build_source(program *p, const ga__cuda_source *source)
{
    void *code = NULL;
    size_t nbytes = 0;
    char *symbols = NULL, *log = NULL;
    ga_status status = backend->user.compile(device, source, &code, &nbytes, &symbols, &log);
    if (status == GA_OK)
        status = backend->code.load(device, code, nbytes, &p->image);
    if (status == GA_OK) {
        status = find_kernels(p, symbols);
        if (status != GA_OK)
            backend->code.unload(p->image);
    }
    ga__free(code);
    ga__free(symbols);
    ga__free(log);
    return status;
}

#define KERNELS(...)                                                                               \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

static inline program build(const char *text, const char *const *kernels)
{
    program p = {0};
    const ga__cuda_source source = {.name = "test.cu", .text = text, .kernels = kernels};
    assert_ok(build_source(&p, &source));
    return p;
}

typedef struct shape {
    int64_t grid[3], block[3];
    size_t shared;
} shape;

/* With the addresses of the arguments. */
static inline ga_status launch_at(ga__function *kernel, shape s, void **args)
{
    ga__grid_launch launch = {.name = "test", .shared = s.shared, .args = args};
    memcpy(launch.grid, s.grid, sizeof s.grid);
    memcpy(launch.block, s.block, sizeof s.block);
    return backend->user.launch(&device->stream, kernel, &launch);
}

static inline shape line(int64_t grid, int64_t block)
{
    return (shape){{grid, 1, 1}, {block, 1, 1}, 0};
}

/* Runs kernel(out, n): `out` are n elements that the kernel gets as they are and that come back. */
static inline ga_status run(ga__function *kernel, shape s, void *out, int n, size_t itemsize)
{
    const size_t nbytes = (size_t)n * itemsize;
    ga__buffer *buffer = ga__buffer_new(device, nbytes);
    if (buffer == NULL)
        return ga_error();
    ga_status status =
        backend->memory.copy(&device->stream, buffer->memory, out, nbytes, GA__HOST_TO_DEVICE);
    if (status == GA_OK)
        status = launch_at(kernel, s, (void *[]){&buffer->memory, &n});
    if (status == GA_OK)
        status =
            backend->memory.copy(&device->stream, out, buffer->memory, nbytes, GA__DEVICE_TO_HOST);
    ga__buffer_release(buffer);
    return status;
}

/* Builds the text and runs its kernel k(T *out, int n). */
static inline ga_status run_text(const char *text, shape s, void *out, int n, size_t itemsize)
{
    program p = build(text, KERNELS("k"));
    const ga_status status = run(p.kernels[0], s, out, n, itemsize);
    backend->code.unload(p.image);
    return status;
}

#endif
