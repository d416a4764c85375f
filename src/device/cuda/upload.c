/* Copies pageable host memory to the device through pinned memory, without waiting for the
 * stream. */
#include <string.h>

#include "device/cuda/shared.h"

#define PIECE ((size_t)1 << 20)
#define LEAST ((size_t)64 << 10) /* smaller copies travel with the command anyway */

bool ga__cuda_uploads(size_t nbytes)
{
    return nbytes > LEAST && nbytes <= GA__UPLOADS * PIECE;
}

static bool open_upload(ga__upload *u)
{
    if (u->memory == NULL && cudaHostAlloc(&u->memory, PIECE, cudaHostAllocPortable) != cudaSuccess)
        u->memory = NULL;
    if (u->read == NULL &&
        cudaEventCreateWithFlags(&u->read, cudaEventDisableTiming) != cudaSuccess)
        u->read = NULL;
    if (u->memory != NULL && u->read != NULL)
        return true;
    (void)cudaGetLastError();
    return false;
}

/* Sends one piece: waits until the device has read the pinned memory's previous contents. If there
 * is no pinned memory, the driver stages the piece itself. */
static ga_status send_piece(ga__upload *u, ga__stream *stream, void *to, const void *from,
                            size_t nbytes)
{
    if (!open_upload(u))
        return ga__cuda_copy_async(stream, to, from, nbytes, GA__HOST_TO_DEVICE);
    cudaError_t error = cudaEventSynchronize(u->read);
    if (error != cudaSuccess)
        return ga__cuda_fail(stream->device, error, "copy from the host");
    memcpy(u->memory, from, nbytes);
    const ga_status status = ga__cuda_copy_async(stream, to, u->memory, nbytes, GA__HOST_TO_DEVICE);
    if (status != GA_OK)
        return status;
    return ga__cuda_check(stream->device, cudaEventRecord(u->read, stream->handle),
                          "copy from the host");
}

ga_status ga__cuda_upload(ga__stream *stream, void *to, const void *from, size_t nbytes)
{
    cuda_state *state = stream->device->state;
    ga_status status = ga__cuda_use(stream->device);
    for (size_t at = 0; at < nbytes && status == GA_OK; at += PIECE) {
        const unsigned n = atomic_fetch_add_explicit(&state->nuploads, 1, memory_order_relaxed);
        ga__upload *u = &state->uploads[n % GA__UPLOADS];
        pthread_mutex_lock(&u->lock);
        status = send_piece(u, stream, (char *)to + at, (const char *)from + at,
                            nbytes - at < PIECE ? nbytes - at : PIECE);
        pthread_mutex_unlock(&u->lock);
    }
    return status;
}

void ga__cuda_uploads_open(ga__device *device)
{
    cuda_state *state = device->state;
    for (int i = 0; i < GA__UPLOADS; i++)
        pthread_mutex_init(&state->uploads[i].lock, NULL);
}

void ga__cuda_uploads_close(ga__device *device)
{
    cuda_state *state = device->state;
    for (int i = 0; i < GA__UPLOADS; i++) {
        ga__upload *u = &state->uploads[i];
        if (u->memory != NULL)
            (void)cudaFreeHost(u->memory);
        if (u->read != NULL)
            (void)cudaEventDestroy(u->read);
        pthread_mutex_destroy(&u->lock);
    }
}
