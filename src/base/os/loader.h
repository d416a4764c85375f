/* Opens and closes shared objects, never in the middle of a fork. */
#ifndef GA_BASE_OS_LOADER_H
#define GA_BASE_OS_LOADER_H

/* As dlopen() and dlclose(). A child forked while another thread is inside either finds the
 * loader's lists half changed, and dies at its own first call. */
void *ga__library_open(const char *path, int flags);
void ga__library_close(void *library);

#endif
