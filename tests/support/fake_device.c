/* A CUDA device that only compiles: code goes through NVRTC (of a build with CUDA), memory is the
 * host's, and launches are noted. */
#include "fake_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "device/cuda/nvrtc.h"
#include "device/stream.h"

struct fake fake;

static ga_status fake_stream_open(ga__stream *stream)
{
    (void)stream;
    return GA_OK;
}

static void fake_stream_close(ga__stream *stream)
{
    (void)stream;
}

static ga_status fake_alloc(ga__stream *stream, size_t nbytes, ga__memory *memory)
{
    (void)stream;
    memory->address = aligned_alloc(256, (nbytes + 255) / 256 * 256);
    if (memory->address && nbytes <= 256) /* no kernel runs: results that are read are zeros */
        memset(memory->address, 0, nbytes);
    return memory->address ? GA_OK : GA_ERR_MEMORY;
}

static void fake_free(ga__stream *stream, const ga__memory *memory)
{
    (void)stream;
    free(memory->address);
}

static void fake_trim(ga__stream *stream)
{
    (void)stream;
}

static ga_status fake_copy(ga__stream *stream, void *to, const void *from, size_t nbytes,
                           ga__copy_kind kind)
{
    (void)stream, (void)kind;
    memcpy(to, from, nbytes);
    return GA_OK;
}

static ga_status fake_zero(ga__stream *stream, void *memory, size_t nbytes)
{
    (void)stream;
    memset(memory, 0, nbytes);
    return GA_OK;
}

static ga_status fake_pin(ga__device *device, size_t nbytes, void **memory)
{
    (void)device;
    *memory = calloc(1, nbytes);
    return *memory ? GA_OK : ga__fail(GA_ERR_MEMORY, "out of memory");
}

static void fake_unpin(ga__device *device, void *memory)
{
    (void)device;
    free(memory);
}

static ga_status fake_stream_synchronize(ga__stream *stream)
{
    (void)stream;
    return GA_OK;
}

static ga_status fake_synchronize(ga__device *device)
{
    (void)device;
    return GA_OK;
}

static ga_status fake_event_new(ga__device *device, ga__event **event)
{
    (void)device;
    fake.events++;
    *event = calloc(1, 1);
    return *event ? GA_OK : ga__fail(GA_ERR_MEMORY, "out of memory");
}

static void fake_event_free(ga__device *device, ga__event *event)
{
    (void)device;
    fake.events--;
    free(event);
}

static ga_status fake_event_record(ga__event *event, ga__stream *stream)
{
    (void)event, (void)stream;
    fake.recorded++;
    return GA_OK;
}

static ga_status fake_event_query(ga__device *device, ga__event *event, bool *done)
{
    (void)device, (void)event;
    *done = !fake.busy;
    return fake.broken ? ga__fail(GA_ERR_DEVICE, "the device is broken") : GA_OK;
}

#ifdef QUARRY_CUDA
static ga_status fake_compile(ga__device *device, const ga__source *source, void **code,
                              size_t *nbytes)
{
    const ga_status status = ga__nvrtc_compile(source->name, source->text, device->arch,
                                               source->fast_math, code, nbytes);
    fake.rejected += status == GA_ERR_COMPILE;
    return status;
}

static ga_status fake_compile_cuda(ga__device *device, const ga__cuda_source *source, void **code,
                                   size_t *nbytes, char **symbols, char **log)
{
    return ga__nvrtc_compile_cuda(source, device->arch, code, nbytes, symbols, log);
}
#else
#define fake_compile NULL
#define fake_compile_cuda NULL
#endif

static void fake_key(ga__device *device, bool fast_math, ga__strbuf *key)
{
    ga__strbuf_addf(key, "%s%s", device->name, fast_math ? " fast" : "");
}

static ga_status fake_load(ga__device *device, const void *code, size_t nbytes, ga__image **image)
{
    (void)device, (void)code, (void)nbytes;
    *image = (ga__image *)&fake_load;
    return GA_OK;
}

static ga_status fake_attach(ga__device *device, ga__image *image)
{
    (void)device, (void)image;
    return GA_OK;
}

static void fake_unload(ga__image *image)
{
    (void)image;
    fake.unloads++;
}

static ga_status fake_find(ga__image *image, const char *name, ga__function **function)
{
    snprintf(fake.symbol, sizeof fake.symbol, "%s", name);
    *function = (ga__function *)image;
    return GA_OK;
}

static void fake_cuda_key(ga__device *device, ga__strbuf *key)
{
    ga__strbuf_add(key, device->name);
}

static ga_status fake_global(ga__device *device, ga__image *image, const char *symbol,
                             void **memory, size_t *nbytes)
{
    (void)device, (void)image;
    if (strcmp(symbol, "table") != 0 && strcmp(symbol, "_ZN2ns5tableE") != 0)
        return ga__fail(GA_ERR_INVALID, "the module has no variable \"%s\"", symbol);
    *memory = fake.variable;
    *nbytes = sizeof fake.variable;
    return GA_OK;
}

static ga_status fake_function_info(ga__device *device, ga__function *function,
                                    ga__function_info *info)
{
    (void)device, (void)function;
    *info = fake.info;
    return GA_OK;
}

static ga_status fake_launch_grid(ga__stream *stream, ga__function *function,
                                  const ga__grid_launch *launch)
{
    (void)stream, (void)function;
    fake.launches++;
    fake.last = *launch;
    for (int i = 0; i < fake.info.nparams; i++)
        memcpy(fake.args[i], launch->args[i], fake.info.param_bytes[i]);
    return GA_OK;
}

static int fake_resident_blocks(ga__device *device, ga__function *function, int block)
{
    (void)function;
    return device->processors * 1536 / block;
}

static int fake_resident_clusters(ga__device *device, ga__function *function,
                                  const ga__launch *launch)
{
    (void)function;
    return device->processors / launch->cluster;
}

static ga_status fake_launch(ga__stream *stream, ga__function *function, const ga__launch *launch)
{
    (void)stream, (void)function;
    return launch->grid > 0 ? GA_OK
                            : ga__fail(GA_ERR_DEVICE, "a grid of %lld", (long long)launch->grid);
}

const ga__backend fake_backend = {.name = "fake",
                                  .template_target = "cuda",
                                  .stream.open = fake_stream_open,
                                  .stream.close = fake_stream_close,
                                  .stream.synchronize = fake_stream_synchronize,
                                  .stream.event_new = fake_event_new,
                                  .stream.event_free = fake_event_free,
                                  .stream.event_record = fake_event_record,
                                  .stream.event_query = fake_event_query,
                                  .memory.alloc = fake_alloc,
                                  .memory.free = fake_free,
                                  .memory.trim = fake_trim,
                                  .memory.copy = fake_copy,
                                  .memory.copy_async = fake_copy,
                                  .memory.zero = fake_zero,
                                  .memory.pin = fake_pin,
                                  .memory.unpin = fake_unpin,
                                  .synchronize = fake_synchronize,
                                  .code.compile = fake_compile,
                                  .code.key = fake_key,
                                  .code.load = fake_load,
                                  .code.attach = fake_attach,
                                  .code.unload = fake_unload,
                                  .code.find = fake_find,
                                  .code.resident_blocks = fake_resident_blocks,
                                  .code.resident_clusters = fake_resident_clusters,
                                  .code.launch = fake_launch,
                                  .user.compile = fake_compile_cuda,
                                  .user.key = fake_cuda_key,
                                  .user.global = fake_global,
                                  .user.info = fake_function_info,
                                  .user.launch = fake_launch_grid};

#define FAKE(sm)                                                                                   \
    {                                                                                              \
        .backend = &fake_backend, .index = sm, .name = "fake:" #sm, .arch = sm, .processors = 132, \
        .shared_bytes = 99 << 10, .threads_per_processor = 2048, .meets = true,                    \
        .cluster_blocks = (sm) < 90 ? 0 : 8                                                        \
    }
ga__device devices[DEVICES] = {FAKE(75), FAKE(80), FAKE(90), FAKE(100), FAKE(120)};

bool open_fake_devices(void)
{
    for (int i = 0; i < DEVICES; i++)
        if (ga__stream_init(&devices[i].stream, &devices[i], false) != GA_OK)
            return false;
    return true;
}
