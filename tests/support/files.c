/* Files for tests: where the golden ones are, whole files of bytes, bytes in hexadecimal. */
#include "files.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

const char *golden_path(const char *name)
{
    static _Thread_local char paths[4][4096];
    static _Thread_local int next;
    char *path = paths[next++ % 4];
    const char *directory = getenv("QUARRY_GOLDEN");
    snprintf(path, sizeof paths[0], "%s/%s",
             directory && directory[0] ? directory : QUARRY_GOLDEN_DIR, name);
    return path;
}

char *read_bytes(const char *path, size_t *nbytes)
{
    FILE *stream = fopen(path, "rb");
    if (!stream)
        fail_msg("cannot open %s", path);
    fseek(stream, 0, SEEK_END);
    *nbytes = (size_t)ftell(stream);
    rewind(stream);
    char *bytes = malloc(*nbytes + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *nbytes, stream), *nbytes);
    bytes[*nbytes] = '\0';
    fclose(stream);
    return bytes;
}

void write_bytes(const char *path, const void *bytes, size_t nbytes)
{
    FILE *stream = fopen(path, "wb");
    if (!stream)
        fail_msg("cannot write %s", path);
    assert_int_equal(fwrite(bytes, 1, nbytes, stream), nbytes);
    assert_int_equal(fclose(stream), 0);
}

void assert_same_files(const char *what, const char *path_a, const char *path_b)
{
    size_t size_a, size_b, k = 0;
    char *a = read_bytes(path_a, &size_a), *b = read_bytes(path_b, &size_b);
    while (k < size_a && k < size_b && a[k] == b[k])
        k++;
    if (k < size_a || k < size_b)
        fail_msg("%s: %s of %zu bytes and %s of %zu differ from byte %zu on", what, path_a, size_a,
                 path_b, size_b, k);
    free(a);
    free(b);
}

size_t parse_hex(const char *text, unsigned char *bytes)
{
    size_t n = 0;
    unsigned byte;
    for (; sscanf(text + 2 * n, "%2x", &byte) == 1; n++)
        bytes[n] = (unsigned char)byte;
    return n;
}
