/* The name with which messages begin inside a public call that is made of others. */
#ifndef GA_BASE_CALL_H
#define GA_BASE_CALL_H

#include "base/range.h"

/* The outermost such call of this thread; NULL if there is none. */
const char *ga__call(void);

/* Enters a call, unless the thread is inside one; returns the call before. */
const char *ga__call_enter(const char *name);

/* Ends the call. */
void ga__call_leave(const char *const *before);

/* A declaration: the enclosing block is a range, as with GA__RANGE(), and errors that the calls
 * inside it raise begin with this name instead of theirs. */
#define GA__CALL(name)                                                                             \
    GA__RANGE(name);                                                                               \
    __attribute__((cleanup(ga__call_leave))) const char *const ga__before = ga__call_enter(name)

#endif
