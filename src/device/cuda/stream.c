/* Streams, events and graphs of CUDA devices. */
#include "base/alloc.h"
#include "base/error.h"
#include "device/cuda/shared.h"

/* ---- streams ---- */

static bool is_default(const ga__stream *stream)
{
    return stream == &stream->device->stream;
}

/* Streams are non-blocking: they wait for the default stream only where arrays require it. */
static cudaError_t open_handle(ga__stream *stream)
{
    if (stream->wrapped || is_default(stream))
        return cudaSuccess;
    return cudaStreamCreateWithFlags((cudaStream_t *)&stream->handle, cudaStreamNonBlocking);
}

static void close_handle(ga__stream *stream)
{
    if (!stream->wrapped && !is_default(stream))
        (void)cudaStreamDestroy(stream->handle);
}

ga_status ga__cuda_stream_open(ga__stream *stream)
{
    ga__device *device = stream->device;
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    ga_status status = ga__cuda_check(device, open_handle(stream), "a new stream");
    if (status != GA_OK)
        return status;
    status = ga__cuda_check(
        device, cudaEventCreateWithFlags((cudaEvent_t *)&stream->event, cudaEventDisableTiming),
        "a new event");
    if (status != GA_OK)
        goto no_event;
    status = ga__cuda_lists_open(stream);
    if (status == GA_OK)
        return GA_OK;
    (void)cudaEventDestroy(stream->event);
no_event:
    close_handle(stream);
    return status;
}

void ga__cuda_stream_close(ga__stream *stream)
{
    ga__cuda_lists_close(stream);
    if (ga__cuda_use(stream->device) != GA_OK)
        return;
    (void)cudaEventDestroy(stream->event);
    close_handle(stream);
}

ga_status ga__cuda_stream_wait(ga__stream *stream, ga__stream *other)
{
    const ga_status status = ga__cuda_event_set((ga__event *)other->event, other);
    return status == GA_OK ? ga__cuda_event_wait((ga__event *)other->event, stream) : status;
}

ga_status ga__cuda_stream_synchronize(ga__stream *stream)
{
    if (ga__cuda_use(stream->device) != GA_OK)
        return GA_ERR_DEVICE;
    return ga__cuda_check(stream->device, cudaStreamSynchronize(stream->handle), "earlier work");
}

/* Sets whether the work is done; "not ready" is not an error. */
static ga_status answer(ga__device *device, cudaError_t error, bool *done)
{
    *done = error == cudaSuccess;
    if (error != cudaErrorNotReady)
        return ga__cuda_check(device, error, "earlier work");
    (void)cudaGetLastError();
    return GA_OK;
}

ga_status ga__cuda_stream_query(ga__stream *stream, bool *done)
{
    if (ga__cuda_use(stream->device) != GA_OK)
        return GA_ERR_DEVICE;
    return answer(stream->device, cudaStreamQuery(stream->handle), done);
}

/* ---- events: cudaEvent_t ---- */

ga_status ga__cuda_event_new(ga__device *device, ga__event **event)
{
    if (ga__alloc_fails())
        return ga__fail(GA_ERR_MEMORY, "memory: out of memory: an event of %s", device->name);
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    return ga__cuda_check(device, cudaEventCreate((cudaEvent_t *)event), "a new event");
}

void ga__cuda_event_free(ga__device *device, ga__event *event)
{
    if (ga__cuda_use(device) == GA_OK)
        (void)cudaEventDestroy((cudaEvent_t)event);
}

ga_status ga__cuda_event_set(ga__event *event, ga__stream *stream)
{
    if (ga__cuda_use(stream->device) != GA_OK)
        return GA_ERR_DEVICE;
    return ga__cuda_check(stream->device, cudaEventRecord((cudaEvent_t)event, stream->handle),
                          "recording an event");
}

ga_status ga__cuda_event_wait(ga__event *event, ga__stream *stream)
{
    if (ga__cuda_use(stream->device) != GA_OK)
        return GA_ERR_DEVICE;
    return ga__cuda_check(stream->device,
                          cudaStreamWaitEvent(stream->handle, (cudaEvent_t)event, 0),
                          "waiting for an event");
}

ga_status ga__cuda_event_synchronize(ga__device *device, ga__event *event)
{
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    return ga__cuda_check(device, cudaEventSynchronize((cudaEvent_t)event), "earlier work");
}

ga_status ga__cuda_event_query(ga__device *device, ga__event *event, bool *done)
{
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    return answer(device, cudaEventQuery((cudaEvent_t)event), done);
}

ga_status ga__cuda_event_elapsed(ga__device *device, ga__event *from, ga__event *to, double *ms)
{
    float elapsed = 0;
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    const ga_status status =
        ga__cuda_check(device, cudaEventElapsedTime(&elapsed, (cudaEvent_t)from, (cudaEvent_t)to),
                       "the time between two events");
    if (status == GA_OK)
        *ms = elapsed;
    return status;
}

/* ---- recording: cudaGraphExec_t ---- */

/* Relaxed mode: while it records, the thread may still compile and load kernels and allocate
 * memory. */
ga_status ga__cuda_record_begin(ga__stream *stream)
{
    if (ga__cuda_use(stream->device) != GA_OK)
        return GA_ERR_DEVICE;
    return ga__cuda_check(stream->device,
                          cudaStreamBeginCapture(stream->handle, cudaStreamCaptureModeRelaxed),
                          "recording a graph");
}

/* The default stream cannot be captured. A stream in an unknown state counts as captured. */
bool ga__cuda_captured(const ga__stream *stream)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    return stream->handle != NULL &&
           (cudaStreamIsCapturing(stream->handle, &status) != cudaSuccess ||
            status != cudaStreamCaptureStatusNone);
}

ga_status ga__cuda_record_end(ga__stream *stream, ga__replay **replay)
{
    cudaGraph_t graph = NULL;
    cudaGraphExec_t executable;
    if (ga__cuda_use(stream->device) != GA_OK)
        return GA_ERR_DEVICE;
    cudaError_t error = cudaStreamEndCapture(stream->handle, &graph);
    if (error == cudaSuccess)
        error = cudaGraphInstantiate(&executable, graph, 0);
    if (graph != NULL)
        (void)cudaGraphDestroy(graph);
    const ga_status status = ga__cuda_check(stream->device, error, "recording a graph");
    if (status == GA_OK)
        *replay = (ga__replay *)executable;
    return status;
}

void ga__cuda_record_cancel(ga__stream *stream)
{
    cudaGraph_t graph = NULL;
    if (ga__cuda_use(stream->device) != GA_OK)
        return;
    if (cudaStreamEndCapture(stream->handle, &graph) != cudaSuccess)
        (void)cudaGetLastError();
    if (graph != NULL)
        (void)cudaGraphDestroy(graph);
}

ga_status ga__cuda_replay(ga__replay *replay, ga__stream *stream)
{
    if (ga__cuda_use(stream->device) != GA_OK)
        return GA_ERR_DEVICE;
    return ga__cuda_check(stream->device, cudaGraphLaunch((cudaGraphExec_t)replay, stream->handle),
                          "launching a graph");
}

void ga__cuda_replay_free(ga__replay *replay)
{
    if (cudaGraphExecDestroy((cudaGraphExec_t)replay) != cudaSuccess)
        (void)cudaGetLastError();
}
