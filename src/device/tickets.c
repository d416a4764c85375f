/* Counters that the blocks of a launch share: one array of them per stream. */
#include "device/tickets.h"

#include "base/os/fork.h"
#include "device/memory.h"

#define TICKET_BYTES (GA__TICKETS * sizeof(uint32_t))

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
GA__FORK_GUARD(&making, GA__FORK_GRAPH, NULL)

static ga_status make_tickets(ga__stream *stream)
{
    ga__memory *memory = &stream->ticket_memory;
    ga_status status = ga__memory_alloc(stream, TICKET_BYTES, memory);
    if (status != GA_OK)
        return status;
    status = stream->device->backend->memory.zero(stream, memory->address, TICKET_BYTES);
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

void ga__tickets_free(ga__stream *stream)
{
    if (stream->ticket_memory.address != NULL)
        ga__memory_free(stream, &stream->ticket_memory, TICKET_BYTES);
}
