/* Writes a 2-D uint8 array as a grey PNG, for the examples. */
#ifndef EXAMPLES_PNG_WRITE_H
#define EXAMPLES_PNG_WRITE_H

#include <stdbool.h>

#include <quarry.h>

/* Returns false if the file cannot be written or the array is not 2-D uint8. */
bool png_write(const char *path, const gpuarray *grey);

#endif
