/* A pool of threads that runs the blocks of one launch: threads claim blocks from counters and
 * sleep on futexes. */
#include "device/cpu/threads.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/setting.h"
#include "base/os/fork.h"
#include "base/os/system.h"

#define MAX_THREADS 1024
#define MOST_SHARES 64
#define WORKER_STACK (1 << 20) /* bytes at least: a few times what the largest kernels take */
#define SPINS 256 /* some 3 to 30 microseconds of pause instructions before a thread sleeps */

/* The `members` word: the number of workers inside the job, and two flags. */
#define JOB_OPEN 0x80000000u    /* workers may still join */
#define JOB_AWAITED 0x40000000u /* the caller sleeps until the last worker leaves */

/* Neighbouring blocks that one thread claims first. */
typedef struct share {
    _Alignas(64) _Atomic int64_t next; /* the first unclaimed block */
    int64_t end;
} share;

/* The only job of the process. The caller writes its fields while no worker is a member, and
 * publishes them by opening `members`; a worker reads them only as a member. */
static struct {
    void (*body)(const void *context, int64_t block);
    const void *context;
    int nshares;
    share shares[MOST_SHARES];
    _Alignas(64) _Atomic uint32_t members;
    _Alignas(64) _Atomic uint32_t generation; /* counts jobs; workers sleep on it */
    _Atomic uint32_t sleepers;
    atomic_bool busy;    /* a caller owns the job */
    atomic_int nthreads; /* workers started, -1 before the first launch */
} pool = {.nthreads = -1};

static _Atomic int pool_size;
static _Thread_local int member;

static void futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}

static void futex_wake(_Atomic uint32_t *word, int count)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Returns the word's value once it differs from `value`, or after SPINS rounds. */
static uint32_t spin_while(_Atomic uint32_t *word, uint32_t value)
{
    uint32_t seen = value;
    for (int i = 0; i < SPINS && seen == value; i++) {
        pause_briefly();
        seen = atomic_load_explicit(word, memory_order_acquire);
    }
    return seen;
}

int ga__pool_size(void)
{
    int size = atomic_load_explicit(&pool_size, memory_order_relaxed);
    if (size > 0)
        return size;
    const int wanted = (int)ga__setting_integer("QUARRY_THREADS", 0, MAX_THREADS, 0);
    size = wanted > 0 ? wanted : ga__processor_count(); /* 0: the default */
    atomic_store_explicit(&pool_size, size, memory_order_relaxed);
    return size;
}

int ga__pool_member(void)
{
    return member;
}

static int64_t left_in(share *s)
{
    return s->end - atomic_load_explicit(&s->next, memory_order_relaxed);
}

static int64_t blocks_left(void)
{
    int64_t left = 0;
    for (int k = 0; k < pool.nshares; k++)
        left += left_in(&pool.shares[k]) > 0 ? left_in(&pool.shares[k]) : 0;
    return left;
}

static void run_share(share *s)
{
    while (left_in(s) > 0) {
        const int64_t block = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
        if (block < s->end)
            pool.body(pool.context, block);
    }
}

/* The thread's own share, then the others'. */
static void run_blocks(void)
{
    for (int k = 0; k < pool.nshares; k++)
        run_share(&pool.shares[(member + k) % pool.nshares]);
}

/* Becomes a member of the job if the job is still open. */
static bool join(void)
{
    uint32_t members = atomic_load_explicit(&pool.members, memory_order_relaxed);
    while (members & JOB_OPEN) {
        if (atomic_compare_exchange_weak_explicit(&pool.members, &members, members + 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    }
    return false;
}

static void leave(void)
{
    uint32_t before = atomic_fetch_sub_explicit(&pool.members, 1, memory_order_release);
    if (before == (JOB_AWAITED | 1))
        futex_wake(&pool.members, 1);
}

/* Wakes at most `count` sleeping workers. The caller wakes two, and each of them wakes two more, so
 * that no thread pays for waking a whole machine. */
static void wake_workers(int count)
{
    if (count > 0 && atomic_load(&pool.sleepers) > 0)
        futex_wake(&pool.generation, count < 2 ? count : 2);
}

/* Waits for a job after generation `seen`; *slept tells whether this thread had to be woken. */
static uint32_t await_job(uint32_t seen, bool *slept)
{
    *slept = false;
    uint32_t now = spin_while(&pool.generation, seen);
    while (now == seen) {
        *slept = true;
        atomic_fetch_add(&pool.sleepers, 1);
        futex_wait(&pool.generation, seen);
        atomic_fetch_sub(&pool.sleepers, 1);
        now = atomic_load(&pool.generation);
    }
    return now;
}

static void *worker(void *number)
{
    uint32_t seen = 0;
    member = (int)(intptr_t)number;
    for (;;) {
        bool slept;
        seen = await_job(seen, &slept);
        if (!join())
            continue;
        if (slept) {
            const int64_t left = blocks_left();
            wake_workers(left > 2 ? 2 : (int)left);
        }
        run_blocks();
        leave();
    }
    return NULL;
}

/* Only the forking thread exists in a forked child: the pool starts again at its next launch. */
static void forget_threads(void)
{
    atomic_store(&pool.nthreads, -1);
    atomic_store(&pool.members, 0);
    atomic_store(&pool.generation, 0);
    atomic_store(&pool.sleepers, 0);
    atomic_store(&pool.busy, false);
}

GA__FORK_GUARD(NULL, GA__FORK_LEAF, forget_threads)

/* Starts as many of the workers as the system permits; signals stay with the program's own
 * threads. What the system gives threads by default may be less than kernels need. */
static void start_threads(void)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    size_t stack = 0;
    if (pthread_attr_init(&attributes) != 0)
        return;
    if (pthread_attr_getstacksize(&attributes, &stack) == 0 && stack < WORKER_STACK)
        pthread_attr_setstacksize(&attributes, WORKER_STACK);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int started = 0;
    for (int i = 1; i < ga__pool_size(); i++) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, worker, (void *)(intptr_t)i) != 0)
            break;
        pthread_detach(thread);
        started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    atomic_store(&pool.nthreads, started);
}

/* As many shares as threads, if there are as many blocks. */
static void divide(int64_t nblocks, bool in_order)
{
    const int threads = atomic_load_explicit(&pool.nthreads, memory_order_relaxed) + 1;
    const int most = in_order ? 1 : threads < MOST_SHARES ? threads : MOST_SHARES;
    const int n = nblocks < most ? (int)nblocks : most;
    pool.nshares = n;
    for (int k = 0; k < n; k++) {
        const int64_t each = nblocks / n, more = nblocks % n;
        const int64_t begin = k * each + (k < more ? k : more);
        pool.shares[k].end = begin + each + (k < more);
        atomic_store_explicit(&pool.shares[k].next, begin, memory_order_relaxed);
    }
}

static void open_job(void (*body)(const void *, int64_t), const void *context, int64_t nblocks,
                     bool in_order)
{
    pool.body = body;
    pool.context = context;
    divide(nblocks, in_order);
    atomic_store_explicit(&pool.members, JOB_OPEN, memory_order_release);
    atomic_fetch_add(&pool.generation, 1);
    wake_workers(nblocks > 2 ? 2 : (int)nblocks - 1);
}

/* Closes the job to other workers and waits for its members to finish the blocks that they
 * claimed. */
static void close_job(void)
{
    uint32_t members =
        atomic_fetch_and_explicit(&pool.members, ~JOB_OPEN, memory_order_acquire) & ~JOB_OPEN;
    for (int i = 0; members != 0 && i < SPINS; i++) {
        pause_briefly();
        members = atomic_load_explicit(&pool.members, memory_order_acquire);
    }
    if (members == 0)
        return;
    members = atomic_fetch_or(&pool.members, JOB_AWAITED) | JOB_AWAITED;
    while (members != JOB_AWAITED) {
        futex_wait(&pool.members, members);
        members = atomic_load_explicit(&pool.members, memory_order_acquire);
    }
    atomic_store_explicit(&pool.members, 0, memory_order_relaxed);
}

static void run_alone(void (*body)(const void *, int64_t), const void *context, int64_t nblocks)
{
    for (int64_t block = 0; block < nblocks; block++)
        body(context, block);
}

void ga__pool_run(void (*body)(const void *context, int64_t block), const void *context,
                  int64_t nblocks, bool in_order)
{
    if (nblocks <= 1 || ga__pool_size() == 1 || atomic_exchange(&pool.busy, true)) {
        run_alone(body, context, nblocks);
        return;
    }
    if (atomic_load_explicit(&pool.nthreads, memory_order_relaxed) < 0)
        start_threads();
    open_job(body, context, nblocks, in_order);
    run_blocks();
    close_job();
    atomic_store(&pool.busy, false);
}
