/* Files for tests: where the golden ones are, whole files of bytes, bytes in hexadecimal. */
#ifndef GA_TESTS_FILES_H
#define GA_TESTS_FILES_H

#include <stddef.h>

/* The path of a golden file: under QUARRY_GOLDEN, or in the source tree. Valid for three more
 * calls. */
const char *golden_path(const char *name);

/* A whole file with a NUL after it; the caller frees it. Fails the test on an error. */
char *read_bytes(const char *path, size_t *nbytes);

void write_bytes(const char *path, const void *bytes, size_t nbytes);

/* Fails the test at the first byte in which two files differ. */
void assert_same_files(const char *what, const char *path_a, const char *path_b);

/* Parses pairs of hexadecimal digits to bytes; returns their number. */
size_t parse_hex(const char *text, unsigned char *bytes);

#endif
