/* The locale of numbers in files: a point, whatever the program's locale. */
#ifndef GA_OPS_TEXT_LOCALE_H
#define GA_OPS_TEXT_LOCALE_H

#include <locale.h>

/* Restores the thread's locale. */
static inline void ga__leave_c_locale(const locale_t *before)
{
    uselocale(*before);
}

/* A declaration: until the enclosing block ends, the thread's locale is "C", which is never
 * allocated. */
#define GA__C_LOCALE                                                                               \
    __attribute__((cleanup(ga__leave_c_locale), unused)) const locale_t ga__locale_before =        \
        uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0))

#endif
