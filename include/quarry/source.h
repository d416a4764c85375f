/* Sources: data that expressions read in parts, because it does not fit memory. */
#ifndef QUARRY_SOURCE_H
#define QUARRY_SOURCE_H

#include <quarry/error.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* ga_eval_chunked() and ga_eval_save() (eval.h) take a ga_source * where ga_eval() takes an array:
 * GA(x), GA_NAMED("x", source). Only one evaluation at a time may use a source. */

/* The array in a .npy file (as for ga_load()). The file stays open until ga_source_free(), and must
 * not change meanwhile. For a file in Fortran order, each chunk takes one read per column. The
 * caller frees the source. NULL on failure: GA_ERR_IO, GA_ERR_FORMAT. */
GA_API ga_source *ga_source_open(const char *path);

/* Writes `count` elements, starting at index `first` in C order, to `elements`, host memory.
 * Returns GA_OK, or the status of the failure. Called by one thread at a time, not necessarily the
 * caller's, and as often as the expression needs the elements. */
typedef ga_status (*ga_read_function)(void *user, int64_t first, int64_t count, void *elements);

/* An array of this dtype and shape whose elements `read` provides. The shape is copied. The caller
 * frees the source. NULL on failure: GA_ERR_INVALID for a NULL function, and the errors of
 * ga_empty() for a dtype or shape. */
GA_API ga_source *ga_source_new(ga_dtype dtype, int ndim, const int64_t *shape,
                                ga_read_function read, void *user);

/* Closes the file and frees the source. NULL is a no-op. */
GA_API void ga_source_free(ga_source *source);

/* Properties of the source. For NULL: GA_NO_DTYPE, -1, NULL. */
GA_API ga_dtype ga_source_dtype(const ga_source *source);
GA_API int ga_source_ndim(const ga_source *source);
GA_API const int64_t *ga_source_shape(const ga_source *source); /* ndim lengths, owned by it */

GA_END_DECLS

#endif
