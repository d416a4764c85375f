/* Keeps the calling thread's first error in thread-local memory. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/report.h"

#ifndef QUARRY_VERSION
#define QUARRY_VERSION "0.1.0"
#endif

/* Fixed size, so that an out-of-memory error can be reported and a thread's end leaves nothing to
 * free. */
#define MESSAGE_SIZE 8192
#define ELLIPSIS "\n[...]\n"

__thread ga_site ga_site_; /* __thread: C++ programs declare it so, without a wrapper function */
static _Thread_local ga_status thread_status;
static _Thread_local ga_site thread_site;
static _Thread_local int attempts; /* that are not over */
static _Thread_local char thread_message[MESSAGE_SIZE];
static _Thread_local const char *outermost; /* ga__call() */

/* Keeps both ends of a text that is too long for the message: those are the most useful parts of a
 * compiler's log. */
static void cut_middle(const char *text, size_t length)
{
    const size_t room = MESSAGE_SIZE - sizeof ELLIPSIS;
    const size_t head = room / 2, tail = room - head;

    memcpy(thread_message, text, head);
    memcpy(thread_message + head, ELLIPSIS, sizeof ELLIPSIS - 1);
    memcpy(thread_message + head + sizeof ELLIPSIS - 1, text + length - tail, tail + 1);
}

static void set_message(const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    const int length = vsnprintf(thread_message, MESSAGE_SIZE, format, args);
    if (length < 0)
        thread_message[0] = '\0';
    if (length >= MESSAGE_SIZE && thread_status != GA_ERR_MEMORY) {
        char *whole = ga__malloc((size_t)length + 1);
        if (whole) {
            vsnprintf(whole, (size_t)length + 1, format, again);
            cut_middle(whole, (size_t)length);
        }
        ga__free(whole);
    }
    va_end(again);
}

const char *ga__call(void)
{
    return outermost;
}

const char *ga__call_enter(const char *name)
{
    const char *before = outermost;
    if (!before)
        outermost = name;
    return before;
}

void ga__call_leave(const char *const *before)
{
    outermost = *before;
}

/* The length of the operation with which the message begins, without its ": "; 0 if there is none.
 */
static size_t operation_length(const char *message)
{
    const size_t length =
        strspn(message, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return strncmp(message + length, ": ", 2) == 0 ? length : 0;
}

/* Puts the outermost call in the place of the operation inside it. */
static void name_the_call(void)
{
    const size_t inner = operation_length(thread_message), length = strlen(outermost);
    const size_t rest = strlen(thread_message + inner) + 1;
    if (inner == 0 || length + rest > MESSAGE_SIZE)
        return;
    memmove(thread_message + length, thread_message + inner, rest);
    memcpy(thread_message, outermost, length);
}

/* Reports the thread's error, which is new. */
static void report(void)
{
    if (attempts == 0)
        ga__report_error(thread_status, thread_message, thread_site);
}

static void record(ga_status status, const char *format, va_list args)
{
    if (thread_status != GA_OK)
        return;
    /* Set first: if formatting the message fails to allocate, that failure finds an error
     * recorded. */
    thread_status = status;
    thread_site = ga_site_;
    set_message(format, args);
    if (outermost)
        name_the_call();
    report();
}

ga_status ga__fail(ga_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    record(status, format, args);
    va_end(args);
    return status;
}

void *ga__fail_null(ga_status status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    record(status, format, args);
    va_end(args);
    return NULL;
}

/* Writes the line of the text around `at`; blanks replace characters that would move the caret. */
static size_t excerpt(const char *text, size_t at, char *line, size_t size)
{
    const size_t length = strlen(text), before = at < size / 2 ? at : size / 2;
    const size_t start = length < size ? 0 : at - before;
    size_t n = 0;
    for (; n < size - 1 && start + n < length; n++) {
        const unsigned char c = (unsigned char)text[start + n];
        line[n] = c < ' ' || c == 127 ? ' ' : c < 127 ? (char)c : '?';
    }
    line[n] = 0;
    return at - start;
}

ga_status ga__fail_at(const char *name, const char *text, size_t at, ga_status status,
                      const char *format, va_list args)
{
    char message[512], line[100];
    vsnprintf(message, sizeof(message), format, args);
    const size_t column = excerpt(text, at, line, sizeof(line));
    return ga__fail(status, "%s: %s\n    %s\n    %*s^", name, message, line, (int)column, "");
}

ga__saved_error ga__error_take(void)
{
    ga__saved_error taken = {thread_status, NULL, thread_site};

    if (taken.status != GA_OK)
        taken.message = ga__strdup(thread_message);
    ga_clear_error();
    return taken;
}

static void put_back(ga__saved_error saved)
{
    thread_status = saved.status;
    thread_site = saved.site;
    thread_message[0] = '\0';
    if (saved.status != GA_OK)
        snprintf(thread_message, MESSAGE_SIZE, "%s",
                 saved.message ? saved.message : "the message was lost: out of memory");
    ga__free(saved.message);
}

ga__saved_error ga__error_save(void)
{
    const ga__saved_error saved = ga__error_take();

    attempts++;
    return saved;
}

void ga__error_restore(ga__saved_error before)
{
    attempts--;
    put_back(before);
}

void ga__error_settle(ga__saved_error before)
{
    attempts--;
    if (before.status != GA_OK)
        put_back(before);
    else if (thread_status != GA_OK)
        report();
}

void ga__error_adopt(ga__saved_error taken)
{
    if (thread_status != GA_OK || taken.status == GA_OK) {
        ga__free(taken.message);
        return;
    }
    if (!taken.site.file)
        taken.site = ga_site_;
    put_back(taken);
    report();
}

bool ga__attempt_begin(void)
{
    attempts++;
    return thread_status != GA_OK;
}

void ga__attempt_end(bool had_error)
{
    attempts--;
    if (!had_error && thread_status != GA_OK)
        report();
}

ga_status ga__attempt_end_alloc(bool had_error, ga_status status)
{
    if (status == GA_ERR_MEMORY && !had_error)
        ga_clear_error();
    ga__attempt_end(had_error);
    return status;
}

const char *ga_error_file(void)
{
    return thread_status == GA_OK ? NULL : thread_site.file;
}

int ga_error_line(void)
{
    return ga_error_file() ? thread_site.line : 0;
}

ga_status ga_error(void)
{
    return thread_status;
}

const char *ga_error_message(void)
{
    return thread_message;
}

void ga_clear_error(void)
{
    thread_status = GA_OK;
    thread_message[0] = '\0';
}

const char *ga_status_name(ga_status status)
{
    static const char *const names[] = {
        [GA_OK] = "GA_OK",
        [GA_ERR_INVALID] = "GA_ERR_INVALID",
        [GA_ERR_SHAPE] = "GA_ERR_SHAPE",
        [GA_ERR_DTYPE] = "GA_ERR_DTYPE",
        [GA_ERR_INDEX] = "GA_ERR_INDEX",
        [GA_ERR_MEMORY] = "GA_ERR_MEMORY",
        [GA_ERR_COMPILE] = "GA_ERR_COMPILE",
        [GA_ERR_DEVICE] = "GA_ERR_DEVICE",
        [GA_ERR_IO] = "GA_ERR_IO",
        [GA_ERR_FORMAT] = "GA_ERR_FORMAT",
        [GA_ERR_UNSUPPORTED] = "GA_ERR_UNSUPPORTED",
        [GA_ERR_CANCELLED] = "GA_ERR_CANCELLED",
    };

    if ((int)status < 0 || (size_t)status >= sizeof names / sizeof names[0])
        return "GA_ERR_?";
    return names[status];
}

const char *ga_version(void)
{
    return QUARRY_VERSION;
}
