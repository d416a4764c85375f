/* The headers of .npy files: Python dict literals with the dtype, order and shape. */
#ifndef GA_OPS_NPY_HEADER_H
#define GA_OPS_NPY_HEADER_H

#include "array/array.h"
#include "base/strbuf.h"

/* A file starts with the magic and two version bytes; then follows the length of the header in 2
 * (version 1) or 4 little-endian bytes. */
#define GA__NPY_MAGIC "\x93NUMPY"
#define GA__NPY_MAGIC_SIZE ((size_t)6)

typedef struct ga__npy_header {
    ga_dtype dtype;
    bool swapped; /* its bytes are in the opposite order */
    bool fortran;
    int ndim;
    int64_t shape[GA_MAX_NDIM];
} ga__npy_header;

/* Parses the header's text. GA_ERR_FORMAT names the file and the place. */
ga_status ga__npy_parse(ga__npy_header *header, const char *path, const char *text, size_t length);

/* Appends the complete start of a version 1.0 file of elements in C order, byte for byte like
 * numpy.save. */
void ga__npy_add_header(ga__strbuf *text, ga_dtype dtype, int ndim, const int64_t *shape);

#endif
