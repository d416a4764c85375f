/* Memory: what devices hold, limits, pinned host memory, and memory that others own. */
#ifndef QUARRY_MEMORY_H
#define QUARRY_MEMORY_H

#include <stddef.h>

#include <quarry/error.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* Bytes of one device. */
typedef struct ga_memory_stats {
    size_t used;      /* in arrays, and what a graph keeps for its own */
    size_t peak;      /* the most that `used` has been */
    size_t held;      /* taken from the device or the system: used, and kept for the next array */
    size_t limit;     /* of `used`; 0 is no limit */
    size_t available; /* free on the device, for anybody */
    size_t total;     /* that the device has */
} ga_memory_stats;

/* Fills *stats for `device` ("cpu", "cuda:N"; NULL: the current one). GA_ERR_DEVICE when it does
 * not work. */
GA_API ga_status ga_memory_info(const char *device, ga_memory_stats *stats);

/* Waits for the device's work and gives what is kept unused back to it. NULL: the current one. */
GA_API ga_status ga_memory_trim(const char *device);

/* Makes arrays that would bring `used` above nbytes fail with GA_ERR_MEMORY, as if the device had
 * no more; 0 takes the limit away. NULL: the current device. */
GA_API ga_status ga_memory_set_limit(const char *device, size_t nbytes);

/* Where the memory of arrays comes from, in place of Quarry's own pools. Called from any thread.
 * `device` is "cpu" or "cuda:N", `stream` the cudaStream_t in whose order the memory is used (NULL:
 * the default stream, and on "cpu"). */
typedef struct ga_allocator {
    /* nbytes (> 0), aligned to 256 bytes; NULL when there are none. */
    void *(*alloc)(size_t nbytes, const char *device, void *stream, void *user);
    /* Work given to `stream` may still use the memory. */
    void (*free)(void *memory, size_t nbytes, const char *device, void *stream, void *user);
    void *user;
} ga_allocator;

/* Uses the allocator for arrays made from now on, in every thread; NULL: Quarry's own. It is
 * copied. Arrays go back to the allocator that made them: what it needs must outlive them. */
GA_API ga_status ga_set_allocator(const ga_allocator *allocator);

/* An array over memory that somebody else owns and that the current device can use. `strides` in
 * bytes, NULL for C order; `pointer` is the first element. Work on other streams than the current
 * one that the caller has not waited for is the caller's business. When the last array over it is
 * gone, Quarry waits for the work that uses the memory and calls free_function(owner), unless it is
 * NULL; on failure it is not called. GA_ERR_INVALID when the device cannot use the memory. */
GA_API gpuarray *ga_wrap(void *pointer, ga_dtype dtype, int ndim, const int64_t *shape,
                         const int64_t *strides, void *owner, void (*free_function)(void *owner));

/* Host memory that copies to and from the current device reach directly and asynchronously; NULL on
 * failure. ga_pinned_free() frees it from any thread (NULL does nothing): wait for copies first. */
GA_API void *ga_pinned_alloc(size_t nbytes);
GA_API void ga_pinned_free(void *memory);

/* Makes host memory that exists such memory for the current device, until ga_host_unregister(),
 * which comes before the memory is freed. On "cpu" both do nothing. */
GA_API ga_status ga_host_register(void *memory, size_t nbytes);
GA_API ga_status ga_host_unregister(void *memory);

GA_END_DECLS

#endif
