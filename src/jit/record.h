/* What fills templates: records of values and of lists of records. */
#ifndef GA_JIT_RECORD_H
#define GA_JIT_RECORD_H

#include <quarry/error.h>

#include <stdbool.h>

#include "base/strbuf.h"

/* A record of name = value pairs and named lists of records. Values are copied. */
typedef struct ga__record ga__record;
ga__record *ga__record_new(void);
void ga__record_free(ga__record *record); /* with all records in its lists */
/* A failure is sticky and reported by ga__fill. NULL records are allowed and ignored. */
void ga__record_set(ga__record *record, const char *name, const char *value);
void ga__record_setf(ga__record *record, const char *name, const char *format, ...) GA_PRINTF(3, 4);
/* Makes the list if need be (so that an empty one exists). */
void ga__record_list(ga__record *record, const char *list);
/* Appends a fresh record to the list and returns it (owned by `record`); NULL when memory is out.
 */
ga__record *ga__record_append(ga__record *record, const char *list);

/* Adds all that the record says to `out`: what a template makes of two records differs only where
 * these do. A record that failed makes `out` fail. */
void ga__record_print(const ga__record *record, ga__strbuf *out);

/* The value of the name that has `length` characters, and its length; NULL if the record has none.
 */
const char *ga__record_value(const ga__record *record, const char *name, size_t length,
                             size_t *nbytes);
/* Whether the record has a list of this name, and its first record, NULL if it is empty. */
bool ga__record_find_list(const ga__record *record, const char *name, size_t length,
                          const ga__record **first);
/* The one after it in its list; NULL at the end. */
const ga__record *ga__record_next(const ga__record *record);
bool ga__record_failed(const ga__record *record);

#endif
