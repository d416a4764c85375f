/* Reads and writes arrays as .npy files. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE ((size_t)6)
#define HEADER_ALIGNMENT ((size_t)64)
/* Host memory that the elements of an array on a GPU pass through at a time. */
#define CHUNK_BYTES ((size_t)16 << 20)
/* NumPy leaves room for the first length to grow to this many characters. */
#define GROWTH_DIGITS 21
#define DESCR_SIZE 64

/* ---- Files ---- */

/* Raises GA_ERR_IO: "load: x.npy: No such file or directory". */
static ga_status fail_io(const char *name, const char *path, int error)
{
    char reason[128];

    return ga__fail(GA_ERR_IO, "%s: %s: %s", name, path, strerror_r(error, reason, sizeof reason));
}

static ga_status read_exactly(int fd, const char *path, void *bytes, size_t nbytes)
{
    char *at = bytes;

    while (nbytes > 0) {
        const ssize_t n = read(fd, at, nbytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_io("load", path, errno);
        if (n == 0)
            return ga__fail(GA_ERR_IO, "load: %s: the file shrank while it was read", path);
        at += n;
        nbytes -= (size_t)n;
    }
    return GA_OK;
}

static ga_status write_exactly(int fd, const char *path, const void *bytes, size_t nbytes)
{
    const char *at = bytes;

    while (nbytes > 0) {
        const ssize_t n = write(fd, at, nbytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_io("save", path, errno);
        at += n;
        nbytes -= (size_t)n;
    }
    return GA_OK;
}

/* ---- The header: a Python dict literal ---- */

typedef struct header {
    ga_dtype dtype;
    bool swapped; /* its bytes are in the other order */
    bool fortran;
    int ndim;
    int64_t shape[GA_MAX_NDIM];
} header;

typedef struct reader {
    const char *path;
    const char *text, *at, *end;
} reader;

static ga_status fail_header(const reader *r, const char *expected)
{
    return ga__fail(GA_ERR_FORMAT, "load: %s: %s expected at byte %lld of the header", r->path,
                    expected, (long long)(r->at - r->text));
}

static void skip_blanks(reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n\f", *r->at) && *r->at)
        r->at++;
}

static bool take(reader *r, const char *word)
{
    const size_t length = strlen(word);

    skip_blanks(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* A string without escapes, which no key and no descr of ours needs. */
static ga_status read_string(reader *r, char *string, size_t room)
{
    skip_blanks(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
        return fail_header(r, "a string");
    const char quote = *r->at++;
    size_t length = 0;
    for (; r->at < r->end && *r->at != quote; r->at++) {
        if (*r->at == '\\' || *r->at == '\n' || *r->at == '\0' || length + 1 == room)
            return fail_header(r, "the end of the string");
        string[length++] = *r->at;
    }
    if (r->at == r->end)
        return fail_header(r, "the end of the string");
    r->at++;
    string[length] = '\0';
    return GA_OK;
}

static ga_status read_boolean(reader *r, bool *value)
{
    *value = take(r, "True");
    return *value || take(r, "False") ? GA_OK : fail_header(r, "True or False");
}

static ga_status read_length(reader *r, int64_t *length)
{
    int64_t value = 0;

    skip_blanks(r);
    if (r->at == r->end || *r->at < '0' || *r->at > '9')
        return fail_header(r, "a length");
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        const int digit = *r->at - '0';
        if (value > (INT64_MAX - digit) / 10)
            return ga__fail(GA_ERR_FORMAT, "load: %s: a length of the shape is past 2^63", r->path);
        value = value * 10 + digit;
    }
    if (r->at < r->end && *r->at == 'L') /* as Python 2 wrote it */
        r->at++;
    *length = value;
    return GA_OK;
}

/* "()", "(3,)", "(3, 4)" or "(3, 4,)". */
static ga_status read_shape(reader *r, header *h)
{
    bool comma = true;

    if (!take(r, "("))
        return fail_header(r, "'('");
    h->ndim = 0;
    while (!take(r, ")")) {
        if (!comma)
            return fail_header(r, "',' or ')'");
        if (h->ndim == GA_MAX_NDIM)
            return ga__fail(GA_ERR_FORMAT, "load: %s: more than %d dimensions", r->path,
                            GA_MAX_NDIM);
        const ga_status status = read_length(r, &h->shape[h->ndim]);
        if (status != GA_OK)
            return status;
        h->ndim++;
        comma = take(r, ",");
    }
    if (h->ndim == 1 && !comma)
        return fail_header(r, "a tuple before here, as in (3,),");
    return GA_OK;
}

/* A list stands for a structured dtype: its text goes into the message. */
static ga_status fail_structured(const reader *r)
{
    const char *end = memchr(r->at, ']', (size_t)(r->end - r->at));
    const size_t length = (size_t)((end ? end + 1 : r->end) - r->at);

    return ga__fail(GA_ERR_FORMAT, "load: %s: descr %.*s is a structured dtype", r->path,
                    (int)(length < 200 ? length : 200), r->at);
}

static ga_status read_descr(reader *r, header *h)
{
    char descr[DESCR_SIZE];

    skip_blanks(r);
    if (r->at < r->end && *r->at == '[')
        return fail_structured(r);
    const ga_status status = read_string(r, descr, sizeof descr);
    if (status != GA_OK)
        return status;
    h->dtype = ga__dtype_from_npy(descr, &h->swapped);
    if (strcmp(descr, ga_dtype_name(GA_BFLOAT16)) ==
        0) /* NumPy has no descr for it, so writers differ */
        h->dtype = GA_BFLOAT16;
    if (h->dtype == GA_NO_DTYPE)
        return ga__fail(GA_ERR_FORMAT, "load: %s: descr '%s' is none of the dtypes", r->path,
                        descr);
    return GA_OK;
}

enum { HAS_DESCR = 1, HAS_FORTRAN = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static int key_bit(const char *key)
{
    return strcmp(key, "descr") == 0           ? HAS_DESCR
           : strcmp(key, "fortran_order") == 0 ? HAS_FORTRAN
           : strcmp(key, "shape") == 0         ? HAS_SHAPE
                                               : 0;
}

static ga_status read_entry(reader *r, header *h, int *seen)
{
    char key[DESCR_SIZE];
    const ga_status status = read_string(r, key, sizeof key);

    if (status != GA_OK)
        return status;
    const int bit = key_bit(key);
    if (bit == 0 || (*seen & bit))
        return ga__fail(GA_ERR_FORMAT, "load: %s: the header has the key '%s'%s", r->path, key,
                        bit ? " twice" : "");
    *seen |= bit;
    if (!take(r, ":"))
        return fail_header(r, "':'");
    return bit == HAS_DESCR     ? read_descr(r, h)
           : bit == HAS_FORTRAN ? read_boolean(r, &h->fortran)
                                : read_shape(r, h);
}

static ga_status parse_header(reader *r, header *h)
{
    bool comma = true;
    int seen = 0;

    if (!take(r, "{"))
        return fail_header(r, "'{'");
    while (!take(r, "}")) {
        if (!comma)
            return fail_header(r, "',' or '}'");
        const ga_status status = read_entry(r, h, &seen);
        if (status != GA_OK)
            return status;
        comma = take(r, ",");
    }
    if (seen != HAS_ALL)
        return ga__fail(GA_ERR_FORMAT, "load: %s: the header lacks '%s'", r->path,
                        !(seen & HAS_DESCR)     ? "descr"
                        : !(seen & HAS_FORTRAN) ? "fortran_order"
                                                : "shape");
    skip_blanks(r);
    return r->at == r->end ? GA_OK : fail_header(r, "the end");
}

/* ---- Loading ---- */

typedef struct source {
    int fd;
    const char *path;
    size_t left; /* bytes of the file not read yet */
} source;

static ga_status read_part(source *s, void *bytes, size_t nbytes)
{
    if (nbytes > s->left)
        return ga__fail(GA_ERR_FORMAT, "load: %s: the file ends where %zu bytes should follow",
                        s->path, nbytes);
    s->left -= nbytes;
    return read_exactly(s->fd, s->path, bytes, nbytes);
}

static ga_status open_source(source *s, const char *path)
{
    struct stat status;

    s->path = path;
    s->fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer must not hang */
    if (s->fd < 0)
        return fail_io("load", path, errno);
    if (fstat(s->fd, &status) != 0)
        return fail_io("load", path, errno);
    if (S_ISDIR(status.st_mode))
        return fail_io("load", path, EISDIR);
    if (!S_ISREG(status.st_mode))
        return ga__fail(GA_ERR_IO, "load: %s: not a regular file", path);
    s->left = (size_t)status.st_size;
    return GA_OK;
}

/* The magic, the version, and the length of the header in 2 or 4 little-endian bytes. */
static ga_status read_header_length(source *s, size_t *length)
{
    unsigned char start[MAGIC_SIZE + 2], count[4] = {0, 0, 0, 0};
    ga_status status = read_part(s, start, sizeof start);

    if (status != GA_OK)
        return status;
    if (memcmp(start, MAGIC, MAGIC_SIZE) != 0)
        return ga__fail(GA_ERR_FORMAT, "load: %s: not a .npy file", s->path);
    const int major = start[MAGIC_SIZE], minor = start[MAGIC_SIZE + 1];
    if (major < 1 || major > 3 || minor != 0)
        return ga__fail(GA_ERR_FORMAT, "load: %s: .npy version %d.%d is not 1.0, 2.0 or 3.0",
                        s->path, major, minor);
    status = read_part(s, count, major == 1 ? 2 : 4);
    *length =
        (size_t)count[0] | (size_t)count[1] << 8 | (size_t)count[2] << 16 | (size_t)count[3] << 24;
    return status;
}

static ga_status read_header(source *s, header *h)
{
    size_t length = 0;
    ga_status status = read_header_length(s, &length);

    if (status != GA_OK)
        return status;
    if (length > s->left)
        return ga__fail(GA_ERR_FORMAT,
                        "load: %s: a header of %zu bytes, but %zu are left in the file", s->path,
                        length, s->left);
    char *text = ga__malloc(length);
    if (!text)
        return GA_ERR_MEMORY;
    status = read_part(s, text, length);
    if (status == GA_OK) {
        reader r = {s->path, text, text, text + length};
        status = parse_header(&r, h);
    }
    ga__free(text);
    return status;
}

/* Raises GA_ERR_FORMAT unless the rest of the file is just the elements. */
static ga_status check_data_size(const source *s, const header *h)
{
    const int64_t size = ga__shape_size(h->ndim, h->shape);
    const size_t itemsize = ga_dtype_size(h->dtype);
    const char *shape = ga__shape_text(h->ndim, h->shape);

    if (size < 0 || (uint64_t)size > INT64_MAX / itemsize)
        return ga__fail(GA_ERR_FORMAT, "load: %s: shape %s of %s has more than 2^63 bytes", s->path,
                        shape, ga_dtype_name(h->dtype));
    if ((size_t)size * itemsize != s->left)
        return ga__fail(GA_ERR_FORMAT, "load: %s: shape %s of %s has %zu bytes, the file %zu",
                        s->path, shape, ga_dtype_name(h->dtype), (size_t)size * itemsize, s->left);
    return GA_OK;
}

/* Brings elements as they are in the file to the host's byte order, and truths to 0 or 1. */
static void normalise(const header *h, unsigned char *bytes, size_t nbytes)
{
    if (h->swapped)
        ga__dtype_swap_bytes(h->dtype, bytes, nbytes / ga_dtype_size(h->dtype));
    if (ga__dtype_kind(h->dtype) == 'b') {
        for (size_t i = 0; i < nbytes; i++)
            bytes[i] = bytes[i] != 0;
    }
}

static ga_status read_by_chunks(source *s, const header *h, gpuarray *x)
{
    const size_t total = ga_nbytes(x), room = total < CHUNK_BYTES ? total : CHUNK_BYTES;
    unsigned char *chunk = ga__malloc(room);
    ga_status status = chunk ? GA_OK : GA_ERR_MEMORY;

    for (size_t at = 0; at < total && status == GA_OK; at += room) {
        const size_t part = total - at < room ? total - at : room;
        status = read_part(s, chunk, part);
        if (status != GA_OK)
            break;
        normalise(h, chunk, part);
        status = ga__array_upload(x, at, chunk, part);
    }
    ga__free(chunk);
    return status;
}

static ga_status read_elements(source *s, const header *h, gpuarray *x)
{
    if (x->size == 0)
        return GA_OK;
    if (x->buffer->device->backend != &ga__host_backend)
        return read_by_chunks(s, h, x);
    const ga_status status = read_part(s, x->data, ga_nbytes(x));
    if (status == GA_OK)
        normalise(h, (unsigned char *)x->data, ga_nbytes(x));
    return status;
}

/* Elements in Fortran order are those of the transposed array in C order. */
static gpuarray *read_array(source *s, header *h)
{
    const bool transposed = h->fortran && h->ndim > 1;

    for (int i = 0, j = h->ndim - 1; transposed && i < j; i++, j--) {
        const int64_t length = h->shape[i];
        h->shape[i] = h->shape[j];
        h->shape[j] = length;
    }
    gpuarray *x = ga_empty(h->dtype, h->ndim, h->shape);
    if (!x)
        return NULL;
    gpuarray *result = NULL;
    if (read_elements(s, h, x) == GA_OK) {
        if (!transposed)
            return x;
        result = ga_transpose(x);
    }
    ga_free(x);
    return result;
}

gpuarray *ga_load(const char *path)
{
    source s = {-1, path, 0};
    header h = {GA_NO_DTYPE, false, false, 0, {0}};
    gpuarray *x = NULL;

    if (!path)
        return ga__fail_null(GA_ERR_INVALID, "load: the path is NULL");
    if (!ga__not_recording("load"))
        return NULL;
    if (open_source(&s, path) == GA_OK && read_header(&s, &h) == GA_OK &&
        check_data_size(&s, &h) == GA_OK)
        x = read_array(&s, &h);
    if (s.fd >= 0)
        close(s.fd);
    return x;
}

/* ---- Saving ---- */

/* The whole start of a version 1.0 file, byte for byte as numpy.save writes it. */
static void add_header(ga__strbuf *text, const gpuarray *x)
{
    const size_t start = MAGIC_SIZE + 4;
    ga__strbuf dict = GA__STRBUF_INIT;
    char first[32];

    ga__strbuf_addf(&dict,
                    "{'descr': '%s', 'fortran_order': False, 'shape': ", ga__dtype_npy(x->dtype));
    ga__strbuf_add_shape(&dict, x->ndim, x->shape);
    ga__strbuf_add(&dict, ", }");
    if (x->ndim > 0) {
        const int digits = snprintf(first, sizeof first, "%lld", (long long)x->shape[0]);
        ga__strbuf_addf(&dict, "%*s", GROWTH_DIGITS - digits, "");
    }
    const size_t padding = HEADER_ALIGNMENT - (start + dict.length + 1) % HEADER_ALIGNMENT;
    const size_t length = dict.length + padding + 1;
    const unsigned char count[4] = {1, 0, (unsigned char)(length & 255),
                                    (unsigned char)(length >> 8)};
    ga__strbuf_add_bytes(text, MAGIC, MAGIC_SIZE);
    ga__strbuf_add_bytes(text, count, sizeof count);
    ga__strbuf_add_bytes(text, dict.text, dict.length);
    ga__strbuf_addf(text, "%*s\n", (int)padding, "");
    text->failed = text->failed || dict.failed;
    ga__strbuf_reset(&dict);
}

static ga_status write_header(int fd, const char *path, const gpuarray *x)
{
    ga__strbuf text = GA__STRBUF_INIT;

    add_header(&text, x);
    const ga_status status =
        text.failed ? GA_ERR_MEMORY : write_exactly(fd, path, text.text, text.length);
    ga__strbuf_reset(&text);
    return status;
}

static ga_status write_by_chunks(int fd, const char *path, const gpuarray *x)
{
    const size_t total = ga_nbytes(x), room = total < CHUNK_BYTES ? total : CHUNK_BYTES;
    char *chunk = ga__malloc(room);
    ga_status status = chunk ? GA_OK : GA_ERR_MEMORY;

    for (size_t at = 0; at < total && status == GA_OK; at += room) {
        const size_t part = total - at < room ? total - at : room;
        status = ga__array_download(x, at, chunk, part);
        if (status == GA_OK)
            status = write_exactly(fd, path, chunk, part);
    }
    ga__free(chunk);
    return status;
}

static ga_status write_elements(int fd, const char *path, const gpuarray *x)
{
    if (x->size == 0)
        return GA_OK;
    if (x->buffer->device->backend != &ga__host_backend)
        return write_by_chunks(fd, path, x);
    return write_exactly(fd, path, x->data, ga_nbytes(x));
}

/* A file or directory that a rename must not replace: /dev/null is none of our business. */
static ga_status check_target(const char *path)
{
    struct stat status;

    if (stat(path, &status) != 0 || S_ISREG(status.st_mode))
        return GA_OK; /* what else is wrong with the path, opening the file beside it finds */
    if (S_ISDIR(status.st_mode))
        return fail_io("save", path, EISDIR);
    return ga__fail(GA_ERR_IO, "save: %s: not a regular file", path);
}

/* A new file in the directory of `path`, with the mode any new file gets; ga__free its name. */
static int open_beside(const char *path, char **name)
{
    static _Atomic unsigned counter;
    const char *slash = strrchr(path, '/');
    const size_t directory = slash ? (size_t)(slash - path) + 1 : 0;
    int fd = -1, error = EEXIST;

    while (fd < 0 && error == EEXIST) {
        ga__strbuf text = GA__STRBUF_INIT;
        ga__strbuf_add_bytes(&text, path, directory);
        ga__strbuf_addf(&text, ".quarry-npy-%ld-%u", (long)getpid(),
                        atomic_fetch_add(&counter, 1u));
        *name = ga__strbuf_take(&text);
        if (!*name)
            return -1;
        fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        error = errno;
        if (fd < 0) {
            ga__free(*name);
            *name = NULL;
        }
    }
    if (fd < 0)
        fail_io("save", path, error);
    return fd;
}

/* Writes the contiguous x to a file of its own and moves that to `path`. */
static ga_status save_contiguous(const gpuarray *x, const char *path)
{
    char *name = NULL;
    const int fd = open_beside(path, &name);

    if (fd < 0)
        return ga_error();
    ga_status status = write_header(fd, path, x);
    if (status == GA_OK)
        status = write_elements(fd, path, x);
    if (close(fd) != 0 && status == GA_OK)
        status = fail_io("save", path, errno);
    if (status == GA_OK && rename(name, path) != 0)
        status = fail_io("save", path, errno);
    if (status != GA_OK)
        unlink(name);
    ga__free(name);
    return status;
}

ga_status ga_save(const gpuarray *x, const char *path)
{
    if (!x || !path)
        return ga__fail(GA_ERR_INVALID, "save: the %s is NULL", x ? "path" : "array");
    if (!ga__not_recording("save"))
        return GA_ERR_UNSUPPORTED;
    ga_status status = check_target(path);
    if (status != GA_OK || x->contiguous)
        return status == GA_OK ? save_contiguous(x, path) : status;
    gpuarray *copy = ga_copy(x);
    if (!copy)
        return ga_error();
    status = save_contiguous(copy, path);
    ga_free(copy);
    return status;
}
