/* Opens and closes shared objects, never in the middle of a fork. */
#ifndef GA_BASE_OS_LOADER_H
#define GA_BASE_OS_LOADER_H

#include <stdbool.h>

/* Like dlopen() and dlclose(). They keep forks out: a child forked while another thread is inside
 * either function finds the loader's lists inconsistent and dies at its own first call. */
void *ga__library_open(const char *path, int flags);
void ga__library_close(void *library);

/* Whether the program is linked with -static. What it loads gets a C library of its own there, with
 * other threads and other thread-local storage. Kernels need neither; whole libraries crash. */
bool ga__is_static_program(void);

#endif
