/* For tests of CUDA modules through the backend: building them, and launching kernels of one or two
 * arrays. */
#include "cuda_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "device/grid.h"
#include "device/memory.h"

int clear_error(void **state)
{
    (void)state;
    ga__alloc_fail_at(0);
    ga_clear_error();
    return 0;
}

void assert_ok(ga_status status)
{
    if (status != GA_OK)
        fail_msg("%s: %s", ga_status_name(status), ga_error_message());
}

void assert_message(ga_status status, ga_status wanted, const char *part)
{
    assert_int_equal(status, wanted);
    if (strstr(ga_error_message(), part) == NULL)
        fail_msg("no \"%s\" in: %s", part, ga_error_message());
    ga_clear_error();
}

static ga_status find_kernels(program *p, char *symbols)
{
    ga_status status = GA_OK;
    int n = 0;
    char *rest = NULL;
    for (char *symbol = strtok_r(symbols, "\n", &rest); symbol != NULL && status == GA_OK;
         symbol = strtok_r(NULL, "\n", &rest))
        status = backend->code.find(p->image, symbol, &p->kernels[n++]);
    return status;
}

ga_status build_source(program *p, const ga__cuda_source *source)
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

program build(const char *text, const char *const *kernels)
{
    program p = {0};
    const ga__cuda_source source = {.name = "test.cu", .text = text, .kernels = kernels};
    assert_ok(build_source(&p, &source));
    return p;
}

ga_status launch_at(ga__function *kernel, shape s, void **args)
{
    ga__grid_launch launch = {.name = "test", .shared = s.shared, .args = args};
    ga__function_info info;
    memcpy(launch.grid, s.grid, sizeof s.grid);
    memcpy(launch.block, s.block, sizeof s.block);
    ga_status status = backend->user.info(device, kernel, &info);
    if (status == GA_OK)
        status = ga__check_grid(&launch, &info);
    return status == GA_OK ? backend->user.launch(&device->stream, kernel, &launch) : status;
}

shape line(int64_t grid, int64_t block)
{
    return (shape){{grid, 1, 1}, {block, 1, 1}, 0};
}

ga_status run(ga__function *kernel, shape s, void *out, int n, size_t itemsize)
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

ga_status run_text(const char *text, shape s, void *out, int n, size_t itemsize)
{
    program p = build(text, KERNELS("k"));
    const ga_status status = run(p.kernels[0], s, out, n, itemsize);
    backend->code.unload(p.image);
    return status;
}
