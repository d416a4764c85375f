/* Gets each kernel once: the first thread to ask looks on disk or compiles, the others wait. */
#include "jit/module.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/os.h"
#include "base/strbuf.h"
#include "jit/cache_disk.h"

enum { BUCKETS = 1024, DUMP_NAME_LENGTH = 64 };

enum state { COMPILING, READY, FAILED };

/* One text on one device. COMPILING, it belongs to the thread that made it; READY, it stays for
 * ever; FAILED, it is out of the table and its last user frees it. */
struct entry {
    struct entry *next;
    ga__device *device;
    char *key; /* all that the code depends on: every option, the versions and the text */
    size_t key_bytes;
    uint64_t hash;
    enum state state;
    int users; /* threads inside get_image */
    ga__image *image;
    ga_status status; /* when FAILED, the error every user gets */
    char *message;
};

/* `lock` guards everything here and is never held while compiling or loading. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t settled; /* some entry left COMPILING */
    struct entry *buckets[BUCKETS];
    struct entry *forgotten; /* their code is still in use */
    ga__module_counts counts;
} modules = {.lock = PTHREAD_MUTEX_INITIALIZER, .settled = PTHREAD_COND_INITIALIZER};

/* ---- entries ---- */

static void entry_free(struct entry *entry)
{
    ga__free(entry->key);
    ga__free(entry->message);
    ga__free(entry);
}

static char *make_key(ga__device *device, const ga__source *source, size_t *nbytes)
{
    const ga__backend *backend = device->backend;
    ga__strbuf key = GA__STRBUF_INIT;
    ga__strbuf_addf(&key, "quarry %s\n%s for %s\nfast_math %d\n%s\n", ga_version(), backend->name,
                    backend->template_target, source->fast_math,
                    backend->compiler_key(device, source->fast_math));
    ga__strbuf_add(&key, source->text);
    *nbytes = key.length;
    return ga__strbuf_take(&key);
}

static struct entry *entry_new(ga__device *device, const ga__source *source)
{
    struct entry *entry = ga__calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    entry->device = device;
    entry->key = make_key(device, source, &entry->key_bytes);
    if (!entry->key) {
        entry_free(entry);
        return NULL;
    }
    entry->hash = ga__hash64(entry->key, entry->key_bytes, 0);
    entry->state = COMPILING;
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
    pthread_mutex_lock(&modules.lock);
    struct entry **bucket = &modules.buckets[fresh->hash % BUCKETS];
    struct entry *entry = *bucket;
    while (entry && !same_code(entry, fresh))
        entry = entry->next;
    if (!entry) {
        fresh->next = *bucket;
        *bucket = entry = fresh;
    }
    entry->users++;
    pthread_mutex_unlock(&modules.lock);
    return entry;
}

static void remove_locked(struct entry *entry)
{
    struct entry **place = &modules.buckets[entry->hash % BUCKETS];
    while (*place != entry)
        place = &(*place)->next;
    *place = entry->next;
}

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
static void dump(const char *directory, const struct entry *entry, const ga__source *source)
{
    ga__saved_error saved = ga__error_save();
    const char *target = entry->device->backend->template_target;
    ga__strbuf path = GA__STRBUF_INIT;
    ga__strbuf_addf(&path, "%s/", directory);
    add_file_name(&path, source->name);
    ga__strbuf_addf(&path, "-%016llx%s", (unsigned long long)entry->hash,
                    strcmp(target, "cuda") == 0 ? ".cu" : ".cpp");
    char *name = ga__strbuf_take(&path);
    if (!name || ga__make_directories(directory) != GA_OK ||
        ga__write_file_atomic(name, source->text, strlen(source->text)) != GA_OK)
        ga__log(GA_LOG_INFO, "%s was not dumped: %s", source->name, ga_error_message());
    ga__free(name);
    ga__error_restore(saved);
}

struct line {
    const char *begin, *end; /* without the newline */
    int number;              /* as the compiler counts */
    bool is_users;           /* under a #line that names another file than "kernel" */
    bool is_directive;
};

/* Moves to the next line (`begin` NULL before the first, *next the text); false at the end. */
static bool next_line(struct line *line, const char **next)
{
    if (!**next)
        return false;
    line->begin = *next;
    line->end = strchr(line->begin, '\n');
    if (!line->end)
        line->end = line->begin + strlen(line->begin);
    *next = *line->end ? line->end + 1 : line->end;
    line->number++;
    line->is_directive = strncmp(line->begin, "#line ", 6) == 0;
    if (line->is_directive) {
        line->number = atoi(line->begin + 6) - 1;
        const char *quote = memchr(line->begin, '"', (size_t)(line->end - line->begin));
        line->is_users = quote && strncmp(quote, "\"kernel\"", 8) != 0;
    }
    return true;
}

static void add_lines(ga__strbuf *listing, const char *text, bool users_only)
{
    struct line line = {NULL, NULL, 0, false, false};
    while (next_line(&line, &text)) {
        int length = (int)(line.end - line.begin);
        if (users_only && !line.is_users)
            continue;
        if (line.is_directive)
            ga__strbuf_addf(listing, "%.*s\n", length, line.begin);
        else
            ga__strbuf_addf(listing, "%c%5d | %.*s\n", line.is_users ? '>' : ' ', line.number,
                            length, line.begin);
    }
}

/* The compiler's message with the numbered lines it speaks of: the user's where there are any, as
 * the rest is ours and hundreds of lines; else all. NULL when memory is out. */
static char *explain(const char *message, const char *text)
{
    ga__strbuf all = GA__STRBUF_INIT;
    struct line line = {NULL, NULL, 0, false, false};
    bool has_users = false;
    for (const char *next = text; next_line(&line, &next);)
        has_users |= line.is_users;
    ga__strbuf_addf(&all, "%s\n", message);
    add_lines(&all, text, has_users);
    return ga__strbuf_take(&all);
}

/* ---- getting the code ---- */

static ga_status load(const struct entry *entry, const void *code, size_t nbytes, ga__image **image)
{
    return entry->device->backend->load(entry->device, code, nbytes, image);
}

/* Code that the disk has but the device refuses (another driver's, or spoilt) is as none. */
static bool load_from_disk(const struct entry *entry, const ga__source *source, ga__image **image)
{
    void *code;
    size_t nbytes;
    if (!ga__disk_cache_get(entry->key, entry->key_bytes, &code, &nbytes))
        return false;
    bool loaded = load(entry, code, nbytes, image) == GA_OK;
    ga__free(code);
    if (loaded) {
        count(&modules.counts.disk_hits);
        ga__log(GA_LOG_DEBUG, "%s for %s: found on disk (%zu bytes)", source->name,
                entry->device->name, nbytes);
    } else {
        ga__log(GA_LOG_INFO, "%s for %s: the code on disk does not load: %s", source->name,
                entry->device->name, ga_error_message());
        ga_clear_error();
    }
    return loaded;
}

static ga_status compile_and_load(const struct entry *entry, const ga__source *source,
                                  ga__image **image)
{
    void *code;
    size_t nbytes;
    double start = ga__now();
    ga_status status = entry->device->backend->compile(entry->device, source, &code, &nbytes);
    if (status != GA_OK)
        return status;
    count(&modules.counts.compiled);
    ga__log(GA_LOG_INFO, "%s for %s: compiled in %.1f ms (%zu bytes)", source->name,
            entry->device->name, 1e3 * (ga__now() - start), nbytes);
    status = load(entry, code, nbytes, image);
    if (status == GA_OK)
        ga__disk_cache_put(entry->key, entry->key_bytes, code, nbytes);
    ga__free(code);
    return status;
}

/* Takes the calling thread's error, which is this attempt's alone, into the entry. A message of
 * several lines is a compiler's log; "there is no compiler" needs no listing. */
static void keep_error(struct entry *entry, const ga__source *source, ga_status status)
{
    const char *message = ga_error_message();
    entry->status = ga_error() != GA_OK ? ga_error() : status;
    if (entry->status == GA_ERR_COMPILE && strchr(message, '\n'))
        entry->message = explain(message, source->text);
    else
        entry->message = ga__strdup(message);
}

static void settle(struct entry *entry, ga__image *image)
{
    pthread_mutex_lock(&modules.lock);
    entry->image = image;
    entry->state = image ? READY : FAILED;
    if (!image)
        remove_locked(entry);
    pthread_cond_broadcast(&modules.settled);
    pthread_mutex_unlock(&modules.lock);
}

/* Makes a COMPILING entry READY or FAILED. The thread may have an older error: it is set aside, so
 * that those who wait get the error of this attempt. */
static void build(struct entry *entry, const ga__source *source)
{
    const char *directory = getenv("QUARRY_DUMP_DIR");
    ga__saved_error saved = ga__error_save();
    ga__image *image = NULL;
    if (directory && *directory)
        dump(directory, entry, source);
    if (!load_from_disk(entry, source, &image)) {
        ga_status status = compile_and_load(entry, source, &image);
        if (status != GA_OK) {
            image = NULL;
            keep_error(entry, source, status);
        }
    }
    ga__error_restore(saved);
    settle(entry, image);
}

/* Waits until the entry is settled; its image, or NULL and its error. Ends this thread's use. */
static ga__image *result_of(struct entry *entry, bool is_builder)
{
    pthread_mutex_lock(&modules.lock);
    while (entry->state == COMPILING)
        pthread_cond_wait(&modules.settled, &modules.lock);
    ga__image *image = entry->image;
    bool is_last = --entry->users == 0;
    modules.counts.memory_hits += image && !is_builder;
    if (!image)
        ga__fail(entry->status, "%s",
                 entry->message ? entry->message : "a kernel failed, and no memory to say why");
    pthread_mutex_unlock(&modules.lock);
    if (!image && is_last)
        entry_free(entry);
    return image;
}

static ga__image *get_image(ga__device *device, const ga__source *source)
{
    struct entry *fresh = entry_new(device, source);
    if (!fresh)
        return NULL;
    struct entry *entry = find_or_add(fresh);
    bool is_builder = entry == fresh;
    if (is_builder)
        build(entry, source);
    else
        entry_free(fresh);
    return result_of(entry, is_builder);
}

ga__function *ga__module_function(ga__device *device, const ga__source *source, const char *entry)
{
    ga__function *function = NULL;
    ga__image *image = get_image(device, source);
    if (!image || device->backend->find(image, entry, &function) != GA_OK)
        return NULL;
    return function;
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
    pthread_mutex_lock(&modules.lock);
    for (int i = 0; i < BUCKETS; i++) {
        struct entry **place = &modules.buckets[i];
        while (*place) {
            struct entry *entry = *place;
            if (entry->state != READY) {
                place = &entry->next;
                continue;
            }
            *place = entry->next;
            entry->next = modules.forgotten;
            modules.forgotten = entry;
        }
    }
    pthread_mutex_unlock(&modules.lock);
}
