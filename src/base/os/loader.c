/* Opens and closes shared objects, never in the middle of a fork. */
#include "base/os/loader.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include "base/os/fork.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
GA__FORK_GUARD(&lock, GA__FORK_LOADER, NULL)

void *ga__library_open(const char *path, int flags)
{
    pthread_mutex_lock(&lock);
    void *library = dlopen(path, flags);
    pthread_mutex_unlock(&lock);
    return library;
}

void ga__library_close(void *library)
{
    pthread_mutex_lock(&lock);
    (void)dlclose(library);
    pthread_mutex_unlock(&lock);
}

bool ga__is_static_program(void)
{
    return getauxval(AT_BASE) == 0; /* no loader started it */
}
