/* Graphs: records a thread's work, owns its memory, and launches it again. */
#include "device/graph.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/fork.h"
#include "device/context.h"
#include "device/memory.h"
#include "device/tickets.h"
#include "device/unload.h"

/* A buffer from outside that recorded work uses. */
typedef struct use {
    ga__buffer *buffer;
    bool writes;
} use;

/* Code that the recorded work runs. */
typedef struct kept_object {
    void *object;
    void (*release)(void *object);
} kept_object;

/* Memory of the graph. */
typedef struct piece {
    ga__memory memory;
    size_t nbytes;
    bool taken;
} piece;

struct ga_graph {
    ga__device *device;
    int references; /* atomic: one for the caller, one for each live buffer in the graph's memory */
    ga__stream stream;
    ga__stream *before; /* the thread's stream before the recording began */
    ga__replay *replay;
    use *uses;
    size_t nuses;
    kept_object *kept;
    size_t nkept;
    ga__after_launch *steps;
    size_t nsteps;
    pthread_mutex_t lock; /* of everything below, and of launches */
    ga__fork_guard guard; /* for the lock */
    piece *pieces;
    size_t npieces;
    ga__buffer *live; /* buffers in the graph's memory */
};

/* ---- the buffers it uses ---- */

static ga_status use_outside(ga_graph *graph, ga__buffer *buffer, bool writes)
{
    if (buffer->graph == graph)
        return GA_OK;
    for (size_t i = 0; i < graph->nuses; i++)
        if (graph->uses[i].buffer == buffer) {
            graph->uses[i].writes |= writes;
            return GA_OK;
        }
    use *uses = ga__realloc(graph->uses, (graph->nuses + 1) * sizeof *uses);
    if (uses == NULL)
        return GA_ERR_MEMORY;
    graph->uses = uses;
    uses[graph->nuses++] = (use){ga__buffer_retain(buffer), writes};
    return GA_OK;
}

ga_status ga__graph_keep(ga_graph *graph, void *object, void *(*retain)(void *object),
                         void (*release)(void *object))
{
    for (size_t i = graph->nkept; i > 0; i--)
        if (graph->kept[i - 1].object == object)
            return GA_OK;
    kept_object *kept = ga__realloc(graph->kept, (graph->nkept + 1) * sizeof *kept);
    if (kept == NULL)
        return GA_ERR_MEMORY;
    graph->kept = kept;
    kept[graph->nkept++] = (kept_object){retain(object), release};
    return GA_OK;
}

ga_status ga__graph_after_launch(const ga__after_launch *step)
{
    ga_graph *graph = ga_current_stream()->graph;
    ga__after_launch *steps = ga__realloc(graph->steps, (graph->nsteps + 1) * sizeof *steps);
    if (steps == NULL)
        return GA_ERR_MEMORY;
    graph->steps = steps;
    steps[graph->nsteps++] = *step;
    return GA_OK;
}

/* They hold arrays in the graph's memory. */
static void drop_steps(ga_graph *graph)
{
    for (size_t i = 0; i < graph->nsteps; i++)
        graph->steps[i].drop(graph->steps[i].data);
    ga__free(graph->steps);
    graph->steps = NULL;
    graph->nsteps = 0;
}

static void drop_kept(ga_graph *graph)
{
    for (size_t i = 0; i < graph->nkept; i++)
        graph->kept[i].release(graph->kept[i].object);
    ga__free(graph->kept);
    graph->kept = NULL;
    graph->nkept = 0;
    ga__unload_sweep();
}

static void drop_uses(ga_graph *graph)
{
    for (size_t i = 0; i < graph->nuses; i++)
        ga__buffer_release(graph->uses[i].buffer);
    ga__free(graph->uses);
    graph->uses = NULL;
    graph->nuses = 0;
}

/* ---- its memory ---- */

/* The smallest free piece that holds nbytes and is at most twice as large. */
static piece *find_piece(ga_graph *graph, size_t nbytes)
{
    piece *best = NULL;
    for (size_t i = 0; i < graph->npieces; i++) {
        piece *p = &graph->pieces[i];
        if (!p->taken && p->nbytes >= nbytes && p->nbytes / 2 <= nbytes &&
            (best == NULL || p->nbytes < best->nbytes))
            best = p;
    }
    return best;
}

static piece *new_piece(ga_graph *graph, size_t nbytes)
{
    piece *pieces = ga__realloc(graph->pieces, (graph->npieces + 1) * sizeof *pieces);
    if (pieces == NULL)
        return NULL;
    graph->pieces = pieces;
    piece *p = &pieces[graph->npieces];
    *p = (piece){.nbytes = nbytes};
    if (ga__memory_alloc(&graph->device->stream, nbytes, &p->memory) != GA_OK)
        return NULL;
    graph->npieces++;
    return p;
}

/* The graph's launches are done when the caller releases it, but arrays in its memory may have
 * later work. */
static void release_graph(ga_graph *graph)
{
    if (__atomic_sub_fetch(&graph->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    (void)graph->device->backend->synchronize(graph->device);
    for (size_t i = 0; i < graph->npieces; i++)
        ga__memory_free(&graph->device->stream, &graph->pieces[i].memory, graph->pieces[i].nbytes);
    ga__free(graph->pieces);
    ga__tickets_free(&graph->stream);
    ga__stream_reset(&graph->stream);
    ga__fork_guard_remove(&graph->guard);
    pthread_mutex_destroy(&graph->lock);
    ga__free(graph);
}

static void take_back(ga__buffer *buffer)
{
    ga_graph *graph = buffer->graph;
    pthread_mutex_lock(&graph->lock);
    for (size_t i = 0; i < graph->npieces; i++)
        if (graph->pieces[i].memory.address == buffer->memory)
            graph->pieces[i].taken = false;
    if (buffer->previous != NULL)
        buffer->previous->next = buffer->next;
    else
        graph->live = buffer->next;
    if (buffer->next != NULL)
        buffer->next->previous = buffer->previous;
    pthread_mutex_unlock(&graph->lock);
    release_graph(graph);
}

/* Memory that was freed during the recording is reused only by work recorded later. */
static ga_status alloc_inside(ga_graph *graph, ga__buffer *buffer)
{
    pthread_mutex_lock(&graph->lock);
    piece *p = find_piece(graph, buffer->nbytes);
    if (p == NULL)
        p = new_piece(graph, buffer->nbytes);
    if (p != NULL) {
        p->taken = true;
        buffer->memory = p->memory.address;
        buffer->graph = graph;
        buffer->give_back = take_back;
        buffer->next = graph->live;
        if (graph->live != NULL)
            graph->live->previous = buffer;
        graph->live = buffer;
        __atomic_add_fetch(&graph->references, 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&graph->lock);
    return p != NULL ? GA_OK : GA_ERR_MEMORY;
}

static const ga__recorder recorder = {.use = use_outside, .alloc = alloc_inside};

/* ---- recording ---- */

static ga_graph *new_graph(ga__device *device)
{
    ga_graph *graph = ga__calloc(1, sizeof *graph);
    if (graph == NULL)
        return NULL;
    graph->device = device;
    graph->references = 1;
    pthread_mutex_init(&graph->lock, NULL);
    if (ga__stream_init(&graph->stream, device, true) != GA_OK) {
        pthread_mutex_destroy(&graph->lock);
        ga__free(graph);
        return NULL;
    }
    graph->guard = (ga__fork_guard){.lock = &graph->lock, .rank = GA__FORK_GRAPH};
    ga__fork_guard_add(&graph->guard);
    return graph;
}

/* The tickets are zeroed now, because recorded work only keeps them zero. */
static ga_status begin(ga_graph *graph)
{
    const ga__backend *backend = graph->device->backend;
    if (ga__stream_tickets(&graph->stream) == NULL)
        return GA_ERR_MEMORY;
    const ga_status status = backend->stream.synchronize(&graph->stream);
    return status == GA_OK ? backend->graph.begin(&graph->stream) : status;
}

ga_status ga_graph_begin(void)
{
    ga__device *device = ga__current_device();
    ga__stream *now = ga_current_stream();
    if (device == NULL)
        return ga_error();
    if (now != NULL && now->graph != NULL)
        return ga__fail(GA_ERR_INVALID,
                        "graph_begin: the thread is already recording a graph on %s",
                        now->device->name);
    ga_graph *graph = new_graph(device);
    if (graph == NULL)
        return ga_error();
    graph->stream.graph = graph;
    graph->stream.recorder = &recorder;
    const ga_status status = begin(graph);
    if (status != GA_OK) {
        release_graph(graph);
        return status;
    }
    graph->before = ga__choose_stream(&graph->stream);
    return GA_OK;
}

ga_graph *ga_graph_end(void)
{
    ga__stream *stream = ga_current_stream();
    if (stream == NULL || stream->graph == NULL)
        return ga__fail_null(GA_ERR_INVALID, "graph_end: the thread is not recording a graph");
    ga_graph *graph = stream->graph;
    const ga__backend *backend = graph->device->backend;
    ga__choose_stream(graph->before);
    stream->graph = NULL;
    stream->recorder = NULL;
    if (ga_error() != GA_OK)
        backend->graph.cancel(stream);
    else if (backend->graph.end(stream, &graph->replay) == GA_OK &&
             backend->stream.synchronize(&graph->device->stream) == GA_OK) /* memory is
                                                                            * initialized */
        return graph;
    ga_graph_free(graph);
    return NULL;
}

/* ---- launching ---- */

/* Makes the stream wait for other users of the graph's buffers. */
static ga_status order(ga_graph *graph, ga__stream *stream)
{
    ga_status status = GA_OK;
    for (size_t i = 0; i < graph->nuses && status == GA_OK; i++)
        status = ga__use(stream, graph->uses[i].buffer, graph->uses[i].writes);
    for (ga__buffer *b = graph->live; b != NULL && status == GA_OK; b = b->next)
        status = ga__use(stream, b, true);
    return status;
}

__attribute__((noinline, cold)) static ga_status run_steps(ga_graph *graph, ga__stream *stream)
{
    ga_status status = graph->device->backend->stream.synchronize(stream);
    for (size_t i = 0; i < graph->nsteps && status == GA_OK; i++)
        status = graph->steps[i].run(graph->steps[i].data);
    return status;
}

ga_status ga_graph_launch(ga_graph *graph)
{
    if (graph == NULL)
        return ga__fail(GA_ERR_INVALID, "graph_launch: the graph is NULL");
    ga__stream *stream = ga__current_stream(graph->device);
    if (stream == NULL)
        return ga_error();
    if (stream->graph != NULL)
        return ga__fail(GA_ERR_UNSUPPORTED, "graph_launch: a graph cannot be recorded in another");
    pthread_mutex_lock(&graph->lock);
    ga_status status = order(graph, stream);
    if (status == GA_OK)
        status = graph->device->backend->graph.replay(graph->replay, stream);
    pthread_mutex_unlock(&graph->lock);
    if (status == GA_OK && graph->nsteps > 0)
        status = run_steps(graph, stream);
    return status;
}

void ga_graph_free(ga_graph *graph)
{
    if (graph == NULL)
        return;
    if (graph->replay != NULL)
        graph->device->backend->graph.free(graph->replay);
    graph->replay = NULL;
    drop_steps(graph);
    drop_kept(graph);
    drop_uses(graph);
    release_graph(graph);
}
