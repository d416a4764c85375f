/* Raises errors and keeps the calling thread's first one. */
#ifndef GA_BASE_ERROR_H
#define GA_BASE_ERROR_H

#include <quarry/error.h>

/* Records the error unless the thread already has one; returns `status`. The message names the
 * operation and the numbers: ga__fail(GA_ERR_SHAPE, "add: shapes (3, 4) and (5,) do not
 * broadcast"). */
ga_status ga__fail(ga_status status, const char *format, ...) GA_PRINTF(2, 3);

/* The same, returning NULL: for functions that make something. */
void *ga__fail_null(ga_status status, const char *format, ...) GA_PRINTF(2, 3);

/* Sets the thread's error aside and restores it, around an attempt whose failure has a fallback.
 * The saved error owns its message until it is restored. */
typedef struct ga__saved_error {
    ga_status status;
    char *message;
} ga__saved_error;
ga__saved_error ga__error_save(void);
void ga__error_restore(ga__saved_error saved);

#endif
