/* Which texts of tables gain by templates/lib/fast_path.tmpl, and how they call it. */
#ifndef GA_KERNELS_FAST_PATH_H
#define GA_KERNELS_FAST_PATH_H

#include <stdbool.h>

/* Whether the statements call so many of its functions that computing, not memory, would be the
 * limit of a kernel of the exact ones. */
bool ga__fast_path_pays(const char *text);

/* The statements with its functions, as methods of `ga_fast`, in the place of those of ga:: that
 * it has; ga__free it. NULL and an error when memory is out. */
char *ga__fast_path_text(const char *text);

#endif
