/* Rewrites the few constructs of CUDA C++ that no macro can express for the host's compiler. */
#ifndef GA_DEVICE_SIMT_REWRITE_H
#define GA_DEVICE_SIMT_REWRITE_H

#include <stdbool.h>

/* The rewritten text (ga__free it; NULL and an error if memory is out). Every line keeps its
 * number:
 *   extern __shared__ T name[];  becomes a reference to ga_simt_dynamic; *dynamic becomes true
 *   kernel<<<grid, block>>>()    becomes a compile error that explains the problem
 * Comments, strings and all other text stay unchanged. */
char *ga__simt_rewrite(const char *text, bool *dynamic);

#endif
