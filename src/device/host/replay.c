/* The host's work: runs it now, or records it in a recording stream's list to run later. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/host/shared.h"
#include "device/simt/simt.h"

typedef struct command {
    struct command *next;
    ga__function *function;          /* NULL for a copy */
    void (*call)(const void *words); /* or a function of the backend; NULL: none */
    bool users; /* a user's kernel: `shape` is its launch, `words` its arguments */
    int64_t grid;
    bool in_order;
    size_t stack;
    ga__grid_launch shape;
    struct {
        void *to;
        const void *from; /* NULL writes zeros */
        size_t nbytes;
    } moved;
    size_t nwords;
    uint64_t words[];
} command;

struct ga__replay {
    command *first, **end;
};

/* Appends a copy of the command and returns it; the caller fills its words. NULL if memory is
 * out. */
static command *record(ga__stream *stream, const command *given)
{
    ga__replay *list = stream->handle;
    command *c = ga__malloc(sizeof *c + given->nwords * sizeof *c->words);
    if (c == NULL)
        return NULL;
    *c = *given;
    *list->end = c;
    list->end = &c->next;
    return c;
}

static size_t words_of(unsigned long nbytes)
{
    return (nbytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

ga_status ga__host_copy_async(ga__stream *stream, void *to, const void *from, size_t nbytes,
                              ga__copy_kind kind)
{
    (void)kind;
    const command c = {.moved = {to, from, nbytes}};
    if (stream->handle != NULL)
        return record(stream, &c) != NULL ? GA_OK : GA_ERR_MEMORY;
    ga__host_move(to, from, nbytes);
    return GA_OK;
}

ga_status ga__host_zero(ga__stream *stream, void *memory, size_t nbytes)
{
    return ga__host_copy_async(stream, memory, NULL, nbytes, GA__DEVICE_TO_DEVICE);
}

ga_status ga__host_launch(ga__stream *stream, ga__function *function, const ga__launch *launch)
{
    if (stream->handle == NULL)
        return ga__host_run(function, launch);
    const command given = {.function = function,
                           .grid = launch->grid,
                           .in_order = launch->in_order,
                           .stack = launch->stack,
                           .nwords = launch->nwords};
    command *c = record(stream, &given);
    if (c == NULL)
        return GA_ERR_MEMORY;
    memcpy(c->words, launch->words, launch->nwords * sizeof *c->words);
    return GA_OK;
}

ga_status ga__host_call(ga__stream *stream, void (*function)(const void *), const void *what,
                        size_t nbytes)
{
    if (stream->handle == NULL) {
        function(what);
        return GA_OK;
    }
    const command given = {.call = function, .nwords = words_of(nbytes)};
    command *c = record(stream, &given);
    if (c == NULL)
        return GA_ERR_MEMORY;
    memcpy(c->words, what, nbytes);
    return GA_OK;
}

/* A user's kernel has this type. */
static const ga_simt_kernel *users_kernel(ga__function *function)
{
    return (const ga_simt_kernel *)(const void *)function;
}

static ga_status record_grid(ga__stream *stream, ga__function *function,
                             const ga__grid_launch *launch)
{
    const ga_simt_kernel *its = users_kernel(function);
    command given = {.function = function, .users = true, .shape = *launch};
    for (int i = 0; i < its->nparams; i++)
        given.nwords += words_of(its->param_bytes[i]);
    command *c = record(stream, &given);
    if (c == NULL)
        return GA_ERR_MEMORY;
    uint64_t *words = c->words;
    for (int i = 0; i < its->nparams; i++) {
        memcpy(words, launch->args[i], its->param_bytes[i]);
        words += words_of(its->param_bytes[i]);
    }
    return GA_OK;
}

ga_status ga__host_launch_grid(ga__stream *stream, ga__function *function,
                               const ga__grid_launch *launch)
{
    return stream->handle != NULL ? record_grid(stream, function, launch)
                                  : ga__simt_launch(users_kernel(function), launch);
}

static ga_status replay_grid(command *c)
{
    const ga_simt_kernel *its = users_kernel(c->function);
    void *args[GA__MAX_PARAMS];
    ga__grid_launch launch = c->shape;
    uint64_t *words = c->words;
    for (int i = 0; i < its->nparams; i++) {
        args[i] = words;
        words += words_of(its->param_bytes[i]);
    }
    launch.args = args;
    return ga__simt_launch(its, &launch);
}

static ga_status replay_launch(const command *c)
{
    const ga__launch launch = {
        .grid = c->grid, .in_order = c->in_order, .stack = c->stack, .words = c->words};
    return ga__host_run(c->function, &launch);
}

ga_status ga__host_record_begin(ga__stream *stream)
{
    ga__replay *list = ga__malloc(sizeof *list);
    if (list == NULL)
        return GA_ERR_MEMORY;
    *list = (ga__replay){NULL, &list->first};
    stream->handle = list;
    return GA_OK;
}

ga_status ga__host_record_end(ga__stream *stream, ga__replay **replay)
{
    *replay = stream->handle;
    stream->handle = NULL;
    return GA_OK;
}

void ga__host_replay_free(ga__replay *replay)
{
    command *c = replay->first;
    while (c != NULL) {
        command *next = c->next;
        ga__free(c);
        c = next;
    }
    ga__free(replay);
}

void ga__host_record_cancel(ga__stream *stream)
{
    ga__host_replay_free(stream->handle);
    stream->handle = NULL;
}

ga_status ga__host_replay(ga__replay *replay, ga__stream *stream)
{
    (void)stream;
    ga_status status = GA_OK;
    for (command *c = replay->first; c != NULL && status == GA_OK; c = c->next) {
        if (c->call != NULL)
            c->call(c->words);
        else if (c->function == NULL)
            ga__host_move(c->moved.to, c->moved.from, c->moved.nbytes);
        else if (c->users)
            status = replay_grid(c);
        else
            status = replay_launch(c);
    }
    return status;
}
