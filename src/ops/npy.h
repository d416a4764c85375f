/* .npy files whose elements are read and written in parts. */
#ifndef GA_OPS_NPY_H
#define GA_OPS_NPY_H

#include "ops/npy_header.h"
#include "base/os/replacement.h"

typedef struct ga__npy_reader {
    int fd;
    const char *path; /* the caller's, for messages: valid until the file is closed */
    int64_t start;    /* of the elements, in bytes */
    ga__npy_header header;
} ga__npy_reader;

/* Opens the file, reads its header, and checks that its size matches the header. After a failure
 * there is nothing to close. */
ga_status ga__npy_open(ga__npy_reader *r, const char *path);

/* Reads `count` elements from index `first` on, in the file's order and the host's byte order. */
ga_status ga__npy_read(const ga__npy_reader *r, int64_t first, int64_t count, void *elements);
void ga__npy_close(ga__npy_reader *r);

/* A file that is written beside `path` and replaces it when it is complete. */
typedef struct ga__npy_writer {
    ga__replacement file; /* its path is the caller's: valid until the file is finished */
} ga__npy_writer;

/* Makes the file and writes its header. After a failure there is nothing to discard. */
ga_status ga__npy_create(ga__npy_writer *w, const char *path, ga_dtype dtype, int ndim,
                         const int64_t *shape);

/* Appends the bytes of elements, in C order. */
ga_status ga__npy_append(ga__npy_writer *w, const void *bytes, size_t nbytes);

/* Finish moves the complete file to its path; discard removes it. Both end the writer, and after
 * one of them the other has no effect. */
ga_status ga__npy_finish(ga__npy_writer *w);
void ga__npy_discard(ga__npy_writer *w);

#endif
