/* Memory: usage, limits, allocators, pinned host memory, and arrays over memory of other owners. */
#ifndef QUARRY_MEMORY_H
#define QUARRY_MEMORY_H

#include <stddef.h>
#include <stdio.h>

#include <quarry/error.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* Memory of one device, in bytes. */
typedef struct ga_memory_stats {
    size_t used;      /* in arrays, and memory that graphs keep for themselves */
    size_t peak;      /* the maximum of `used` so far */
    size_t held;      /* taken from the device or the system: `used`, and what is kept for reuse */
    size_t limit;     /* the limit of `used`; 0 is no limit */
    size_t available; /* free on the device, for any process */
    size_t total;     /* on the device */
} ga_memory_stats;

/* Fills *stats for `device` ("cpu", "cuda:N"; NULL: the current one). Does not wait. GA_ERR_DEVICE
 * if the device does not work, GA_ERR_INVALID if stats is NULL. */
GA_API ga_status ga_memory_info(const char *device, size_t size, ga_memory_stats *stats);

/* For each device that was used, writes the memory in use, its maximum, the memory kept for reuse,
 * the limit, and the ten largest arrays with their dtypes, shapes and the calls that made them.
 * Memory lives as long as any view of it. GA_ERR_IO if the file cannot be written. */
GA_API ga_status ga_memory_report(FILE *file);

/* Waits for the device's work, then returns unused memory to the device. NULL: the current one.
 * GA_ERR_DEVICE as above. */
GA_API ga_status ga_memory_trim(const char *device);

/* Limits `used` to nbytes: an allocation that would exceed it fails with GA_ERR_MEMORY, as if the
 * device had no more memory. 0 removes the limit. NULL: the current device. */
GA_API ga_status ga_memory_set_limit(const char *device, size_t nbytes);

/* An allocator for the memory of arrays, in place of Quarry's own pools. Called from any thread.
 * `device` is "cpu" or "cuda:N". `stream` is the cudaStream_t whose order the memory follows (NULL:
 * the default stream, and on "cpu"). */
typedef struct ga_allocator {
    /* Returns nbytes (> 0), aligned to 256 bytes; NULL if out of memory. */
    void *(*alloc)(size_t nbytes, const char *device, void *stream, void *user);
    /* Work queued on `stream` may still use the memory. */
    void (*free)(void *memory, size_t nbytes, const char *device, void *stream, void *user);
    void *user;
} ga_allocator;

/* Uses the allocator for arrays created from now on, in every thread; NULL restores Quarry's own.
 * The struct is copied. The memory of an array goes back to the allocator that made it, so
 * everything that this allocator needs must outlive the array. */
GA_API ga_status ga_set_allocator(size_t size, const ga_allocator *allocator);

/* An array over memory of another owner that the current device can use. `pointer` is the first
 * element; `strides` are in bytes, NULL for C order. The caller must wait for earlier work on the
 * memory by streams other than the current one. After the last array over the memory is freed,
 * Quarry waits for the work that uses it and calls free_function(owner), unless free_function is
 * NULL. On failure free_function is not called. GA_ERR_INVALID if the device cannot use the
 * memory, and for a NULL or misaligned pointer or strides that are not multiples of the element's
 * size. */
GA_API gpuarray *ga_wrap(void *pointer, ga_dtype dtype, int ndim, const int64_t *shape,
                         const int64_t *strides, void *owner, void (*free_function)(void *owner));

/* Pinned host memory: copies to and from the current device reach it directly and run
 * asynchronously. NULL and GA_ERR_MEMORY on failure. ga_pinned_free() frees it from any thread
 * (NULL is a no-op); wait for copies first. */
GA_API void *ga_pinned_alloc(size_t nbytes);
GA_API void ga_pinned_free(void *memory);

/* Pins existing host memory for the current device until ga_host_unregister(). Unregister it
 * before you free it. On "cpu" both do nothing. GA_ERR_INVALID for NULL or 0 bytes. */
GA_API ga_status ga_host_register(void *memory, size_t nbytes);
GA_API ga_status ga_host_unregister(void *memory);

GA_END_DECLS

/* The macros pass the size of the struct that the program knows before its address. */
#define ga_memory_info(device, stats) GA_AT_(ga_memory_info, device, sizeof(ga_memory_stats), stats)
#define ga_set_allocator(...) GA_AT_(ga_set_allocator, sizeof(ga_allocator), __VA_ARGS__)

#endif
