/* Scopes: the arrays that each thread frees when a block ends. */
#include "array/scope.h"

#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* Opening a scope only increments a count, so it cannot fail; the scope's list is made for its
 * first array. */
struct ga__scope {
    struct ga__scope *outer;       /* the next one that owns arrays */
    int64_t depth;                 /* 1 is the outermost */
    int64_t count, live, capacity; /* slots used, slots not cleared, slots allocated */
    gpuarray **slots;
    gpuarray *first_slots[16];
};

static _Thread_local int64_t open_depth;
static _Thread_local struct ga__scope *innermost;
static _Thread_local bool closes_at_exit;

static pthread_key_t exit_key;
static pthread_once_t exit_once = PTHREAD_ONCE_INIT;
static int exit_key_error;

/* Atomic only because ga_keep may read an array that another thread's scope is releasing. */
static void set_owner(gpuarray *x, struct ga__scope *scope)
{
    __atomic_store_n(&x->scope, scope, __ATOMIC_RELAXED);
}

static struct ga__scope *owner_of(gpuarray *x)
{
    return __atomic_load_n(&x->scope, __ATOMIC_RELAXED);
}

static void close_all(void *unused)
{
    (void)unused;
    closes_at_exit = false; /* a later destructor of the thread may open scopes again */
    while (open_depth > 0)
        ga_scope_end();
}

static void make_exit_key(void)
{
    exit_key_error = pthread_key_create(&exit_key, close_all);
}

/* Makes scopes that are left open end with the thread. */
static ga_status close_at_exit(void)
{
    if (closes_at_exit)
        return GA_OK;
    pthread_once(&exit_once, make_exit_key);
    if (exit_key_error || pthread_setspecific(exit_key, &exit_key))
        return ga__fail(GA_ERR_MEMORY, "scope: no thread-specific memory is left");
    closes_at_exit = true;
    return GA_OK;
}

/* The list of the scope at `depth`; makes and links it at its place if there is none yet. */
static struct ga__scope *scope_at(int64_t depth)
{
    struct ga__scope **place = &innermost;

    while (*place && (*place)->depth > depth)
        place = &(*place)->outer;
    if (*place && (*place)->depth == depth)
        return *place;
    if (close_at_exit() != GA_OK)
        return NULL;
    struct ga__scope *scope = ga__malloc(sizeof *scope);
    if (!scope)
        return NULL;
    scope->outer = *place;
    scope->depth = depth;
    scope->count = scope->live = 0;
    scope->capacity = (int64_t)(sizeof scope->first_slots / sizeof scope->first_slots[0]);
    scope->slots = scope->first_slots;
    *place = scope;
    return scope;
}

/* Closes the gaps of arrays that were freed early. */
static void compact(struct ga__scope *scope)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < scope->count; i++) {
        if (!scope->slots[i])
            continue;
        scope->slots[i]->scope_slot = kept;
        scope->slots[kept++] = scope->slots[i];
    }
    scope->count = kept;
}

static ga_status make_room(struct ga__scope *scope)
{
    if (scope->count < scope->capacity)
        return GA_OK;
    if (scope->live <= scope->capacity / 2) {
        compact(scope);
        return GA_OK;
    }
    const bool inline_slots = scope->slots == scope->first_slots;
    const size_t nbytes = (size_t)scope->capacity * 2 * sizeof(gpuarray *);
    gpuarray **slots = ga__realloc(inline_slots ? NULL : scope->slots, nbytes);
    if (!slots)
        return GA_ERR_MEMORY;
    if (inline_slots)
        memcpy(slots, scope->first_slots, sizeof scope->first_slots);
    scope->slots = slots;
    scope->capacity *= 2;
    return GA_OK;
}

static ga_status add_at(int64_t depth, gpuarray *x)
{
    struct ga__scope *scope = innermost && innermost->depth == depth ? innermost : scope_at(depth);

    if (!scope || make_room(scope) != GA_OK)
        return GA_ERR_MEMORY;
    x->scope_slot = scope->count;
    scope->slots[scope->count++] = x;
    scope->live++;
    set_owner(x, scope);
    return GA_OK;
}

ga_status ga__scope_add(gpuarray *x)
{
    return open_depth > 0 ? add_at(open_depth, x) : GA_OK;
}

static void forget(struct ga__scope *scope, int64_t slot)
{
    scope->slots[slot] = NULL;
    scope->live--;
    while (scope->count > 0 && !scope->slots[scope->count - 1])
        scope->count--;
}

void ga__scope_remove(gpuarray *x)
{
    struct ga__scope *scope = owner_of(x);

    if (!scope)
        return;
    set_owner(x, NULL);
    forget(scope, x->scope_slot);
}

bool ga__scope_is_open(void)
{
    return open_depth > 0;
}

void ga_scope_begin(void)
{
    open_depth++;
}

void ga_scope_end(void)
{
    if (open_depth == 0)
        return;
    struct ga__scope *scope = innermost;
    if (scope && scope->depth == open_depth) {
        while (scope->count > 0) {
            gpuarray *x = scope->slots[--scope->count];
            if (!x)
                continue;
            set_owner(x, NULL);
            ga_free(x);
        }
        innermost = scope->outer;
        if (scope->slots != scope->first_slots)
            ga__free(scope->slots);
        ga__free(scope);
    }
    open_depth--;
}

gpuarray *ga_keep(gpuarray *x)
{
    if (!x || open_depth == 0)
        return x;
    struct ga__scope *scope = owner_of(x);
    if (!scope || scope != innermost || scope->depth != open_depth)
        return x;
    const int64_t slot = x->scope_slot;
    if (open_depth > 1 && add_at(open_depth - 1, x) != GA_OK)
        return NULL;
    if (open_depth == 1)
        set_owner(x, NULL);
    forget(scope, slot);
    return x;
}

static bool is_ours(const struct ga__scope *scope)
{
    const struct ga__scope *s = innermost;

    while (s && s != scope)
        s = s->outer;
    return s != NULL;
}

/* Moves x, if the innermost scope owns it, to `owner`: a scope of this thread, or NULL, the caller.
 */
static ga_status move_to(struct ga__scope *owner, gpuarray *x)
{
    struct ga__scope *scope = owner_of(x);

    if (!scope || scope != innermost || scope == owner || (owner && !is_ours(owner)))
        return GA_OK;
    const int64_t slot = x->scope_slot;
    if (owner && add_at(owner->depth, x) != GA_OK)
        return GA_ERR_MEMORY;
    if (!owner)
        set_owner(x, NULL);
    forget(scope, slot);
    return GA_OK;
}

void ga_replace(gpuarray **x, gpuarray *with)
{
    if (!x) {
        ga__fail(GA_ERR_INVALID, "replace: the address of the array is NULL");
        return;
    }
    gpuarray *old = *x;
    if (old == with)
        return;
    if (old && with && move_to(owner_of(old), with) != GA_OK) {
        ga_free(with);
        with = NULL;
    }
    *x = with;
    ga_free(old);
}
