/* Unloads code in batches, each once the work that streams had when it began is done. */
#include "device/unload.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/fork.h"

/* Code of one device, and a mark in each of its streams: behind them nobody uses the code. */
typedef struct batch {
    struct batch *next;
    ga__device *device;
    ga__loaded *codes;
    int nmarks;
    ga__event *marks[];
} batch;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
GA__FORK_GUARD(&lock, GA__FORK_LEAF, NULL)

static ga__loaded *unmarked;
static batch *batches;

ga_status ga__load(ga__device *device, const void *code, size_t nbytes, ga__loaded **loaded)
{
    ga__loaded *fresh = ga__malloc(sizeof *fresh);
    if (fresh == NULL)
        return GA_ERR_MEMORY;
    fresh->device = device;
    const ga_status status = device->backend->code.load(device, code, nbytes, &fresh->image);
    if (status == GA_OK)
        *loaded = fresh;
    else
        ga__free(fresh);
    return status;
}

static void add_unmarked(ga__loaded *list)
{
    pthread_mutex_lock(&lock);
    while (list != NULL) {
        ga__loaded *next = list->next;
        list->next = unmarked;
        unmarked = list;
        list = next;
    }
    pthread_mutex_unlock(&lock);
}

void ga__unload(ga__loaded *loaded)
{
    if (loaded == NULL)
        return;
    loaded->next = NULL;
    add_unmarked(loaded);
}

/* ---- batches ---- */

static void batch_free(batch *b)
{
    for (int i = 0; i < b->nmarks; i++)
        b->device->backend->stream.event_free(b->device, b->marks[i]);
    ga__free(b);
}

static ga_status add_mark(batch *b, ga__stream *stream)
{
    const ga__backend *backend = b->device->backend;
    const ga_status status = backend->stream.event_new(b->device, &b->marks[b->nmarks]);
    return status == GA_OK ? backend->stream.event_record(b->marks[b->nmarks++], stream) : status;
}

/* Under the device's lock. NULL when a mark cannot be made. */
static batch *batch_new(ga__device *device)
{
    size_t nstreams = 0;
    ga_status status = GA_OK;
    for (const ga__stream *s = device->streams; s != NULL; s = s->next)
        nstreams++;
    batch *b = ga__malloc(sizeof *b + nstreams * sizeof *b->marks);
    if (b == NULL)
        return NULL;
    *b = (batch){.device = device};
    for (ga__stream *s = device->streams; s != NULL && status == GA_OK; s = s->next)
        status = add_mark(b, s);
    if (status == GA_OK)
        return b;
    batch_free(b);
    return NULL;
}

/* A device that fails is never done: its code stays. */
static bool is_done(const batch *b)
{
    bool done = true;
    for (int i = 0; i < b->nmarks && done; i++)
        if (b->device->backend->stream.event_query(b->device, b->marks[i], &done) != GA_OK)
            done = false;
    return done;
}

static void finish(batch *b)
{
    while (b->codes != NULL) {
        ga__loaded *code = b->codes;
        b->codes = code->next;
        b->device->backend->code.unload(code->image);
        ga__free(code);
    }
    batch_free(b);
}

/* ---- sweeping ---- */

/* Takes the code of the first one's device out of the list. */
static ga__loaded *take_of_one_device(ga__loaded **list)
{
    ga__device *device = (*list)->device;
    ga__loaded *taken = NULL, **link = list;
    while (*link != NULL) {
        ga__loaded *code = *link;
        if (code->device != device) {
            link = &code->next;
            continue;
        }
        *link = code->next;
        code->next = taken;
        taken = code;
    }
    return taken;
}

/* Batches of the code; what gets none goes back to the unmarked. */
static batch *mark_all(ga__loaded *list, batch *others)
{
    while (list != NULL) {
        ga__loaded *codes = take_of_one_device(&list);
        ga__device *device = codes->device;
        pthread_mutex_lock(&device->lock);
        batch *b = batch_new(device);
        pthread_mutex_unlock(&device->lock);
        if (b == NULL) {
            add_unmarked(codes);
            continue;
        }
        b->codes = codes;
        b->next = others;
        others = b;
    }
    return others;
}

static void finish_or_keep(batch *list)
{
    while (list != NULL) {
        batch *b = list;
        list = b->next;
        if (is_done(b)) {
            finish(b);
            continue;
        }
        pthread_mutex_lock(&lock);
        b->next = batches;
        batches = b;
        pthread_mutex_unlock(&lock);
    }
}

void ga__unload_sweep(void)
{
    pthread_mutex_lock(&lock);
    ga__loaded *codes = unmarked;
    batch *marked = batches;
    unmarked = NULL;
    batches = NULL;
    pthread_mutex_unlock(&lock);
    if (codes == NULL && marked == NULL)
        return;
    const ga__saved_error before = ga__error_save();
    finish_or_keep(mark_all(codes, marked));
    ga__error_restore(before);
}
