/* Unloads code in batches, each when the work is done that the streams had when the batch began. */
#include "device/unload.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/fork.h"

/* An event in a stream of a device. */
typedef struct device_event {
    ga__device *device;
    ga__event *event;
} device_event;

/* Code, and an event in each stream of its devices: after these events, no work uses the code. */
typedef struct batch {
    struct batch *next;
    ga__loaded *codes;
    size_t nevents, room;
    device_event *events;
} batch;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
GA__FORK_GUARD(&lock, GA__FORK_LEAF, NULL)

static ga__loaded *waiting;
static batch *batches;

/* ---- loading ---- */

static void loaded_free(ga__loaded *loaded)
{
    ga__free(loaded->devices);
    ga__free(loaded);
}

static bool is_on(const ga__loaded *loaded, const ga__device *device)
{
    for (size_t i = 0; i < loaded->ndevices; i++)
        if (loaded->devices[i] == device)
            return true;
    return false;
}

static ga_status add_device(ga__loaded *loaded, ga__device *device)
{
    ga__device **devices =
        ga__realloc(loaded->devices, (loaded->ndevices + 1) * sizeof *loaded->devices);
    if (devices == NULL)
        return GA_ERR_MEMORY;
    devices[loaded->ndevices++] = device;
    loaded->devices = devices;
    return GA_OK;
}

ga_status ga__load(ga__device *device, const void *code, size_t nbytes, ga__loaded **loaded)
{
    ga__loaded *fresh = ga__calloc(1, sizeof *fresh);
    if (fresh == NULL)
        return GA_ERR_MEMORY;
    ga_status status = add_device(fresh, device);
    if (status == GA_OK)
        status = device->backend->code.load(device, code, nbytes, &fresh->image);
    if (status == GA_OK)
        *loaded = fresh;
    else
        loaded_free(fresh);
    return status;
}

ga_status ga__load_also(ga__device *device, ga__loaded *loaded)
{
    pthread_mutex_lock(&lock);
    const bool attached = is_on(loaded, device);
    pthread_mutex_unlock(&lock);
    if (attached)
        return GA_OK;
    ga_status status = device->backend->code.attach(device, loaded->image);
    pthread_mutex_lock(&lock);
    if (status == GA_OK && !is_on(loaded, device)) /* another thread may have been faster */
        status = add_device(loaded, device);
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- giving code up ---- */

static void add_waiting(ga__loaded *list)
{
    pthread_mutex_lock(&lock);
    while (list != NULL) {
        ga__loaded *next = list->next;
        list->next = waiting;
        waiting = list;
        list = next;
    }
    pthread_mutex_unlock(&lock);
}

void ga__unload(ga__loaded *loaded)
{
    if (loaded == NULL)
        return;
    loaded->next = NULL;
    add_waiting(loaded);
}

/* ---- batches ---- */

static void batch_free(batch *b)
{
    for (size_t i = 0; i < b->nevents; i++)
        b->events[i].device->backend->stream.event_free(b->events[i].device, b->events[i].event);
    ga__free(b->events);
    ga__free(b);
}

static ga_status make_room(batch *b)
{
    if (b->nevents < b->room)
        return GA_OK;
    const size_t room = b->room > 0 ? 2 * b->room : 8;
    device_event *events = ga__realloc(b->events, room * sizeof *events);
    if (events == NULL)
        return GA_ERR_MEMORY;
    b->events = events;
    b->room = room;
    return GA_OK;
}

static ga_status add_event(batch *b, ga__stream *stream)
{
    ga__device *device = stream->device;
    const ga__stream_verbs *verbs = &device->backend->stream;
    ga__event *event;
    if (make_room(b) != GA_OK || verbs->event_new(device, &event) != GA_OK)
        return ga_error();
    b->events[b->nevents++] = (device_event){device, event};
    return verbs->event_record(event, stream);
}

static bool has_events(const batch *b, const ga__device *device)
{
    for (size_t i = 0; i < b->nevents; i++)
        if (b->events[i].device == device)
            return true;
    return false;
}

static ga_status add_events(batch *b, ga__device *device)
{
    ga_status status = GA_OK;
    pthread_mutex_lock(&device->lock);
    for (ga__stream *s = device->streams; s != NULL && status == GA_OK; s = s->next)
        status = add_event(b, s);
    pthread_mutex_unlock(&device->lock);
    return status;
}

/* Makes a batch of the code, with events in the streams of all its devices. NULL on failure. */
static batch *batch_new(ga__loaded *codes)
{
    batch *b = ga__calloc(1, sizeof *b);
    ga_status status = b != NULL ? GA_OK : GA_ERR_MEMORY;
    for (const ga__loaded *code = codes; code != NULL; code = code->next)
        for (size_t i = 0; i < code->ndevices && status == GA_OK; i++)
            if (!has_events(b, code->devices[i]))
                status = add_events(b, code->devices[i]);
    if (status == GA_OK) {
        b->codes = codes;
        return b;
    }
    if (b != NULL)
        batch_free(b);
    return NULL;
}

/* A batch with an event on a failed device is never done: its code stays loaded. */
static bool is_done(const batch *b)
{
    bool done = true;
    for (size_t i = 0; i < b->nevents && done; i++) {
        ga__device *device = b->events[i].device;
        if (device->backend->stream.event_query(device, b->events[i].event, &done) != GA_OK)
            done = false;
    }
    return done;
}

static void finish(batch *b)
{
    while (b->codes != NULL) {
        ga__loaded *code = b->codes;
        b->codes = code->next;
        code->devices[0]->backend->code.unload(code->image);
        loaded_free(code);
    }
    batch_free(b);
}

/* ---- sweeping ---- */

/* Puts a batch of the code before the others. If recording the events fails, the code goes back to
 * the waiting list. */
static batch *add_batch(ga__loaded *codes, batch *others)
{
    batch *b = codes != NULL ? batch_new(codes) : NULL;
    if (b == NULL) {
        add_waiting(codes);
        return others;
    }
    b->next = others;
    return b;
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
    ga__loaded *codes = waiting;
    batch *old = batches;
    waiting = NULL;
    batches = NULL;
    pthread_mutex_unlock(&lock);
    if (codes == NULL && old == NULL)
        return;
    const ga__saved_error before = ga__error_save();
    finish_or_keep(add_batch(codes, old));
    ga__error_restore(before);
}
