/* Copies options and results between a program and a library that know structs of different size.
 */
#ifndef GA_BASE_OPTIONS_H
#define GA_BASE_OPTIONS_H

#include <stddef.h>

#include <quarry/error.h>

/* Copies the program's options, `size` bytes at `from`, to the library's, `known` bytes at `to`.
 * Members that the program does not know become zero, the default. GA_ERR_INVALID if `from` is
 * NULL, GA_ERR_UNSUPPORTED if the program sets a member that the library does not know. */
ga_status ga__options_read(const char *name, void *to, size_t known, const void *from, size_t size);

/* Copies a result to the program: the members that both know. Those that only the program knows
 * become zero. */
void ga__options_write(void *to, size_t size, const void *from, size_t known);

#endif
