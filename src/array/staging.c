/* Transfers bytes between arrays and files (or any other reader or writer of host memory). */
#include "array/staging.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/error.h"

#define PIECE_BYTES ((size_t)8 << 20)
/* Pinning takes milliseconds; it pays from this size on. */
#define PINNED_FROM ((size_t)64 << 20)

static ga_status pin_pieces(ga__staging *staging)
{
    ga__device *device = staging->device;
    void *memory;
    ga_status status = ga__stream_init(&staging->stream, device, false);

    if (status != GA_OK)
        return status;
    for (int k = 0; k < 2 && status == GA_OK; k++) {
        status = device->backend->memory.pin(device, PIECE_BYTES, &memory);
        if (status == GA_OK)
            staging->pieces[k] = memory;
    }
    if (status == GA_OK)
        return GA_OK;
    if (staging->pieces[0])
        device->backend->memory.unpin(device, staging->pieces[0]);
    staging->pieces[0] = NULL;
    ga__stream_reset(&staging->stream);
    return status;
}

ga_status ga__staging_init(ga__staging *staging, ga__device *device, size_t most)
{
    *staging = (ga__staging){.device = device};
    if (ga__on_host(device))
        return GA_OK;
    if (most >= PINNED_FROM)
        return pin_pieces(staging);
    staging->pieces[0] = ga__malloc(most < PIECE_BYTES ? most : PIECE_BYTES);
    return staging->pieces[0] ? GA_OK : GA_ERR_MEMORY;
}

void ga__staging_reset(ga__staging *staging)
{
    if (!staging->pieces[1]) {
        ga__free(staging->pieces[0]);
        return;
    }
    for (int k = 0; k < 2; k++)
        staging->device->backend->memory.unpin(staging->device, staging->pieces[k]);
    ga__stream_reset(&staging->stream);
}

ga_status ga__staging_order(ga__staging *staging, const gpuarray *x, bool writes)
{
    return staging->pieces[1] ? ga__use(&staging->stream, x->buffer, writes) : GA_OK;
}

static size_t part_of(size_t nbytes, size_t done)
{
    return nbytes - done < PIECE_BYTES ? nbytes - done : PIECE_BYTES;
}

/* Reads one piece while the previous one is copied. */
static ga_status stage_in_pinned(ga__staging *staging, gpuarray *x, size_t at, size_t nbytes,
                                 ga_status (*read)(void *context, void *bytes, size_t nbytes),
                                 void *context)
{
    const ga__backend *backend = staging->device->backend;
    ga__stream *stream = &staging->stream;
    ga_status status = ga__use(stream, x->buffer, true);

    for (size_t done = 0; done < nbytes && status == GA_OK; done += PIECE_BYTES) {
        char *piece = staging->pieces[done / PIECE_BYTES % 2];
        const size_t part = part_of(nbytes, done);
        status = read(context, piece, part);
        if (status == GA_OK) /* the other piece's copy is done, so it is free */
            status = backend->stream.synchronize(stream);
        if (status == GA_OK)
            status = backend->memory.copy_async(stream, x->data + at + done, piece, part,
                                                GA__HOST_TO_DEVICE);
    }
    const ga_status copied = backend->stream.synchronize(stream);
    return status == GA_OK ? copied : status;
}

ga_status ga__staging_in(ga__staging *staging, gpuarray *x, size_t at, size_t nbytes,
                         ga_status (*read)(void *context, void *bytes, size_t nbytes),
                         void *context)
{
    ga_status status = GA_OK;

    assert(x->contiguous && at + nbytes <= ga_nbytes(x));
    if (nbytes == 0)
        return GA_OK;
    if (!staging->pieces[0])
        return read(context, x->data + at, nbytes);
    if (staging->pieces[1])
        return stage_in_pinned(staging, x, at, nbytes, read, context);
    for (size_t done = 0; done < nbytes && status == GA_OK; done += PIECE_BYTES) {
        const size_t part = part_of(nbytes, done);
        status = read(context, staging->pieces[0], part);
        if (status == GA_OK)
            status = ga__array_upload("copy", x, at + done, staging->pieces[0], part);
    }
    return status;
}

/* Starts to copy the piece from byte `done` on, if there is one. */
static ga_status fetch(ga__staging *staging, const gpuarray *x, size_t at, size_t nbytes,
                       size_t done)
{
    if (done >= nbytes)
        return GA_OK;
    return staging->device->backend->memory.copy_async(
        &staging->stream, staging->pieces[done / PIECE_BYTES % 2], x->data + at + done,
        part_of(nbytes, done), GA__DEVICE_TO_HOST);
}

/* Copies one piece while the previous one is written. */
static ga_status
stage_out_pinned(ga__staging *staging, const gpuarray *x, size_t at, size_t nbytes,
                 ga_status (*write)(void *context, const void *bytes, size_t nbytes), void *context)
{
    const ga__backend *backend = staging->device->backend;
    ga_status status = ga__use(&staging->stream, x->buffer, false);

    if (status == GA_OK)
        status = fetch(staging, x, at, nbytes, 0);
    for (size_t done = 0; done < nbytes && status == GA_OK; done += PIECE_BYTES) {
        status = backend->stream.synchronize(&staging->stream);
        if (status == GA_OK)
            status = fetch(staging, x, at, nbytes, done + PIECE_BYTES);
        if (status == GA_OK)
            status = write(context, staging->pieces[done / PIECE_BYTES % 2], part_of(nbytes, done));
    }
    if (status != GA_OK) /* no copy may write to the pieces any more */
        (void)backend->stream.synchronize(&staging->stream);
    return status;
}

ga_status ga__staging_out(ga__staging *staging, const gpuarray *x, size_t at, size_t nbytes,
                          ga_status (*write)(void *context, const void *bytes, size_t nbytes),
                          void *context)
{
    ga_status status = GA_OK;

    assert(x->contiguous && at + nbytes <= ga_nbytes(x));
    if (nbytes == 0)
        return GA_OK;
    if (!staging->pieces[0])
        return write(context, x->data + at, nbytes);
    if (staging->pieces[1])
        return stage_out_pinned(staging, x, at, nbytes, write, context);
    for (size_t done = 0; done < nbytes && status == GA_OK; done += PIECE_BYTES) {
        const size_t part = part_of(nbytes, done);
        status = ga__array_download("copy", x, at + done, staging->pieces[0], part);
        if (status == GA_OK)
            status = write(context, staging->pieces[0], part);
    }
    return status;
}
