/* The list of all live arrays' memory, for messages and reports. */
#ifndef GA_DEVICE_LIVE_H
#define GA_DEVICE_LIVE_H

#include <stdio.h>

#include "device/buffer.h"

/* Adds a buffer that has memory, and removes it before the memory goes. Any thread. */
void ga__live_add(ga__buffer *buffer);
void ga__live_remove(ga__buffer *buffer);

/* Room for a size as text. */
enum { GA__SIZE_TEXT = 32 };

/* "12.5 MiB", or "1001 bytes" below a tenth of that; in `text`, which it returns. */
const char *ga__size_text(size_t nbytes, char text[GA__SIZE_TEXT]);

/* Room for the list of the largest arrays. */
enum { GA__LARGEST_TEXT = 2400 };

/* Writes the ten largest arrays on the device, a line each: size, dtype, shape and the call that
 * made them. Returns `text`, "" if there is none. Allocates nothing. */
const char *ga__largest_text(const ga__device *device, char text[GA__LARGEST_TEXT]);

#endif
