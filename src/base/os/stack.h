/* Measures the calling thread's remaining stack, and provides a larger one. */
#ifndef GA_BASE_OS_STACK_H
#define GA_BASE_OS_STACK_H

#include <stdbool.h>
#include <stddef.h>

/* In bytes; SIZE_MAX if unknown, for example on a stack that the program switched to itself. */
size_t ga__stack_left(void);

/* Calls body(context), on a new thread if the calling thread has less than `need` bytes of stack
 * left. That thread has its own thread-local state, so the body must not raise errors. False if the
 * system cannot start the thread. */
bool ga__with_stack(size_t need, void (*body)(void *context), void *context);

#endif
