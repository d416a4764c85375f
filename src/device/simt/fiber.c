/* Switches between stacks in a few instructions, and maps such stacks with guard pages. */
#include "device/simt/fiber.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "simt_abi.host"

/* ---- the switch: ga__fiber_swap(&sp_to_store, sp_to_load) ---- */

/* The switch pushes the registers that a called function must preserve and stores the stack
 * pointer. A new fiber's first switch returns to ga__fiber_start, whose caller debuggers show as
 * unknown. */
void ga__fiber_swap(void **store, void *load) __attribute__((visibility("hidden")));
void ga__fiber_start(void) __attribute__((visibility("hidden")));

#define FUNCTION(name)                                                                             \
    ".globl " #name "\n.hidden " #name "\n.type " #name ", %function\n.p2align 4\n" #name ":\n"    \
    ".cfi_startproc\n"
#define END(name) ".cfi_endproc\n.size " #name ", . - " #name "\n"

#if defined(__x86_64__)

/* r15 r14 r13 r12 rbx rbp, the return address, and two words that keep the stack aligned for a
 * call; System V AMD64 ABI, section 3.2. */
enum { FRAME_WORDS = 9, ENTRY = 3, ARGUMENT = 4, RETURN = 6 };

/* clang-format off */
__asm__(".text\n"
        FUNCTION(ga__fiber_swap)
        "push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        "mov %rsp, (%rdi)\n"
        "mov %rsi, %rsp\n"
        "pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n"
        "ret\n"
        END(ga__fiber_swap)
        FUNCTION(ga__fiber_start)
        ".cfi_undefined rip\n"
        "mov %rbx, %rdi\n"
        "call *%r12\n"
        "ud2\n"
        END(ga__fiber_start));
/* clang-format on */

#elif defined(__aarch64__)

/* x19 to x30 and d8 to d15; AAPCS64, section 6.1. */
enum { FRAME_WORDS = 20, ARGUMENT = 0, ENTRY = 1, RETURN = 11 };

/* clang-format off */
__asm__(".text\n"
        FUNCTION(ga__fiber_swap)
        "sub sp, sp, #160\n"
        "stp x19, x20, [sp]\n stp x21, x22, [sp, #16]\n stp x23, x24, [sp, #32]\n"
        "stp x25, x26, [sp, #48]\n stp x27, x28, [sp, #64]\n stp x29, x30, [sp, #80]\n"
        "stp d8, d9, [sp, #96]\n stp d10, d11, [sp, #112]\n"
        "stp d12, d13, [sp, #128]\n stp d14, d15, [sp, #144]\n"
        "mov x9, sp\n str x9, [x0]\n"
        "mov sp, x1\n"
        "ldp x19, x20, [sp]\n ldp x21, x22, [sp, #16]\n ldp x23, x24, [sp, #32]\n"
        "ldp x25, x26, [sp, #48]\n ldp x27, x28, [sp, #64]\n ldp x29, x30, [sp, #80]\n"
        "ldp d8, d9, [sp, #96]\n ldp d10, d11, [sp, #112]\n"
        "ldp d12, d13, [sp, #128]\n ldp d14, d15, [sp, #144]\n"
        "add sp, sp, #160\n"
        "ret\n"
        END(ga__fiber_swap)
        FUNCTION(ga__fiber_start)
        ".cfi_undefined x30\n"
        "mov x0, x19\n"
        "blr x20\n"
        "brk #0\n"
        END(ga__fiber_start));
/* clang-format on */

#else

enum { FRAME_WORDS = 3, ARGUMENT = 0, ENTRY = 1, RETURN = 2 };

/* Never called: GA__HAVE_FIBERS is 0. */
void ga__fiber_swap(void **store, void *load)
{
    *store = load;
}

void ga__fiber_start(void)
{
}

#endif

/* ---- reports each switch to the address sanitizer, if the program is built with it ---- */

/* From <sanitizer/common_interface_defs.h> and <sanitizer/asan_interface.h>; NULL without the
 * sanitizer. */
extern void __sanitizer_start_switch_fiber(void **fake_stack, const void *bottom, size_t nbytes)
    __attribute__((weak));
extern void __sanitizer_finish_switch_fiber(void *fake_stack, const void **bottom, size_t *nbytes)
    __attribute__((weak));
extern void __asan_unpoison_memory_region(const volatile void *memory, size_t nbytes)
    __attribute__((weak));

static _Thread_local ga__fiber *switched_from; /* used only with the sanitizer */

static inline void start_switch(ga__fiber *from, void **fake_stack, const ga__fiber *to)
{
    if (__sanitizer_start_switch_fiber == NULL)
        return;
    switched_from = from;
    __sanitizer_start_switch_fiber(fake_stack, to->bottom, to->nbytes);
}

/* Learns the bounds of the stack that was left: only the sanitizer knows those of a thread's own
 * stack. */
static inline void finish_switch(void *fake_stack)
{
    const void *bottom;
    size_t nbytes;
    if (__sanitizer_finish_switch_fiber == NULL)
        return;
    __sanitizer_finish_switch_fiber(fake_stack, &bottom, &nbytes);
    switched_from->bottom = bottom;
    switched_from->nbytes = nbytes;
}

/* ---- fibers ---- */

void ga__fiber_init(ga__fiber *fiber, char *top, size_t nbytes, void (*entry)(void *),
                    void *argument)
{
    void **frame = (void **)(void *)top - FRAME_WORDS;
    void (*start)(void) = ga__fiber_start;
    if (__asan_unpoison_memory_region != NULL) /* left by flows that never returned */
        __asan_unpoison_memory_region(top - nbytes, nbytes);
    memset(frame, 0, FRAME_WORDS * sizeof *frame);
    memcpy(&frame[ENTRY], &entry, sizeof entry);
    memcpy(&frame[RETURN], &start, sizeof start);
    frame[ARGUMENT] = argument;
    *fiber = (ga__fiber){frame, top - nbytes, nbytes, NULL};
}

void ga__fiber_begin(void)
{
    finish_switch(NULL);
}

void ga__fiber_switch(ga__fiber *from, ga__fiber *to)
{
    start_switch(from, &from->fake_stack, to);
    ga__fiber_swap(&from->sp, to->sp);
    finish_switch(from->fake_stack);
}

void ga__fiber_leave(ga__fiber *to)
{
    static _Thread_local ga__fiber forgotten;
    start_switch(&forgotten, NULL, to);
    ga__fiber_swap(&forgotten.sp, to->sp);
    __builtin_unreachable();
}

/* ---- stacks ---- */

ga_status ga__stacks_init(ga__stacks *stacks)
{
    const size_t nbytes = (GA__STACKS + 1) * GA_SIMT_STACK_BYTES;
    void *region = MAP_FAILED;
    if (!ga__alloc_fails())
        region = mmap(NULL, nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED)
        return ga__fail(GA_ERR_MEMORY, "memory: no address space for %d stacks of %lu bytes",
                        GA__STACKS, GA_SIMT_STACK_BYTES);
    const size_t skipped = (size_t)(-(uintptr_t)region & (GA_SIMT_STACK_BYTES - 1));
    *stacks = (ga__stacks){(char *)region + skipped, region, (size_t)sysconf(_SC_PAGESIZE), 0};
    return GA_OK;
}

void ga__stacks_reset(ga__stacks *stacks)
{
    munmap(stacks->region, (GA__STACKS + 1) * GA_SIMT_STACK_BYTES);
}

char *ga__stacks_at(ga__stacks *stacks, int i)
{
    char *stack = stacks->first + (size_t)i * GA_SIMT_STACK_BYTES;
    if (i < stacks->usable)
        return stack;
    if (mprotect(stack + stacks->guard, GA_SIMT_STACK_BYTES - stacks->guard,
                 PROT_READ | PROT_WRITE) != 0)
        return NULL;
    stacks->usable = i + 1;
    return stack;
}
