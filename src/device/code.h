/* What the CUDA driver takes as machine code. */
#ifndef GA_DEVICE_CODE_H
#define GA_DEVICE_CODE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes are a whole cubin, start as a fat binary does, or are a text as PTX is: the
 * driver takes any bytes, and finds out later. */
bool ga__is_device_code(const void *code, size_t nbytes);

#endif
