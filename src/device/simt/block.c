/* Runs a block's threads in turn: as plain calls until one has to wait, then as fibers. */
#include "device/simt/block.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* All threads of a block run on its worker's operating-system thread. A flow that returns from the
 * kernel continues as the next thread of the block, and after the last one as the first thread of
 * the next block, on the same stack and without a switch. A thread that must wait is suspended, and
 * another flow continues with threads that are ready or not yet started. */

typedef ga__simt_thread thread;

static ga__block *block_of(const thread *t)
{
    return (ga__block *)t->view.block;
}

static int warp_of(const thread *t)
{
    return t->linear / GA_SIMT_WARP;
}

static uint32_t bit_of(const thread *t)
{
    return 1u << t->linear % GA_SIMT_WARP;
}

static int linear_of(ga_simt_index index, ga_simt_index extent)
{
    return (int)(index.x + extent.x * (index.y + extent.y * index.z));
}

ga_simt_index ga__simt_index_of(int64_t linear, ga_simt_index extent)
{
    const int64_t row = linear / extent.x;
    return (ga_simt_index){(unsigned)(linear % extent.x), (unsigned)(row % extent.y),
                           (unsigned)(row / extent.y)};
}

/* ---- failure ---- */

/* Keeps the first message; the launching thread raises it. */
static void set_message(ga__grid *grid, ga_status status, const ga_simt_index *block,
                        const ga_simt_index *index, const char *what)
{
    char where[96] = "";
    if (atomic_flag_test_and_set(&grid->failing))
        return;
    if (index != NULL)
        snprintf(where, sizeof where, ", thread (%u, %u, %u)", index->x, index->y, index->z);
    snprintf(grid->message, sizeof grid->message, "%s: block (%u, %u, %u)%s: %s",
             grid->launch->name, block->x, block->y, block->z, where, what);
    grid->status = status;
    atomic_store(&grid->failed, true);
}

/* Fails the launch and abandons the block with all its flows. */
__attribute__((noreturn)) static void fail_block(ga__block *b, const thread *t, const char *what)
{
    set_message(b->grid, GA_ERR_DEVICE, &b->view.index, t == NULL ? NULL : &t->view.index, what);
    ga__fiber_leave(&b->main);
}

static void fail_in_kernel(ga_simt_thread *view, const char *what, int line)
{
    char text[256];
    snprintf(text, sizeof text, "%.200s (line %d)", what, line);
    fail_block((ga__block *)view->block, (thread *)view, text);
}

__attribute__((noreturn)) static void fail_stuck(ga__block *b)
{
    char text[800];
    ga__block_describe(b, text, sizeof text);
    fail_block(b, NULL, text);
}

/* ---- flows ---- */

static void enter(void *argument);

/* The thread record near the upper end of a stack: see GA_SIMT_TOP_BYTES. */
static thread *record_on(char *stack)
{
    const uintptr_t number = (uintptr_t)stack / GA_SIMT_STACK_BYTES;
    const uintptr_t colour = number % GA_SIMT_COLOURS * GA_SIMT_COLOUR_BYTES;
    return (thread *)(void *)(stack + GA_SIMT_STACK_BYTES - GA_SIMT_TOP_BYTES - colour);
}

_Static_assert(sizeof(thread) <= GA_SIMT_TOP_BYTES, "a thread's record fits above its stack");
_Static_assert(GA_SIMT_TOP_BYTES % 16 == 0 && GA_SIMT_COLOUR_BYTES % 16 == 0, "stacks are aligned");

/* Returns an idle flow, or a new one; NULL if memory is out. */
static thread *take_flow(ga__block *b)
{
    thread *t = b->idle;
    if (t != NULL) {
        b->idle = t->next_idle;
    } else {
        char *stack = ga__stacks_at(&b->stacks, b->nstacks);
        if (stack == NULL)
            return NULL;
        b->nstacks++;
        t = record_on(stack);
    }
    const size_t nbytes = ((uintptr_t)t & (GA_SIMT_STACK_BYTES - 1)) - b->stacks.guard;
    ga__fiber_init(&t->fiber, (char *)t, nbytes, enter, t);
    t->view.block = &b->view;
    return t;
}

/* Makes the flow run thread `linear` of its block. */
static void become(ga__block *b, thread *t, int linear)
{
    t->linear = linear;
    t->view.index = ga__simt_index_of(linear, b->view.dim);
    b->threads[linear] = t;
}

static void set_ready(ga__block *b, int warp, uint32_t lanes)
{
    b->ready[warp] |= lanes;
    b->ready_warps |= 1u << warp;
}

static void take_ready(ga__block *b, int warp, uint32_t lane)
{
    b->ready[warp] &= ~lane;
    if (b->ready[warp] == 0)
        b->ready_warps &= ~(1u << warp);
}

/* The next ready thread after `linear`, cyclically; there is one. */
static thread *pick_ready(ga__block *b, int linear)
{
    int warp = linear / GA_SIMT_WARP;
    uint32_t lanes = b->ready[warp] & ~1u << linear % GA_SIMT_WARP;
    if (lanes == 0) {
        const uint32_t later = b->ready_warps & ~1u << warp;
        warp = __builtin_ctz(later != 0 ? later : b->ready_warps);
        lanes = b->ready[warp];
    }
    const int lane = __builtin_ctz(lanes);
    take_ready(b, warp, 1u << lane);
    return b->threads[warp * GA_SIMT_WARP + lane];
}

/* ---- waiting ---- */

static uint32_t lanes_of_warp(const ga__block *b, int warp)
{
    const int left = b->nthreads - warp * GA_SIMT_WARP;
    return left >= GA_SIMT_WARP ? ~0u : (1u << left) - 1;
}

static int nwarps(const ga__block *b)
{
    return (b->nthreads + GA_SIMT_WARP - 1) / GA_SIMT_WARP;
}

/* Called when the first thread of a block waits: all threads before it have returned. */
static void leave_plain(ga__block *b, thread *t)
{
    const int linear = linear_of(t->view.index, b->view.dim);
    t->linear = linear;
    b->view.plain = 0;
    b->started = linear + 1;
    b->returned = linear;
    b->arrived = b->votes = 0;
    b->ready_warps = 0;
    for (int warp = 0; warp < nwarps(b); warp++) {
        const int before = linear - warp * GA_SIMT_WARP;
        b->ready[warp] = b->waiting[warp] = b->converging[warp] = 0;
        b->exited[warp] = before <= 0 ? 0 : before >= GA_SIMT_WARP ? ~0u : (1u << before) - 1;
    }
    b->threads[linear] = t;
}

static unsigned long long result_of_barrier(const ga__block *b)
{
    switch (b->op) {
    case GA_SIMT_COUNT: return (unsigned long long)b->votes;
    case GA_SIMT_AND: return b->votes == b->nthreads;
    case GA_SIMT_OR: return b->votes > 0;
    default: return 0;
    }
}

/* Counts a thread at the block's barrier; whether all have arrived, and so are ready. */
static bool arrive_at_barrier(ga__block *b, const ga_simt_wait *wait)
{
    b->op = b->arrived == 0 || b->op == wait->op ? wait->op : -1;
    b->arrived++;
    b->votes += wait->value != 0;
    if (b->arrived < b->nthreads || b->op < 0)
        return false;
    b->barrier_result = result_of_barrier(b);
    for (int warp = 0; warp < nwarps(b); warp++)
        set_ready(b, warp, lanes_of_warp(b, warp));
    b->arrived = b->votes = 0;
    return true;
}

/* Whether all lanes of `wait`, except those that have returned, wait for the same operation. If so,
 * they become ready. */
static bool complete_lanes(ga__block *b, int warp, const ga_simt_wait *wait)
{
    thread *const *lanes = &b->threads[warp * GA_SIMT_WARP];
    const uint32_t members = wait->mask & lanes_of_warp(b, warp) & ~b->exited[warp];
    if ((b->waiting[warp] & members) != members)
        return false;
    for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
        const ga_simt_wait *other = lanes[__builtin_ctz(rest)]->wait;
        if (other->op != wait->op || other->mask != wait->mask)
            return false;
    }
    ga__warp_results(lanes, members);
    b->waiting[warp] &= ~members;
    set_ready(b, warp, members);
    return true;
}

/* If nothing else can continue, the lanes at one __activemask() of a warp are the active ones.
 * Returns whether there are any. */
static bool converge(ga__block *b)
{
    bool any = false;
    for (int warp = 0; warp < nwarps(b); warp++) {
        thread *const *lanes = &b->threads[warp * GA_SIMT_WARP];
        uint32_t together = 0, rest = b->converging[warp];
        if (rest == 0)
            continue;
        const int line = lanes[__builtin_ctz(rest)]->wait->line;
        for (uint32_t left = rest; left != 0; left &= left - 1) {
            if (lanes[__builtin_ctz(left)]->wait->line == line)
                together |= left & -left;
        }
        for (uint32_t left = together; left != 0; left &= left - 1)
            lanes[__builtin_ctz(left)]->result = together;
        b->converging[warp] &= ~together;
        set_ready(b, warp, together);
        any = true;
    }
    return any;
}

/* Records that `t` waits. Returns whether it may continue at once. */
static bool arrive(ga__block *b, thread *t)
{
    const ga_simt_wait *wait = t->wait;
    const int warp = warp_of(t);
    bool complete = false;
    if (wait->op < GA_SIMT_CONVERGE) {
        complete = arrive_at_barrier(b, wait);
    } else if (wait->op == GA_SIMT_CONVERGE) {
        b->converging[warp] |= bit_of(t);
    } else if ((wait->mask & bit_of(t)) == 0) {
        char text[200];
        snprintf(text, sizeof text, "%s (line %d): mask 0x%08x excludes the calling lane %d",
                 wait->name, wait->line, wait->mask, t->linear % GA_SIMT_WARP);
        fail_block(b, t, text);
    } else {
        b->waiting[warp] |= bit_of(t);
        complete = complete_lanes(b, warp, wait);
    }
    if (complete)
        take_ready(b, warp, bit_of(t));
    return complete;
}

/* Returns the flow that starts the next thread. */
static thread *start_next(ga__block *b)
{
    thread *t = take_flow(b);
    if (t == NULL) {
        set_message(b->grid, GA_ERR_MEMORY, &b->view.index, NULL,
                    "out of memory for the stacks of its threads");
        ga__fiber_leave(&b->main);
    }
    become(b, t, b->started++);
    return t;
}

/* Suspends `t` until it is ready. */
static void go_on_with_others(ga__block *b, thread *t)
{
    thread *next;
    if (b->ready_warps != 0)
        next = pick_ready(b, t->linear);
    else if (b->started < b->nthreads)
        next = start_next(b);
    else if (converge(b))
        next = pick_ready(b, t->linear);
    else
        fail_stuck(b);
    if (next != t)
        ga__fiber_switch(&t->fiber, &next->fiber);
}

static unsigned long long wait_in_kernel(ga_simt_thread *view, const ga_simt_wait *wait)
{
    thread *t = (thread *)view;
    ga__block *b = block_of(t);
    if (b->view.plain)
        leave_plain(b, t);
    t->wait = wait;
    if (!arrive(b, t))
        go_on_with_others(b, t);
    return wait->op < GA_SIMT_CONVERGE ? b->barrier_result : t->result;
}

/* Lets threads run that have not started yet, then those that are ready. */
static void yield_in_kernel(ga_simt_thread *view)
{
    thread *t = (thread *)view;
    ga__block *b = block_of(t);
    if (b->view.plain)
        leave_plain(b, t);
    set_ready(b, warp_of(t), bit_of(t));
    thread *next = b->started < b->nthreads ? start_next(b) : pick_ready(b, t->linear);
    if (next != t)
        ga__fiber_switch(&t->fiber, &next->fiber);
}

/* ---- moving between threads and blocks ---- */

#define UNSET 0xff /* fills uninitialised shared memory: NaN as a float, -1 as an integer */

/* Shared memory is uninitialised at a block's start; on the GPU it holds another block's values. */
static void unset_shared(ga__block *b)
{
    const ga__grid *grid = b->grid;
    const size_t dynamic = grid->launch->shared + GA_SIMT_RED_ZONE;
    if (b->statics == NULL)
        return;
    if (b->dynamic == NULL) {
        memset(b->statics, UNSET, grid->tls_bytes);
        return;
    }
    char *behind = b->dynamic + GA_SIMT_SHARED_BYTES + GA_SIMT_RED_ZONE;
    memset(b->statics, UNSET, (size_t)(b->dynamic - b->statics));
    memset(b->dynamic, UNSET, dynamic);
    memset(behind, UNSET, grid->tls_bytes - (size_t)(behind - b->statics));
}

static void check_red_zone(ga__block *b)
{
    char text[160];
    const size_t shared = b->grid->launch->shared;
    for (int i = 0; b->dynamic != NULL && i < GA_SIMT_RED_ZONE; i++) {
        if ((unsigned char)b->dynamic[shared + (size_t)i] == UNSET)
            continue;
        snprintf(text, sizeof text, "wrote byte %zu, past the %zu bytes of dynamic shared memory",
                 shared + (size_t)i, shared);
        fail_block(b, NULL, text);
    }
}

/* Sets up the next block to run; false if there is none. */
static bool begin_block(ga__block *b)
{
    ga__grid *grid = b->grid;
    if (++b->linear >= b->end) {
        b->linear = atomic_fetch_add_explicit(&grid->next, grid->chunk, memory_order_relaxed);
        b->end = b->linear + grid->chunk < grid->nblocks ? b->linear + grid->chunk : grid->nblocks;
    }
    if (b->linear >= grid->nblocks || atomic_load_explicit(&grid->failed, memory_order_relaxed))
        return false;
    b->view.index = ga__simt_index_of(b->linear, b->view.grid);
    b->view.plain = 1;
    unset_shared(b);
    return true;
}

static int next_block(ga__block *b, thread *t)
{
    check_red_zone(b);
    t->view.index = (ga_simt_index){0, 0, 0};
    return begin_block(b);
}

/* The next thread of the block while none waits: all threads before it have returned. */
static int next_plain(ga__block *b, thread *t)
{
    ga_simt_index *index = &t->view.index;
    if (++index->x < b->view.dim.x)
        return 1;
    index->x = 0;
    if (++index->y < b->view.dim.y)
        return 1;
    index->y = 0;
    if (++index->z < b->view.dim.z)
        return 1;
    return next_block(b, t);
}

/* Removes a returned lane from the set of lanes to wait for. */
static void forget_lane(ga__block *b, const thread *t)
{
    const int warp = warp_of(t);
    b->returned++;
    b->exited[warp] |= bit_of(t);
    for (uint32_t rest = b->waiting[warp]; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        if (b->waiting[warp] >> lane & 1)
            complete_lanes(b, warp, b->threads[warp * GA_SIMT_WARP + lane]->wait);
    }
}

static int next_in_kernel(ga_simt_thread *view)
{
    thread *t = (thread *)view;
    ga__block *b = block_of(t);
    if (b->view.plain)
        return next_plain(b, t);
    forget_lane(b, t);
    if (b->ready_warps != 0)
        return 0;
    if (b->started < b->nthreads) {
        become(b, t, b->started++);
        return 1;
    }
    if (b->returned == b->nthreads)
        return next_block(b, t);
    if (!converge(b))
        fail_stuck(b);
    return 0;
}

/* Every flow starts here. It ends when a ready thread continues elsewhere, or when all is done. */
static void enter(void *argument)
{
    thread *t = argument;
    ga__block *b = block_of(t);
    ga__fiber_begin();
    b->grid->kernel->run(b->grid->launch->args);
    t->next_idle = b->idle;
    b->idle = t;
    if (!b->view.plain && b->ready_warps != 0)
        ga__fiber_leave(&pick_ready(b, t->linear)->fiber);
    ga__fiber_leave(&b->main);
}

static const ga_simt_calls calls = {next_in_kernel, wait_in_kernel, yield_in_kernel,
                                    fail_in_kernel};

static ga_simt_index extent_of(const int64_t *n)
{
    return (ga_simt_index){(unsigned)n[0], (unsigned)n[1], (unsigned)n[2]};
}

static void set_up(ga__block *b, ga__grid *grid)
{
    const ga__grid_launch *launch = grid->launch;
    ga__tls_place statics = {grid->tls_module, 0};
    b->grid = grid;
    b->view.dim = extent_of(launch->block);
    b->view.grid = extent_of(launch->grid);
    b->view.calls = &calls;
    b->nthreads = (int)(launch->block[0] * launch->block[1] * launch->block[2]);
    b->linear = b->end = -1;
    b->statics = grid->tls_bytes > 0 ? grid->tls_address(&statics) : NULL;
    b->dynamic = grid->kernel->dynamic != NULL ? grid->kernel->dynamic() : NULL;
}

/* After a failure, no flow runs on any stack. */
static void make_all_idle(ga__block *b)
{
    b->idle = NULL;
    for (int i = b->nstacks - 1; i >= 0; i--) {
        thread *t = record_on(b->stacks.first + (size_t)i * GA_SIMT_STACK_BYTES);
        t->next_idle = b->idle;
        b->idle = t;
    }
}

void ga__block_run(ga__block *block, ga__grid *grid)
{
    set_up(block, grid);
    if (!begin_block(block))
        return;
    thread *t = take_flow(block);
    if (t == NULL) {
        set_message(grid, GA_ERR_MEMORY, &block->view.index, NULL, "out of memory for its stack");
        return;
    }
    t->view.index = (ga_simt_index){0, 0, 0};
    ga__fiber_switch(&block->main, &t->fiber);
    if (atomic_load_explicit(&grid->failed, memory_order_relaxed))
        make_all_idle(block);
}
