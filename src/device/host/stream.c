/* The host's streams and events: work is done when its call returns. */
#include <time.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/host/shared.h"

ga_status ga__host_stream_open(ga__stream *stream)
{
    stream->handle = NULL;
    return GA_OK;
}

void ga__host_stream_close(ga__stream *stream)
{
    (void)stream;
}

ga_status ga__host_stream_wait(ga__stream *stream, ga__stream *other)
{
    (void)stream, (void)other;
    return GA_OK;
}

ga_status ga__host_stream_synchronize(ga__stream *stream)
{
    (void)stream;
    return GA_OK;
}

ga_status ga__host_stream_query(ga__stream *stream, bool *done)
{
    (void)stream;
    *done = true;
    return GA_OK;
}

struct ga__event {
    struct timespec time;
};

ga_status ga__host_event_new(ga__device *device, ga__event **event)
{
    (void)device;
    *event = ga__calloc(1, sizeof **event);
    return *event == NULL ? GA_ERR_MEMORY : GA_OK;
}

void ga__host_event_free(ga__device *device, ga__event *event)
{
    (void)device;
    ga__free(event);
}

ga_status ga__host_event_record(ga__event *event, ga__stream *stream)
{
    (void)stream;
    clock_gettime(CLOCK_MONOTONIC, &event->time);
    return GA_OK;
}

ga_status ga__host_event_wait(ga__event *event, ga__stream *stream)
{
    (void)event, (void)stream;
    return GA_OK;
}

ga_status ga__host_event_synchronize(ga__device *device, ga__event *event)
{
    (void)device, (void)event;
    return GA_OK;
}

ga_status ga__host_event_query(ga__device *device, ga__event *event, bool *done)
{
    (void)device, (void)event;
    *done = true;
    return GA_OK;
}

ga_status ga__host_event_elapsed(ga__device *device, ga__event *from, ga__event *to, double *ms)
{
    (void)device;
    *ms = 1e3 * (double)(to->time.tv_sec - from->time.tv_sec) +
          1e-6 * (double)(to->time.tv_nsec - from->time.tv_nsec);
    return GA_OK;
}

ga_status ga__host_synchronize(ga__device *device)
{
    (void)device; /* launches are done when they return */
    return GA_OK;
}
