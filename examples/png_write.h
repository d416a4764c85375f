/* Writes a 2-D uint8 array as a grey PNG, for the examples. */
#ifndef EXAMPLES_PNG_WRITE_H
#define EXAMPLES_PNG_WRITE_H

#include <stdbool.h>

#include <quarry.h>

/* False when the file cannot be written or the array is no 2-D uint8 one. */
bool png_write(const char *path, const gpuarray *grey);

#endif
