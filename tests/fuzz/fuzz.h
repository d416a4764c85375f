/* What the fuzz targets share. */
#ifndef GA_TESTS_FUZZ_H
#define GA_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

/* The target: libFuzzer calls it with bytes of its making, replay.c with those of the corpus. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A fault that no sanitizer sees. */
#define FUZZ_CHECK(condition) ((condition) ? (void)0 : abort())

/* The bytes as a text of its own block, so that a read past its end is seen; free() it. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* Cuts the first text, which ends at a NUL or where the bytes end, off the bytes; free() it. */
static inline char *fuzz_cut(const uint8_t **data, size_t *size)
{
    const uint8_t *end = *size > 0 ? memchr(*data, '\0', *size) : NULL;
    const size_t length = end != NULL ? (size_t)(end - *data) : *size;
    char *text = fuzz_text(*data, length);
    const size_t used = length + (end != NULL);
    *data += used;
    *size -= used;
    return text;
}

#endif
