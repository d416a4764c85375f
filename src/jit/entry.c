/* Gets one code: looks on disk, or fills the text and compiles it. */
#include "jit/entry.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/os/environment.h"
#include "base/os/replacement.h"
#include "base/os/system.h"
#include "base/strbuf.h"
#include "jit/cache_disk.h"
#include "jit/explain.h"

enum { DUMP_NAME_LENGTH = 64 };

static atomic_llong compiled, disk_hits;

const char *ga__job_name(const ga__job *job)
{
    return job->recipe ? job->recipe->name : job->source->name;
}

/* The text to compile; NULL and an error when filling the template fails. */
static const char *text_of(ga__job *job)
{
    if (job->source)
        return job->source->text;
    if (!job->filled)
        job->filled = ga__fill(job->recipe->template, job->recipe->record);
    return job->filled;
}

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

/* Writes the text to the directory. Only logs a failure, since the file is a debugging aid. */
static void dump(const char *directory, const ga__entry *entry, ga__job *job)
{
    ga__saved_error saved = ga__error_save();
    const char *text = text_of(job);
    const char *target = entry->device->backend->template_target;
    ga__strbuf path = GA__STRBUF_INIT;
    ga__strbuf_addf(&path, "%s/", directory);
    add_file_name(&path, ga__job_name(job));
    ga__strbuf_addf(&path, "-%016llx%s", (unsigned long long)entry->hash,
                    strcmp(target, "cuda") == 0 ? ".cu" : ".cpp");
    char *name = ga__strbuf_take(&path);
    if (!text || !name || ga__make_directories(directory) != GA_OK ||
        ga__write_file_atomic(name, text, strlen(text)) != GA_OK)
        ga__log(GA_LOG_INFO, "%s was not dumped: %s", ga__job_name(job), ga_error_message());
    ga__free(name);
    ga__error_restore(saved);
}

/* Logs each line of the compiler's log. */
static void log_warnings(const ga__job *job, const char *log)
{
    while (log && *log) {
        const int length = (int)strcspn(log, "\n");
        if (length > 0)
            ga__log(GA_LOG_INFO, "%s: %.*s", ga__job_name(job), length, log);
        log += length + (log[length] == '\n');
    }
}

static ga_status compile_users(ga__device *device, const ga__job *job, ga__packed **packed)
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

static ga_status load(ga__entry *entry, const void *code, size_t nbytes)
{
    if (!entry->is_source)
        return ga__load(entry->device, code, nbytes, &entry->module.loaded);
    entry->packed = ga__repack(code, nbytes);
    return entry->packed ? GA_OK : GA_ERR_MEMORY;
}

/* Treats code from the disk that the device refuses (another driver's, or damaged) as a miss. */
static bool load_from_disk(ga__entry *entry, const ga__job *job)
{
    void *code;
    size_t nbytes;
    if (!entry->kept || !ga__disk_cache_get(entry->key, entry->key_bytes, &code, &nbytes))
        return false;
    const ga__saved_error before = ga__error_save();
    const bool loaded = load(entry, code, nbytes) == GA_OK;
    ga__free(code);
    if (loaded) {
        atomic_fetch_add(&disk_hits, 1);
        ga__log(GA_LOG_DEBUG, "%s for %s: found on disk (%zu bytes)", ga__job_name(job),
                entry->device->name, nbytes);
    } else {
        ga__log(GA_LOG_INFO, "%s for %s: the code on disk does not load: %s", ga__job_name(job),
                entry->device->name, ga_error_message());
    }
    ga__error_restore(before);
    return loaded;
}

static void note_compiled(ga__device *device, const ga__job *job, double start, size_t nbytes)
{
    atomic_fetch_add(&compiled, 1);
    ga__log(GA_LOG_INFO, "%s for %s: compiled in %.1f ms (%zu bytes)", ga__job_name(job),
            device->name, 1e3 * (ga__now() - start), nbytes);
}

static ga_status compile_template(ga__entry *entry, ga__job *job)
{
    void *code;
    size_t nbytes;
    const ga__source source = {ga__job_name(job), text_of(job), job->recipe->fast_math};
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

static ga_status compile_source(ga__entry *entry, const ga__job *job)
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
static char *explain(const ga__job *job, ga_status status, const char *message)
{
    if (status != GA_ERR_COMPILE || !strchr(message, '\n'))
        return ga__strdup(message);
    if (job->source)
        return ga__explain_source(message, job->source->text, job->source->name);
    return ga__explain_template(message, job->filled);
}

/* Moves the calling thread's error, raised by this attempt, into the entry. */
static void keep_error(ga__entry *entry, const ga__job *job, ga_status status)
{
    entry->status = ga_error() != GA_OK ? ga_error() : status;
    entry->message = explain(job, entry->status, ga_error_message());
}

/* Sets the thread's older error aside, so that waiting threads get the error of this attempt. */
void ga__entry_build(ga__entry *entry, ga__job *job)
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
}

void ga__entry_count(int64_t *all_compiled, int64_t *all_disk_hits)
{
    *all_compiled = atomic_load(&compiled);
    *all_disk_hits = atomic_load(&disk_hits);
}
