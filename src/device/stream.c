/* Streams of devices: their list, and the waits between them. */
#include "device/stream.h"

#include "base/error.h"

#define OVERFLOW_SLOT (GA__STREAM_BITS - 1) /* the number that all streams past the 57th share */
#define ALL_BITS ((UINT64_C(1) << GA__STREAM_BITS) - 1)

static _Thread_local ga__stream *chosen;

ga__stream *ga__current_stream(ga__device *device)
{
    ga__stream *stream = chosen;
    if (stream == NULL)
        return &device->stream;
    if (stream->device == device)
        return stream;
    if (stream->graph != NULL)
        return ga__fail_null(GA_ERR_UNSUPPORTED, "graph: a graph of %s cannot record work on %s",
                             stream->device->name, device->name);
    return &device->stream;
}

ga__stream *ga__chosen_stream(void)
{
    return chosen;
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
    ga__fail(
        GA_ERR_UNSUPPORTED,
        "%s: cannot be recorded in a graph: it needs values that exist only when the graph runs",
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
    while (number < OVERFLOW_SLOT && (taken >> number & 1))
        number++;
    return number;
}

static void enlist(ga__stream *stream)
{
    ga__device *device = stream->device;
    pthread_mutex_lock(&device->lock);
    const int number = lowest_free_number(device);
    stream->bit = UINT64_C(1) << number;
    stream->exclusive_use =
        number == OVERFLOW_SLOT ? 0 : (uint64_t)number << GA__STREAM_BITS | stream->bit;
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
    const ga_status status = device->backend->stream.open(stream);
    if (status == GA_OK && !recorded)
        enlist(stream);
    return status;
}

void ga__stream_reset(ga__stream *stream)
{
    if (stream->bit != 0)
        delist(stream);
    stream->device->backend->stream.close(stream);
}

/* ---- waits between streams ---- */

/* Makes the stream wait for the other streams of the set. */
static ga_status wait_for(ga__stream *stream, uint64_t set)
{
    ga__device *device = stream->device;
    ga_status status = GA_OK;
    pthread_mutex_lock(&device->lock);
    for (ga__stream *s = device->streams; s != NULL && status == GA_OK; s = s->next)
        if (s != stream && (s->bit & set))
            status = device->backend->stream.wait(stream, s);
    pthread_mutex_unlock(&device->lock);
    return status;
}

static uint64_t only_writer(uint64_t uses)
{
    return UINT64_C(1) << (uses >> GA__STREAM_BITS);
}

/* A stream in the set has already waited for the writer. The overflow slot proves nothing: another
 * of its streams may have waited. */
static ga_status use_to_read(ga__stream *stream, ga__buffer *buffer, uint64_t uses)
{
    if ((uses & stream->bit) && stream->exclusive_use != 0)
        return GA_OK;
    const ga_status status = wait_for(stream, only_writer(uses));
    if (status == GA_OK)
        atomic_fetch_or_explicit(&buffer->uses, stream->bit, memory_order_acq_rel);
    return status;
}

/* A recording stream has done no work yet, so no stream uses memory that it allocates. */
uint64_t ga__first_use(const ga__stream *stream)
{
    if (stream->graph != NULL)
        return stream->device->stream.exclusive_use;
    const uint64_t overflow = (uint64_t)OVERFLOW_SLOT << GA__STREAM_BITS | UINT64_C(1)
                                                                               << OVERFLOW_SLOT;
    return stream->exclusive_use != 0 ? stream->exclusive_use : overflow;
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
    if (stream->recorder != NULL)
        return stream->recorder->use(stream->graph, buffer, writes);
    const uint64_t uses = atomic_load_explicit(&buffer->uses, memory_order_acquire);
    return writes ? use_to_write(stream, buffer, uses) : use_to_read(stream, buffer, uses);
}

/* The listed stream that wrote last, unless it is gone or shares the overflow slot. */
static ga__stream *find_writer(ga__device *device, uint64_t uses)
{
    ga__stream *found = &device->stream;
    pthread_mutex_lock(&device->lock);
    for (ga__stream *s = device->streams; s != NULL; s = s->next)
        if (s->exclusive_use != 0 && s->bit == only_writer(uses))
            found = s;
    pthread_mutex_unlock(&device->lock);
    return found;
}

ga__stream *ga__last_user(ga__buffer *buffer)
{
    ga__device *device = buffer->device;
    const uint64_t uses = atomic_load_explicit(&buffer->uses, memory_order_acquire);
    if (uses == device->stream.exclusive_use)
        return &device->stream;
    if (chosen != NULL && chosen->device == device && uses == chosen->exclusive_use)
        return chosen;
    ga__stream *last = find_writer(device, uses);
    if (uses != last->exclusive_use)
        (void)wait_for(last, uses & ALL_BITS); /* the next wait reports an error */
    return last;
}

ga_status ga__buffer_synchronize(ga__buffer *buffer)
{
    return buffer->device->backend->stream.synchronize(ga__last_user(buffer));
}
