/* Sources: opens them, and reads boxes of their elements. */
#include "expr/source.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

/* ---- Making ---- */

static ga_status read_file(void *user, int64_t first, int64_t count, void *elements)
{
    return ga__npy_read(user, first, count, elements);
}

ga_source *ga_source_open(const char *path)
{
    if (!path)
        return ga__fail_null(GA_ERR_INVALID, "source: the path is NULL");
    ga_source *s = ga__calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->path = ga__strdup(path);
    if (!s->path || ga__npy_open(&s->file, s->path) != GA_OK)
        goto failed;
    s->dtype = s->file.header.dtype;
    s->ndim = s->file.header.ndim;
    s->fortran = s->file.header.fortran;
    memcpy(s->shape, s->file.header.shape, sizeof s->shape);
    s->read = read_file;
    s->user = &s->file;
    return s;
failed:
    ga__free(s->path);
    ga__free(s);
    return NULL;
}

ga_source *ga_source_new(ga_dtype dtype, int ndim, const int64_t *shape, ga_read_function read,
                         void *user)
{
    int64_t size;

    if (ga__check_shape("source", dtype, ndim, shape, &size) != GA_OK)
        return NULL;
    if (!read)
        return ga__fail_null(GA_ERR_INVALID, "source: the read function is NULL");
    ga_source *s = ga__calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->dtype = dtype;
    s->ndim = ndim;
    if (ndim > 0)
        memcpy(s->shape, shape, (size_t)ndim * sizeof *shape);
    s->read = read;
    s->user = user;
    return s;
}

void ga_source_free(ga_source *source)
{
    if (!source)
        return;
    if (source->path)
        ga__npy_close(&source->file);
    ga__free(source->path);
    ga__free(source);
}

ga_dtype ga_source_dtype(const ga_source *source)
{
    return source ? source->dtype : GA_NO_DTYPE;
}

int ga_source_ndim(const ga_source *source)
{
    return source ? source->ndim : -1;
}

const int64_t *ga_source_shape(const ga_source *source)
{
    return source ? source->shape : NULL;
}

/* ---- Boxes ---- */

void ga__source_box(const ga_source *source, ga__box *box)
{
    memset(box->low, 0, sizeof box->low);
    memcpy(box->high, source->shape, sizeof box->high);
}

int64_t ga__box_size(const ga__box *box, int ndim)
{
    int64_t size = 1;

    for (int axis = 0; axis < ndim; axis++)
        size *= box->high[axis] - box->low[axis];
    return size;
}

/* The k-th axis, counted from the slowest one in the source's order. */
static int axis_at(const ga_source *s, int k)
{
    return s->fortran ? s->ndim - 1 - k : k;
}

int ga__source_slow_axis(const ga_source *source)
{
    for (int k = 0; k < source->ndim; k++)
        if (source->shape[axis_at(source, k)] > 1)
            return axis_at(source, k);
    return -1;
}

/* Iterates over the runs of neighbouring elements in a box. */
typedef struct walk {
    const ga_source *source;
    const ga__box *box;
    int outer;                  /* the number of slow axes outside the runs */
    int64_t index[GA_MAX_NDIM]; /* of this run on those axes, slowest first */
    int64_t run;                /* elements of a run */
    int64_t done;               /* elements of this run that are done */
} walk;

static void walk_init(walk *w, const ga_source *s, const ga__box *box)
{
    *w = (walk){.source = s, .box = box, .outer = s->ndim, .run = 1};
    bool whole = true; /* the inner axes are complete, so their runs are adjacent */
    while (w->outer > 0 && whole) {
        const int axis = axis_at(s, --w->outer);
        const int64_t length = box->high[axis] - box->low[axis];
        w->run *= length;
        whole = length == s->shape[axis];
    }
    for (int k = 0; k < w->outer; k++)
        w->index[k] = box->low[axis_at(s, k)];
}

/* The index of the run's first element in the source's order. */
static int64_t run_start(const walk *w)
{
    const ga_source *s = w->source;
    int64_t start = 0;

    for (int k = 0; k < s->ndim; k++) {
        const int axis = axis_at(s, k);
        start = start * s->shape[axis] + (k < w->outer ? w->index[k] : w->box->low[axis]);
    }
    return start;
}

static void next_run(walk *w)
{
    w->done = 0;
    for (int k = w->outer - 1; k >= 0; k--) {
        const int axis = axis_at(w->source, k);
        if (++w->index[k] < w->box->high[axis])
            return;
        w->index[k] = w->box->low[axis];
    }
}

/* Reads a part of a run; raises an error that the user's function has not raised itself. */
static ga_status read_run(const ga_source *s, int64_t first, int64_t count, void *elements)
{
    const ga_status status = s->read(s->user, first, count, elements);

    if (status != GA_OK)
        return ga__fail(status, "source: cannot read %lld elements from element %lld on",
                        (long long)count, (long long)first);
    if (!s->path)
        ga__dtype_normalise(s->dtype, elements, (size_t)count);
    return GA_OK;
}

static ga_status read_walk(void *context, void *bytes, size_t nbytes)
{
    walk *w = context;
    const size_t itemsize = ga__dtype_size(w->source->dtype);
    char *to = bytes;

    for (int64_t left = (int64_t)(nbytes / itemsize); left > 0;) {
        const int64_t rest = w->run - w->done, count = rest < left ? rest : left;
        const ga_status status = read_run(w->source, run_start(w) + w->done, count, to);
        if (status != GA_OK)
            return status;
        to += (size_t)count * itemsize;
        left -= count;
        w->done += count;
        if (w->done == w->run)
            next_run(w);
    }
    return GA_OK;
}

ga_status ga__source_load(const ga_source *source, const ga__box *box, ga__staging *staging,
                          gpuarray *x, size_t at)
{
    walk w;

    walk_init(&w, source, box);
    const size_t size = (size_t)ga__box_size(box, source->ndim);
    return ga__staging_in(staging, x, at, size * ga__dtype_size(source->dtype), read_walk, &w);
}

gpuarray *ga__source_view(const ga_source *source, const ga__box *box, const gpuarray *x)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    int64_t stride = (int64_t)ga__dtype_size(source->dtype);

    for (int k = source->ndim - 1; k >= 0; k--) {
        const int axis = axis_at(source, k);
        shape[axis] = box->high[axis] - box->low[axis];
        strides[axis] = stride;
        stride *= shape[axis];
    }
    return ga__array_view(x, source->dtype, source->ndim, shape, strides, 0);
}
