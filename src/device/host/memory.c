/* The host's memory: keeps freed blocks for reuse, and copies on all workers. */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/fork.h"
#include "base/os/system.h"
#include "device/cpu/threads.h"
#include "device/host/shared.h"
#include "device/size_class.h"
#include "device/simt/simt.h"

#define ALIGNMENT ((size_t)256)
#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_FROM ((size_t)4 << 20) /* blocks of at least this size request huge pages */
#define KEPT_FROM                                                                                  \
    ((size_t)64 << 10) /* larger freed blocks are kept; malloc is fast for the others */
#define MOST_KEPT ((size_t)1 << 30) /* bytes kept, or an eighth of the memory if that is less */
#define FIRST_EXPONENT 16           /* of KEPT_FROM */
#define NCLASSES (32 * GA__CLASS_STEPS)

/* The header before each block's memory. */
typedef struct block {
    void *allocation;   /* for ga__free */
    size_t capacity;    /* if the block is kept when freed, otherwise 0 */
    struct block *next; /* in its class's list of kept blocks */
} block;

static struct {
    pthread_mutex_t lock;
    block *classes[NCLASSES];
    size_t nbytes, most;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};
GA__FORK_GUARD(&kept.lock, GA__FORK_LEAF, NULL)

/* The list of kept blocks of this capacity. */
static block **list_of(size_t capacity)
{
    return &kept.classes[ga__class_index(capacity, FIRST_EXPONENT)];
}

static block *take_kept(size_t capacity)
{
    pthread_mutex_lock(&kept.lock);
    block **list = list_of(capacity);
    block *b = *list;
    if (b != NULL) {
        *list = b->next;
        kept.nbytes -= capacity;
    }
    pthread_mutex_unlock(&kept.lock);
    return b;
}

static void advise_huge_pages(char *memory, size_t nbytes)
{
    nbytes &= ~(HUGE_PAGE - 1);
    (void)madvise(memory, nbytes, MADV_HUGEPAGE); /* only a hint: kernels without huge pages refuse
                                                   * it */
}

/* Makes a block; `capacity` as in its header. */
static block *new_block(size_t nbytes, size_t capacity)
{
    size_t alignment = nbytes >= HUGE_FROM ? HUGE_PAGE : ALIGNMENT;
    char *allocation = ga__malloc(nbytes + sizeof(block) + alignment);
    if (allocation == NULL)
        return NULL;
    uintptr_t start = (uintptr_t)allocation + sizeof(block);
    size_t skipped = (size_t)(-start & (alignment - 1)) + sizeof(block);
    block *b = (block *)(void *)(allocation + skipped - sizeof(block));
    *b = (block){allocation, capacity, NULL};
    if (nbytes >= HUGE_FROM)
        advise_huge_pages(allocation + skipped, nbytes);
    return b;
}

ga_status ga__host_alloc(ga__stream *stream, size_t nbytes, ga__memory *memory)
{
    (void)stream;
    if (nbytes > (size_t)1 << 46) /* exceeds any address space; avoids overflow in sums */
        return GA_ERR_MEMORY;
    const size_t capacity = nbytes > KEPT_FROM ? ga__class_capacity(nbytes) : 0;
    block *b = capacity > 0 ? take_kept(capacity) : NULL;
    if (b == NULL) {
        const bool had_error = ga__attempt_begin();
        b = new_block(capacity > 0 ? capacity : nbytes, capacity);
        if (ga__attempt_end_alloc(had_error, b ? GA_OK : GA_ERR_MEMORY) != GA_OK)
            return GA_ERR_MEMORY;
    }
    *memory = (ga__memory){b + 1, b};
    return GA_OK;
}

static void free_list(block *b)
{
    while (b != NULL) {
        block *next = b->next;
        ga__free(b->allocation);
        b = next;
    }
}

/* Removes all kept blocks and returns them as one list. */
static block *empty_kept(void)
{
    block *all = NULL;
    for (int i = 0; i < NCLASSES; i++) {
        while (kept.classes[i] != NULL) {
            block *b = kept.classes[i];
            kept.classes[i] = b->next;
            b->next = all;
            all = b;
        }
    }
    kept.nbytes = 0;
    return all;
}

void ga__host_trim(ga__stream *stream)
{
    (void)stream;
    pthread_mutex_lock(&kept.lock);
    block *all = empty_kept();
    pthread_mutex_unlock(&kept.lock);
    free_list(all);
    ga__simt_trim();
}

/* Keeps b. If that exceeds the limit, it frees the other kept blocks first: b's size is the one in
 * current use. */
static void keep(block *b)
{
    block *all = NULL;
    pthread_mutex_lock(&kept.lock);
    if (kept.nbytes + b->capacity > kept.most)
        all = empty_kept();
    block **list = list_of(b->capacity);
    b->next = *list;
    *list = b;
    kept.nbytes += b->capacity;
    pthread_mutex_unlock(&kept.lock);
    free_list(all);
}

void ga__host_free(ga__stream *stream, const ga__memory *memory)
{
    (void)stream;
    block *b = memory->block;
    if (b->capacity > 0 && b->capacity <= kept.most)
        keep(b);
    else
        ga__free(b->allocation);
}

void ga__host_memory_state(ga__device *device, ga__memory_state *state)
{
    (void)device;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    state->available = (size_t)sysconf(_SC_AVPHYS_PAGES) * page;
    state->total = (size_t)sysconf(_SC_PHYS_PAGES) * page;
    pthread_mutex_lock(&kept.lock);
    state->kept = kept.nbytes;
    pthread_mutex_unlock(&kept.lock);
}

bool ga__host_reaches(ga__device *device, const void *memory)
{
    (void)device, (void)memory;
    return true;
}

ga_status ga__host_pin(ga__device *device, size_t nbytes, void **memory)
{
    ga__memory found;
    const ga_status status = ga__host_alloc(&device->stream, nbytes, &found);
    if (status == GA_OK)
        *memory = found.address;
    return status;
}

void ga__host_unpin(ga__device *device, void *memory)
{
    ga__host_free(&device->stream, &(ga__memory){memory, (block *)memory - 1});
}

/* No-op: kernels reach all host memory. */
ga_status ga__host_pin_existing(ga__device *device, void *memory, size_t nbytes)
{
    (void)device, (void)memory, (void)nbytes;
    return GA_OK;
}

ga_status ga__host_unpin_existing(ga__device *device, void *memory)
{
    (void)device, (void)memory;
    return GA_OK;
}

void ga__host_memory_open(ga__device *device)
{
    ga__memory_state memory;
    ga__host_memory_state(device, &memory);
    kept.most = memory.total / 8 < MOST_KEPT ? memory.total / 8 : MOST_KEPT;
}

/* ---- copies: the pool runs those that exceed one thread's bandwidth ---- */

#define PARALLEL_FROM ((size_t)1 << 20)
#define PIECE ((size_t)256 << 10)

typedef struct span {
    char *to;
    const char *from; /* NULL writes zeros */
    size_t nbytes;
} span;

static void move_all(const span *s)
{
    if (s->from == NULL)
        memset(s->to, 0, s->nbytes);
    else
        memcpy(s->to, s->from, s->nbytes);
}

static void move_piece(const void *context, int64_t index)
{
    const span *s = context;
    size_t begin = (size_t)index * PIECE;
    size_t nbytes = s->nbytes - begin < PIECE ? s->nbytes - begin : PIECE;
    move_all(&(span){s->to + begin, s->from == NULL ? NULL : s->from + begin, nbytes});
}

void ga__host_move(void *to, const void *from, size_t nbytes)
{
    if (nbytes >= PARALLEL_FROM) {
        span s = {to, from, nbytes};
        ga__pool_run(move_piece, &s, (int64_t)((nbytes + PIECE - 1) / PIECE), false);
    } else if (nbytes > 0) {
        move_all(&(span){to, from, nbytes});
    }
}
