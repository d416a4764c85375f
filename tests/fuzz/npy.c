/* Fuzz target: any bytes as a .npy file are loaded, and read as a source. */
#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ops/npy.h"

static void load(const char *path)
{
    gpuarray *x = ga_load(path);
    if (x) {
        char *text = ga_format(x);
        FUZZ_CHECK(text != NULL && strlen(text) > 0);
        free(text);
    }
    ga_free(x);
    ga_clear_error();
}

/* Reads the elements one by one, as chunks do. */
static void read_parts(const char *path)
{
    ga__npy_reader r;
    _Alignas(16) char element[GA_MAX_STRUCT_BYTES];
    if (ga__npy_open(&r, path) == GA_OK) {
        const int64_t count = ga__shape_size(r.header.ndim, r.header.shape);
        for (int64_t i = 0; i < count && i < 64; i++)
            FUZZ_CHECK(ga__npy_read(&r, i, 1, element) == GA_OK);
        ga__npy_close(&r);
    }
    ga_clear_error();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    if (fd < 0) {
        FUZZ_CHECK(ga_set_device("cpu") == GA_OK);
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    FUZZ_CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    load(path);
    read_parts(path);
    return 0;
}
