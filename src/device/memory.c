/* Memory of arrays: counts references and bytes, enforces limits, and returns memory to its
 * owner. */
#include "device/memory.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/fork.h"
#include "device/stream.h"

/* Of the list of allocators. */
static pthread_mutex_t lists_lock = PTHREAD_MUTEX_INITIALIZER;
GA__FORK_GUARD(&lists_lock, GA__FORK_LEAF, NULL)

/* ---- bytes in use ---- */

static void count(ga__device *device, size_t nbytes)
{
    const size_t used = atomic_fetch_add_explicit(&device->used, nbytes, memory_order_relaxed);
    size_t peak = atomic_load_explicit(&device->peak, memory_order_relaxed);
    while (peak < used + nbytes &&
           !atomic_compare_exchange_weak_explicit(&device->peak, &peak, used + nbytes,
                                                  memory_order_relaxed, memory_order_relaxed))
        continue;
}

static void uncount(ga__device *device, size_t nbytes)
{
    atomic_fetch_sub_explicit(&device->used, nbytes, memory_order_relaxed);
}

static bool fits_limit(ga__device *device, size_t nbytes)
{
    const size_t limit = atomic_load_explicit(&device->limit, memory_order_relaxed);
    const size_t used = atomic_load_explicit(&device->used, memory_order_relaxed);
    return limit == 0 || (nbytes <= limit && used <= limit - nbytes);
}

static ga_status out_of_memory(ga__device *device, size_t nbytes)
{
    ga__memory_state state;
    const size_t used = atomic_load(&device->used), limit = atomic_load(&device->limit);
    device->backend->memory.state(device, &state);
    if (!fits_limit(device, nbytes))
        return ga__fail(GA_ERR_MEMORY,
                        "out of memory: requested %zu bytes on %s (%zu in use, the limit is %zu)",
                        nbytes, device->name, used, limit);
    return ga__fail(
        GA_ERR_MEMORY,
        "out of memory: requested %zu bytes on %s (%zu in use, %zu kept, %zu of %zu free)", nbytes,
        device->name, used, state.kept, state.available, state.total);
}

/* ---- the backend's memory ---- */

void ga__memory_trim(ga__device *device)
{
    pthread_mutex_lock(&device->lock);
    for (ga__stream *s = device->streams; s != NULL; s = s->next)
        device->backend->memory.trim(s);
    pthread_mutex_unlock(&device->lock);
}

/* The second attempt, after the pools have released their unused memory. It clears the error that
 * the first attempt raised (`raised`: the thread had none before), so that the final error names
 * the device. */
static ga_status alloc_again(ga__stream *stream, size_t nbytes, ga__memory *memory, bool raised)
{
    if (raised)
        ga_clear_error();
    ga__memory_trim(stream->device);
    const ga_status status = stream->device->backend->memory.alloc(stream, nbytes, memory);
    if (status == GA_ERR_MEMORY && raised)
        ga_clear_error();
    return status;
}

ga_status ga__memory_alloc(ga__stream *stream, size_t nbytes, ga__memory *memory)
{
    ga__device *device = stream->device;
    const bool clean = ga_error() == GA_OK;
    ga_status status = GA_ERR_MEMORY;
    if (!ga__alloc_fails() && fits_limit(device, nbytes)) {
        status = device->backend->memory.alloc(stream, nbytes, memory);
        if (status == GA_ERR_MEMORY)
            status = alloc_again(stream, nbytes, memory, clean);
    }
    if (status == GA_ERR_MEMORY)
        return out_of_memory(device, nbytes);
    if (status == GA_OK)
        count(device, nbytes);
    return status;
}

void ga__memory_free(ga__stream *stream, const ga__memory *memory, size_t nbytes)
{
    uncount(stream->device, nbytes);
    stream->device->backend->memory.free(stream, memory);
}

/* ---- the user's allocator ---- */

/* An allocator that was passed to ga_set_allocator(): kept forever, because buffers refer to it. */
typedef struct custom {
    ga_allocator allocator;
    struct custom *next;
} custom;

static _Atomic(custom *) current_custom;
static custom *customs;

static void give_back_custom(ga__buffer *buffer)
{
    const custom *c = buffer->block;
    const ga__stream *stream = ga__last_user(buffer);
    uncount(buffer->device, buffer->nbytes);
    c->allocator.free(buffer->memory, buffer->nbytes, buffer->device->name,
                      ga_stream_handle(stream), c->allocator.user);
}

static ga_status alloc_custom(custom *c, ga__stream *stream, ga__buffer *buffer)
{
    ga__device *device = buffer->device;
    if (!ga__alloc_fails() && fits_limit(device, buffer->nbytes))
        buffer->memory = c->allocator.alloc(buffer->nbytes, device->name, ga_stream_handle(stream),
                                            c->allocator.user);
    if (buffer->memory == NULL)
        return out_of_memory(device, buffer->nbytes);
    buffer->block = c;
    buffer->give_back = give_back_custom;
    count(device, buffer->nbytes);
    return GA_OK;
}

static bool same_allocator(const ga_allocator *a, const ga_allocator *b)
{
    return a->alloc == b->alloc && a->free == b->free && a->user == b->user;
}

static custom *find_custom(const ga_allocator *allocator)
{
    for (custom *c = customs; c != NULL; c = c->next)
        if (same_allocator(&c->allocator, allocator))
            return c;
    custom *c = ga__malloc(sizeof *c);
    if (c == NULL)
        return NULL;
    *c = (custom){*allocator, customs};
    customs = c;
    return c;
}

ga_status ga_set_allocator(const ga_allocator *allocator)
{
    custom *c = NULL;
    if (allocator != NULL && (allocator->alloc == NULL || allocator->free == NULL))
        return ga__fail(GA_ERR_INVALID, "set_allocator: %s is NULL",
                        allocator->alloc == NULL ? "alloc" : "free");
    if (allocator != NULL) {
        pthread_mutex_lock(&lists_lock);
        c = find_custom(allocator);
        pthread_mutex_unlock(&lists_lock);
        if (c == NULL)
            return GA_ERR_MEMORY;
    }
    atomic_store(&current_custom, c);
    return GA_OK;
}

/* ---- buffers ---- */

static ga_status alloc_buffer(ga__stream *stream, ga__buffer *buffer)
{
    if (stream->recorder != NULL)
        return stream->recorder->alloc(stream->graph, buffer);
    custom *c = atomic_load_explicit(&current_custom, memory_order_acquire);
    if (c != NULL)
        return alloc_custom(c, stream, buffer);
    ga__memory memory;
    const ga_status status = ga__memory_alloc(stream, buffer->nbytes, &memory);
    if (status == GA_OK) {
        buffer->memory = memory.address;
        buffer->block = memory.block;
    }
    return status;
}

/* A buffer that has no memory yet, in the order of the thread's current stream. */
static ga__buffer *empty_buffer(ga__device *device, size_t nbytes, ga__stream *stream)
{
    ga__buffer *buffer = ga__malloc(sizeof *buffer);
    if (buffer == NULL)
        return NULL;
    memset(buffer, 0, sizeof *buffer);
    buffer->device = device;
    buffer->nbytes = nbytes;
    buffer->references = 1;
    atomic_init(&buffer->uses, ga__first_use(stream));
    return buffer;
}

ga__buffer *ga__buffer_new(ga__device *device, size_t nbytes)
{
    ga__stream *stream = ga__current_stream(device);
    ga__buffer *buffer = stream == NULL ? NULL : empty_buffer(device, nbytes, stream);
    if (buffer == NULL || nbytes == 0 || alloc_buffer(stream, buffer) == GA_OK)
        return buffer;
    ga__free(buffer);
    return NULL;
}

/* The owner of a wrapped buffer's memory. */
typedef struct wrapped {
    void *owner;
    void (*free_function)(void *owner);
} wrapped;

static void give_back_wrapped(ga__buffer *buffer)
{
    wrapped *w = buffer->block;
    if (w->free_function != NULL) {
        (void)ga__buffer_synchronize(buffer); /* the next wait reports its errors */
        w->free_function(w->owner);
    }
    ga__free(w);
}

ga__buffer *ga__buffer_wrap(ga__device *device, void *memory, size_t nbytes, void *owner,
                            void (*free_function)(void *owner))
{
    ga__stream *stream = ga__current_stream(device);
    wrapped *w = stream == NULL ? NULL : ga__malloc(sizeof *w);
    if (w == NULL)
        return NULL;
    *w = (wrapped){owner, free_function};
    ga__buffer *buffer = empty_buffer(device, nbytes, stream);
    if (buffer == NULL) {
        ga__free(w);
        return NULL;
    }
    buffer->memory = memory;
    buffer->block = w;
    buffer->give_back = give_back_wrapped;
    return buffer;
}

void ga__buffer_disown(ga__buffer *buffer)
{
    wrapped *w = buffer->block;
    w->free_function = NULL;
}

ga__buffer *ga__buffer_retain(ga__buffer *buffer)
{
    if (buffer != NULL)
        __atomic_add_fetch(&buffer->references, 1, __ATOMIC_RELAXED);
    return buffer;
}

void ga__buffer_release(ga__buffer *buffer)
{
    if (buffer == NULL || __atomic_sub_fetch(&buffer->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (buffer->give_back != NULL)
        buffer->give_back(buffer);
    else if (buffer->memory != NULL)
        ga__memory_free(ga__last_user(buffer), &(ga__memory){buffer->memory, buffer->block},
                        buffer->nbytes);
    ga__free(buffer);
}
