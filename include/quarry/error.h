/* Status codes, the error of the calling thread, and the log. */
#ifndef QUARRY_ERROR_H
#define QUARRY_ERROR_H

#include <quarry/export.h>

GA_BEGIN_DECLS

/* These rules hold for the whole library.
 *
 * A function that returns a gpuarray * returns a new reference, or NULL on failure. Outside a
 * scope the caller frees the result; inside a scope the scope does. A function that returns a
 * ga_status returns GA_OK or its error. A result that an argument points to is written only on
 * success.
 *
 * The thread keeps its first error. A NULL array argument stands for an earlier failed result: the
 * function returns NULL at once. If no earlier call failed, the NULL itself is GA_ERR_INVALID.
 *
 * A call queues its work on the thread's current stream and does not wait for the GPU, unless its
 * comment says that it waits. A call that waits cannot be part of a graph (GA_ERR_UNSUPPORTED). On
 * "cpu" the work is done when the call returns. A fault of queued work is the error of the next
 * call that waits.
 *
 * Any function may raise these: GA_ERR_INVALID for an axis out of range, for more than GA_MAX_NDIM
 * dimensions, or if it writes to a read-only view; GA_ERR_SHAPE for a shape with a negative length
 * or of more than 2^63 bytes; GA_ERR_DTYPE for a value that is not a dtype; GA_ERR_DEVICE for
 * arrays of different devices, or a device that fails; GA_ERR_MEMORY; GA_ERR_COMPILE if a kernel is
 * new and the compiler is missing or fails. Comments name the other errors.
 *
 * A struct of options holds zero for each option that is left out, which means the default. Many
 * functions have a macro of the same name, which takes C numbers where the function takes a
 * ga_value, and the options by name. */

typedef enum ga_status {
    GA_OK,
    GA_ERR_INVALID,     /* an argument is invalid in itself: NULL, a bad name, a bad axis */
    GA_ERR_SHAPE,       /* shapes do not broadcast, or a size does not fit */
    GA_ERR_DTYPE,       /* an operation does not take this dtype, or cannot cast to it */
    GA_ERR_INDEX,       /* an index or slice is out of range or malformed */
    GA_ERR_MEMORY,      /* host or device memory ran out */
    GA_ERR_COMPILE,     /* a kernel did not compile, or there is no compiler */
    GA_ERR_DEVICE,      /* no such device, or the driver reported an error */
    GA_ERR_IO,          /* a file could not be read or written, or a compiler timed out */
    GA_ERR_FORMAT,      /* a file is malformed */
    GA_ERR_UNSUPPORTED, /* a valid request that this build or device cannot serve */
    GA_ERR_CANCELLED    /* a callback of the caller asked to stop */
} ga_status;

/* The calling thread's first error since its last ga_clear_error(); GA_OK if there is none. */
GA_API ga_status ga_error(void);

/* The message of that error; "" if there is none. Owned by the library and valid until the thread's
 * next ga_clear_error(). */
GA_API const char *ga_error_message(void);

/* The file and the line of the call that raised that error; NULL and 0 if it was compiled without
 * call sites (quarry.h: GA_CALL_SITES). A static string. */
GA_API const char *ga_error_file(void);
GA_API int ga_error_line(void);

/* Clears the calling thread's error. */
GA_API void ga_clear_error(void);

/* Calls `handler` once for each error that becomes a thread's first one, in that thread and inside
 * the call that fails, with the message, the file and line of the call as above, and `user`. One
 * handler serves all threads; NULL removes it. The failing call may hold locks: the handler may
 * call only the functions of this header, and it must return or end the process. With
 * QUARRY_ABORT=1 the process aborts at that point, for a debugger. */
GA_API void ga_set_error_handler(void (*handler)(ga_status status, const char *message,
                                                 const char *file, int line, void *user),
                                 void *user);

/* "GA_OK", "GA_ERR_SHAPE", ...; "GA_ERR_?" if the argument is not a status. A static string. */
GA_API const char *ga_status_name(ga_status status);

typedef enum ga_log_level { GA_LOG_ERROR = 0, GA_LOG_INFO = 1, GA_LOG_DEBUG = 2 } ga_log_level;

/* Sends log lines of every thread to `callback` from now on, with the level, one line without its
 * newline, and `user`. NULL stops it. Without a callback, QUARRY_LOG=error|info|debug sends lines
 * of this level and those before it to standard error; if QUARRY_LOG is unset, they are dropped.
 * The callback may be called from any thread. */
GA_API void ga_set_log(void (*callback)(int level, const char *text, void *user), void *user);

/* A place in the program; .file is NULL if it is unknown. */
typedef struct ga_site {
    const char *file;
    int line;
} ga_site;

/* The call of the program that this thread is in. The macros of <quarry/sites.h> set it. */
#if defined(__GNUC__) || defined(__clang__)
extern GA_API __thread ga_site ga_site_;
#endif

/* The library's version, "MAJOR.MINOR.PATCH". A static string. */
GA_API const char *ga_version(void);

GA_END_DECLS

#endif
