/* What Quarry finds on this machine: compilers, and the cache of compiled kernels. */
#ifndef QUARRY_INFO_H
#define QUARRY_INFO_H

#include <quarry/error.h>

#include <stddef.h>
#include <stdint.h>

GA_BEGIN_DECLS

/* Why ga_device_count() is 0 and what would mend it, one line; NULL when it is not 0. A static
 * string. */
GA_API const char *ga_cuda_problem(void);

/* What compiles the kernels of `device` ("cpu", or any that begins with "cuda", which need not
 * work): "/usr/bin/c++", or "NVRTC 13.0, /usr/lib/libnvrtc.so.13". The caller frees the text with
 * free(). NULL when there is none: GA_ERR_COMPILE, whose message says what to install, or
 * GA_ERR_UNSUPPORTED when the library was built without CUDA. */
GA_API char *ga_compiler(const char *device);

/* Where compiled kernels are kept; it need not exist yet. The caller frees the text with free().
 * NULL and no error when they are kept nowhere (QUARRY_CACHE_DIR is empty, or there is no home). */
GA_API char *ga_cache_directory(void);

/* How many compiled kernels are kept there, and their bytes together. */
GA_API void ga_cache_usage(int64_t *files, int64_t *bytes);

/* One compiled kernel of the cache. */
typedef struct ga_cache_entry {
    const char *name; /* of its file in ga_cache_directory(); valid during the call */
    int64_t bytes;
    int64_t used; /* when it was last loaded or stored, in seconds since 1970 */
} ga_cache_entry;

/* Calls `each` with every kernel of the cache, in no particular order, and with `user`. */
GA_API void ga_cache_list(void (*each)(const ga_cache_entry *entry, void *user), void *user);

/* Removes the compiled kernels from the cache; how many. Those already loaded stay loaded, and
 * files that Quarry did not make stay where they are. */
GA_API int64_t ga_cache_clear(void);

GA_END_DECLS

#endif
