/* What the blocks of a launch share: counters and tagged words, an array of each per stream. */
#include "device/tickets.h"

#include "base/os/fork.h"
#include "device/memory.h"

#define TICKET_BYTES (GA__TICKETS * sizeof(uint32_t))

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
GA__FORK_GUARD(&making, GA__FORK_GRAPH, NULL)

/* Makes memory of zeros for the stream, once. */
static ga_status make_zeros(ga__stream *stream, size_t nbytes, ga__memory *memory,
                            _Atomic(void *) *zeros)
{
    ga_status status = ga__memory_alloc(stream, nbytes, memory);
    if (status != GA_OK)
        return status;
    status = stream->device->backend->memory.zero(stream, memory->address, nbytes);
    if (status == GA_OK) {
        atomic_store_explicit(zeros, memory->address, memory_order_release);
        return GA_OK;
    }
    ga__memory_free(stream, memory, nbytes);
    memory->address = NULL;
    return status;
}

/* NULL and an error if memory is out. */
static void *zeros_of(ga__stream *stream, size_t nbytes, ga__memory *memory, _Atomic(void *) *zeros)
{
    void *made = atomic_load_explicit(zeros, memory_order_acquire);
    if (made != NULL)
        return made;
    pthread_mutex_lock(&making);
    if (atomic_load_explicit(zeros, memory_order_relaxed) == NULL)
        (void)make_zeros(stream, nbytes, memory, zeros);
    made = atomic_load_explicit(zeros, memory_order_relaxed);
    pthread_mutex_unlock(&making);
    return made;
}

void *ga__stream_tickets(ga__stream *stream)
{
    static _Thread_local uint32_t of_this_thread[GA__TICKETS];
    if (ga__on_host(stream->device) && stream->graph == NULL)
        return of_this_thread;
    return zeros_of(stream, TICKET_BYTES, &stream->ticket_memory, &stream->tickets);
}

/* Whether the stream's work is recorded, not run. */
static bool is_recorded(const ga__stream *stream)
{
    bool (*const captured)(const ga__stream *) = stream->device->backend->graph.captured;
    return stream->graph != NULL || (captured != NULL && captured(stream));
}

ga_status ga__stream_states(ga__stream *stream, void **states, uint32_t *tag)
{
    *states = NULL;
    if (ga__on_host(stream->device) || is_recorded(stream))
        return GA_OK;
    void *made = zeros_of(stream, GA__STATE_BYTES, &stream->state_memory, &stream->states);
    if (made == NULL)
        return ga_error();
    const uint64_t before = atomic_fetch_add_explicit(&stream->tagged, 1, memory_order_relaxed);
    if (before < UINT32_MAX) {
        *states = made;
        *tag = (uint32_t)before + 1;
    }
    return GA_OK;
}

void ga__tickets_free(ga__stream *stream)
{
    if (stream->ticket_memory.address != NULL)
        ga__memory_free(stream, &stream->ticket_memory, TICKET_BYTES);
    if (stream->state_memory.address != NULL)
        ga__memory_free(stream, &stream->state_memory, GA__STATE_BYTES);
}
