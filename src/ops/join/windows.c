/* Windows that slide along axes: views. */
#include <quarry/shaping.h>

#include <string.h>

#include "array/array.h"
#include "base/call.h"
#include "base/error.h"
#include "base/options.h"

/* A view in the making: its lengths and strides. */
typedef struct windows {
    int ndim;
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
} windows;

/* A window of `length` along an axis of x, which may have some already. */
static ga_status add_window(windows *w, const gpuarray *x, int axis, int64_t length)
{
    if (length < 0 || length > w->shape[axis])
        return ga__fail(GA_ERR_SHAPE,
                        "sliding_window_view: a window of %lld along axis %d, where %lld fit",
                        (long long)length, axis, (long long)w->shape[axis]);
    w->shape[axis] -= length - 1;
    w->shape[w->ndim] = length;
    w->strides[w->ndim++] = x->strides[axis];
    return GA_OK;
}

static ga_status check(const ga_windows_args *args)
{
    if (!args->x)
        return ga__fail(GA_ERR_INVALID, "sliding_window_view: the array is NULL");
    if (args->nwindow < 0 || (args->nwindow > 0 && !args->window))
        return ga__fail(GA_ERR_INVALID, "sliding_window_view: a window of %d axes%s", args->nwindow,
                        args->window ? "" : ", and the list is NULL");
    if (args->nwindow != (args->naxes > 0 ? args->naxes : args->x->ndim))
        return ga__fail(GA_ERR_SHAPE,
                        "sliding_window_view: a window of %d axes along %d of the array",
                        args->nwindow, args->naxes > 0 ? args->naxes : args->x->ndim);
    if (args->x->ndim + args->nwindow > GA_MAX_NDIM)
        return ga__fail(GA_ERR_SHAPE,
                        "sliding_window_view: the result has %d dimensions, more than %d",
                        args->x->ndim + args->nwindow, GA_MAX_NDIM);
    return GA_OK;
}

static gpuarray *make(const ga_windows_args *args)
{
    const gpuarray *x = args->x;
    windows w = {.ndim = x->ndim};
    memcpy(w.shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    memcpy(w.strides, x->strides, sizeof(int64_t) * (size_t)x->ndim);
    for (int k = 0; k < args->nwindow; k++) {
        int axis = k;
        if (args->naxes > 0 &&
            ga__check_axis("sliding_window_view", args->axes[k], x->ndim, &axis) != GA_OK)
            return NULL;
        if (add_window(&w, x, axis, args->window[k]) != GA_OK)
            return NULL;
    }
    gpuarray *view = ga__array_view(x, x->dtype, w.ndim, w.shape, w.strides, 0);
    if (view)
        view->readonly = true;
    return view;
}

gpuarray *(ga_sliding_window_view)(size_t size, const ga_windows_args *args)
{
    ga_windows_args known;
    if (ga__options_read("sliding_window_view", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    return check(&known) == GA_OK ? make(&known) : NULL;
}
