/* Views of the parts of an array along an axis. */
#include <quarry/joining.h>

#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"

/* The elements from `start` to `stop` of an axis; without the axis if it is to be dropped. */
static gpuarray *part_of(const gpuarray *x, int axis, int64_t start, int64_t stop, bool drop)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    int ndim = 0;
    for (int k = 0; k < x->ndim; k++) {
        if (drop && k == axis)
            continue;
        shape[ndim] = k == axis ? stop - start : x->shape[k];
        strides[ndim++] = x->strides[k];
    }
    return ga__array_view(x, x->dtype, ndim, shape, strides,
                          ga__shape_size(ndim, shape) > 0 ? start * x->strides[axis] : 0);
}

static ga_status check_call(const char *name, const gpuarray *x, int axis, gpuarray *const *out,
                            int *found)
{
    if (!x || !out)
        return ga__fail(GA_ERR_INVALID, "%s: %s is NULL", name,
                        x ? "the pointer for the parts" : "the array");
    return ga__check_axis(name, axis, x->ndim, found);
}

/* The parts between count + 1 bounds. */
static ga_status cut(const gpuarray *x, int axis, int64_t count, const int64_t *bounds, bool drop,
                     gpuarray **out)
{
    gpuarray **made = ga__malloc(sizeof(gpuarray *) * (size_t)(count + 1));
    int64_t done = 0;
    if (!made)
        return GA_ERR_MEMORY;
    while (done < count &&
           (made[done] = part_of(x, axis, bounds[done], bounds[done + 1], drop)) != NULL)
        done++;
    if (done == count)
        memcpy(out, made, sizeof *made * (size_t)count);
    for (int64_t k = 0; done < count && k < done; k++)
        ga_free(made[k]);
    ga__free(made);
    return done == count ? GA_OK : ga_error();
}

static ga_status split(const char *name, const gpuarray *x, int64_t sections, int axis, bool equal,
                       bool drop, gpuarray **out)
{
    const int64_t length = x->shape[axis];
    if (sections <= 0 && !drop)
        return ga__fail(GA_ERR_INVALID, "%s: %lld sections, expected at least 1", name,
                        (long long)sections);
    if (equal && length % sections != 0)
        return ga__fail(GA_ERR_SHAPE, "%s: axis %d of length %lld does not divide into %lld parts",
                        name, axis, (long long)length, (long long)sections);
    int64_t *bounds = ga__malloc(sizeof(int64_t) * (size_t)(sections + 1));
    if (!bounds)
        return GA_ERR_MEMORY;
    bounds[0] = 0;
    for (int64_t k = 0; k < sections; k++)
        bounds[k + 1] = bounds[k] + length / sections + (k < length % sections);
    const ga_status status = cut(x, axis, sections, bounds, drop, out);
    ga__free(bounds);
    return status;
}

ga_status ga_split(const gpuarray *x, int sections, int axis, gpuarray **out)
{
    int found;
    const ga_status status = check_call("split", x, axis, out, &found);
    return status == GA_OK ? split("split", x, sections, found, true, false, out) : status;
}

ga_status ga_array_split(const gpuarray *x, int sections, int axis, gpuarray **out)
{
    int found;
    const ga_status status = check_call("array_split", x, axis, out, &found);
    return status == GA_OK ? split("array_split", x, sections, found, false, false, out) : status;
}

ga_status ga_split_at(const gpuarray *x, int n, const int64_t *indices, int axis, gpuarray **out)
{
    int found;
    ga_status status = check_call("split_at", x, axis, out, &found);
    if (status != GA_OK)
        return status;
    if (n < 0 || (n > 0 && !indices))
        return ga__fail(GA_ERR_INVALID, "split_at: %d indices%s", n,
                        indices ? "" : ", but the list is NULL");
    const int64_t length = x->shape[found];
    gpuarray **made = ga__malloc(sizeof(gpuarray *) * ((size_t)n + 1));
    if (!made)
        return GA_ERR_MEMORY;
    int done = 0;
    for (int64_t start = 0; done <= n; done++) {
        int64_t stop = done < n ? indices[done] : length;
        stop = stop < 0 ? stop + length : stop;
        stop = stop < 0 ? 0 : stop > length ? length : stop;
        made[done] = part_of(x, found, start < stop ? start : stop, stop, false);
        if (!made[done])
            break;
        start = stop;
    }
    status = done > n ? GA_OK : ga_error();
    if (status == GA_OK)
        memcpy(out, made, sizeof *made * ((size_t)n + 1));
    for (int k = 0; status != GA_OK && k < done; k++)
        ga_free(made[k]);
    ga__free(made);
    return status;
}

/* ga_split() along an axis of an array that has at least `least` axes. */
static ga_status split_along(const char *name, const gpuarray *x, int sections, int axis, int least,
                             gpuarray **out)
{
    if (x && x->ndim < least)
        return ga__fail(GA_ERR_SHAPE, "%s: the array has %d dimensions, expected at least %d", name,
                        x->ndim, least);
    int found;
    const ga_status status = check_call(name, x, axis, out, &found);
    return status == GA_OK ? split(name, x, sections, found, true, false, out) : status;
}

ga_status ga_vsplit(const gpuarray *x, int sections, gpuarray **out)
{
    return split_along("vsplit", x, sections, 0, 2, out);
}

ga_status ga_hsplit(const gpuarray *x, int sections, gpuarray **out)
{
    return split_along("hsplit", x, sections, x && x->ndim > 1, 1, out);
}

ga_status ga_dsplit(const gpuarray *x, int sections, gpuarray **out)
{
    return split_along("dsplit", x, sections, 2, 3, out);
}

ga_status ga_unstack(const gpuarray *x, int axis, gpuarray **out)
{
    int found;
    const ga_status status = check_call("unstack", x, axis, out, &found);
    return status == GA_OK ? split("unstack", x, x->shape[found], found, false, true, out) : status;
}
