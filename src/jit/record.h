/* The data that fills templates: records of values and of lists of records. */
#ifndef GA_JIT_RECORD_H
#define GA_JIT_RECORD_H

#include <quarry/error.h>

#include <stdbool.h>

#include "base/strbuf.h"

/* A record of name = value pairs and named lists of records. Values are copied. */
typedef struct ga__record ga__record;
ga__record *ga__record_new(void);
void ga__record_free(ga__record *record); /* frees the records in its lists too */
/* Failures are sticky, and ga__fill() reports them. The functions ignore a NULL record. */
void ga__record_set(ga__record *record, const char *name, const char *value);
void ga__record_setf(ga__record *record, const char *name, const char *format, ...) GA_PRINTF(3, 4);
void ga__record_set_number(ga__record *record, const char *name, int64_t number);
/* "1" or "": whether the template's `@if name` holds. */
void ga__record_set_flag(ga__record *record, const char *name, bool flag);
/* Makes the list unless it exists; an empty list differs from a missing one. */
void ga__record_list(ga__record *record, const char *list);
/* Appends a new record to the list and returns it; `record` owns it. NULL when memory is out. */
ga__record *ga__record_append(ga__record *record, const char *list);

/* Prints the whole record to `out`. Records that print the same fill a template the same. A failed
 * record makes `out` fail. */
void ga__record_print(const ga__record *record, ga__strbuf *out);

/* The value of the name of `length` characters, and the value's length; NULL if the record has
 * none. */
const char *ga__record_value(const ga__record *record, const char *name, size_t length,
                             size_t *nbytes);
/* Whether the record has a list of this name. *first is its first record, NULL if it is empty. */
bool ga__record_find_list(const ga__record *record, const char *name, size_t length,
                          const ga__record **first);
/* The next record of its list; NULL at the end. */
const ga__record *ga__record_next(const ga__record *record);
bool ga__record_failed(const ga__record *record);

#endif
