/* Rewrites the few things of CUDA C++ that no macro can give to the host's compiler. */
#ifndef GA_DEVICE_SIMT_REWRITE_H
#define GA_DEVICE_SIMT_REWRITE_H

#include <stdbool.h>

/* The text (ga__free it; NULL and an error when memory is out) with every line where it was:
 *   extern __shared__ T name[];   becomes a reference to ga_simt_dynamic, *dynamic becomes true
 *   kernel<<<grid, block>>>()     becomes an error of the compiler that says what is wrong
 * Comments, strings and whatever else is not concerned stay as they are. */
char *ga__simt_rewrite(const char *text, bool *dynamic);

#endif
