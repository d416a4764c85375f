/* CUDA devices, through the runtime API: memory kept in size classes, copies, and launches. */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/cuda.h"
#include "device/cuda_module.h"
#include "device/nvrtc.h"

/* All work goes to the legacy default stream, so it happens in the order it was given, and memory
 * freed may be used at once by whatever is given later. */
#define STREAM ((cudaStream_t)0)

#define SMALLEST ((size_t)512) /* bytes of the first size class: the driver's own granule */
#define FIRST_EXPONENT 9       /* of SMALLEST */
#define LAST_EXPONENT 25       /* blocks above 32 MiB are the driver's pool's business */
#define STEPS 8                /* size classes between two powers of two: at most 1/8 wasted */
#define NCLASSES ((LAST_EXPONENT - FIRST_EXPONENT) * STEPS + 1)
#define BUCKET_BITS 14
#define STAGED ((size_t)16 << 10)      /* copies to the host up to this go through pinned memory */
#define FREE_SHARED ((size_t)48 << 10) /* dynamic shared memory that needs no asking */

/* A device block that is kept when freed: in its class's list while nobody uses it, and always in a
 * bucket, where freeing finds it by its address. */
typedef struct block {
    void *memory;
    size_t class_index;
    struct block *next_free, *next_in_bucket;
} block;

#define LAUNCHED 8 /* names kept to be told after a fault */

/* Pinned memory for one small copy to the host. */
typedef struct staging {
    void *memory;
    struct staging *next;
} staging;

typedef struct cuda_state {
    pthread_mutex_t lock; /* of all below */
    block *classes[NCLASSES];
    block *buckets[1 << BUCKET_BITS];
    staging *stagings;
    cudaMemPool_t pool;  /* NULL: the device has none, memory comes from cudaMalloc */
    char keys[2][1024];  /* plain, fast math */
    char cuda_key[1024]; /* of users' sources */
    /* The users' kernels launched since the last wait for the whole device; without the lock. */
    _Atomic(const char *) launched[LAUNCHED];
    atomic_uint nlaunched; /* the next one goes to its remainder by LAUNCHED */
} cuda_state;

/* ---- errors, and the thread's device ---- */

/* Errors after which the driver refuses all further work of the process on the device. */
static bool is_fault(cudaError_t error)
{
    static const cudaError_t faults[] = {
        cudaErrorIllegalAddress,      cudaErrorLaunchTimeout,      cudaErrorAssert,
        cudaErrorHardwareStackError,  cudaErrorIllegalInstruction, cudaErrorMisalignedAddress,
        cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,          cudaErrorLaunchFailure};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (error == faults[i])
            return true;
    return false;
}

/* The names of the launched, as: "a", "b". */
static void list_launched(cuda_state *state, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < LAUNCHED && length < size; i++) {
        const char *name = atomic_load_explicit(&state->launched[i], memory_order_relaxed);
        if (name != NULL)
            length += (size_t)snprintf(text + length, size - length, "%s\"%.64s\"",
                                       length > 0 ? ", " : "", name);
    }
}

/* The device tells of a fault when it next waits, and not which kernel it was. */
static ga_status fail_fault(const ga__device *device, cudaError_t error, const char *what)
{
    char launched[LAUNCHED * 70];
    list_launched(device->state, launched, sizeof launched);
    return ga__fail(GA_ERR_DEVICE,
                    "%s: %s: a kernel faulted%s%s: %s (%s); the process must be restarted to use "
                    "the device again",
                    device->name, what,
                    launched[0] != '\0' ? ", of those launched since the last ga_synchronize: "
                                        : "",
                    launched, cudaGetErrorString(error), cudaGetErrorName(error));
}

ga_status ga__cuda_fail(const ga__device *device, cudaError_t error, const char *what)
{
    (void)cudaGetLastError();
    if (is_fault(error) && device->state != NULL)
        return fail_fault(device, error, what);
    return ga__fail(error == cudaErrorMemoryAllocation ? GA_ERR_MEMORY : GA_ERR_DEVICE,
                    "%s: %s: %s (%s)", device->name, what, cudaGetErrorString(error),
                    cudaGetErrorName(error));
}

static inline ga_status check(const ga__device *device, cudaError_t error, const char *what)
{
    return error == cudaSuccess ? GA_OK : ga__cuda_fail(device, error, what);
}

static _Thread_local int thread_device = -1;

static ga_status switch_device(const ga__device *device)
{
    cudaError_t error = cudaSetDevice(device->index);
    if (error != cudaSuccess)
        return ga__cuda_fail(device, error, "cannot be used");
    thread_device = device->index;
    return GA_OK;
}

/* Makes the device the calling thread's, for the runtime. */
static inline ga_status use(const ga__device *device)
{
    return thread_device == device->index ? GA_OK : switch_device(device);
}

ga_status ga__cuda_use(const ga__device *device)
{
    return use(device);
}

void ga__cuda_launched(const ga__device *device, const char *name)
{
    cuda_state *state = device->state;
    for (int i = 0; i < LAUNCHED; i++)
        if (atomic_load_explicit(&state->launched[i], memory_order_relaxed) == name)
            return;
    const unsigned n = atomic_fetch_add_explicit(&state->nlaunched, 1, memory_order_relaxed);
    atomic_store_explicit(&state->launched[n % LAUNCHED], name, memory_order_relaxed);
}

/* ---- memory ---- */

static size_t class_of(size_t nbytes, size_t *capacity)
{
    if (nbytes < SMALLEST)
        nbytes = SMALLEST;
    size_t step = (size_t)1 << (63 - __builtin_clzll((unsigned long long)nbytes) - 3);
    size_t rounded = (nbytes + step - 1) & ~(step - 1);
    int exponent = 63 - __builtin_clzll((unsigned long long)rounded);
    *capacity = rounded;
    return (size_t)(exponent - FIRST_EXPONENT) * STEPS +
           ((rounded >> (exponent - 3)) & (STEPS - 1));
}

static block **bucket_of(cuda_state *state, const void *memory)
{
    uint64_t mixed = (uint64_t)(uintptr_t)memory * UINT64_C(0x9E3779B97F4A7C15);
    return &state->buckets[mixed >> (64 - BUCKET_BITS)];
}

static block *take_free(cuda_state *state, size_t class_index)
{
    pthread_mutex_lock(&state->lock);
    block *b = state->classes[class_index];
    if (b != NULL)
        state->classes[class_index] = b->next_free;
    pthread_mutex_unlock(&state->lock);
    return b;
}

static ga_status driver_alloc(ga__device *device, size_t nbytes, void **memory)
{
    cuda_state *state = device->state;
    if (use(device) != GA_OK)
        return GA_ERR_DEVICE;
    cudaError_t error =
        state->pool != NULL ? cudaMallocAsync(memory, nbytes, STREAM) : cudaMalloc(memory, nbytes);
    return check(device, error, "allocation");
}

/* Errors are those of earlier work, and will be met by whoever waits for it. */
static void driver_free(ga__device *device, void *memory)
{
    cuda_state *state = device->state;
    if (use(device) != GA_OK)
        return;
    if (state->pool != NULL)
        (void)cudaFreeAsync(memory, STREAM);
    else
        (void)cudaFree(memory);
}

static ga_status new_block(ga__device *device, size_t capacity, size_t class_index, void **memory)
{
    cuda_state *state = device->state;
    block *b = ga__malloc(sizeof *b);
    if (b == NULL)
        return GA_ERR_MEMORY;
    ga_status status = driver_alloc(device, capacity, &b->memory);
    if (status != GA_OK) {
        ga__free(b);
        return status;
    }
    b->class_index = class_index;
    pthread_mutex_lock(&state->lock);
    block **bucket = bucket_of(state, b->memory);
    b->next_in_bucket = *bucket;
    *bucket = b;
    pthread_mutex_unlock(&state->lock);
    *memory = b->memory;
    return GA_OK;
}

static ga_status cuda_alloc(ga__device *device, size_t nbytes, void **memory)
{
    if (nbytes > (size_t)1 << 46) /* past any device: the driver would call it invalid */
        return ga__fail(GA_ERR_MEMORY, "%s: out of memory: %zu bytes", device->name, nbytes);
    if (nbytes > (size_t)1 << LAST_EXPONENT)
        return driver_alloc(device, nbytes, memory);
    size_t capacity, class_index = class_of(nbytes, &capacity);
    block *b = take_free(device->state, class_index);
    if (b == NULL)
        return new_block(device, capacity, class_index, memory);
    *memory = b->memory;
    return GA_OK;
}

static void cuda_free(ga__device *device, void *memory)
{
    cuda_state *state = device->state;
    pthread_mutex_lock(&state->lock);
    block *b = *bucket_of(state, memory);
    while (b != NULL && b->memory != memory)
        b = b->next_in_bucket;
    if (b != NULL) {
        b->next_free = state->classes[b->class_index];
        state->classes[b->class_index] = b;
    }
    pthread_mutex_unlock(&state->lock);
    if (b == NULL)
        driver_free(device, memory);
}

static void unlink_from_bucket(cuda_state *state, block *b)
{
    block **link = bucket_of(state, b->memory);
    while (*link != b)
        link = &(*link)->next_in_bucket;
    *link = b->next_in_bucket;
}

/* Takes all unused blocks out, as one list. */
static block *empty_classes(cuda_state *state)
{
    block *all = NULL;
    for (int i = 0; i < NCLASSES; i++) {
        while (state->classes[i] != NULL) {
            block *b = state->classes[i];
            state->classes[i] = b->next_free;
            unlink_from_bucket(state, b);
            b->next_free = all;
            all = b;
        }
    }
    return all;
}

static void cuda_trim(ga__device *device)
{
    cuda_state *state = device->state;
    pthread_mutex_lock(&state->lock);
    block *b = empty_classes(state);
    pthread_mutex_unlock(&state->lock);
    while (b != NULL) {
        block *next = b->next_free;
        driver_free(device, b->memory);
        ga__free(b);
        b = next;
    }
    if (use(device) != GA_OK || state->pool == NULL)
        return;
    (void)cudaStreamSynchronize(STREAM); /* until then freed memory still belongs to the stream */
    (void)cudaMemPoolTrimTo(state->pool, 0);
}

static void cuda_memory_info(ga__device *device, size_t *available, size_t *total)
{
    *available = *total = 0;
    if (use(device) == GA_OK && cudaMemGetInfo(available, total) != cudaSuccess)
        (void)cudaGetLastError();
}

/* ---- copies ---- */

/* The driver stages pageable memory before it returns, but reads pinned memory later. */
static bool is_pinned(const void *memory)
{
    struct cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
        (void)cudaGetLastError();
        return true; /* unknown: waiting is always right */
    }
    return attributes.type != cudaMemoryTypeUnregistered;
}

static ga_status copy_from_host(ga__device *device, void *to, const void *from, size_t nbytes)
{
    cudaError_t error = cudaMemcpyAsync(to, from, nbytes, cudaMemcpyHostToDevice, STREAM);
    if (error == cudaSuccess && is_pinned(from))
        error = cudaStreamSynchronize(STREAM);
    return check(device, error, "copy from the host");
}

static staging *new_staging(void)
{
    staging *s = ga__malloc(sizeof *s);
    if (s == NULL)
        return NULL;
    if (cudaHostAlloc(&s->memory, STAGED, cudaHostAllocPortable) != cudaSuccess) {
        (void)cudaGetLastError();
        ga__free(s);
        return NULL;
    }
    return s;
}

/* As many exist as threads ever copied at the same time. NULL when memory is out. */
static staging *take_staging(cuda_state *state)
{
    pthread_mutex_lock(&state->lock);
    staging *s = state->stagings;
    if (s != NULL)
        state->stagings = s->next;
    pthread_mutex_unlock(&state->lock);
    return s != NULL ? s : new_staging();
}

static void put_staging(cuda_state *state, staging *s)
{
    pthread_mutex_lock(&state->lock);
    s->next = state->stagings;
    state->stagings = s;
    pthread_mutex_unlock(&state->lock);
}

static cudaError_t copy_and_wait(void *to, const void *from, size_t nbytes)
{
    cudaError_t error = cudaMemcpyAsync(to, from, nbytes, cudaMemcpyDeviceToHost, STREAM);
    return error == cudaSuccess ? cudaStreamSynchronize(STREAM) : error;
}

/* A small copy goes to pinned memory, where the device writes it by itself, right behind the
 * kernel; to pageable memory the driver would first wait, then stage it in the same way. */
static ga_status copy_to_host(ga__device *device, void *to, const void *from, size_t nbytes)
{
    staging *s = nbytes <= STAGED ? take_staging(device->state) : NULL;
    if (s == NULL)
        return check(device, copy_and_wait(to, from, nbytes), "copy to the host");
    cudaError_t error = copy_and_wait(s->memory, from, nbytes);
    if (error == cudaSuccess)
        memcpy(to, s->memory, nbytes);
    put_staging(device->state, s);
    return check(device, error, "copy to the host");
}

static ga_status cuda_copy(ga__device *device, void *to, const void *from, size_t nbytes,
                           ga__copy_kind kind)
{
    if (nbytes == 0)
        return GA_OK;
    if (use(device) != GA_OK)
        return GA_ERR_DEVICE;
    if (kind == GA__HOST_TO_DEVICE)
        return copy_from_host(device, to, from, nbytes);
    if (kind == GA__DEVICE_TO_HOST)
        return copy_to_host(device, to, from, nbytes);
    return check(device, cudaMemcpyAsync(to, from, nbytes, cudaMemcpyDeviceToDevice, STREAM),
                 "copy");
}

static ga_status cuda_zero(ga__device *device, void *memory, size_t nbytes)
{
    if (nbytes == 0)
        return GA_OK;
    if (use(device) != GA_OK)
        return GA_ERR_DEVICE;
    return check(device, cudaMemsetAsync(memory, 0, nbytes, STREAM), "zero");
}

static ga_status cuda_synchronize(ga__device *device)
{
    cuda_state *state = device->state;
    if (use(device) != GA_OK)
        return GA_ERR_DEVICE;
    ga_status status = check(device, cudaDeviceSynchronize(), "earlier work");
    for (int i = 0; i < LAUNCHED && status == GA_OK; i++)
        atomic_store_explicit(&state->launched[i], NULL, memory_order_relaxed);
    return status;
}

/* ---- code: an image is a cudaLibrary_t, a function a cudaKernel_t ---- */

static ga_status cuda_compile(ga__device *device, const ga__source *source, void **code,
                              size_t *nbytes)
{
    return ga__nvrtc_compile(source->name, source->text, device->arch, source->fast_math, code,
                             nbytes);
}

static const char *cuda_compiler_key(ga__device *device, bool fast_math)
{
    const cuda_state *state = device->state;
    return state->keys[fast_math];
}

static const char *cuda_cuda_key(ga__device *device)
{
    const cuda_state *state = device->state;
    return state->cuda_key;
}

static ga_status cuda_compile_cuda(ga__device *device, const ga__cuda_source *source, void **code,
                                   size_t *nbytes, char **symbols, char **log)
{
    return ga__nvrtc_compile_cuda(source, device->arch, code, nbytes, symbols, log);
}

/* Loads the machine code now: the driver would put it off to the first launch, and its errors too.
 * A user's module may be variables or templates alone. */
static cudaError_t load_eagerly(cudaLibrary_t library)
{
    unsigned count = 0;
    cudaKernel_t first = NULL;
    struct cudaFuncAttributes attributes;
    cudaError_t error = cudaLibraryGetKernelCount(&count, library);
    if (error == cudaSuccess && count > 0)
        error = cudaLibraryEnumerateKernels(&first, 1, library);
    if (error == cudaSuccess && first)
        error = cudaFuncGetAttributes(&attributes, (const void *)first);
    return error;
}

static ga_status cuda_load(ga__device *device, const void *code, size_t nbytes, ga__image **image)
{
    (void)nbytes;
    if (use(device) != GA_OK)
        return GA_ERR_DEVICE;
    cudaLibrary_t library;
    cudaError_t error = cudaLibraryLoadData(&library, code, NULL, NULL, 0, NULL, NULL, 0);
    if (error != cudaSuccess)
        return ga__cuda_fail(device, error, "loading a kernel");
    error = load_eagerly(library);
    if (error != cudaSuccess) {
        (void)cudaLibraryUnload(library);
        return ga__cuda_fail(device, error, "loading a kernel");
    }
    *image = (ga__image *)library;
    return GA_OK;
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

static int cuda_resident_blocks(ga__device *device, ga__function *function, int threads)
{
    int per_processor = 0;
    if (use(device) != GA_OK ||
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, (const void *)function,
                                                      threads, 0) != cudaSuccess)
        (void)cudaGetLastError();
    return (per_processor > 0 ? per_processor : 1) * device->processors;
}

static ga_status cuda_launch(ga__device *device, ga__function *function, const ga__launch *launch)
{
    if (launch->grid == 0)
        return GA_OK;
    if (launch->grid > INT32_MAX)
        return fail_launch(device, cudaErrorInvalidConfiguration, launch);
    if (use(device) != GA_OK)
        return GA_ERR_DEVICE;
    cudaError_t error = cudaSuccess;
    if (launch->shared > FREE_SHARED)
        error = cudaKernelSetAttributeForDevice((cudaKernel_t)function,
                                                cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                (int)launch->shared, device->index);
    void *args[] = {
        (void *)(uintptr_t)launch->words}; /* read only, though its type does not say so */
    if (error == cudaSuccess)
        error =
            cudaLaunchKernel(function, (dim3){(unsigned)launch->grid, 1, 1},
                             (dim3){(unsigned)launch->block, 1, 1}, args, launch->shared, STREAM);
    return error == cudaSuccess ? GA_OK : fail_launch(device, error, launch);
}

/* ---- the device ---- */

static int device_count;
static cudaError_t count_error;
static pthread_once_t count_once = PTHREAD_ONCE_INIT;

static void count_devices(void)
{
    count_error = cudaGetDeviceCount(&device_count);
    if (count_error == cudaSuccess)
        return;
    (void)cudaGetLastError(); /* no driver, or none of its devices: both mean 0 */
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

static cudaError_t read_properties(ga__device *device)
{
    struct cudaDeviceProp properties;
    cudaError_t error = cudaGetDeviceProperties(&properties, device->index);
    if (error != cudaSuccess)
        return error;
    snprintf(device->description, sizeof device->description, "%.255s", properties.name);
    device->arch = properties.major * 10 + properties.minor;
    device->processors = properties.multiProcessorCount;
    device->threads_per_processor = properties.maxThreadsPerMultiProcessor;
    device->cache_bytes = (size_t)properties.l2CacheSize;
    return cudaSuccess;
}

/* Makes the driver's pool keep what is freed, instead of giving it back at every wait. */
static cudaError_t open_pool(ga__device *device)
{
    cuda_state *state = device->state;
    int supported = 0;
    cudaError_t error =
        cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device->index);
    if (error != cudaSuccess || !supported)
        return error;
    error = cudaDeviceGetDefaultMemPool(&state->pool, device->index);
    uint64_t threshold = UINT64_MAX;
    if (error == cudaSuccess)
        error = cudaMemPoolSetAttribute(state->pool, cudaMemPoolAttrReleaseThreshold, &threshold);
    return error;
}

static void make_keys(ga__device *device)
{
    cuda_state *state = device->state;
    char options[900];
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

    ga_status status = switch_device(device);
    if (status == GA_OK)
        status = check(device, read_properties(device), "reading its properties");
    if (status == GA_OK)
        status = check(device, open_pool(device), "opening its memory pool");
    if (status == GA_OK) {
        make_keys(device);
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
    cuda_trim(device);
    while (state->stagings != NULL) {
        staging *s = state->stagings;
        state->stagings = s->next;
        (void)cudaFreeHost(s->memory);
        ga__free(s);
    }
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
    .alloc = cuda_alloc,
    .free = cuda_free,
    .trim = cuda_trim,
    .memory_info = cuda_memory_info,
    .copy = cuda_copy,
    .zero = cuda_zero,
    .synchronize = cuda_synchronize,
    .compile = cuda_compile,
    .compiler_key = cuda_compiler_key,
    .load = cuda_load,
    .unload = cuda_unload,
    .find = ga__cuda_find,
    .resident_blocks = cuda_resident_blocks,
    .launch = cuda_launch,
    .compile_cuda = cuda_compile_cuda,
    .cuda_key = cuda_cuda_key,
    .global = ga__cuda_global,
    .function_info = ga__cuda_function_info,
    .launch_grid = ga__cuda_launch_grid,
};
