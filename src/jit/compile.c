/* Gets each kernel once: the first thread to ask looks on disk or compiles, the others wait. */
#include "jit/compile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/os/fork.h"
#include "base/os/stack.h"
#include "base/strbuf.h"
#include "device/unload.h"
#include "jit/entry.h"
#include "jit/includes.h"

enum {
    BUCKETS = 1024,
    LEAST_STACK = 28 << 10 /* the deepest path from here takes 20 KiB, the C library some more */
};

/* `lock` guards everything here and is never held while compiling or loading. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t settled; /* some entry left GA__COMPILING */
    ga__entry *buckets[BUCKETS];
    uint64_t uses;
    ga__module_counts counts;
} modules = {.lock = PTHREAD_MUTEX_INITIALIZER, .settled = PTHREAD_COND_INITIALIZER};

/* ---- entries ---- */

static void entry_free(ga__entry *entry)
{
    ga__unload(entry->module.loaded);
    ga__free(entry->packed);
    ga__free(entry->key);
    ga__free(entry->message);
    ga__free(entry);
}

static void free_list(ga__entry *entry)
{
    while (entry) {
        ga__entry *next = entry->next;
        entry_free(entry);
        entry = next;
    }
}

static void add_list(ga__strbuf *key, const char *what, const char *const *list)
{
    for (; list && *list; list++)
        ga__strbuf_addf(key, "%s %zu %s\n", what, strlen(*list), *list);
}

static char *make_key(ga__device *device, const ga__job *job, size_t *nbytes)
{
    const ga__backend *backend = device->backend;
    ga__strbuf key = GA__STRBUF_INIT;
    ga__strbuf_addf(&key, "quarry %s\n%s for %s\n", ga_version(), backend->name,
                    backend->template_target);
    if (job->recipe) {
        const ga__embedded *template = job->recipe->template;
        ga__strbuf_addf(&key, "kernel %s\nfast_math %d\n", job->recipe->name,
                        job->recipe->fast_math); /* ga_cache_list() shows the first lines */
        backend->code.key(device, job->recipe->fast_math, &key);
        ga__strbuf_add(&key, "\n");
        ga__template_print(template, job->recipe->record, &key);
        ga__record_print(job->recipe->record, &key);
    } else {
        ga__strbuf_add(&key, "user's source\n");
        backend->user.key(device, &key);
        ga__strbuf_add(&key, "\n");
        if (job->source->piece > 0)
            ga__strbuf_addf(&key, "piece %d\n", job->source->piece);
        add_list(&key, "option", job->source->options);
        add_list(&key, "kernel", job->source->kernels);
        add_list(&key, "header", job->source->header_names);
        add_list(&key, "text", job->source->header_texts);
        ga__strbuf_add(&key, job->source->text);
    }
    *nbytes = key.length;
    return ga__strbuf_take(&key);
}

static ga__entry *entry_new(ga__device *device, const ga__job *job)
{
    ga__entry *entry = ga__calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    entry->device = device;
    entry->is_source = job->source;
    entry->kept = !job->source || !ga__includes_files(job->source);
    entry->key = make_key(device, job, &entry->key_bytes);
    if (!entry->key) {
        entry_free(entry);
        return NULL;
    }
    entry->hash = ga__hash64(entry->key, entry->key_bytes, 0);
    entry->state = GA__COMPILING;
    entry->builder = pthread_self();
    return entry;
}

static bool same_code(const ga__entry *a, const ga__entry *b)
{
    return a->hash == b->hash && a->key_bytes == b->key_bytes &&
           memcmp(a->key, b->key, a->key_bytes) == 0;
}

/* The table's entry for the same code. Inserts `fresh` when the table has none. */
static ga__entry *find_or_add(ga__entry *fresh)
{
    if (!fresh->kept) {
        fresh->users = 1;
        return fresh;
    }
    pthread_mutex_lock(&modules.lock);
    ga__entry **bucket = &modules.buckets[fresh->hash % BUCKETS];
    ga__entry *entry = *bucket;
    while (entry && !same_code(entry, fresh))
        entry = entry->next;
    if (!entry) {
        fresh->next = *bucket;
        fresh->listed = true;
        *bucket = entry = fresh;
    }
    entry->users++;
    pthread_mutex_unlock(&modules.lock);
    return entry;
}

/* Adds a GA__READY entry of the table to the counts, or subtracts it. */
static void count_ready(const ga__entry *entry, int sign)
{
    if (entry->is_source)
        modules.counts.source_bytes += (size_t)sign * (entry->key_bytes + entry->packed->nbytes);
    else
        modules.counts.loaded += sign;
}

static void remove_locked(ga__entry *entry)
{
    ga__entry **place = &modules.buckets[entry->hash % BUCKETS];
    while (*place != entry)
        place = &(*place)->next;
    *place = entry->next;
    entry->listed = false;
    if (entry->state == GA__READY)
        count_ready(entry, -1);
}

/* Runs in a forked child with the lock held. No thread finishes what others were compiling: those
 * entries leave the table, so that the next caller compiles them. Their memory stays allocated. */
static void abandon_entries(void)
{
    modules.settled = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    for (int i = 0; i < BUCKETS; i++)
        for (ga__entry *entry = modules.buckets[i], *next; entry; entry = next) {
            next = entry->next;
            if (entry->state == GA__COMPILING && !pthread_equal(entry->builder, pthread_self()))
                remove_locked(entry);
        }
}
GA__FORK_GUARD(&modules.lock, GA__FORK_TABLE, abandon_entries)

/* ---- getting the code ---- */

static void settle(ga__entry *entry)
{
    pthread_mutex_lock(&modules.lock);
    entry->state = entry->module.loaded || entry->packed ? GA__READY : GA__FAILED;
    if (entry->listed && entry->state == GA__READY)
        count_ready(entry, 1);
    else if (entry->listed)
        remove_locked(entry);
    pthread_cond_broadcast(&modules.settled);
    pthread_mutex_unlock(&modules.lock);
}

static void build(ga__entry *entry, ga__job *job)
{
    ga__entry_build(entry, job);
    settle(entry);
}

/* ---- using it ---- */

/* The least recently used of the unused sources. */
static ga__entry *oldest_source(void)
{
    ga__entry *oldest = NULL;
    for (int i = 0; i < BUCKETS; i++)
        for (ga__entry *entry = modules.buckets[i]; entry; entry = entry->next)
            if (entry->is_source && entry->users == 0 && (!oldest || entry->used < oldest->used))
                oldest = entry;
    return oldest;
}

/* Removes sources until the rest fits the limit. Returns the removed ones as a list. */
static ga__entry *drop_sources(void)
{
    ga__entry *dropped = NULL;
    while (modules.counts.source_bytes > GA__SOURCE_BYTES) {
        ga__entry *entry = oldest_source();
        if (!entry)
            break;
        remove_locked(entry);
        entry->next = dropped;
        dropped = entry;
    }
    return dropped;
}

/* Ends one use. Returns a list of entries for the caller to free without the lock. */
static ga__entry *leave_locked(ga__entry *entry)
{
    entry->used = ++modules.uses;
    if (--entry->users > 0)
        return NULL;
    if (entry->listed && entry->is_source)
        return drop_sources();
    if (entry->listed)
        remove_locked(entry);
    entry->next = NULL;
    return entry;
}

static void leave(ga__entry *entry)
{
    pthread_mutex_lock(&modules.lock);
    ga__entry *freed = leave_locked(entry);
    pthread_mutex_unlock(&modules.lock);
    free_list(freed);
}

/* Waits until the entry settles. If it failed, raises its error, ends this thread's use and returns
 * false. */
static bool await(ga__entry *entry, bool is_builder)
{
    pthread_mutex_lock(&modules.lock);
    while (entry->state == GA__COMPILING)
        pthread_cond_wait(&modules.settled, &modules.lock);
    const bool ready = entry->state == GA__READY;
    modules.counts.memory_hits += ready && !is_builder;
    if (!ready)
        ga__fail(entry->status, "%s",
                 entry->message
                     ? entry->message
                     : "compile: a kernel failed, and memory ran out before its message");
    pthread_mutex_unlock(&modules.lock);
    if (!ready)
        leave(entry);
    return ready;
}

/* Waits for an entry that another thread builds. If that thread was cancelled, which says nothing
 * about this request, ends this thread's use and returns false. */
static bool is_answered(ga__entry *entry)
{
    pthread_mutex_lock(&modules.lock);
    while (entry->state == GA__COMPILING)
        pthread_cond_wait(&modules.settled, &modules.lock);
    const bool answered = entry->state == GA__READY || entry->status != GA_ERR_CANCELLED;
    pthread_mutex_unlock(&modules.lock);
    if (!answered)
        leave(entry);
    return answered;
}

/* Fails when the stack is too small, which would otherwise overflow in the compiler or the loader.
 */
static bool has_stack(const ga__job *job)
{
    const size_t left = ga__stack_left();
    if (left >= LEAST_STACK)
        return true;
    ga__fail(GA_ERR_MEMORY, "%s: the thread has %zu bytes of stack left; a first call needs %d",
             ga__job_name(job), left, LEAST_STACK);
    return false;
}

/* The new entry or an existing one for the same code, with one use that the caller ends. NULL and
 * an error on failure. */
static ga__entry *get_entry(ga__entry *fresh, ga__job *job)
{
    ga__entry *entry = find_or_add(fresh);
    while (entry != fresh && !is_answered(entry))
        entry = find_or_add(fresh);
    bool is_builder = entry == fresh;
    if (is_builder)
        build(entry, job);
    else
        entry_free(fresh);
    return await(entry, is_builder) ? entry : NULL;
}

ga__function *ga__module_function(ga__device *device, const ga__recipe *recipe, const char *name,
                                  ga__module **module)
{
    ga__job job = {.recipe = recipe};
    ga__function *function = NULL;
    ga__entry *fresh = has_stack(&job) ? entry_new(device, &job) : NULL;
    ga__entry *entry = fresh ? get_entry(fresh, &job) : NULL;
    ga__free(job.filled);
    if (!entry)
        return NULL;
    ga__loaded *loaded = entry->module.loaded;
    if (ga__load_also(device, loaded) == GA_OK &&
        device->backend->code.find(loaded->image, name, &function) == GA_OK) {
        *module = &entry->module;
        return function;
    }
    leave(entry);
    return NULL;
}

ga__module *ga__module_retain(ga__module *module)
{
    pthread_mutex_lock(&modules.lock);
    ((ga__entry *)module)->users++;
    pthread_mutex_unlock(&modules.lock);
    return module;
}

void ga__module_release(ga__module *module)
{
    leave((ga__entry *)module);
}

ga_status ga__module_code(ga__device *device, const ga__cuda_source *source, ga__code *code)
{
    ga__job job = {.source = source};
    ga__entry *fresh = has_stack(&job) ? entry_new(device, &job) : NULL;
    if (!fresh)
        return GA_ERR_MEMORY;
    ga__entry *entry = get_entry(fresh, &job);
    if (!entry)
        return ga_error();
    ga_status status = ga__unpack(entry->packed, code);
    leave(entry);
    return status;
}

/* ---- for tests ---- */

ga__module_counts ga__module_count(void)
{
    pthread_mutex_lock(&modules.lock);
    ga__module_counts counts = modules.counts;
    pthread_mutex_unlock(&modules.lock);
    ga__entry_count(&counts.compiled, &counts.disk_hits);
    return counts;
}

void ga__module_forget(void)
{
    ga__entry *freed = NULL;
    pthread_mutex_lock(&modules.lock);
    for (int i = 0; i < BUCKETS; i++)
        for (ga__entry *entry = modules.buckets[i], *next; entry; entry = next) {
            next = entry->next;
            if (entry->state != GA__READY)
                continue;
            remove_locked(entry);
            if (entry->users > 0)
                continue;
            entry->next = freed;
            freed = entry;
        }
    pthread_mutex_unlock(&modules.lock);
    free_list(freed);
}
