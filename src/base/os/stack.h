/* How much stack the calling thread has left, and a larger one for who needs more. */
#ifndef GA_BASE_OS_STACK_H
#define GA_BASE_OS_STACK_H

#include <stdbool.h>
#include <stddef.h>

/* In bytes; SIZE_MAX when nobody can tell, as on a stack that the program switched to itself. */
size_t ga__stack_left(void);

/* Calls body(context), in a thread of its own where the calling thread's stack has less than `need`
 * bytes left. Thread-local state is then another's: the body raises no error. False when the system
 * grants no such thread. */
bool ga__with_stack(size_t need, void (*body)(void *context), void *context);

#endif
