/* The list of all live arrays' memory, for messages and reports. */
#include "device/live.h"

#include <sched.h>
#include <stdarg.h>
#include <string.h>

#include "base/os/fork.h"
#include "model/layout.h"

/* Several lists, so that threads rarely meet. A list is locked for a few instructions, except while
 * somebody reads it, so the lock spins. */
enum { LISTS = 16, CACHE_LINE = 64, SPINS = 100 };

typedef struct list {
    _Alignas(CACHE_LINE) atomic_bool locked;
    ga__buffer *first;
} list;

static list lists[LISTS];

static bool try_lock(list *l)
{
    return !atomic_exchange_explicit(&l->locked, true, memory_order_acquire);
}

static void lock(list *l)
{
    for (int spins = 0; !try_lock(l); spins++)
        if (spins >= SPINS)
            sched_yield();
}

static inline void unlock(list *l)
{
    atomic_store_explicit(&l->locked, false, memory_order_release);
}

static void lock_all(void)
{
    for (int i = 0; i < LISTS; i++)
        lock(&lists[i]);
}

static void unlock_all(void)
{
    for (int i = 0; i < LISTS; i++)
        unlock(&lists[i]);
}

static ga__fork_guard fork_guard = {.rank = GA__FORK_LEAF, .before = lock_all, .after = unlock_all};

__attribute__((constructor)) static void add_fork_guard(void)
{
    ga__fork_guard_add(&fork_guard);
}

static list *list_of(const ga__buffer *buffer)
{
    return &lists[(uintptr_t)buffer / 256 % LISTS];
}

static inline void link_locked(list *l, ga__buffer *buffer)
{
    buffer->newer = NULL;
    buffer->older = l->first;
    if (l->first != NULL)
        l->first->newer = buffer;
    l->first = buffer;
    unlock(l);
}

static inline void unlink_locked(list *l, ga__buffer *buffer)
{
    if (buffer->older != NULL)
        buffer->older->newer = buffer->newer;
    if (buffer->newer != NULL)
        buffer->newer->older = buffer->older;
    else
        l->first = buffer->older;
    unlock(l);
}

/* The paths of threads that meet are functions of their own, so that the usual ones save no
 * registers. */
__attribute__((noinline, cold)) static void add_later(ga__buffer *buffer)
{
    list *l = list_of(buffer);
    lock(l);
    link_locked(l, buffer);
}

__attribute__((noinline, cold)) static void remove_later(ga__buffer *buffer)
{
    list *l = list_of(buffer);
    lock(l);
    unlink_locked(l, buffer);
}

void ga__live_add(ga__buffer *buffer)
{
    list *l = list_of(buffer);
    if (try_lock(l))
        link_locked(l, buffer);
    else
        add_later(buffer);
}

void ga__live_remove(ga__buffer *buffer)
{
    list *l = list_of(buffer);
    if (try_lock(l))
        unlink_locked(l, buffer);
    else
        remove_later(buffer);
}

/* ---- the largest ---- */

/* What the text says of one array. */
typedef struct entry {
    size_t nbytes;
    const char *call;
    ga_site site;
    ga_dtype dtype;
    int ndim;
    int64_t shape[GA_MAX_NDIM];
} entry;

enum { MOST = 10 };

typedef struct largest {
    entry entries[MOST]; /* the largest first */
    int count;
    size_t arrays, nbytes; /* of all */
} largest;

static void copy_entry(entry *e, const ga__buffer *buffer)
{
    e->nbytes = buffer->nbytes;
    e->call = buffer->call;
    e->site = buffer->site;
    e->dtype = buffer->dtype;
    e->ndim = buffer->ndim;
    memcpy(e->shape, buffer->shape, (size_t)buffer->ndim * sizeof *e->shape);
}

static void consider(largest *found, const ga__buffer *buffer)
{
    int place = found->count;
    found->arrays++;
    found->nbytes += buffer->nbytes;
    while (place > 0 && found->entries[place - 1].nbytes < buffer->nbytes)
        place--;
    if (place == MOST)
        return;
    found->count += found->count < MOST;
    memmove(found->entries + place + 1, found->entries + place,
            sizeof(entry) * (size_t)(found->count - place - 1));
    copy_entry(&found->entries[place], buffer);
}

static void find_largest(largest *found, const ga__device *device)
{
    found->count = 0;
    found->arrays = found->nbytes = 0;
    for (int i = 0; i < LISTS; i++) {
        lock(&lists[i]);
        for (const ga__buffer *b = lists[i].first; b != NULL; b = b->older)
            if (b->device == device)
                consider(found, b);
        unlock(&lists[i]);
    }
}

const char *ga__size_text(size_t nbytes, char text[GA__SIZE_TEXT])
{
    const double mib = (double)nbytes / (1 << 20);
    if (mib < 0.1)
        snprintf(text, GA__SIZE_TEXT, "%zu bytes", nbytes);
    else
        snprintf(text, GA__SIZE_TEXT, mib < 10 ? "%.2f MiB" : "%.1f MiB", mib);
    return text;
}

/* A text that is being written; what does not fit is left out. */
typedef struct writer {
    char *text;
    size_t length, size;
} writer;

__attribute__((format(printf, 2, 3))) static void add(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(w->text + w->length, w->size - w->length, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < w->size - w->length)
        w->length += (size_t)length;
    else
        w->text[w->length] = '\0';
}

static void add_entry(writer *w, const entry *e)
{
    char size[GA__SIZE_TEXT];
    add(w, "\n%14s  %s %s  %s", ga__size_text(e->nbytes, size), ga_dtype_name(e->dtype),
        ga__shape_text(e->ndim, e->shape), e->call);
    if (e->site.file != NULL)
        add(w, " at %s:%d", e->site.file, e->site.line);
}

const char *ga__largest_text(const ga__device *device, char text[GA__LARGEST_TEXT])
{
    char size[GA__SIZE_TEXT];
    largest found;
    writer w = {.text = text, .size = GA__LARGEST_TEXT};
    size_t listed = 0;
    text[0] = '\0';
    find_largest(&found, device);
    for (int i = 0; i < found.count; i++) {
        add_entry(&w, &found.entries[i]);
        listed += found.entries[i].nbytes;
    }
    if (found.arrays > MOST)
        add(&w, "\n%14s  in %zu smaller arrays", ga__size_text(found.nbytes - listed, size),
            found.arrays - MOST);
    return text;
}
