/* Recognizes machine code that the CUDA driver accepts. */
#ifndef GA_DEVICE_CODE_H
#define GA_DEVICE_CODE_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes are a complete cubin, begin like a fat binary, or are text, as PTX is. The
 * driver itself accepts any bytes and reports the error later. */
bool ga__is_device_code(const void *code, size_t nbytes);

#endif
