/* Reads and writes arrays as .npy files, whole or a part at a time. */
#include "ops/npy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/staging.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/os/system.h"
#include "base/range.h"

/* Raises GA_ERR_IO: "load: x.npy: No such file or directory". */
static ga_status fail_io(const char *name, const char *path, int error)
{
    char reason[128];

    return ga__fail(GA_ERR_IO, "%s: %s: %s", name, path, strerror_r(error, reason, sizeof reason));
}

/* ---- Opening ---- */

static ga_status read_at(const ga__npy_reader *r, int64_t offset, void *bytes, size_t nbytes)
{
    char *at = bytes;

    while (nbytes > 0) {
        const ssize_t n = pread(r->fd, at, nbytes, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_io("load", r->path, errno);
        if (n == 0)
            return ga__fail(GA_ERR_IO, "load: %s: the file shrank while it was read", r->path);
        at += n;
        offset += n;
        nbytes -= (size_t)n;
    }
    return GA_OK;
}

/* Reads the next bytes before the elements, in a file of `size` bytes. */
static ga_status read_next(ga__npy_reader *r, int64_t size, void *bytes, size_t nbytes)
{
    if (nbytes > (size_t)(size - r->start))
        return ga__fail(GA_ERR_FORMAT, "load: %s: the file ends within the next %zu bytes", r->path,
                        nbytes);
    const ga_status status = read_at(r, r->start, bytes, nbytes);
    r->start += (int64_t)nbytes;
    return status;
}

static ga_status open_file(ga__npy_reader *r, const char *path, int64_t *size)
{
    struct stat status;

    *r = (ga__npy_reader){.path = path};
    r->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* opening a pipe without a writer must
                                                            * not block */
    if (r->fd < 0)
        return fail_io("load", path, errno);
    if (fstat(r->fd, &status) != 0)
        return fail_io("load", path, errno);
    if (S_ISDIR(status.st_mode))
        return fail_io("load", path, EISDIR);
    if (!S_ISREG(status.st_mode))
        return ga__fail(GA_ERR_IO, "load: %s: not a regular file", path);
    *size = status.st_size;
    return GA_OK;
}

/* Reads the magic, the version and the length of the header. */
static ga_status read_header_length(ga__npy_reader *r, int64_t size, size_t *length)
{
    unsigned char start[GA__NPY_MAGIC_SIZE + 2], count[4] = {0, 0, 0, 0};
    if (size < (int64_t)sizeof start)
        return ga__fail(GA_ERR_FORMAT, "load: %s: a file of %lld bytes is not a .npy file", r->path,
                        (long long)size);
    ga_status status = read_next(r, size, start, sizeof start);

    if (status != GA_OK)
        return status;
    if (memcmp(start, GA__NPY_MAGIC, GA__NPY_MAGIC_SIZE) != 0)
        return ga__fail(GA_ERR_FORMAT, "load: %s: not a .npy file", r->path);
    const int major = start[GA__NPY_MAGIC_SIZE], minor = start[GA__NPY_MAGIC_SIZE + 1];
    if (major < 1 || major > 3 || minor != 0)
        return ga__fail(GA_ERR_FORMAT, "load: %s: .npy version %d.%d is not 1.0, 2.0 or 3.0",
                        r->path, major, minor);
    status = read_next(r, size, count, major == 1 ? 2 : 4);
    *length =
        (size_t)count[0] | (size_t)count[1] << 8 | (size_t)count[2] << 16 | (size_t)count[3] << 24;
    return status;
}

static ga_status read_header(ga__npy_reader *r, int64_t size)
{
    size_t length = 0;
    ga_status status = read_header_length(r, size, &length);

    if (status != GA_OK)
        return status;
    if (length > (size_t)(size - r->start))
        return ga__fail(GA_ERR_FORMAT,
                        "load: %s: a header of %zu bytes, but %zu are left in the file", r->path,
                        length, (size_t)(size - r->start));
    char *text = ga__malloc(length);
    if (!text)
        return GA_ERR_MEMORY;
    status = read_next(r, size, text, length);
    if (status == GA_OK)
        status = ga__npy_parse(&r->header, r->path, text, length);
    ga__free(text);
    return status;
}

/* Raises GA_ERR_FORMAT unless the rest of the file is exactly the elements. */
static ga_status check_data_size(const ga__npy_reader *r, size_t left)
{
    const ga__npy_header *h = &r->header;
    const int64_t bytes = ga__shape_bytes(h->ndim, h->shape, (int64_t)ga__dtype_size(h->dtype));
    const char *shape = ga__shape_text(h->ndim, h->shape);

    if (bytes < 0)
        return ga__fail(GA_ERR_FORMAT, "load: %s: shape %s of %s has more than 2^63 bytes", r->path,
                        shape, ga_dtype_name(h->dtype));
    if ((size_t)bytes != left)
        return ga__fail(GA_ERR_FORMAT, "load: %s: shape %s of %s has %zu bytes, the file %zu",
                        r->path, shape, ga_dtype_name(h->dtype), (size_t)bytes, left);
    return GA_OK;
}

ga_status ga__npy_open(ga__npy_reader *r, const char *path)
{
    int64_t size = 0;
    ga_status status = open_file(r, path, &size);

    if (status == GA_OK)
        status = read_header(r, size);
    if (status == GA_OK)
        status = check_data_size(r, (size_t)(size - r->start));
    if (status == GA_OK)
        (void)posix_fadvise(r->fd, 0, 0, POSIX_FADV_SEQUENTIAL); /* only a hint */
    else
        ga__npy_close(r);
    return status;
}

void ga__npy_close(ga__npy_reader *r)
{
    if (r->fd >= 0)
        close(r->fd);
    r->fd = -1;
}

/* ---- Loading ---- */

ga_status ga__npy_read(const ga__npy_reader *r, int64_t first, int64_t count, void *elements)
{
    const ga__npy_header *h = &r->header;
    const size_t itemsize = ga__dtype_size(h->dtype), nbytes = (size_t)count * itemsize;
    const ga_status status = read_at(r, r->start + first * (int64_t)itemsize, elements, nbytes);

    if (status != GA_OK)
        return status;
    if (h->swapped)
        ga__dtype_swap_bytes(h->dtype, elements, (size_t)count);
    ga__dtype_normalise(h->dtype, elements, (size_t)count);
    return GA_OK;
}

/* The position of a load. */
typedef struct cursor {
    const ga__npy_reader *file;
    int64_t next;
} cursor;

static ga_status read_more(void *context, void *bytes, size_t nbytes)
{
    cursor *c = context;
    const int64_t count = (int64_t)(nbytes / ga__dtype_size(c->file->header.dtype));
    const ga_status status = ga__npy_read(c->file, c->next, count, bytes);

    c->next += count;
    return status;
}

static ga_status read_elements(const ga__npy_reader *r, gpuarray *x)
{
    ga__staging staging;
    cursor c = {r, 0};
    ga_status status = ga__staging_init(&staging, x->buffer->device, ga_nbytes(x));

    if (status != GA_OK)
        return status;
    status = ga__staging_in(&staging, x, 0, ga_nbytes(x), read_more, &c);
    ga__staging_reset(&staging);
    return status;
}

/* Elements in Fortran order are those of the transposed array in C order. */
static gpuarray *read_array(ga__npy_reader *r)
{
    ga__npy_header *h = &r->header;
    const bool transposed = h->fortran && h->ndim > 1;

    for (int i = 0, j = h->ndim - 1; transposed && i < j; i++, j--) {
        const int64_t length = h->shape[i];
        h->shape[i] = h->shape[j];
        h->shape[j] = length;
    }
    gpuarray *x = ga__array_new("load", ga__current_device(), h->dtype, h->ndim, h->shape);
    if (!x)
        return NULL;
    gpuarray *result = NULL;
    if (read_elements(r, x) == GA_OK) {
        if (!transposed)
            return x;
        result = ga_transpose(x);
    }
    ga_free(x);
    return result;
}

gpuarray *ga_load(const char *path)
{
    GA__RANGE("load");
    ga__npy_reader r;

    if (!path)
        return ga__fail_null(GA_ERR_INVALID, "load: the path is NULL");
    if (!ga__not_recording("load"))
        return NULL;
    if (ga__npy_open(&r, path) != GA_OK)
        return NULL;
    gpuarray *x = read_array(&r);
    ga__npy_close(&r);
    return x;
}

/* ---- Writing ---- */

ga_status ga__npy_append(ga__npy_writer *w, const void *bytes, size_t nbytes)
{
    const int error = ga__write_all(w->file.fd, bytes, nbytes);

    return error ? fail_io("save", w->file.path, error) : GA_OK;
}

ga_status ga__npy_create(ga__npy_writer *w, const char *path, ga_dtype dtype, int ndim,
                         const int64_t *shape)
{
    ga__strbuf text = GA__STRBUF_INIT;
    ga_status status = ga__replacement_open(&w->file, "save: ", path);

    if (status != GA_OK)
        return status;
    ga__npy_add_header(&text, dtype, ndim, shape);
    status = text.failed ? GA_ERR_MEMORY : ga__npy_append(w, text.text, text.length);
    ga__strbuf_reset(&text);
    if (status != GA_OK)
        ga__npy_discard(w);
    return status;
}

ga_status ga__npy_finish(ga__npy_writer *w)
{
    return ga__replacement_commit(&w->file);
}

void ga__npy_discard(ga__npy_writer *w)
{
    ga__replacement_discard(&w->file);
}

/* ---- Saving ---- */

static ga_status write_more(void *context, const void *bytes, size_t nbytes)
{
    return ga__npy_append(context, bytes, nbytes);
}

static ga_status save_contiguous(const gpuarray *x, const char *path)
{
    ga__npy_writer w;
    ga__staging staging;
    ga_status status = ga__staging_init(&staging, x->buffer->device, ga_nbytes(x));

    if (status != GA_OK)
        return status;
    status = ga__npy_create(&w, path, x->dtype, x->ndim, x->shape);
    if (status == GA_OK) {
        status = ga__staging_out(&staging, x, 0, ga_nbytes(x), write_more, &w);
        if (status == GA_OK)
            status = ga__npy_finish(&w);
        else
            ga__npy_discard(&w);
    }
    ga__staging_reset(&staging);
    return status;
}

ga_status ga_save(const gpuarray *x, const char *path)
{
    GA__RANGE("save");
    if (!x || !path)
        return ga__fail(GA_ERR_INVALID, "save: the %s is NULL", x ? "path" : "array");
    if (!ga__not_recording("save"))
        return GA_ERR_UNSUPPORTED;
    if (x->contiguous)
        return save_contiguous(x, path);
    gpuarray *copy = ga_copy(x);
    if (!copy)
        return ga_error();
    const ga_status status = save_contiguous(copy, path);
    ga_free(copy);
    return status;
}
