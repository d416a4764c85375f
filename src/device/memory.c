/* Memory of arrays: counts references and bytes, enforces limits, and returns memory to its
 * owner. */
#include "device/memory.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/os/fork.h"
#include "device/live.h"
#include "device/stream.h"
#include "model/layout.h"

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

/* "float32 (1024, 1024) takes 4.00 MiB" */
static void write_wanted(char *text, size_t room, size_t nbytes, const ga__wanted *wanted)
{
    char size[GA__SIZE_TEXT];
    (void)ga__size_text(nbytes, size);
    if (wanted == NULL)
        snprintf(text, room, "working memory takes %s", size);
    else
        snprintf(text, room, "%s %s takes %s", ga_dtype_name(wanted->dtype),
                 ga__shape_text(wanted->ndim, wanted->shape), size);
}

/* Apart, so that the usual path saves no registers. */
__attribute__((noinline, cold)) static ga_status out_of_memory(ga__device *device, size_t nbytes,
                                                               const ga__wanted *wanted)
{
    ga__memory_state state;
    char largest[GA__LARGEST_TEXT], need[1024], texts[4][GA__SIZE_TEXT];
    const size_t used = atomic_load(&device->used), limit = atomic_load(&device->limit);
    const char *call = wanted != NULL ? wanted->call : "memory";
    device->backend->memory.state(device, &state);
    (void)ga__largest_text(device, largest);
    write_wanted(need, sizeof need, nbytes, wanted);
    const char *arrays = largest[0] != '\0' ? "; the largest arrays:" : "";
    if (!fits_limit(device, nbytes))
        return ga__fail(GA_ERR_MEMORY,
                        "%s: out of memory: %s on %s (%s in use, the limit is %s)%s%s", call, need,
                        device->name, ga__size_text(used, texts[0]), ga__size_text(limit, texts[1]),
                        arrays, largest);
    return ga__fail(GA_ERR_MEMORY,
                    "%s: out of memory: %s on %s (%s in use, %s kept, %s of %s free)%s%s", call,
                    need, device->name, ga__size_text(used, texts[0]),
                    ga__size_text(state.kept, texts[1]), ga__size_text(state.available, texts[2]),
                    ga__size_text(state.total, texts[3]), arrays, largest);
}

/* ---- the backend's memory ---- */

void ga__memory_trim(ga__device *device)
{
    pthread_mutex_lock(&device->lock);
    for (ga__stream *s = device->streams; s != NULL; s = s->next)
        device->backend->memory.trim(s);
    pthread_mutex_unlock(&device->lock);
}

static ga_status alloc_for(ga__stream *stream, size_t nbytes, const ga__wanted *wanted,
                           ga__memory *memory)
{
    ga__device *device = stream->device;
    ga_status status = GA_ERR_MEMORY;
    if (!ga__alloc_fails() && fits_limit(device, nbytes)) {
        status = device->backend->memory.alloc(stream, nbytes, memory);
        if (status == GA_ERR_MEMORY) { /* once more, without what the pools keep */
            ga__memory_trim(device);
            status = device->backend->memory.alloc(stream, nbytes, memory);
        }
    }
    if (status == GA_ERR_MEMORY)
        return out_of_memory(device, nbytes, wanted);
    if (status == GA_OK)
        count(device, nbytes);
    return status;
}

ga_status ga__memory_alloc(ga__stream *stream, size_t nbytes, ga__memory *memory)
{
    return alloc_for(stream, nbytes, NULL, memory);
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

static ga_status alloc_custom(custom *c, ga__stream *stream, ga__buffer *buffer,
                              const ga__wanted *wanted)
{
    ga__device *device = buffer->device;
    if (!ga__alloc_fails() && fits_limit(device, buffer->nbytes))
        buffer->memory = c->allocator.alloc(buffer->nbytes, device->name, ga_stream_handle(stream),
                                            c->allocator.user);
    if (buffer->memory == NULL)
        return out_of_memory(device, buffer->nbytes, wanted);
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

static ga_status use_allocator(const ga_allocator *allocator)
{
    if (allocator->alloc == NULL || allocator->free == NULL)
        return ga__fail(GA_ERR_INVALID, "set_allocator: %s is NULL",
                        allocator->alloc == NULL ? "alloc" : "free");
    pthread_mutex_lock(&lists_lock);
    custom *c = find_custom(allocator);
    pthread_mutex_unlock(&lists_lock);
    if (c == NULL)
        return GA_ERR_MEMORY;
    atomic_store(&current_custom, c);
    return GA_OK;
}

ga_status(ga_set_allocator)(size_t size, const ga_allocator *allocator)
{
    ga_allocator known;
    if (allocator == NULL) {
        atomic_store(&current_custom, NULL);
        return GA_OK;
    }
    const ga_status status =
        ga__options_read("set_allocator", &known, sizeof known, allocator, size);
    return status == GA_OK ? use_allocator(&known) : status;
}

/* ---- buffers ---- */

static ga_status alloc_buffer(ga__stream *stream, ga__buffer *buffer, const ga__wanted *wanted)
{
    if (stream->recorder != NULL)
        return stream->recorder->alloc(stream->graph, buffer);
    custom *c = atomic_load_explicit(&current_custom, memory_order_acquire);
    if (c != NULL)
        return alloc_custom(c, stream, buffer, wanted);
    ga__memory memory;
    const ga_status status = alloc_for(stream, buffer->nbytes, wanted, &memory);
    if (status == GA_OK) {
        buffer->memory = memory.address;
        buffer->block = memory.block;
    }
    return status;
}

/* A buffer that has no memory yet, in the order of the thread's current stream, with room for a
 * shape of `ndim` lengths. */
static ga__buffer *empty_buffer(ga__device *device, size_t nbytes, ga__stream *stream, int ndim)
{
    ga__buffer *buffer = ga__malloc(sizeof *buffer + (size_t)ndim * sizeof buffer->shape[0]);
    if (buffer == NULL)
        return NULL;
    *buffer = (ga__buffer){.device = device, .nbytes = nbytes, .references = 1};
    atomic_init(&buffer->uses, ga__first_use(stream));
    return buffer;
}

/* Describes the buffer and adds it to the list of live arrays. */
static void enlist(ga__buffer *buffer, const ga__wanted *wanted)
{
    buffer->call = wanted->call;
    buffer->site = ga_site_;
    buffer->dtype = wanted->dtype;
    buffer->ndim = wanted->ndim;
    for (int axis = 0; axis < wanted->ndim; axis++)
        buffer->shape[axis] = wanted->shape[axis];
    ga__live_add(buffer);
}

ga__buffer *ga__buffer_new_for(ga__device *device, size_t nbytes, const ga__wanted *wanted)
{
    ga__stream *stream = ga__current_stream(device);
    ga__buffer *buffer =
        stream == NULL ? NULL : empty_buffer(device, nbytes, stream, wanted ? wanted->ndim : 0);
    if (buffer == NULL || nbytes == 0)
        return buffer;
    if (alloc_buffer(stream, buffer, wanted) != GA_OK) {
        ga__free(buffer);
        return NULL;
    }
    if (wanted != NULL)
        enlist(buffer, wanted);
    return buffer;
}

ga__buffer *ga__buffer_new(ga__device *device, size_t nbytes)
{
    return ga__buffer_new_for(device, nbytes, NULL);
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
    ga__buffer *buffer = empty_buffer(device, nbytes, stream, 0);
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
    if (buffer->call != NULL)
        ga__live_remove(buffer);
    if (buffer->give_back != NULL)
        buffer->give_back(buffer);
    else if (buffer->memory != NULL)
        ga__memory_free(ga__last_user(buffer), &(ga__memory){buffer->memory, buffer->block},
                        buffer->nbytes);
    ga__free(buffer);
}
