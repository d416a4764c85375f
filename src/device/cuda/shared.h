/* Declarations that the files of the CUDA backend share. */
#ifndef GA_DEVICE_CUDA_SHARED_H
#define GA_DEVICE_CUDA_SHARED_H

#include <cuda_runtime_api.h>
#include <stdatomic.h>

#include "device/backend.h"
#ifdef QUARRY_DRIVER_CODE
#include "device/cuda/driver_code.h"
#endif

#define GA__LAUNCHED 8       /* names kept for the message after a fault */
#define GA__LAUNCHED_WORDS 8 /* 63 bytes of each */
#define GA__COUNTED 64       /* launches of clusters that are remembered */

/* Pinned memory for one piece of a copy to the device; upload.c's. */
typedef struct ga__upload {
    pthread_mutex_t lock; /* of both members below */
    void *memory;
    cudaEvent_t read; /* set once the device has read the memory's contents */
} ga__upload;
#define GA__UPLOADS 4

/* The name of a launched user's kernel, copied because the kernel may be freed before a fault is
 * reported. A concurrent reader may see part of another name, but always a terminator. */
typedef struct ga__launched {
    _Atomic uint64_t id; /* 0: none */
    _Atomic uint64_t name[GA__LAUNCHED_WORDS];
} ga__launched;

/* The key contains two paths: NVRTC's and that of the toolkit's headers. */
#define GA__CUDA_KEY_SIZE (2 * PATH_MAX + 512)

/* A device's own state. */
typedef struct cuda_state {
    pthread_mutex_t lock; /* of the stagings */
    struct staging *stagings;
    ga__upload uploads[GA__UPLOADS];
    atomic_uint nuploads;                /* the next piece uses index nuploads % GA__UPLOADS */
    cudaMemPool_t pool;                  /* NULL if the device has none: memory comes from
                                          * cudaMalloc */
    size_t most_large;                   /* bytes of large blocks that a stream keeps */
    char keys[2][GA__CUDA_KEY_SIZE];     /* plain, fast math */
    char cuda_key[GA__CUDA_KEY_SIZE];    /* for users' sources */
    ga__launched launched[GA__LAUNCHED]; /* since the last wait for the whole device; no lock */
    atomic_uint nlaunched;               /* the next name goes to index nlaunched % GA__LAUNCHED */
    _Atomic uint64_t clusters[GA__COUNTED]; /* how many run at once, of the last launches */
} cuda_state;

/* Raises a failed call; `what` names the operation. cudaGetLastError clears the error if that is
 * possible; after a fault the message names the kernels that may have caused it. */
ga_status ga__cuda_fail(const ga__device *device, cudaError_t error, const char *what);

static inline ga_status ga__cuda_check(const ga__device *device, cudaError_t error,
                                       const char *what)
{
    return error == cudaSuccess ? GA_OK : ga__cuda_fail(device, error, what);
}

extern _Thread_local int ga__cuda_thread_device;
ga_status ga__cuda_switch(const ga__device *device);

/* Makes the device the runtime's current one for the calling thread. */
static inline ga_status ga__cuda_use(const ga__device *device)
{
    return ga__cuda_thread_device == device->index ? GA_OK : ga__cuda_switch(device);
}

/* Records the launch of a user's kernel. */
void ga__cuda_launched(const ga__device *device, const ga__grid_launch *launch);

/* Permits launches of the kernel all shared memory of a block, since launches of other sizes, in
 * other threads or in graphs, share the limit; `own` is the kernel's static part. */
cudaError_t ga__cuda_allow_shared(const ga__device *device, cudaKernel_t kernel, size_t own);

/* memory.c */
cudaError_t ga__cuda_open_pool(ga__device *device);
ga_status ga__cuda_lists_open(ga__stream *stream);
void ga__cuda_lists_close(ga__stream *stream);
ga_status ga__cuda_alloc(ga__stream *stream, size_t nbytes, ga__memory *memory);
void ga__cuda_free(ga__stream *stream, const ga__memory *memory);
void ga__cuda_trim(ga__stream *stream);
void ga__cuda_memory_state(ga__device *device, ga__memory_state *state);

/* copy.c */
void ga__cuda_free_stagings(ga__device *device);
bool ga__cuda_reaches(ga__device *device, const void *memory);
ga_status ga__cuda_copy(ga__stream *stream, void *to, const void *from, size_t nbytes,
                        ga__copy_kind kind);
ga_status ga__cuda_copy_async(ga__stream *stream, void *to, const void *from, size_t nbytes,
                              ga__copy_kind kind);
ga_status ga__cuda_copy_peer(ga__stream *stream, void *to, const void *from, size_t nbytes,
                             ga__device *target);
ga_status ga__cuda_zero(ga__stream *stream, void *memory, size_t nbytes);
ga_status ga__cuda_pin(ga__device *device, size_t nbytes, void **memory);
void ga__cuda_unpin(ga__device *device, void *memory);
ga_status ga__cuda_pin_existing(ga__device *device, void *memory, size_t nbytes);
ga_status ga__cuda_unpin_existing(ga__device *device, void *memory);

/* upload.c: copies from pageable memory that return before the stream reaches them. */
/* Whether this is used for copies of this size. */
bool ga__cuda_uploads(size_t nbytes);
ga_status ga__cuda_upload(ga__stream *stream, void *to, const void *from, size_t nbytes);
void ga__cuda_uploads_open(ga__device *device);
void ga__cuda_uploads_close(ga__device *device);

/* stream.c */
ga_status ga__cuda_stream_open(ga__stream *stream);
void ga__cuda_stream_close(ga__stream *stream);
ga_status ga__cuda_stream_wait(ga__stream *stream, ga__stream *other);
ga_status ga__cuda_stream_synchronize(ga__stream *stream);
ga_status ga__cuda_stream_query(ga__stream *stream, bool *done);
ga_status ga__cuda_event_new(ga__device *device, ga__event **event);
void ga__cuda_event_free(ga__device *device, ga__event *event);
ga_status ga__cuda_event_set(ga__event *event, ga__stream *stream);
ga_status ga__cuda_event_wait(ga__event *event, ga__stream *stream);
ga_status ga__cuda_event_synchronize(ga__device *device, ga__event *event);
ga_status ga__cuda_event_query(ga__device *device, ga__event *event, bool *done);
ga_status ga__cuda_event_elapsed(ga__device *device, ga__event *from, ga__event *to, double *ms);
ga_status ga__cuda_record_begin(ga__stream *stream);
bool ga__cuda_captured(const ga__stream *stream);
ga_status ga__cuda_record_end(ga__stream *stream, ga__replay **replay);
void ga__cuda_record_cancel(ga__stream *stream);
ga_status ga__cuda_replay(ga__replay *replay, ga__stream *stream);
void ga__cuda_replay_free(ga__replay *replay);

#endif
