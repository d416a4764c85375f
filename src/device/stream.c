/* Streams of devices: the list of them, who waits for whom, and the public calls. */
#include "device/stream.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/fork.h"
#include "device/context.h"
#include "device/graph.h"

#define CROWD (GA__STREAM_BITS - 1) /* the number that streams past the others share */
#define ALL_BITS ((UINT64_C(1) << GA__STREAM_BITS) - 1)
#define TICKET_BYTES (GA__TICKETS * sizeof(uint32_t))

static _Thread_local ga__stream *chosen;

ga__stream *ga__current_stream(ga__device *device)
{
    ga__stream *stream = chosen;
    if (stream == NULL)
        return &device->stream;
    if (stream->device == device)
        return stream;
    if (stream->graph != NULL)
        return ga__fail_null(GA_ERR_UNSUPPORTED, "a graph of %s cannot record work on %s",
                             stream->device->name, device->name);
    return &device->stream;
}

ga__stream *ga__choose_stream(ga__stream *stream)
{
    ga__stream *before = chosen;
    chosen = stream;
    return before;
}

bool ga__recording(void)
{
    return chosen != NULL && chosen->graph != NULL;
}

bool ga__not_recording(const char *name)
{
    if (!ga__recording())
        return true;
    ga__fail(GA_ERR_UNSUPPORTED,
             "%s: cannot be recorded in a graph: it needs values that are only there when it runs",
             name);
    return false;
}

/* ---- the streams of a device ---- */

static int lowest_free_number(const ga__device *device)
{
    uint64_t taken = 0;
    for (const ga__stream *s = device->streams; s != NULL; s = s->next)
        taken |= s->bit;
    int number = 0;
    while (number < CROWD && (taken >> number & 1))
        number++;
    return number;
}

static void enlist(ga__stream *stream)
{
    ga__device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    const int number = lowest_free_number(device);
    stream->bit = UINT64_C(1) << number;
    stream->alone = number == CROWD ? 0 : (uint64_t)number << GA__STREAM_BITS | stream->bit;
    stream->next = device->streams;
    device->streams = stream;
    pthread_mutex_unlock(&device->lock);
}

static void delist(ga__stream *stream)
{
    ga__device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    ga__stream **link = &device->streams;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    pthread_mutex_unlock(&device->lock);
}

ga_status ga__stream_init(ga__stream *stream, ga__device *device, bool recorded)
{
    stream->device = device;
    const ga_status status = device->backend->stream_open(stream);
    if (status == GA_OK && !recorded)
        enlist(stream);
    return status;
}

void ga__stream_reset(ga__stream *stream)
{
    if (stream->bit != 0)
        delist(stream);
    if (stream->ticket_memory.address != NULL)
        ga__memory_free(stream, &stream->ticket_memory, TICKET_BYTES);
    stream->device->backend->stream_close(stream);
}

/* ---- who waits for whom ---- */

/* Makes the stream wait for the others of the set. */
static ga_status wait_for(ga__stream *stream, uint64_t set)
{
    ga__device *device = stream->device;
    ga_status status = GA_OK;
    pthread_mutex_lock(&device->lock);
    for (ga__stream *s = device->streams; s != NULL && status == GA_OK; s = s->next)
        if (s != stream && (s->bit & set))
            status = device->backend->stream_wait(stream, s);
    pthread_mutex_unlock(&device->lock);
    return status;
}

static uint64_t only_writer(uint64_t uses)
{
    return UINT64_C(1) << (uses >> GA__STREAM_BITS);
}

/* A stream among those that have read has waited for the writer before; of the crowd, some other
 * may have been meant. */
static ga_status use_to_read(ga__stream *stream, ga__buffer *buffer, uint64_t uses)
{
    if ((uses & stream->bit) && stream->alone != 0)
        return GA_OK;
    const ga_status status = wait_for(stream, only_writer(uses));
    if (status == GA_OK)
        atomic_fetch_or_explicit(&buffer->uses, stream->bit, memory_order_acq_rel);
    return status;
}

/* A stream that only records has done nothing yet: what is in its memory is nobody's. */
uint64_t ga__first_use(const ga__stream *stream)
{
    if (stream->graph != NULL)
        return stream->device->stream.alone;
    const uint64_t crowd = (uint64_t)CROWD << GA__STREAM_BITS | UINT64_C(1) << CROWD;
    return stream->alone != 0 ? stream->alone : crowd;
}

static ga_status use_to_write(ga__stream *stream, ga__buffer *buffer, uint64_t uses)
{
    const ga_status status = wait_for(stream, uses & ALL_BITS);
    if (status == GA_OK)
        atomic_store_explicit(&buffer->uses, ga__first_use(stream), memory_order_release);
    return status;
}

ga_status ga__use_other(ga__stream *stream, ga__buffer *buffer, bool writes)
{
    if (stream->graph != NULL)
        return ga__graph_use(stream->graph, buffer, writes);
    const uint64_t uses = atomic_load_explicit(&buffer->uses, memory_order_acquire);
    return writes ? use_to_write(stream, buffer, uses) : use_to_read(stream, buffer, uses);
}

/* The listed stream that wrote last, unless it is gone or one of the crowd. */
static ga__stream *find_writer(ga__device *device, uint64_t uses)
{
    ga__stream *found = &device->stream;
    pthread_mutex_lock(&device->lock);
    for (ga__stream *s = device->streams; s != NULL; s = s->next)
        if (s->alone != 0 && s->bit == only_writer(uses))
            found = s;
    pthread_mutex_unlock(&device->lock);
    return found;
}

ga__stream *ga__last_user(ga__buffer *buffer)
{
    ga__device *device = buffer->device;
    const uint64_t uses = atomic_load_explicit(&buffer->uses, memory_order_acquire);
    if (uses == device->stream.alone)
        return &device->stream;
    if (chosen != NULL && chosen->device == device && uses == chosen->alone)
        return chosen;
    ga__stream *last = find_writer(device, uses);
    if (uses != last->alone)
        (void)wait_for(last, uses & ALL_BITS); /* an error will be met by whoever waits for it */
    return last;
}

ga_status ga__buffer_synchronize(ga__buffer *buffer)
{
    return buffer->device->backend->stream_synchronize(ga__last_user(buffer));
}

/* ---- tickets ---- */

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
GA__FORK_GUARD(&making, GA__FORK_GRAPH, NULL)

static ga_status make_tickets(ga__stream *stream)
{
    ga__memory *memory = &stream->ticket_memory;
    ga_status status = ga__memory_alloc(stream, TICKET_BYTES, memory);
    if (status != GA_OK)
        return status;
    status = stream->device->backend->zero(stream, memory->address, TICKET_BYTES);
    if (status == GA_OK) {
        atomic_store_explicit(&stream->tickets, memory->address, memory_order_release);
        return GA_OK;
    }
    ga__memory_free(stream, memory, TICKET_BYTES);
    memory->address = NULL;
    return status;
}

void *ga__stream_tickets(ga__stream *stream)
{
    static _Thread_local uint32_t of_this_thread[GA__TICKETS];
    if (stream->device->arch == 0 && stream->graph == NULL)
        return of_this_thread;
    void *tickets = atomic_load_explicit(&stream->tickets, memory_order_acquire);
    if (tickets != NULL)
        return tickets;
    pthread_mutex_lock(&making);
    if (atomic_load_explicit(&stream->tickets, memory_order_relaxed) == NULL)
        (void)make_tickets(stream);
    tickets = atomic_load_explicit(&stream->tickets, memory_order_relaxed);
    pthread_mutex_unlock(&making);
    return tickets;
}

/* ---- public: streams ---- */

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
    if (device->arch == 0)
        return ga__fail_null(GA_ERR_UNSUPPORTED,
                             "stream_wrap: cpu has no streams of its own to wrap");
    return new_stream(device, true, handle);
}

void ga_stream_free(ga_stream *stream)
{
    if (stream == NULL)
        return;
    if (chosen == stream)
        chosen = NULL;
    (void)stream->device->backend->stream_synchronize(stream); /* whoever waits meets its errors */
    ga__stream_reset(stream);
    ga__free(stream);
}

ga_status ga_set_stream(ga_stream *stream)
{
    if (chosen != NULL && chosen->graph != NULL)
        return ga__fail(GA_ERR_UNSUPPORTED, "set_stream: the thread records a graph of %s",
                        chosen->device->name);
    chosen = stream;
    return GA_OK;
}

ga_stream *ga_current_stream(void)
{
    return chosen;
}

/* The stream itself, or the default one; NULL and an error when there is none. */
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
    return stream->device->backend->stream_synchronize(stream);
}

bool ga_stream_query(ga_stream *stream)
{
    bool done = false;
    stream = or_default(stream);
    if (stream == NULL || !ga__not_recording("stream_query"))
        return false;
    return stream->device->backend->stream_query(stream, &done) == GA_OK && done;
}

void *ga_stream_handle(const ga_stream *stream)
{
    return stream == NULL || stream->device->arch == 0 ? NULL : stream->handle;
}

/* ---- public: events ---- */

struct ga_event {
    ga__device *device;
    ga__mark *mark;
    atomic_bool recorded;
};

ga_event *ga_event_new(void)
{
    ga__device *device = ga__current_device();
    ga_event *event = device == NULL ? NULL : ga__calloc(1, sizeof *event);
    if (event == NULL)
        return NULL;
    event->device = device;
    if (device->backend->mark_new(device, &event->mark) == GA_OK)
        return event;
    ga__free(event);
    return NULL;
}

void ga_event_free(ga_event *event)
{
    if (event == NULL)
        return;
    event->device->backend->mark_free(event->device, event->mark);
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
        return ga__fail(GA_ERR_DEVICE, "event_record: the event is of %s, the stream of %s",
                        event->device->name, stream->device->name);
    const ga_status status = event->device->backend->mark_set(event->mark, stream);
    if (status == GA_OK)
        atomic_store(&event->recorded, true);
    return status;
}

/* Raises, and returns false, unless the event can be waited for. */
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
        return ga__fail(GA_ERR_DEVICE, "stream_wait_event: the event is of %s, the stream of %s",
                        event->device->name, stream->device->name);
    return stream->device->backend->mark_wait(event->mark, stream);
}

ga_status ga_event_synchronize(ga_event *event)
{
    if (!is_recorded("event_synchronize", event))
        return ga_error();
    return event->device->backend->mark_synchronize(event->device, event->mark);
}

bool ga_event_query(ga_event *event)
{
    bool done = false;
    return is_recorded("event_query", event) &&
           event->device->backend->mark_query(event->device, event->mark, &done) == GA_OK && done;
}

double ga_event_elapsed(ga_event *from, ga_event *to)
{
    double ms = (double)NAN;
    if (!is_recorded("event_elapsed", from) || !is_recorded("event_elapsed", to))
        return ms;
    if (from->device != to->device)
        ga__fail(GA_ERR_DEVICE, "event_elapsed: the events are of %s and %s", from->device->name,
                 to->device->name);
    else
        (void)from->device->backend->mark_elapsed(from->device, from->mark, to->mark, &ms);
    return ms;
}
