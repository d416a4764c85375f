/* Raises errors and keeps the calling thread's first one. */
#ifndef GA_BASE_ERROR_H
#define GA_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <quarry/error.h>

/* Records the error unless the thread already has one; returns `status`. The message names the
 * operation and the numbers: ga__fail(GA_ERR_SHAPE, "add: shapes (3, 4) and (5,) do not
 * broadcast"). */
ga_status ga__fail(ga_status status, const char *format, ...) GA_PRINTF(2, 3);

/* The same, returning NULL: for functions that make something. */
void *ga__fail_null(ga_status status, const char *format, ...) GA_PRINTF(2, 3);

/* Raises "NAME: MESSAGE" with the line of the text around its byte `at`, and a caret under it. */
ga_status ga__fail_at(const char *name, const char *text, size_t at, ga_status status,
                      const char *format, va_list args) GA_PRINTF(5, 0);

/* An error taken from a thread, with its message. */
typedef struct ga__saved_error {
    ga_status status;
    char *message; /* owned; NULL if there is no error, or no memory for the text */
    ga_site site;
} ga__saved_error;

/* Sets the thread's error aside and begins an attempt: a call whose failure may have a fallback.
 * Nothing reports the errors of an attempt. Attempts nest, and each ends with one of the two
 * functions below. */
ga__saved_error ga__error_save(void);

/* Ends the attempt, drops its error and restores the one from before. */
void ga__error_restore(ga__saved_error before);

/* Ends the attempt. Its error becomes the thread's and is reported, unless there was one before. */
void ga__error_settle(ga__saved_error before);

/* Moves the thread's error out, to another thread or into another error's message. */
ga__saved_error ga__error_take(void);

/* Makes `taken` the thread's error and reports it, unless the thread has one; frees its message. */
void ga__error_adopt(ga__saved_error taken);

/* The same without a copy of the message, for frequent calls. `begin` returns whether the thread
 * has an error. `end` reports the error of the attempt if it is still there and the thread had none
 * before. */
bool ga__attempt_begin(void);
void ga__attempt_end(bool had_error);

/* The same for an attempt to get memory, whose lack the caller reports: drops the error that goes
 * with GA_ERR_MEMORY. Returns `status`. */
ga_status ga__attempt_end_alloc(bool had_error, ga_status status);

#endif
