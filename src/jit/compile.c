/* Gets each kernel once: the first thread to ask looks on disk or compiles, the others wait. */
#include "jit/compile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os/environment.h"
#include "base/error.h"
#include "base/os/fork.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/os/system.h"
#include "base/os/replacement.h"
#include "base/os/stack.h"
#include "base/strbuf.h"
#include "device/unload.h"
#include "jit/cache_disk.h"
#include "jit/explain.h"
#include "jit/includes.h"
#include "jit/packed.h"

enum {
    BUCKETS = 1024,
    DUMP_NAME_LENGTH = 64,
    LEAST_STACK = 28 << 10 /* the deepest path from here takes 20 KiB, and the C library some */
};

enum state { COMPILING, READY, FAILED };

/* What is wanted: one of two sorts of source. */
struct job {
    const ga__recipe *recipe;      /* of a template's text: the result is its loaded image */
    const ga__cuda_source *source; /* or a user's source: the result is its code */
    char *filled;                  /* the recipe's text, once it was asked for */
};

/* A template's entry, to those who use its code. */
struct ga__module {
    ga__loaded *loaded;
};

/* One code on one device. COMPILING, it belongs to the thread that made it. Its last user frees it,
 * and takes it out of the table before; but a user's source stays until there are too many. */
struct entry {
    ga__module module; /* first: an entry is its module */
    struct entry *next;
    ga__device *device;
    bool is_source; /* of a user, its result `packed`; else a template, and loaded */
    bool kept;      /* in the table and on disk; else it is one thread's alone */
    bool listed;    /* in the table now */
    char *key;      /* all that the code depends on: options, versions, and a user's text or the
                       digests of a template's files and what fills them */
    size_t key_bytes;
    uint64_t hash;
    enum state state;
    pthread_t builder; /* while COMPILING */
    int users;         /* threads that ask, and whoever retains its module */
    uint64_t used;     /* `modules.uses` when its last user left */
    ga__packed *packed;
    ga_status status; /* when FAILED, the error every user gets */
    char *message;
};

/* `lock` guards everything here and is never held while compiling or loading. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t settled; /* some entry left COMPILING */
    struct entry *buckets[BUCKETS];
    uint64_t uses;
    ga__module_counts counts;
} modules = {.lock = PTHREAD_MUTEX_INITIALIZER, .settled = PTHREAD_COND_INITIALIZER};

/* ---- entries ---- */

static void entry_free(struct entry *entry)
{
    ga__unload(entry->module.loaded);
    ga__free(entry->packed);
    ga__free(entry->key);
    ga__free(entry->message);
    ga__free(entry);
}

static void free_list(struct entry *entry)
{
    while (entry) {
        struct entry *next = entry->next;
        entry_free(entry);
        entry = next;
    }
}

static const char *name_of(const struct job *job)
{
    return job->recipe ? job->recipe->name : job->source->name;
}

/* NULL and an error when a template cannot be filled. */
static const char *text_of(struct job *job)
{
    if (job->source)
        return job->source->text;
    if (!job->filled)
        job->filled = ga__fill(job->recipe->template, job->recipe->record);
    return job->filled;
}

static void add_list(ga__strbuf *key, const char *what, const char *const *list)
{
    for (; list && *list; list++)
        ga__strbuf_addf(key, "%s %zu %s\n", what, strlen(*list), *list);
}

static char *make_key(ga__device *device, const struct job *job, size_t *nbytes)
{
    const ga__backend *backend = device->backend;
    ga__strbuf key = GA__STRBUF_INIT;
    ga__strbuf_addf(&key, "quarry %s\n%s for %s\n", ga_version(), backend->name,
                    backend->template_target);
    if (job->recipe) {
        const ga__embedded *template = job->recipe->template;
        ga__strbuf_addf(&key, "fast_math %d\n", job->recipe->fast_math);
        backend->code.key(device, job->recipe->fast_math, &key);
        ga__strbuf_add(&key, "\n");
        ga__template_print(template, job->recipe->record, &key);
        ga__record_print(job->recipe->record, &key);
    } else {
        ga__strbuf_add(&key, "user's source\n");
        backend->user.key(device, &key);
        ga__strbuf_add(&key, "\n");
        add_list(&key, "option", job->source->options);
        add_list(&key, "kernel", job->source->kernels);
        add_list(&key, "header", job->source->header_names);
        add_list(&key, "text", job->source->header_texts);
        ga__strbuf_add(&key, job->source->text);
    }
    *nbytes = key.length;
    return ga__strbuf_take(&key);
}

static struct entry *entry_new(ga__device *device, const struct job *job)
{
    struct entry *entry = ga__calloc(1, sizeof *entry);
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
    entry->state = COMPILING;
    entry->builder = pthread_self();
    return entry;
}

static bool same_code(const struct entry *a, const struct entry *b)
{
    return a->hash == b->hash && a->device == b->device && a->key_bytes == b->key_bytes &&
           memcmp(a->key, b->key, a->key_bytes) == 0;
}

/* The entry in the table for the same code, `fresh` itself put there when there is none. */
static struct entry *find_or_add(struct entry *fresh)
{
    if (!fresh->kept) {
        fresh->users = 1;
        return fresh;
    }
    pthread_mutex_lock(&modules.lock);
    struct entry **bucket = &modules.buckets[fresh->hash % BUCKETS];
    struct entry *entry = *bucket;
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

/* Counts a READY entry of the table. */
static void count_ready(const struct entry *entry, int sign)
{
    if (entry->is_source)
        modules.counts.source_bytes += (size_t)sign * (entry->key_bytes + entry->packed->nbytes);
    else
        modules.counts.loaded += sign;
}

static void remove_locked(struct entry *entry)
{
    struct entry **place = &modules.buckets[entry->hash % BUCKETS];
    while (*place != entry)
        place = &(*place)->next;
    *place = entry->next;
    entry->listed = false;
    if (entry->state == READY)
        count_ready(entry, -1);
}

/* In a forked child, the lock held: what other threads were compiling, nobody short_circuits any
 * more. It leaves the table, so that whoever wants it compiles it; what it has, half made, stays.
 */
static void abandon_entries(void)
{
    modules.settled = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    for (int i = 0; i < BUCKETS; i++)
        for (struct entry *entry = modules.buckets[i], *next; entry; entry = next) {
            next = entry->next;
            if (entry->state == COMPILING && !pthread_equal(entry->builder, pthread_self()))
                remove_locked(entry);
        }
}
GA__FORK_GUARD(&modules.lock, GA__FORK_TABLE, abandon_entries)

static void count(int64_t *counter)
{
    pthread_mutex_lock(&modules.lock);
    ++*counter;
    pthread_mutex_unlock(&modules.lock);
}

/* ---- what people see ---- */

static void add_file_name(ga__strbuf *path, const char *name)
{
    size_t length = strnlen(name, DUMP_NAME_LENGTH);
    for (size_t i = 0; i < length; i++) {
        bool plain = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
                     (name[i] >= '0' && name[i] <= '9');
        ga__strbuf_add_bytes(path, plain ? &name[i] : "_", 1);
    }
    if (!length)
        ga__strbuf_add(path, "kernel");
}

/* Writes the text to the directory; an aid, so that its failure is only logged. */
static void dump(const char *directory, const struct entry *entry, struct job *job)
{
    ga__saved_error saved = ga__error_save();
    const char *text = text_of(job);
    const char *target = entry->device->backend->template_target;
    ga__strbuf path = GA__STRBUF_INIT;
    ga__strbuf_addf(&path, "%s/", directory);
    add_file_name(&path, name_of(job));
    ga__strbuf_addf(&path, "-%016llx%s", (unsigned long long)entry->hash,
                    strcmp(target, "cuda") == 0 ? ".cu" : ".cpp");
    char *name = ga__strbuf_take(&path);
    if (!text || !name || ga__make_directories(directory) != GA_OK ||
        ga__write_file_atomic(name, text, strlen(text)) != GA_OK)
        ga__log(GA_LOG_INFO, "%s was not dumped: %s", name_of(job), ga_error_message());
    ga__free(name);
    ga__error_restore(saved);
}

/* One line of the log for each of the compiler's. */
static void log_warnings(const struct job *job, const char *log)
{
    while (log && *log) {
        const int length = (int)strcspn(log, "\n");
        if (length > 0)
            ga__log(GA_LOG_INFO, "%s: %.*s", name_of(job), length, log);
        log += length + (log[length] == '\n');
    }
}

/* ---- a user's source ---- */

static ga_status compile_users(ga__device *device, const struct job *job, ga__packed **packed)
{
    void *code;
    size_t nbytes;
    char *symbols, *log;
    ga_status status =
        device->backend->user.compile(device, job->source, &code, &nbytes, &symbols, &log);
    if (status != GA_OK)
        return status;
    log_warnings(job, log);
    *packed = ga__pack(code, nbytes, symbols);
    ga__free(code);
    ga__free(symbols);
    ga__free(log);
    return *packed ? GA_OK : GA_ERR_MEMORY;
}

/* ---- getting the code ---- */

static ga_status load(struct entry *entry, const void *code, size_t nbytes)
{
    if (!entry->is_source)
        return ga__load(entry->device, code, nbytes, &entry->module.loaded);
    entry->packed = ga__repack(code, nbytes);
    return entry->packed ? GA_OK : GA_ERR_MEMORY;
}

/* Code that the disk has but the device refuses (another driver's, or spoilt) is as none. */
static bool load_from_disk(struct entry *entry, const struct job *job)
{
    void *code;
    size_t nbytes;
    if (!entry->kept || !ga__disk_cache_get(entry->key, entry->key_bytes, &code, &nbytes))
        return false;
    bool loaded = load(entry, code, nbytes) == GA_OK;
    ga__free(code);
    if (loaded) {
        count(&modules.counts.disk_hits);
        ga__log(GA_LOG_DEBUG, "%s for %s: found on disk (%zu bytes)", name_of(job),
                entry->device->name, nbytes);
    } else {
        ga__log(GA_LOG_INFO, "%s for %s: the code on disk does not load: %s", name_of(job),
                entry->device->name, ga_error_message());
        ga_clear_error();
    }
    return loaded;
}

static void note_compiled(ga__device *device, const struct job *job, double start, size_t nbytes)
{
    count(&modules.counts.compiled);
    ga__log(GA_LOG_INFO, "%s for %s: compiled in %.1f ms (%zu bytes)", name_of(job), device->name,
            1e3 * (ga__now() - start), nbytes);
}

static ga_status compile_template(struct entry *entry, struct job *job)
{
    void *code;
    size_t nbytes;
    const ga__source source = {name_of(job), text_of(job), job->recipe->fast_math};
    if (!source.text)
        return ga_error();
    double start = ga__now();
    ga_status status = entry->device->backend->code.compile(entry->device, &source, &code, &nbytes);
    if (status != GA_OK)
        return status;
    note_compiled(entry->device, job, start, nbytes);
    status = load(entry, code, nbytes);
    if (status == GA_OK)
        ga__disk_cache_put(entry->key, entry->key_bytes, code, nbytes);
    ga__free(code);
    return status;
}

static ga_status compile_source(struct entry *entry, const struct job *job)
{
    ga__packed *packed;
    double start = ga__now();
    ga_status status = compile_users(entry->device, job, &packed);
    if (status != GA_OK)
        return status;
    note_compiled(entry->device, job, start, packed->nbytes);
    if (entry->kept)
        ga__disk_cache_put(entry->key, entry->key_bytes, packed->bytes, packed->nbytes);
    entry->packed = packed;
    return GA_OK;
}

/* A message of several lines is a compiler's log; "there is no compiler" needs no listing. */
static char *explain(const struct job *job, ga_status status, const char *message)
{
    if (status != GA_ERR_COMPILE || !strchr(message, '\n'))
        return ga__strdup(message);
    if (job->source)
        return ga__explain_source(message, job->source->text, job->source->name);
    return ga__explain_template(message, job->filled);
}

/* Takes the calling thread's error, which is this attempt's alone, into the entry. */
static void keep_error(struct entry *entry, const struct job *job, ga_status status)
{
    entry->status = ga_error() != GA_OK ? ga_error() : status;
    entry->message = explain(job, entry->status, ga_error_message());
}

static void settle(struct entry *entry)
{
    pthread_mutex_lock(&modules.lock);
    entry->state = entry->module.loaded || entry->packed ? READY : FAILED;
    if (entry->listed && entry->state == READY)
        count_ready(entry, 1);
    else if (entry->listed)
        remove_locked(entry);
    pthread_cond_broadcast(&modules.settled);
    pthread_mutex_unlock(&modules.lock);
}

/* Makes a COMPILING entry READY or FAILED. The thread may have an older error: it is set aside, so
 * that those who wait get the error of this attempt. */
static void build(struct entry *entry, struct job *job)
{
    const char *directory = ga__environment("QUARRY_DUMP_DIR");
    ga__saved_error saved = ga__error_save();
    if (directory && *directory)
        dump(directory, entry, job);
    if (!load_from_disk(entry, job)) {
        ga_status status =
            entry->is_source ? compile_source(entry, job) : compile_template(entry, job);
        if (status != GA_OK)
            keep_error(entry, job, status);
    }
    ga__error_restore(saved);
    settle(entry);
}

/* ---- using it ---- */

/* The source that was used least recently, of those that nobody uses now. */
static struct entry *oldest_source(void)
{
    struct entry *oldest = NULL;
    for (int i = 0; i < BUCKETS; i++)
        for (struct entry *entry = modules.buckets[i]; entry; entry = entry->next)
            if (entry->is_source && entry->users == 0 && (!oldest || entry->used < oldest->used))
                oldest = entry;
    return oldest;
}

/* Takes sources out that are too many; as a list. */
static struct entry *drop_sources(void)
{
    struct entry *dropped = NULL;
    while (modules.counts.source_bytes > GA__SOURCE_BYTES) {
        struct entry *entry = oldest_source();
        if (!entry)
            break;
        remove_locked(entry);
        entry->next = dropped;
        dropped = entry;
    }
    return dropped;
}

/* Ends one use; what has to be freed outside the lock, as a list. */
static struct entry *leave_locked(struct entry *entry)
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

static void leave(struct entry *entry)
{
    pthread_mutex_lock(&modules.lock);
    struct entry *freed = leave_locked(entry);
    pthread_mutex_unlock(&modules.lock);
    free_list(freed);
}

/* Waits until the entry is settled: false and its error, and this thread's use has ended, where it
 * failed. */
static bool await(struct entry *entry, bool is_builder)
{
    pthread_mutex_lock(&modules.lock);
    while (entry->state == COMPILING)
        pthread_cond_wait(&modules.settled, &modules.lock);
    const bool ready = entry->state == READY;
    modules.counts.memory_hits += ready && !is_builder;
    if (!ready)
        ga__fail(entry->status, "%s",
                 entry->message ? entry->message : "a kernel failed, and no memory to say why");
    pthread_mutex_unlock(&modules.lock);
    if (!ready)
        leave(entry);
    return ready;
}

/* Waits for what another thread builds: false, and this thread's use has ended, when that one was
 * told to stop, which is no answer to this one. */
static bool is_answered(struct entry *entry)
{
    pthread_mutex_lock(&modules.lock);
    while (entry->state == COMPILING)
        pthread_cond_wait(&modules.settled, &modules.lock);
    const bool answered = entry->state == READY || entry->status != GA_ERR_CANCELLED;
    pthread_mutex_unlock(&modules.lock);
    if (!answered)
        leave(entry);
    return answered;
}

/* A caller's stack that is too small must not overflow in the compiler's or the loader's care. */
static bool has_stack(const struct job *job)
{
    const size_t left = ga__stack_left();
    if (left >= LEAST_STACK)
        return true;
    ga__fail(GA_ERR_MEMORY, "%s: the thread has %zu bytes of its stack left, a first call needs %d",
             name_of(job), left, LEAST_STACK);
    return false;
}

/* The new entry, or the one of the same code, with one use that the caller ends; NULL and an error
 * on failure. */
static struct entry *get_entry(struct entry *fresh, struct job *job)
{
    struct entry *entry = find_or_add(fresh);
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
    struct job job = {.recipe = recipe};
    ga__function *function = NULL;
    struct entry *fresh = has_stack(&job) ? entry_new(device, &job) : NULL;
    struct entry *entry = fresh ? get_entry(fresh, &job) : NULL;
    ga__free(job.filled);
    if (!entry)
        return NULL;
    if (device->backend->code.find(entry->module.loaded->image, name, &function) == GA_OK) {
        *module = &entry->module;
        return function;
    }
    leave(entry);
    return NULL;
}

ga__module *ga__module_retain(ga__module *module)
{
    pthread_mutex_lock(&modules.lock);
    ((struct entry *)module)->users++;
    pthread_mutex_unlock(&modules.lock);
    return module;
}

void ga__module_release(ga__module *module)
{
    leave((struct entry *)module);
}

ga_status ga__module_code(ga__device *device, const ga__cuda_source *source, ga__code *code)
{
    struct job job = {.source = source};
    struct entry *fresh = has_stack(&job) ? entry_new(device, &job) : NULL;
    if (!fresh)
        return GA_ERR_MEMORY;
    struct entry *entry = get_entry(fresh, &job);
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
    return counts;
}

void ga__module_forget(void)
{
    struct entry *freed = NULL;
    pthread_mutex_lock(&modules.lock);
    for (int i = 0; i < BUCKETS; i++)
        for (struct entry *entry = modules.buckets[i], *next; entry; entry = next) {
            next = entry->next;
            if (entry->state != READY)
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
