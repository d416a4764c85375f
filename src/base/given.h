/* Which options the text of a call names, where zero is a value and not the default. */
#ifndef GA_BASE_GIVEN_H
#define GA_BASE_GIVEN_H

#include <stdbool.h>

/* Whether the text, ".rtol = f(1, 2), .atol = 0", sets the option. NULL: every option is set. */
bool ga__option_given(const char *text, const char *name);

#endif
