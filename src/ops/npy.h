/* .npy files whose elements are read and written a part at a time. */
#ifndef GA_OPS_NPY_H
#define GA_OPS_NPY_H

#include "ops/npy_header.h"
#include "base/os/replacement.h"

typedef struct ga__npy_reader {
    int fd;
    const char *path; /* the caller's, for messages: it stays until the file is closed */
    int64_t start;    /* of the elements, in bytes */
    ga__npy_header header;
} ga__npy_reader;

/* Opens the file, reads its header, and checks that its size is what the header says. Nothing is to
 * be closed after a failure. */
ga_status ga__npy_open(ga__npy_reader *r, const char *path);

/* Reads `count` elements from number `first` on, in the file's order, in the host's bytes. */
ga_status ga__npy_read(const ga__npy_reader *r, int64_t first, int64_t count, void *elements);
void ga__npy_close(ga__npy_reader *r);

/* A file that is written beside `path`, and takes its place when it is complete. */
typedef struct ga__npy_writer {
    ga__replacement file; /* its path is the caller's: it stays until the file is finished */
} ga__npy_writer;

/* Makes the file and writes its header. Nothing is to be discarded after a failure. */
ga_status ga__npy_create(ga__npy_writer *w, const char *path, ga_dtype dtype, int ndim,
                         const int64_t *shape);

/* Appends bytes of elements, which come in C order. */
ga_status ga__npy_append(ga__npy_writer *w, const void *bytes, size_t nbytes);

/* Moves the complete file to its path. The writer is done with, as after a discard, which leaves no
 * file; both leave the other nothing to do. */
ga_status ga__npy_finish(ga__npy_writer *w);
void ga__npy_discard(ga__npy_writer *w);

#endif
