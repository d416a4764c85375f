/* Switches between stacks of one operating system's thread, and maps such stacks. */
#ifndef GA_DEVICE_SIMT_FIBER_H
#define GA_DEVICE_SIMT_FIBER_H

#include <stdbool.h>
#include <stddef.h>

#include <quarry/error.h>

/* Whether there is a switch for this processor. */
#if defined(__x86_64__) || defined(__aarch64__)
#define GA__HAVE_FIBERS 1
#else
#define GA__HAVE_FIBERS 0
#endif

/* A flow of control. One that is set aside has its registers on its stack. */
typedef struct ga__fiber {
    void *sp;
    const void *bottom; /* of its stack, with nbytes, for the address sanitizer */
    size_t nbytes;
    void *fake_stack;
} ga__fiber;

/* Makes a fiber that begins in entry(argument), which must never return, on a stack of nbytes up to
 * `top` (a multiple of 16). */
void ga__fiber_init(ga__fiber *fiber, char *top, size_t nbytes, void (*entry)(void *argument),
                    void *argument);

/* What an entry calls first. */
void ga__fiber_begin(void);

/* Sets the running flow aside in `from` and goes on with `to`. Signal mask and floating-point modes
 * are the thread's, not the fibers'. */
void ga__fiber_switch(ga__fiber *from, ga__fiber *to);

/* Goes on with `to` and forgets the running flow, whose stack may be used again. */
void ga__fiber_leave(ga__fiber *to) __attribute__((noreturn));

/* Address space for GA__STACKS stacks of GA_SIMT_STACK_BYTES, each at a multiple of its size, with
 * an inaccessible page at its lower end. */
#define GA__STACKS 1024
typedef struct ga__stacks {
    char *first;  /* stack */
    char *region; /* what was mapped */
    size_t guard; /* bytes of the inaccessible page */
    int usable;   /* stacks that may be touched */
} ga__stacks;

ga_status ga__stacks_init(ga__stacks *stacks);
void ga__stacks_reset(ga__stacks *stacks);

/* The i-th stack's lower end; those before it were asked for earlier. NULL when memory or the
 * number of mappings is out: nothing is raised, for the caller may be on any thread. */
char *ga__stacks_at(ga__stacks *stacks, int i);

#endif
