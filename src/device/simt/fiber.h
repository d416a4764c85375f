/* Switches between stacks of one operating-system thread, and maps such stacks. */
#ifndef GA_DEVICE_SIMT_FIBER_H
#define GA_DEVICE_SIMT_FIBER_H

#include <stdbool.h>
#include <stddef.h>

#include <quarry/error.h>

/* Whether the switch is implemented for this processor. */
#if defined(__x86_64__) || defined(__aarch64__)
#define GA__HAVE_FIBERS 1
#else
#define GA__HAVE_FIBERS 0
#endif

/* A flow of control. While it is suspended, its registers are on its stack. */
typedef struct ga__fiber {
    void *sp;
    const void *bottom; /* of its stack, with nbytes, for the address sanitizer */
    size_t nbytes;
    void *fake_stack;
} ga__fiber;

/* Makes a fiber that begins in entry(argument), which must never return. Its stack is the nbytes
 * below `top` (a multiple of 16). */
void ga__fiber_init(ga__fiber *fiber, char *top, size_t nbytes, void (*entry)(void *argument),
                    void *argument);

/* An entry function calls this first. */
void ga__fiber_begin(void);

/* Suspends the running flow in `from` and continues with `to`. The signal mask and floating-point
 * modes belong to the thread, not to the fibers. */
void ga__fiber_switch(ga__fiber *from, ga__fiber *to);

/* Continues with `to` and drops the running flow, whose stack may be reused. */
void ga__fiber_leave(ga__fiber *to) __attribute__((noreturn));

/* Address space for GA__STACKS stacks of GA_SIMT_STACK_BYTES, each aligned to its size, with an
 * inaccessible page at its lower end. */
#define GA__STACKS 1024
typedef struct ga__stacks {
    char *first;  /* the first stack */
    char *region; /* the mapping */
    size_t guard; /* bytes of the inaccessible page */
    int usable;   /* stacks that are accessible */
} ga__stacks;

ga_status ga__stacks_init(ga__stacks *stacks);
void ga__stacks_reset(ga__stacks *stacks);

/* The lower end of stack i; the caller requests stacks in order. NULL if memory or the number of
 * mappings is exhausted; raises nothing, because the caller may be on any thread. */
char *ga__stacks_at(ga__stacks *stacks, int i);

#endif
