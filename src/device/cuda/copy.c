/* Copies from and to CUDA devices, and pinned host memory. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/cuda/shared.h"

#define STAGED                                                                                     \
    ((size_t)16 << 10) /* copies to the host of up to this size go through pinned                  \
                        * memory */

/* Pinned memory for one small copy to the host. */
typedef struct staging {
    void *memory;
    struct staging *next;
} staging;

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
