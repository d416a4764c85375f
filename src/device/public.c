/* The public functions for streams, events and memory: checks their arguments and reports
 * errors. */
#include <math.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/os/fork.h"
#include "device/context.h"
#include "device/fault.h"
#include "device/live.h"
#include "device/memory.h"
#include "device/stream.h"
#include "device/tickets.h"

/* ---- streams ---- */

static ga_stream *new_stream(ga__device *device, bool wrapped, void *handle)
{
    ga_stream *stream = ga__calloc(1, sizeof *stream);
    if (stream == NULL)
        return NULL;
    stream->wrapped = wrapped;
    stream->handle = handle;
    if (ga__stream_init(stream, device, false) == GA_OK)
        return stream;
    ga__free(stream);
    return NULL;
}

ga_stream *ga_stream_new(void)
{
    ga__device *device = ga__current_device();
    return device == NULL ? NULL : new_stream(device, false, NULL);
}

ga_stream *ga_stream_wrap(void *handle)
{
    ga__device *device = ga__current_device();
    if (device == NULL)
        return NULL;
    if (ga__on_host(device))
        return ga__fail_null(GA_ERR_UNSUPPORTED,
                             "stream_wrap: cpu has no streams of its own to wrap");
    return new_stream(device, true, handle);
}

void ga_stream_free(ga_stream *stream)
{
    if (stream == NULL)
        return;
    if (ga__chosen_stream() == stream)
        (void)ga__choose_stream(NULL);
    (void)stream->device->backend->stream.synchronize(stream); /* the next wait reports errors */
    ga__tickets_free(stream);
    ga__stream_reset(stream);
    ga__free(stream);
}

ga_status ga_set_stream(ga_stream *stream)
{
    const ga__stream *before = ga__chosen_stream();
    if (before != NULL && before->graph != NULL)
        return ga__fail(GA_ERR_UNSUPPORTED, "set_stream: the thread is recording a graph on %s",
                        before->device->name);
    (void)ga__choose_stream(stream);
    return GA_OK;
}

ga_stream *ga_current_stream(void)
{
    return ga__chosen_stream();
}

/* The stream itself, or the default one; NULL and an error if there is none. */
static ga_stream *or_default(ga_stream *stream)
{
    ga__device *device = stream != NULL ? NULL : ga__current_device();
    return device != NULL ? &device->stream : stream;
}

ga_status ga_stream_synchronize(ga_stream *stream)
{
    stream = or_default(stream);
    if (stream == NULL || !ga__not_recording("stream_synchronize"))
        return ga_error();
    return ga__fault_check(stream->device, stream->device->backend->stream.synchronize(stream));
}

bool ga_stream_query(ga_stream *stream)
{
    bool done = false;
    stream = or_default(stream);
    if (stream == NULL || !ga__not_recording("stream_query"))
        return false;
    return stream->device->backend->stream.query(stream, &done) == GA_OK && done;
}

void *ga_stream_handle(const ga_stream *stream)
{
    return stream == NULL || ga__on_host(stream->device) ? NULL : stream->handle;
}

/* ---- events ---- */

struct ga_event {
    ga__device *device;
    ga__event *handle;
    atomic_bool recorded;
};

ga_event *ga_event_new(void)
{
    ga__device *device = ga__current_device();
    ga_event *event = device == NULL ? NULL : ga__calloc(1, sizeof *event);
    if (event == NULL)
        return NULL;
    event->device = device;
    if (device->backend->stream.event_new(device, &event->handle) == GA_OK)
        return event;
    ga__free(event);
    return NULL;
}

void ga_event_free(ga_event *event)
{
    if (event == NULL)
        return;
    event->device->backend->stream.event_free(event->device, event->handle);
    ga__free(event);
}

ga_status ga_event_record(ga_event *event, ga_stream *stream)
{
    if (event == NULL)
        return ga__fail(GA_ERR_INVALID, "event_record: the event is NULL");
    if (!ga__not_recording("event_record"))
        return GA_ERR_UNSUPPORTED;
    if (stream == NULL)
        stream = ga__current_stream(event->device);
    if (stream->device != event->device)
        return ga__fail(GA_ERR_DEVICE, "event_record: the event is on %s, the stream on %s",
                        event->device->name, stream->device->name);
    const ga_status status = event->device->backend->stream.event_record(event->handle, stream);
    if (status == GA_OK)
        atomic_store(&event->recorded, true);
    return status;
}

/* Raises and returns false if the event cannot be waited for. */
static bool is_recorded(const char *name, ga_event *event)
{
    if (event == NULL)
        ga__fail(GA_ERR_INVALID, "%s: the event is NULL", name);
    else if (!atomic_load(&event->recorded))
        ga__fail(GA_ERR_INVALID, "%s: the event was never recorded", name);
    return event != NULL && atomic_load(&event->recorded) && ga__not_recording(name);
}

ga_status ga_stream_wait_event(ga_stream *stream, ga_event *event)
{
    if (!is_recorded("stream_wait_event", event))
        return ga_error();
    if (stream == NULL)
        stream = ga__current_stream(event->device);
    if (stream->device->backend != event->device->backend)
        return ga__fail(GA_ERR_DEVICE, "stream_wait_event: the event is on %s, the stream on %s",
                        event->device->name, stream->device->name);
    return stream->device->backend->stream.event_wait(event->handle, stream);
}

ga_status ga_event_synchronize(ga_event *event)
{
    if (!is_recorded("event_synchronize", event))
        return ga_error();
    ga__device *device = event->device;
    return ga__fault_check(device,
                           device->backend->stream.event_synchronize(device, event->handle));
}

bool ga_event_query(ga_event *event)
{
    bool done = false;
    return is_recorded("event_query", event) &&
           event->device->backend->stream.event_query(event->device, event->handle, &done) ==
               GA_OK &&
           done;
}

double ga_event_elapsed(ga_event *from, ga_event *to)
{
    double ms = (double)NAN;
    if (!is_recorded("event_elapsed", from) || !is_recorded("event_elapsed", to))
        return ms;
    if (from->device != to->device)
        ga__fail(GA_ERR_DEVICE, "event_elapsed: the events are on %s and %s", from->device->name,
                 to->device->name);
    else
        (void)from->device->backend->stream.event_elapsed(from->device, from->handle, to->handle,
                                                          &ms);
    return ms;
}

/* ---- memory ---- */

static ga__device *named_or_current(const char *name)
{
    return name != NULL ? ga__find_device(name) : ga__current_device();
}

ga_status(ga_memory_info)(const char *name, size_t size, ga_memory_stats *stats)
{
    ga__device *device = named_or_current(name);
    ga__memory_state state;
    if (device == NULL)
        return ga_error();
    if (stats == NULL)
        return ga__fail(GA_ERR_INVALID, "memory_info: the result is NULL");
    device->backend->memory.state(device, &state);
    const ga_memory_stats all = {.used = atomic_load(&device->used),
                                 .peak = atomic_load(&device->peak),
                                 .held = atomic_load(&device->used) + state.kept,
                                 .limit = atomic_load(&device->limit),
                                 .available = state.available,
                                 .total = state.total};
    ga__options_write(stats, size, &all, sizeof all);
    return GA_OK;
}

static void report_device(ga__device *device, void *user)
{
    FILE *file = user;
    ga__memory_state state;
    char largest[GA__LARGEST_TEXT], texts[4][GA__SIZE_TEXT];
    const size_t used = atomic_load(&device->used), limit = atomic_load(&device->limit);
    device->backend->memory.state(device, &state);
    fprintf(file, "%s: %s in use, %s at the peak, %s kept for reuse, ", device->name,
            ga__size_text(used, texts[0]), ga__size_text(atomic_load(&device->peak), texts[1]),
            ga__size_text(state.kept, texts[2]));
    if (limit == 0)
        fputs("no limit", file);
    else
        fprintf(file, "the limit is %s", ga__size_text(limit, texts[3]));
    fprintf(file, "%s\n", ga__largest_text(device, largest));
}

ga_status ga_memory_report(FILE *file)
{
    if (file == NULL)
        return ga__fail(GA_ERR_INVALID, "memory_report: the file is NULL");
    if (ga__current_device() == NULL)
        return ga_error();
    ga__each_device(report_device, file);
    return ferror(file) || fflush(file) != 0
               ? ga__fail(GA_ERR_IO, "memory_report: the file cannot be written")
               : GA_OK;
}

ga_status ga_memory_trim(const char *name)
{
    ga__device *device = named_or_current(name);
    if (device == NULL || !ga__not_recording("memory_trim"))
        return ga_error();
    const ga_status status = device->backend->synchronize(device);
    ga__memory_trim(device);
    return status;
}

ga_status ga_memory_set_limit(const char *name, size_t nbytes)
{
    ga__device *device = named_or_current(name);
    if (device == NULL)
        return ga_error();
    atomic_store(&device->limit, nbytes);
    return GA_OK;
}

/* ---- pinned memory ---- */

/* The device that pinned the memory: the thread that frees it may use another one. */
typedef struct pinned {
    void *memory;
    ga__device *device;
    struct pinned *next;
} pinned;

static pinned *all_pinned;
static pthread_mutex_t lists_lock = PTHREAD_MUTEX_INITIALIZER;
GA__FORK_GUARD(&lists_lock, GA__FORK_LEAF, NULL)

static pinned *note_pinned(pinned *p)
{
    pthread_mutex_lock(&lists_lock);
    p->next = all_pinned;
    all_pinned = p;
    pthread_mutex_unlock(&lists_lock);
    return p;
}

/* Removes the note from the list; NULL if the memory was not pinned here. */
static pinned *take_pinned(const void *memory)
{
    pthread_mutex_lock(&lists_lock);
    pinned **link = &all_pinned;
    while (*link != NULL && (*link)->memory != memory)
        link = &(*link)->next;
    pinned *p = *link;
    if (p != NULL)
        *link = p->next;
    pthread_mutex_unlock(&lists_lock);
    return p;
}

void *ga_pinned_alloc(size_t nbytes)
{
    ga__device *device = ga__current_device();
    pinned *p = device == NULL ? NULL : ga__malloc(sizeof *p);
    if (p == NULL)
        return NULL;
    p->device = device;
    ga_status status = ga__alloc_fails() ? GA_ERR_MEMORY : GA_OK;
    if (status == GA_OK)
        status = device->backend->memory.pin(device, nbytes > 0 ? nbytes : 1, &p->memory);
    if (status == GA_OK)
        return note_pinned(p)->memory;
    ga__free(p);
    return ga__fail_null(GA_ERR_MEMORY, "pinned_alloc: out of memory: requested %zu bytes for %s",
                         nbytes, device->name);
}

void ga_pinned_free(void *memory)
{
    pinned *p = memory == NULL ? NULL : take_pinned(memory);
    if (p != NULL)
        p->device->backend->memory.unpin(p->device, memory);
    else if (memory != NULL)
        ga__fail(GA_ERR_INVALID, "pinned_free: %p was not allocated by ga_pinned_alloc()", memory);
    ga__free(p);
}

ga_status ga_host_register(void *memory, size_t nbytes)
{
    ga__device *device = ga__current_device();
    if (device == NULL)
        return ga_error();
    if (memory == NULL || nbytes == 0)
        return ga__fail(GA_ERR_INVALID,
                        "host_register: %zu bytes at %p, expected memory of at least 1 byte",
                        nbytes, memory);
    return device->backend->memory.pin_existing(device, memory, nbytes);
}

ga_status ga_host_unregister(void *memory)
{
    ga__device *device = ga__current_device();
    if (device == NULL)
        return ga_error();
    if (memory == NULL)
        return ga__fail(GA_ERR_INVALID, "host_unregister: the memory is NULL");
    return device->backend->memory.unpin_existing(device, memory);
}
