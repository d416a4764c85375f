/* Memory of CUDA devices: each stream keeps blocks in size classes; copies; pinned host memory. */
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/cuda/shared.h"
#include "device/size_class.h"

#define SMALLEST ((size_t)512) /* bytes of the first size class: the driver's own granularity */
#define FIRST_EXPONENT 9       /* of SMALLEST */
#define LAST_EXPONENT 25       /* larger blocks than 32 MiB come from the driver's pool */
#define NCLASSES ((LAST_EXPONENT - FIRST_EXPONENT) * GA__CLASS_STEPS + 1)
#define STAGED                                                                                     \
    ((size_t)16 << 10) /* copies to the host of up to this size go through pinned                  \
                        * memory */

/* A device block that is kept when it is freed, in the list of its class. */
typedef struct block {
    void *memory;
    size_t class_index, capacity;
    struct block *next;
} block;

/* A stream's state: the memory that it keeps. Work that the stream receives later may use memory
 * that it has freed at once. */
typedef struct lists {
    pthread_mutex_t lock;
    block *classes[NCLASSES];
    _Atomic size_t kept;
} lists;

/* Pinned memory for one small copy to the host. */
typedef struct staging {
    void *memory;
    struct staging *next;
} staging;

/* Makes the driver's pool keep freed memory instead of releasing it at every wait. */
cudaError_t ga__cuda_open_pool(ga__device *device)
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

/* ---- blocks ---- */

static block *take_block(lists *l, size_t class_index)
{
    pthread_mutex_lock(&l->lock);
    block *b = l->classes[class_index];
    if (b != NULL)
        l->classes[class_index] = b->next;
    pthread_mutex_unlock(&l->lock);
    if (b != NULL)
        atomic_fetch_sub_explicit(&l->kept, b->capacity, memory_order_relaxed);
    return b;
}

static void put_block(lists *l, block *b)
{
    atomic_fetch_add_explicit(&l->kept, b->capacity, memory_order_relaxed);
    pthread_mutex_lock(&l->lock);
    b->next = l->classes[b->class_index];
    l->classes[b->class_index] = b;
    pthread_mutex_unlock(&l->lock);
}

static ga_status driver_alloc(ga__stream *stream, size_t nbytes, void **memory)
{
    const cuda_state *state = stream->device->state;
    if (ga__cuda_use(stream->device) != GA_OK)
        return GA_ERR_DEVICE;
    cudaError_t error = state->pool != NULL ? cudaMallocAsync(memory, nbytes, stream->handle)
                                            : cudaMalloc(memory, nbytes);
    if (error != cudaErrorMemoryAllocation)
        return ga__cuda_check(stream->device, error, "allocation");
    (void)cudaGetLastError();
    return GA_ERR_MEMORY;
}

/* These calls report failures of earlier work; the next synchronisation returns them. */
static void driver_free(ga__stream *stream, void *memory)
{
    const cuda_state *state = stream->device->state;
    if (ga__cuda_use(stream->device) != GA_OK)
        return;
    if (state->pool != NULL)
        (void)cudaFreeAsync(memory, stream->handle);
    else
        (void)cudaFree(memory);
}

static ga_status new_block(ga__stream *stream, size_t capacity, size_t class_index, block **made)
{
    block *b = ga__malloc(sizeof *b);
    if (b == NULL)
        return GA_ERR_MEMORY;
    *b = (block){.class_index = class_index, .capacity = capacity};
    ga_status status = driver_alloc(stream, capacity, &b->memory);
    if (status == GA_OK)
        *made = b;
    else
        ga__free(b);
    return status;
}

ga_status ga__cuda_alloc(ga__stream *stream, size_t nbytes, ga__memory *memory)
{
    memory->block = NULL;
    if (nbytes > (size_t)1 << 46) /* exceeds any device; the driver would call the request
                                   * invalid */
        return GA_ERR_MEMORY;
    if (nbytes > (size_t)1 << LAST_EXPONENT)
        return driver_alloc(stream, nbytes, &memory->address);
    const size_t capacity = ga__class_capacity(nbytes < SMALLEST ? SMALLEST : nbytes);
    const size_t class_index = ga__class_index(capacity, FIRST_EXPONENT);
    block *b = take_block(stream->state, class_index);
    if (b == NULL) {
        const bool had_error = ga__attempt_begin();
        ga_status status = new_block(stream, capacity, class_index, &b);
        status = ga__attempt_end_alloc(had_error, status);
        if (status != GA_OK)
            return status;
    }
    *memory = (ga__memory){b->memory, b};
    return GA_OK;
}

void ga__cuda_free(ga__stream *stream, const ga__memory *memory)
{
    if (memory->block != NULL)
        put_block(stream->state, memory->block);
    else
        driver_free(stream, memory->address);
}

/* Removes all blocks and returns them as one list. */
static block *empty_lists(lists *l)
{
    block *all = NULL;
    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < NCLASSES; i++) {
        while (l->classes[i] != NULL) {
            block *b = l->classes[i];
            l->classes[i] = b->next;
            b->next = all;
            all = b;
        }
    }
    atomic_store_explicit(&l->kept, 0, memory_order_relaxed);
    pthread_mutex_unlock(&l->lock);
    return all;
}

void ga__cuda_trim(ga__stream *stream)
{
    const cuda_state *state = stream->device->state;
    block *b = empty_lists(stream->state);
    while (b != NULL) {
        block *next = b->next;
        driver_free(stream, b->memory);
        ga__free(b);
        b = next;
    }
    if (ga__cuda_use(stream->device) != GA_OK || state->pool == NULL)
        return;
    (void)cudaStreamSynchronize(stream->handle); /* until then, freed memory still belongs to the
                                                  * stream */
    (void)cudaMemPoolTrimTo(state->pool, 0);
}

ga_status ga__cuda_lists_open(ga__stream *stream)
{
    lists *l = ga__calloc(1, sizeof *l);
    if (l == NULL)
        return GA_ERR_MEMORY;
    pthread_mutex_init(&l->lock, NULL);
    stream->state = l;
    return GA_OK;
}

/* A stream's memory goes to the device's own stream; that of the device's own stream goes to the
 * driver. */
void ga__cuda_lists_close(ga__stream *stream)
{
    ga__stream *heir = &stream->device->stream;
    lists *l = stream->state;
    block *b = stream == heir ? NULL : empty_lists(l);
    if (stream == heir)
        ga__cuda_trim(stream);
    while (b != NULL) {
        block *next = b->next;
        put_block(heir->state, b);
        b = next;
    }
    pthread_mutex_destroy(&l->lock);
    ga__free(l);
    stream->state = NULL;
}

/* The bytes that the driver's pool keeps: reserved and not in use. */
static size_t pool_kept(const cuda_state *state)
{
    uint64_t reserved = 0, used = 0;
    if (state->pool == NULL ||
        cudaMemPoolGetAttribute(state->pool, cudaMemPoolAttrReservedMemCurrent, &reserved) !=
            cudaSuccess ||
        cudaMemPoolGetAttribute(state->pool, cudaMemPoolAttrUsedMemCurrent, &used) != cudaSuccess)
        return 0;
    return (size_t)(reserved - used);
}

void ga__cuda_memory_state(ga__device *device, ga__memory_state *state)
{
    *state = (ga__memory_state){0};
    if (ga__cuda_use(device) != GA_OK ||
        cudaMemGetInfo(&state->available, &state->total) != cudaSuccess) {
        (void)cudaGetLastError();
        return;
    }
    state->kept = pool_kept(device->state);
    pthread_mutex_lock(&device->lock);
    for (const ga__stream *s = device->streams; s != NULL; s = s->next)
        state->kept += atomic_load_explicit(&((lists *)s->state)->kept, memory_order_relaxed);
    pthread_mutex_unlock(&device->lock);
}

/* ---- host memory ---- */

static enum cudaMemoryType type_of(const void *memory)
{
    struct cudaPointerAttributes attributes;
    if (cudaPointerGetAttributes(&attributes, memory) == cudaSuccess)
        return attributes.type;
    (void)cudaGetLastError();
    return cudaMemoryTypeUnregistered;
}

bool ga__cuda_reaches(ga__device *device, const void *memory)
{
    return ga__cuda_use(device) == GA_OK && type_of(memory) != cudaMemoryTypeUnregistered;
}

ga_status ga__cuda_pin(ga__device *device, size_t nbytes, void **memory)
{
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    return ga__cuda_check(device, cudaHostAlloc(memory, nbytes, cudaHostAllocPortable),
                          "allocation of pinned memory");
}

void ga__cuda_unpin(ga__device *device, void *memory)
{
    if (ga__cuda_use(device) == GA_OK && cudaFreeHost(memory) != cudaSuccess)
        (void)cudaGetLastError();
}

ga_status ga__cuda_pin_existing(ga__device *device, void *memory, size_t nbytes)
{
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    return ga__cuda_check(device, cudaHostRegister(memory, nbytes, cudaHostRegisterPortable),
                          "host_register");
}

ga_status ga__cuda_unpin_existing(ga__device *device, void *memory)
{
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    return ga__cuda_check(device, cudaHostUnregister(memory), "host_unregister");
}

/* ---- copies ---- */

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

/* There are as many as the largest number of threads that copied at once. NULL if memory is out. */
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

void ga__cuda_free_stagings(ga__device *device)
{
    cuda_state *state = device->state;
    while (state->stagings != NULL) {
        staging *s = state->stagings;
        state->stagings = s->next;
        (void)cudaFreeHost(s->memory);
        ga__free(s);
    }
}

static enum cudaMemcpyKind direction(ga__copy_kind kind)
{
    return kind == GA__HOST_TO_DEVICE   ? cudaMemcpyHostToDevice
           : kind == GA__DEVICE_TO_HOST ? cudaMemcpyDeviceToHost
                                        : cudaMemcpyDeviceToDevice;
}

static const char *copy_text(ga__copy_kind kind)
{
    return kind == GA__HOST_TO_DEVICE   ? "copy from the host"
           : kind == GA__DEVICE_TO_HOST ? "copy to the host"
                                        : "copy";
}

ga_status ga__cuda_copy_async(ga__stream *stream, void *to, const void *from, size_t nbytes,
                              ga__copy_kind kind)
{
    if (nbytes == 0)
        return GA_OK;
    if (ga__cuda_use(stream->device) != GA_OK)
        return GA_ERR_DEVICE;
    return ga__cuda_check(stream->device,
                          cudaMemcpyAsync(to, from, nbytes, direction(kind), stream->handle),
                          copy_text(kind));
}

static ga_status copy_and_wait(ga__stream *stream, void *to, const void *from, size_t nbytes)
{
    const ga_status status = ga__cuda_copy_async(stream, to, from, nbytes, GA__DEVICE_TO_HOST);
    return status == GA_OK ? ga__cuda_stream_synchronize(stream) : status;
}

/* A small copy goes to pinned memory, which the device writes directly after the kernel. For
 * pageable memory the driver would wait first, and then stage the copy in the same way. */
static ga_status copy_to_host(ga__stream *stream, void *to, const void *from, size_t nbytes)
{
    cuda_state *state = stream->device->state;
    if (ga__cuda_use(stream->device) != GA_OK)
        return GA_ERR_DEVICE;
    staging *s = nbytes <= STAGED ? take_staging(state) : NULL;
    if (s == NULL)
        return copy_and_wait(stream, to, from, nbytes);
    const ga_status status = copy_and_wait(stream, s->memory, from, nbytes);
    if (status == GA_OK)
        memcpy(to, s->memory, nbytes);
    put_staging(state, s);
    return status;
}

/* The driver stages pageable memory before it returns, but reads pinned memory later. */
static ga_status copy_from_host(ga__stream *stream, void *to, const void *from, size_t nbytes)
{
    if (ga__cuda_use(stream->device) != GA_OK)
        return GA_ERR_DEVICE;
    const bool pageable = type_of(from) == cudaMemoryTypeUnregistered;
    if (pageable && ga__cuda_uploads(nbytes))
        return ga__cuda_upload(stream, to, from, nbytes);
    const ga_status status = ga__cuda_copy_async(stream, to, from, nbytes, GA__HOST_TO_DEVICE);
    if (status != GA_OK || pageable)
        return status;
    return ga__cuda_stream_synchronize(stream);
}

ga_status ga__cuda_copy(ga__stream *stream, void *to, const void *from, size_t nbytes,
                        ga__copy_kind kind)
{
    if (nbytes == 0)
        return GA_OK;
    if (kind == GA__HOST_TO_DEVICE)
        return copy_from_host(stream, to, from, nbytes);
    if (kind == GA__DEVICE_TO_HOST)
        return copy_to_host(stream, to, from, nbytes);
    return ga__cuda_copy_async(stream, to, from, nbytes, kind);
}

/* Lets `reader` access the memory of `device`'s pool if the two devices can reach each other: the
 * driver then copies directly. */
static cudaError_t open_pool_to(const ga__device *device, const ga__device *reader)
{
    const cuda_state *state = device->state;
    int reachable = 0;
    cudaError_t error = cudaDeviceCanAccessPeer(&reachable, reader->index, device->index);
    if (error != cudaSuccess || !reachable || state->pool == NULL)
        return error;
    const struct cudaMemAccessDesc access = {
        .location = {.type = cudaMemLocationTypeDevice, .id = reader->index},
        .flags = cudaMemAccessFlagsProtReadWrite};
    return cudaMemPoolSetAccess(state->pool, &access, 1);
}

ga_status ga__cuda_copy_peer(ga__stream *stream, void *to, const void *from, size_t nbytes,
                             ga__device *target)
{
    ga__device *device = stream->device;
    if (nbytes == 0)
        return GA_OK;
    cudaError_t error = open_pool_to(device, target);
    if (error == cudaSuccess)
        error = open_pool_to(target, device);
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    if (error == cudaSuccess)
        error = cudaMemcpyPeerAsync(to, target->index, from, device->index, nbytes, stream->handle);
    return ga__cuda_check(device, error, "copy to another device");
}

ga_status ga__cuda_zero(ga__stream *stream, void *memory, size_t nbytes)
{
    if (nbytes == 0)
        return GA_OK;
    if (ga__cuda_use(stream->device) != GA_OK)
        return GA_ERR_DEVICE;
    return ga__cuda_check(stream->device, cudaMemsetAsync(memory, 0, nbytes, stream->handle),
                          "zero");
}
