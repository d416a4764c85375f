/* Which texts of tables gain by a fast path, and how they call it. */
#ifndef GA_KERNELS_FAST_PATH_H
#define GA_KERNELS_FAST_PATH_H

#include <stdbool.h>

/* The functions that a fast path has: those of templates/lib/fast_path.tmpl, or those of
 * fast_complex.host. */
typedef enum ga__fast_path { GA__FAST_REAL, GA__FAST_COMPLEX } ga__fast_path;

/* Whether the statements call enough functions of the path: with the exact functions, computing and
 * not memory would limit the kernel. */
bool ga__fast_path_pays(ga__fast_path path, const char *text);

/* The statements with its functions, as methods of `ga_fast`, in the place of those of ga:: that
 * it has; ga__free it. NULL and an error when memory is out. */
char *ga__fast_path_text(ga__fast_path path, const char *text);

#endif
