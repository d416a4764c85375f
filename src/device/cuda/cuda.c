/* CUDA devices through the runtime API: their properties, their code, and launches. */
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "device/code.h"
#include "device/cuda/cublaslt.h"
#include "device/cuda/shared.h"
#include "device/cuda/module.h"
#include "device/cuda/nvjitlink.h"
#include "device/cuda/nvrtc.h"

static ga_status cuda_synchronize(ga__device *device)
{
    cuda_state *state = device->state;
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    ga_status status = ga__cuda_check(device, cudaDeviceSynchronize(), "earlier work");
    for (int i = 0; i < GA__LAUNCHED && status == GA_OK; i++)
        atomic_store_explicit(&state->launched[i].id, 0, memory_order_relaxed);
    return status;
}

/* ---- code: an image is a cudaLibrary_t, a function a cudaKernel_t ---- */

static ga_status cuda_compile(ga__device *device, const ga__source *source, void **code,
                              size_t *nbytes)
{
    return ga__nvrtc_compile(source->name, source->text, device->arch, source->fast_math, code,
                             nbytes);
}

static void cuda_compiler_key(ga__device *device, bool fast_math, ga__strbuf *key)
{
    const cuda_state *state = device->state;
    ga__strbuf_add(key, state->keys[fast_math]);
}

static void cuda_cuda_key(ga__device *device, ga__strbuf *key)
{
    const cuda_state *state = device->state;
    ga__strbuf_add(key, state->cuda_key);
}

static ga_status cuda_compile_cuda(ga__device *device, const ga__cuda_source *source, void **code,
                                   size_t *nbytes, char **symbols, char **log)
{
    return ga__nvrtc_compile_cuda(source, device->arch, code, nbytes, symbols, log);
}

static ga_status cuda_link(ga__device *device, const ga__link_inputs *inputs, void **code,
                           size_t *nbytes)
{
    return ga__nvjitlink_link(inputs, device->arch, code, nbytes);
}

/* Loads the first kernel, and with it all code. A template has one kernel, which gets its shared
 * memory here, so that no launch has to ask; ga__cuda_function_info permits it to users' kernels.
 */
static cudaError_t load_kernel(const ga__device *device, cudaKernel_t kernel)
{
    struct cudaFuncAttributes own;
    const cudaError_t error = cudaFuncGetAttributes(&own, (const void *)kernel);
    return error == cudaSuccess ? ga__cuda_allow_shared(device, kernel, own.sharedSizeBytes)
                                : error;
}

/* Loads the machine code now: the driver would defer loading, and its errors, to the first launch.
 * A user's module may contain only variables or templates. */
static cudaError_t load_eagerly(const ga__device *device, cudaLibrary_t library)
{
    unsigned count = 0;
    cudaKernel_t first = NULL;
    cudaError_t error = cudaLibraryGetKernelCount(&count, library);
    if (error == cudaSuccess && count > 0)
        error = cudaLibraryEnumerateKernels(&first, 1, library);
    if (error == cudaSuccess && first)
        return load_kernel(device, first);
    if (error != cudaSuccess)
        return error;
    void *memory;
    size_t nbytes;
    error = cudaLibraryGetGlobal(&memory, &nbytes, library, "quarry looks");
    return error == cudaErrorSymbolNotFound ? cudaGetLastError(), cudaSuccess : error;
}

static ga_status cuda_load(ga__device *device, const void *code, size_t nbytes, ga__image **image)
{
    if (!ga__is_device_code(code, nbytes))
        return ga__fail(GA_ERR_FORMAT, "%s: %zu bytes are not a cubin, fat binary or PTX",
                        device->name, nbytes);
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    cudaLibrary_t library;
    cudaError_t error = cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0);
    if (error != cudaSuccess)
        return ga__cuda_fail(device, error, "loading a kernel");
    error = load_eagerly(device, library);
    if (error != cudaSuccess) {
        (void)cudaLibraryUnload(library);
        return ga__cuda_fail(device, error, "loading a kernel");
    }
    *image = (ga__image *)library;
    return GA_OK;
}

/* A library's kernels belong to no context: the driver loads them on each device at first use. */
static ga_status cuda_attach(ga__device *device, ga__image *image)
{
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    return ga__cuda_check(device, load_eagerly(device, (cudaLibrary_t)image), "loading a kernel");
}

static void cuda_unload(ga__image *image)
{
    if (cudaLibraryUnload((cudaLibrary_t)image) != cudaSuccess)
        (void)cudaGetLastError();
}

static ga_status fail_launch(const ga__device *device, cudaError_t error, const ga__launch *launch)
{
    char what[128];
    snprintf(what, sizeof what, "launch of %lld blocks of %d threads, %zu bytes of shared memory",
             (long long)launch->grid, launch->block, launch->shared);
    return ga__cuda_fail(device, error, what);
}

static void cuda_carve(ga__device *device, ga__function *function, int percent)
{
    if (ga__cuda_use(device) != GA_OK ||
        cudaKernelSetAttributeForDevice((cudaKernel_t)function,
                                        cudaFuncAttributePreferredSharedMemoryCarveout, percent,
                                        device->index) != cudaSuccess)
        (void)cudaGetLastError();
}

static int cuda_resident_blocks(ga__device *device, ga__function *function, int threads)
{
    int per_processor = 0;
    if (ga__cuda_use(device) != GA_OK ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, (const void *)function,
                                                      threads, 0) != cudaSuccess)
        (void)cudaGetLastError();
    return (per_processor > 0 ? per_processor : 1) * device->processors;
}

static cudaLaunchConfig_t config_of(const ga__launch *launch, cudaLaunchAttribute *cluster)
{
    *cluster = (cudaLaunchAttribute){.id = cudaLaunchAttributeClusterDimension};
    cluster->val.clusterDim.x = (unsigned)launch->cluster;
    cluster->val.clusterDim.y = cluster->val.clusterDim.z = 1;
    return (cudaLaunchConfig_t){.gridDim = {(unsigned)launch->grid, 1, 1},
                                .blockDim = {(unsigned)launch->block, 1, 1},
                                .dynamicSmemBytes = launch->shared,
                                .attrs = cluster,
                                .numAttrs = 1};
}

static int count_clusters(ga__device *device, ga__function *function, const ga__launch *launch)
{
    cudaLaunchAttribute cluster;
    const cudaLaunchConfig_t config = config_of(launch, &cluster);
    int count = 0;
    if (ga__cuda_use(device) != GA_OK ||
        cudaKernelSetAttributeForDevice((cudaKernel_t)function,
                                        cudaFuncAttributeNonPortableClusterSizeAllowed, 1,
                                        device->index) != cudaSuccess ||
        cudaOccupancyMaxActiveClusters(&count, (const void *)function, &config) != cudaSuccess)
        (void)cudaGetLastError();
    return count > 0 ? count : 1;
}

/* The driver takes microseconds to count, so the device remembers what it counted last: in each
 * word a hash of the launch, and the clusters. */
static int cuda_resident_clusters(ga__device *device, ga__function *function,
                                  const ga__launch *launch)
{
    cuda_state *state = device->state;
    const uint64_t words[] = {(uint64_t)(uintptr_t)function, launch->shared,
                              (uint64_t)launch->block << 32 | (uint64_t)launch->cluster};
    const uint64_t hash = ga__hash64(words, sizeof words, 0);
    _Atomic uint64_t *const place = &state->clusters[hash % GA__COUNTED];
    const uint64_t known = atomic_load_explicit(place, memory_order_relaxed);
    if (known >> 16 == hash >> 16 && known != 0)
        return (int)(known & 0xffff);
    const int count = count_clusters(device, function, launch);
    atomic_store_explicit(place, hash >> 16 << 16 | (uint64_t)count, memory_order_relaxed);
    return count;
}

static cudaError_t launch_clusters(ga__stream *stream, ga__function *function,
                                   const ga__launch *launch, void **args)
{
    cudaLaunchAttribute cluster;
    cudaLaunchConfig_t config = config_of(launch, &cluster);
    config.stream = stream->handle;
    return cudaLaunchKernelExC(&config, (const void *)function, args);
}

static ga_status cuda_launch(ga__stream *stream, ga__function *function, const ga__launch *launch)
{
    ga__device *device = stream->device;
    if (launch->grid == 0)
        return GA_OK;
    if (launch->grid > INT32_MAX)
        return fail_launch(device, cudaErrorInvalidConfiguration, launch);
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    void *args[] = {
        (void *)(uintptr_t)launch->words}; /* read only, although its type is not const */
    const dim3 grid = {(unsigned)launch->grid, 1, 1}, block = {(unsigned)launch->block, 1, 1};
    const cudaError_t error =
        launch->cluster > 0 ? launch_clusters(stream, function, launch, args)
        : launch->together
            ? cudaLaunchCooperativeKernel(function, grid, block, args, launch->shared,
                                          stream->handle)
            : cudaLaunchKernel(function, grid, block, args, launch->shared, stream->handle);
    return error == cudaSuccess ? GA_OK : fail_launch(device, error, launch);
}

static ga_status cuda_multiply(ga__stream *stream, const ga__matrix_product *product)
{
    return ga__cuda_use(stream->device) == GA_OK ? ga__cublaslt_multiply(stream, product)
                                                 : GA_ERR_DEVICE;
}

/* ---- the device ---- */

static int device_count;
static cudaError_t count_error;
static pthread_once_t count_once = PTHREAD_ONCE_INIT;

/* The driver reads this variable when it starts: with its default of 8 hardware queues, streams
 * from the ninth on wait for each other's work. */
static void ask_for_queues(void)
{
    (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
}

static void count_devices(void)
{
    ask_for_queues();
    count_error = cudaGetDeviceCount(&device_count);
    if (count_error == cudaSuccess)
        return;
    (void)cudaGetLastError(); /* no driver, or no working device: both mean 0 */
    device_count = 0;
}

static int cuda_count(void)
{
    pthread_once(&count_once, count_devices);
    return device_count;
}

const char *ga__cuda_problem(void)
{
    if (cuda_count() > 0)
        return NULL;
    if (count_error == cudaErrorInsufficientDriver)
        return "the NVIDIA driver is missing, or older than the CUDA toolkit of this build: "
               "install "
               "or update the driver";
    if (count_error == cudaSuccess || count_error == cudaErrorNoDevice)
        return "the NVIDIA driver shows no GPU: see nvidia-smi and CUDA_VISIBLE_DEVICES";
    return cudaGetErrorString(count_error);
}

/* Two words of the bus for each cycle of its clock. */
static int64_t memory_rate(int index)
{
    int kilohertz = 0, bits = 0;
    if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, index) != cudaSuccess ||
        cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, index) != cudaSuccess)
        return 0;
    return 2 * (int64_t)kilohertz * (bits / CHAR_BIT) / 1000;
}

/* The part of the device's memory that a stream may keep in large blocks. */
#define LARGE_SHARE 8

/* Architectures, and the most blocks of a cluster that all of these promise. */
#define FIRST_WITH_CLUSTERS 90
#define FIRST_WITH_FEWER 120
#define PORTABLE_BLOCKS 8

static cudaError_t read_properties(ga__device *device)
{
    cuda_state *state = device->state;
    struct cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, device->index);
    if (error != cudaSuccess)
        return error;
    snprintf(device->description, sizeof device->description, "%.255s", properties.name);
    device->arch = properties.major * 10 + properties.minor;
    device->processors = properties.multiProcessorCount;
    device->threads_per_processor = properties.maxThreadsPerMultiProcessor;
    device->cache_bytes = (size_t)properties.l2CacheSize;
    device->shared_bytes = properties.sharedMemPerBlockOptin;
    device->meets = properties.cooperativeLaunch;
    device->cluster_blocks = device->arch < FIRST_WITH_CLUSTERS ? 0
                             : device->arch < FIRST_WITH_FEWER  ? GA__CLUSTER_BLOCKS
                                                                : PORTABLE_BLOCKS;
    device->memory_rate = memory_rate(device->index);
    state->most_large = properties.totalGlobalMem / LARGE_SHARE;
    return cudaSuccess;
}

static void make_keys(ga__device *device)
{
    cuda_state *state = device->state;
    char options[GA__CUDA_KEY_SIZE - 64];
    int runtime = 0;
    (void)cudaRuntimeGetVersion(&runtime);
    for (int fast_math = 0; fast_math < 2; fast_math++) {
        ga__nvrtc_describe(options, sizeof options, fast_math);
        snprintf(state->keys[fast_math], sizeof state->keys[fast_math], "sm_%d cudart %d %s",
                 device->arch, runtime, options);
    }
    ga__nvrtc_describe_cuda(options, sizeof options);
    snprintf(state->cuda_key, sizeof state->cuda_key, "sm_%d cudart %d %s", device->arch, runtime,
             options);
}

static ga_status cuda_open(ga__device *device)
{
    snprintf(device->name, sizeof device->name, "cuda:%d", device->index);
    cuda_state *state = ga__calloc(1, sizeof *state);
    if (state == NULL)
        return GA_ERR_MEMORY;
    device->state = state;
    pthread_mutex_init(&state->lock, NULL);

    ga_status status = ga__cuda_switch(device);
    if (status == GA_OK)
        status = ga__cuda_check(device, read_properties(device), "reading its properties");
    if (status == GA_OK)
        status = ga__cuda_check(device, ga__cuda_open_pool(device), "opening its memory pool");
    if (status == GA_OK) {
        make_keys(device);
        ga__cuda_uploads_open(device);
        return GA_OK;
    }
    pthread_mutex_destroy(&state->lock);
    ga__free(state);
    device->state = NULL;
    return status;
}

static void cuda_close(ga__device *device)
{
    cuda_state *state = device->state;
    ga__cuda_uploads_close(device);
    ga__cuda_free_stagings(device);
    ga__cublaslt_close(device);
    pthread_mutex_destroy(&state->lock);
    ga__free(state);
    device->state = NULL;
}

const ga__backend ga__cuda_backend = {
    .name = "cuda",
    .template_target = "cuda",
    .count = cuda_count,
    .open = cuda_open,
    .close = cuda_close,
    .stream.open = ga__cuda_stream_open,
    .stream.close = ga__cuda_stream_close,
    .stream.wait = ga__cuda_stream_wait,
    .stream.synchronize = ga__cuda_stream_synchronize,
    .stream.query = ga__cuda_stream_query,
    .stream.event_new = ga__cuda_event_new,
    .stream.event_free = ga__cuda_event_free,
    .stream.event_record = ga__cuda_event_set,
    .stream.event_wait = ga__cuda_event_wait,
    .stream.event_synchronize = ga__cuda_event_synchronize,
    .stream.event_query = ga__cuda_event_query,
    .stream.event_elapsed = ga__cuda_event_elapsed,
    .graph.begin = ga__cuda_record_begin,
    .graph.captured = ga__cuda_captured,
    .graph.end = ga__cuda_record_end,
    .graph.cancel = ga__cuda_record_cancel,
    .graph.replay = ga__cuda_replay,
    .graph.free = ga__cuda_replay_free,
    .memory.alloc = ga__cuda_alloc,
    .memory.free = ga__cuda_free,
    .memory.trim = ga__cuda_trim,
    .memory.state = ga__cuda_memory_state,
    .memory.reaches = ga__cuda_reaches,
    .memory.copy = ga__cuda_copy,
    .memory.copy_async = ga__cuda_copy_async,
    .memory.copy_peer = ga__cuda_copy_peer,
    .memory.zero = ga__cuda_zero,
    .memory.pin = ga__cuda_pin,
    .memory.unpin = ga__cuda_unpin,
    .memory.pin_existing = ga__cuda_pin_existing,
    .memory.unpin_existing = ga__cuda_unpin_existing,
    .synchronize = cuda_synchronize,
    .code.compiler_found = ga__nvrtc_found,
    .code.compile = cuda_compile,
    .code.key = cuda_compiler_key,
    .code.load = cuda_load,
    .code.attach = cuda_attach,
    .code.unload = cuda_unload,
    .code.find = ga__cuda_find,
    .code.carve = cuda_carve,
    .code.resident_blocks = cuda_resident_blocks,
    .code.resident_clusters = cuda_resident_clusters,
    .code.launch = cuda_launch,
    .product.found = ga__cublaslt_found,
    .product.takes = ga__cublaslt_takes,
    .product.multiply = cuda_multiply,
    .user.compile = cuda_compile_cuda,
    .user.key = cuda_cuda_key,
    .user.link = cuda_link,
    .user.linker_found = ga__nvjitlink_found,
    .user.find = ga__cuda_find_by_name,
    .user.global = ga__cuda_global,
    .user.info = ga__cuda_function_info,
    .user.launch = ga__cuda_launch_grid,
};
