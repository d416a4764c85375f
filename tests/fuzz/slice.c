/* Fuzz target: any bytes as a slice; the result lies within the array. */
#include "fuzz.h"

#include "array/array.h"

/* Whether every element of the view is one of x's. */
static bool is_within(const gpuarray *view, const gpuarray *x)
{
    int64_t low = view->data - x->data, high = low;
    for (int axis = 0; axis < view->ndim; axis++) {
        const int64_t extent = (view->shape[axis] - 1) * view->strides[axis];
        if (view->shape[axis] == 0)
            return true;
        low += extent < 0 ? extent : 0;
        high += extent > 0 ? extent : 0;
    }
    return low >= 0 && high < x->size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gpuarray *x;
    if (!x) {
        FUZZ_CHECK(ga_set_device("cpu") == GA_OK);
        x = ga_empty(GA_INT8, GA_SHAPE(3, 4, 5));
        FUZZ_CHECK(x != NULL);
    }
    char *text = fuzz_text(data, size);
    gpuarray *view = ga_slice(x, "%s", text);
    FUZZ_CHECK(view != NULL ? is_within(view, x) : ga_error() != GA_OK);
    ga_free(view);
    ga_clear_error();
    free(text);
    return 0;
}
