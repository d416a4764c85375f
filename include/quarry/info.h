/* What Quarry finds on this machine: compilers, libraries, and the cache of compiled kernels. */
#ifndef QUARRY_INFO_H
#define QUARRY_INFO_H

#include <quarry/error.h>

#include <stddef.h>
#include <stdint.h>

GA_BEGIN_DECLS

/* Why ga_device_count() is 0 and how to fix it, in one line; NULL if the count is not 0. A static
 * string. */
GA_API const char *ga_cuda_problem(void);

/* The compiler for the kernels of `device`: "/usr/bin/c++", or "NVRTC 13.0,
 * /usr/lib/libnvrtc.so.13". `device` is "cpu" or any name that begins with "cuda"; the device need
 * not work. The caller frees the text with free(). NULL if there is no compiler: GA_ERR_COMPILE
 * with a message that says what to install, GA_ERR_UNSUPPORTED if the library was built without
 * CUDA, or GA_ERR_DEVICE for another name. */
GA_API char *ga_compiler(const char *device);

/* The linker of modules with several sources for `device` (ga_module_link): the C++ compiler, or
 * "nvJitLink 13.0, /usr/lib/libnvJitLink.so.13". Its result and errors are those of ga_compiler().
 */
GA_API char *ga_linker(const char *device);

/* The library that multiplies matrices of floats on `device`: "OpenBLAS 0.3.21,
 * /usr/lib/libopenblas.so.0", or "cuBLASLt 13.0.0, /usr/lib/libcublasLt.so.13". The caller frees
 * the text with free(). Without a library, Quarry's own kernels multiply and the result is NULL;
 * the message of GA_ERR_UNSUPPORTED says what to install. */
GA_API char *ga_product_library(const char *device);

/* The folder of the compiled kernels; it need not exist yet. The caller frees the text with free().
 * NULL without an error if there is no such folder (QUARRY_CACHE_DIR is empty, or there is no home
 * directory). */
GA_API char *ga_cache_directory(void);

/* Writes the number of compiled kernels in that folder, and their total size in bytes; 0 if there
 * is none. Either pointer may be NULL. */
GA_API void ga_cache_usage(int64_t *files, int64_t *bytes);

/* One compiled kernel of the cache. */
typedef struct ga_cache_entry {
    const char *name; /* file name in ga_cache_directory(); valid during the call */
    int64_t bytes;
    int64_t used; /* when it was last loaded or stored, in seconds since 1970 */
    /* Valid during the call; "" if the file does not tell. */
    const char *kernel; /* "sum", "eval_sqrt_x_times_x", or "a module" */
    const char *device; /* "cpu" or "cuda" */
} ga_cache_entry;

/* Calls `each` with every kernel of the cache, in no particular order, and with `user`. */
GA_API void ga_cache_list(void (*each)(const ga_cache_entry *entry, void *user), void *user);

/* Removes the compiled kernels from the cache and returns their number. Loaded kernels stay loaded,
 * and files that Quarry did not write stay in place. */
GA_API int64_t ga_cache_clear(void);

GA_END_DECLS

#endif
