/* Memory of CUDA devices: each stream keeps small blocks in size classes, and the large ones that
 * it freed last. */
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/cuda/shared.h"
#include "device/recent.h"
#include "device/size_class.h"

#define SMALLEST ((size_t)512) /* bytes of the first size class: the driver's own granularity */
#define FIRST_EXPONENT 9       /* of SMALLEST */
#define LAST_EXPONENT 25       /* blocks of more than 32 MiB are large */
#define NCLASSES ((LAST_EXPONENT - FIRST_EXPONENT) * GA__CLASS_STEPS + 1)
#define LARGE_UNIT ((size_t)2 << 20) /* the driver maps memory in such pieces */

/* A stream's state: the memory that it keeps. Work that the stream receives later may use memory
 * that it has freed at once. */
typedef struct lists {
    pthread_mutex_t lock;
    ga__block *classes[NCLASSES], *large;
    _Atomic size_t kept;
} lists;

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

/* ---- the driver's memory ---- */

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

static ga_status new_block(ga__stream *stream, size_t capacity, ga__block **made)
{
    const bool had_error = ga__attempt_begin();
    ga__block *b = ga__malloc(sizeof *b);
    if (b == NULL)
        return ga__attempt_end_alloc(had_error, GA_ERR_MEMORY);
    *b = (ga__block){.capacity = capacity};
    const ga_status status = driver_alloc(stream, capacity, &b->memory);
    if (status == GA_OK)
        *made = b;
    else
        ga__free(b);
    return ga__attempt_end_alloc(had_error, status);
}

/* Gives a list of blocks to the driver. */
static void release(ga__stream *stream, ga__block *b)
{
    while (b != NULL) {
        ga__block *next = b->next;
        driver_free(stream, b->memory);
        ga__free(b);
        b = next;
    }
}

/* ---- blocks ---- */

static bool is_large(size_t nbytes)
{
    return nbytes > (size_t)1 << LAST_EXPONENT;
}

static ga__block **class_of(lists *l, size_t capacity)
{
    return &l->classes[ga__class_index(capacity, FIRST_EXPONENT)];
}

static ga__block *take_first(ga__block **list)
{
    ga__block *b = *list;
    if (b != NULL)
        *list = b->next;
    return b;
}

static void put_first(ga__block **list, ga__block *b)
{
    b->next = *list;
    *list = b;
}

static ga__block *take_block(lists *l, size_t capacity)
{
    pthread_mutex_lock(&l->lock);
    ga__block *b = is_large(capacity) ? ga__recent_take(&l->large, capacity)
                                      : take_first(class_of(l, capacity));
    pthread_mutex_unlock(&l->lock);
    if (b != NULL)
        atomic_fetch_sub_explicit(&l->kept, b->capacity, memory_order_relaxed);
    return b;
}

static size_t bytes_of(const ga__block *b)
{
    size_t nbytes = 0;
    for (; b != NULL; b = b->next)
        nbytes += b->capacity;
    return nbytes;
}

/* Keeps the block. Large ones that have become too many go to the driver. */
static void put_block(ga__stream *stream, ga__block *b)
{
    lists *l = stream->state;
    const cuda_state *state = stream->device->state;
    ga__block *dropped = NULL;
    atomic_fetch_add_explicit(&l->kept, b->capacity, memory_order_relaxed);
    pthread_mutex_lock(&l->lock);
    if (is_large(b->capacity))
        dropped = ga__recent_put(&l->large, b, state->most_large);
    else
        put_first(class_of(l, b->capacity), b);
    pthread_mutex_unlock(&l->lock);
    if (dropped == NULL)
        return;
    atomic_fetch_sub_explicit(&l->kept, bytes_of(dropped), memory_order_relaxed);
    release(stream, dropped);
}

/* The bytes of a block that serves a request. */
static size_t capacity_for(size_t nbytes)
{
    return is_large(nbytes) ? (nbytes + LARGE_UNIT - 1) / LARGE_UNIT * LARGE_UNIT
                            : ga__class_capacity(nbytes < SMALLEST ? SMALLEST : nbytes);
}

ga_status ga__cuda_alloc(ga__stream *stream, size_t nbytes, ga__memory *memory)
{
    if (nbytes > (size_t)1 << 46) /* exceeds any device; the driver would call the request
                                   * invalid */
        return GA_ERR_MEMORY;
    const size_t capacity = capacity_for(nbytes);
    ga__block *b = take_block(stream->state, capacity);
    const ga_status status = b != NULL ? GA_OK : new_block(stream, capacity, &b);
    if (status == GA_OK)
        *memory = (ga__memory){b->memory, b};
    return status;
}

void ga__cuda_free(ga__stream *stream, const ga__memory *memory)
{
    put_block(stream, memory->block);
}

static void move_list(ga__block **from, ga__block **to)
{
    for (ga__block *b = take_first(from); b != NULL; b = take_first(from))
        put_first(to, b);
}

/* Removes all blocks and returns them as one list. */
static ga__block *empty_lists(lists *l)
{
    ga__block *all = NULL;
    pthread_mutex_lock(&l->lock);
    for (int i = 0; i < NCLASSES; i++)
        move_list(&l->classes[i], &all);
    move_list(&l->large, &all);
    atomic_store_explicit(&l->kept, 0, memory_order_relaxed);
    pthread_mutex_unlock(&l->lock);
    return all;
}

void ga__cuda_trim(ga__stream *stream)
{
    const cuda_state *state = stream->device->state;
    release(stream, empty_lists(stream->state));
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
    ga__block *all = stream == heir ? NULL : empty_lists(l);
    if (stream == heir)
        ga__cuda_trim(stream);
    for (ga__block *b = take_first(&all); b != NULL; b = take_first(&all))
        put_block(heir, b);
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
