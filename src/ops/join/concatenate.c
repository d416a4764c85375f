/* NumPy's functions that join arrays. */
#include <quarry/joining.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "ops/join/join.h"

/* The arrays of a call as views, which the call owns. */
typedef struct pieces {
    int count;
    gpuarray **view;
} pieces;

static void free_pieces(pieces *p)
{
    for (int k = 0; k < p->count; k++)
        ga_free(p->view[k]);
    ga__free(p->view);
}

static ga_status check_arrays(const char *name, int count, const gpuarray *const *arrays)
{
    if (count < 1 || !arrays)
        return ga__fail(GA_ERR_INVALID, "%s: %d arrays, expected at least 1", name,
                        arrays ? count : 0);
    for (int k = 0; k < count; k++) {
        if (!arrays[k])
            return ga__fail(GA_ERR_INVALID, "%s: array %d is NULL", name, k + 1);
        if (arrays[k]->buffer->device != arrays[0]->buffer->device)
            return ga__fail(GA_ERR_DEVICE, "%s: operands on %s and %s", name,
                            arrays[0]->buffer->device->name, arrays[k]->buffer->device->name);
    }
    return GA_OK;
}

/* Raises unless the arrays have equal lengths but along `axis`. */
static ga_status check_shapes(const char *name, int count, const gpuarray *const *arrays, int axis)
{
    const gpuarray *first = arrays[0];
    for (int k = 1; k < count; k++) {
        const gpuarray *x = arrays[k];
        bool same = x->ndim == first->ndim;
        for (int d = 0; same && d < x->ndim; d++)
            same = d == axis || x->shape[d] == first->shape[d];
        if (!same)
            return ga__fail(GA_ERR_SHAPE, "%s: array %d has shape %s, array 1 has %s", name, k + 1,
                            ga__shape_text(x->ndim, x->shape),
                            ga__shape_text(first->ndim, first->shape));
    }
    return GA_OK;
}

/* `result` has the options of the result; NULL: a new array of the common dtype. */
static gpuarray *join(const char *name, int count, const gpuarray *const *arrays, int axis,
                      const ga_join_args *result)
{
    int found;
    if (ga__check_axis(name, axis, arrays[0]->ndim, &found) != GA_OK ||
        check_shapes(name, count, arrays, found) != GA_OK)
        return NULL;
    return ga__join(name, count, arrays, found, result ? result->dtype : GA_NO_DTYPE,
                    result ? result->out : NULL);
}

/* What makes each piece of an array. `axis` is the call's. */
typedef gpuarray *make_piece(const gpuarray *x, int axis);

/* Joins what `make` makes of the arrays, which have been checked. */
static gpuarray *join_made(const char *name, int count, const gpuarray *const *arrays,
                           make_piece *make, int axis, const ga_join_args *options)
{
    pieces p = {0, ga__malloc(sizeof(gpuarray *) * (size_t)count)};
    gpuarray *result = NULL;
    if (!p.view)
        return NULL;
    while (p.count < count && (p.view[p.count] = make(arrays[p.count], axis)) != NULL)
        p.count++;
    if (p.count == count)
        result = join(name, count, (const gpuarray *const *)p.view, axis, options);
    free_pieces(&p);
    return result;
}

static gpuarray *flat(const gpuarray *x, int axis)
{
    (void)axis;
    return ga_ravel(x);
}

/* The axis of a call; the first one if it names none. */
static ga_status find_axis(const char *name, int naxes, const int *axes, int *axis)
{
    if (ga__one_axis(name, naxes, axes) != GA_OK)
        return ga_error();
    *axis = naxes == 1 ? axes[0] : 0;
    return GA_OK;
}

gpuarray *(ga_concatenate)(size_t size, const ga_join_args *args)
{
    GA__CALL("concatenate");
    ga_join_args known;
    int axis = 0;
    if (ga__options_read("concatenate", &known, sizeof known, args, size) != GA_OK ||
        check_arrays("concatenate", known.count, known.arrays) != GA_OK)
        return NULL;
    if (known.naxes == GA_NO_AXES)
        return join_made("concatenate", known.count, known.arrays, flat, 0, &known);
    if (find_axis("concatenate", known.naxes, known.axes, &axis) != GA_OK)
        return NULL;
    return join("concatenate", known.count, known.arrays, axis, &known);
}

gpuarray *(ga_stack)(size_t size, const ga_join_args *args)
{
    GA__CALL("stack");
    ga_join_args known;
    int axis = 0, found;
    if (ga__options_read("stack", &known, sizeof known, args, size) != GA_OK ||
        check_arrays("stack", known.count, known.arrays) != GA_OK ||
        find_axis("stack", known.naxes, known.axes, &axis) != GA_OK ||
        ga__check_axis("stack", axis, known.arrays[0]->ndim + 1, &found) != GA_OK ||
        check_shapes("stack", known.count, known.arrays, -1) != GA_OK)
        return NULL;
    return join_made("stack", known.count, known.arrays, ga_expand_dims, found, &known);
}

static gpuarray *as_rows(const gpuarray *x, int axis)
{
    (void)axis;
    return ga_atleast_2d(x);
}

static gpuarray *as_list(const gpuarray *x, int axis)
{
    (void)axis;
    return ga_atleast_1d(x);
}

static gpuarray *as_layers(const gpuarray *x, int axis)
{
    (void)axis;
    return ga_atleast_3d(x);
}

/* A 1-D array as a column. */
static gpuarray *as_columns(const gpuarray *x, int axis)
{
    (void)axis;
    if (x->ndim > 1)
        return ga_reshape(x, x->ndim, x->shape);
    return ga_reshape(x, 2, (const int64_t[]){x->size, 1});
}

gpuarray *ga_vstack(int count, const gpuarray *const *arrays)
{
    GA__CALL("vstack");
    return check_arrays("vstack", count, arrays) == GA_OK
               ? join_made("vstack", count, arrays, as_rows, 0, NULL)
               : NULL;
}

gpuarray *ga_hstack(int count, const gpuarray *const *arrays)
{
    GA__CALL("hstack");
    if (check_arrays("hstack", count, arrays) != GA_OK)
        return NULL;
    return join_made("hstack", count, arrays, as_list, arrays[0]->ndim > 1, NULL);
}

gpuarray *ga_dstack(int count, const gpuarray *const *arrays)
{
    GA__CALL("dstack");
    return check_arrays("dstack", count, arrays) == GA_OK
               ? join_made("dstack", count, arrays, as_layers, 2, NULL)
               : NULL;
}

gpuarray *ga_column_stack(int count, const gpuarray *const *arrays)
{
    GA__CALL("column_stack");
    return check_arrays("column_stack", count, arrays) == GA_OK
               ? join_made("column_stack", count, arrays, as_columns, 1, NULL)
               : NULL;
}

gpuarray *(ga_append)(size_t size, const ga_append_args *args)
{
    GA__CALL("append");
    ga_append_args known;
    int axis = 0;
    if (ga__options_read("append", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    const gpuarray *const both[] = {known.x, known.y};
    if (check_arrays("append", 2, both) != GA_OK ||
        find_axis("append", known.naxes, known.axes, &axis) != GA_OK)
        return NULL;
    return known.naxes == 0 ? join_made("append", 2, both, flat, 0, NULL)
                            : join("append", 2, both, axis, NULL);
}
