/* The host as a device: its tables and its description. */
#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/os/loader.h"
#include "device/cpu/cxx.h"
#include "device/cpu/threads.h"
#include "device/host/shared.h"
#include "device/simt/simt.h"

/* ---- users' modules ---- */

static ga_status host_compile_cuda(ga__device *device, const ga__cuda_source *source, void **code,
                                   size_t *nbytes, char **symbols, char **log)
{
    (void)device;
    return ga__simt_compile(source, code, nbytes, symbols, log);
}

static ga_status host_link(ga__device *device, const ga__link_inputs *inputs, void **code,
                           size_t *nbytes)
{
    (void)device;
    return ga__simt_link(inputs, code, nbytes);
}

static void host_cuda_key(ga__device *device, ga__strbuf *key)
{
    (void)device;
    ga__simt_key(key);
}

static ga_status host_function_info(ga__device *device, ga__function *function,
                                    ga__function_info *info)
{
    (void)device;
    ga__simt_info((const ga_simt_kernel *)(const void *)function, info);
    return GA_OK;
}

/* ---- the device ---- */

/* Writes the "model name : X" of /proc/cpuinfo, or "CPU". */
static void describe(char *description, size_t size)
{
    char text[4096] = "", *end = NULL;
    FILE *file = fopen("/proc/cpuinfo", "re");
    size_t length = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    if (file != NULL)
        fclose(file);
    char *model = strstr(text, "model name");
    model = model == NULL ? NULL : strstr(model, ": ");
    end = model == NULL ? NULL : strchr(model, '\n');
    if (end != NULL)
        *end = '\0';
    int n = ga__pool_size();
    snprintf(description, size, "%.200s, %d thread%s", end != NULL ? model + 2 : "CPU", n,
             n == 1 ? "" : "s");
}

static size_t last_level_cache(void)
{
    long nbytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (nbytes <= 0)
        nbytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return nbytes > 0 ? (size_t)nbytes : (size_t)8 << 20;
}

static ga_status host_open(ga__device *device)
{
    /* For kernels, which name no library: a program that loads us by dlopen may have no libm in its
     * global scope. The library is loaded already, so this call cannot fail to find it. */
    (void)ga__library_open(LIBM_SO, RTLD_NOW | RTLD_GLOBAL);
    ga__host_memory_open(device);
    snprintf(device->name, sizeof device->name, "cpu");
    describe(device->description, sizeof device->description);
    device->processors = ga__pool_size();
    device->threads_per_processor = 1;
    device->cache_bytes = last_level_cache();
    return GA_OK;
}

static void host_close(ga__device *device)
{
    ga__host_trim(&device->stream);
}

static int host_count(void)
{
    return 1;
}

const ga__backend ga__host_backend = {
    .name = "cpu",
    .template_target = "host",
    .count = host_count,
    .open = host_open,
    .close = host_close,
    .stream.open = ga__host_stream_open,
    .stream.close = ga__host_stream_close,
    .stream.wait = ga__host_stream_wait,
    .stream.synchronize = ga__host_stream_synchronize,
    .stream.query = ga__host_stream_query,
    .stream.event_new = ga__host_event_new,
    .stream.event_free = ga__host_event_free,
    .stream.event_record = ga__host_event_record,
    .stream.event_wait = ga__host_event_wait,
    .stream.event_synchronize = ga__host_event_synchronize,
    .stream.event_query = ga__host_event_query,
    .stream.event_elapsed = ga__host_event_elapsed,
    .graph.begin = ga__host_record_begin,
    .graph.end = ga__host_record_end,
    .graph.cancel = ga__host_record_cancel,
    .graph.replay = ga__host_replay,
    .graph.free = ga__host_replay_free,
    .memory.alloc = ga__host_alloc,
    .memory.free = ga__host_free,
    .memory.trim = ga__host_trim,
    .memory.state = ga__host_memory_state,
    .memory.reaches = ga__host_reaches,
    .memory.copy = ga__host_copy_async,
    .memory.copy_async = ga__host_copy_async,
    .memory.zero = ga__host_zero,
    .memory.pin = ga__host_pin,
    .memory.unpin = ga__host_unpin,
    .memory.pin_existing = ga__host_pin_existing,
    .memory.unpin_existing = ga__host_unpin_existing,
    .synchronize = ga__host_synchronize,
    .code.worker = ga__pool_member,
    .code.compiler_found = ga__cxx_found,
    .code.compile = ga__host_compile,
    .code.key = ga__host_compiler_key,
    .code.load = ga__host_load,
    .code.unload = ga__host_unload,
    .code.find = ga__host_find,
    .code.resident_blocks = ga__host_resident_blocks,
    .code.launch = ga__host_launch,
    .product.found = ga__host_blas_found,
    .product.takes = ga__host_blas_takes,
    .product.multiply = ga__host_blas_multiply,
    .user.compile = host_compile_cuda,
    .user.key = host_cuda_key,
    .user.link = host_link,
    .user.linker_found = ga__cxx_found,
    .user.global = ga__host_global,
    .user.info = host_function_info,
    .user.launch = ga__host_launch_grid,
};
