/* Evaluates expressions over sources, sweep by sweep, into a file or an array. */
#include "expr/chunked.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/os/process.h"
#include "base/range.h"
#include "expr/check_nan.h"
#include "expr/eval.h"
#include "expr/named.h"
#include "expr/sweep.h"
#include "ops/check_nan.h"

/* Arrays that every chunk needs may always take this much, however small the chunks are. */
#define LEAST_WHOLE ((int64_t)1 << 20)
/* Default bytes of a chunk. On the host, data that was just read is still in the cache when it is
 * computed; on a GPU, launches and copies must not be small. */
#define HOST_CHUNK ((int64_t)4 << 20)
#define CUDA_CHUNK ((int64_t)256 << 20)

/* Nothing is read while a compiler runs, but the caller can still cancel. */
static bool go_on(void *context)
{
    ga__evaluation *s = context;
    return ga__evaluation_report(s, 0) == GA_OK;
}

static ga__watch watch_of(ga__evaluation *s)
{
    const bool asks = s->how && s->how->progress;
    return (ga__watch){asks ? go_on : NULL, s};
}

static ga_status run_sweeps(ga__evaluation *s)
{
    const size_t n = (size_t)s->plan->nsteps;
    ga_status status = GA_OK;
    s->kept = ga__calloc(2 * n + 1, sizeof(*s->kept));
    if (!s->kept)
        return ga_error();
    s->local = s->kept + n;
    for (int k = 0; k < s->split.nsweeps && status == GA_OK; k++)
        status = ga__sweep_run(s, &s->split.sweeps[k]);
    return status;
}

/* Writes the result if it was not written chunk by chunk. */
static ga_status save_kept(ga__evaluation *s, const gpuarray *x)
{
    ga__staging staging;
    ga_status status = ga__staging_init(&staging, s->device, ga_nbytes(x));
    if (status != GA_OK)
        return status;
    const int64_t nbytes = (int64_t)ga_nbytes(x);
    for (int64_t at = 0; at < nbytes && status == GA_OK; at += GA__SLAB_BYTES) {
        const int64_t part = nbytes - at < GA__SLAB_BYTES ? nbytes - at : GA__SLAB_BYTES;
        status =
            ga__staging_out(&staging, x, (size_t)at, (size_t)part, ga__evaluation_append, s->file);
        if (status == GA_OK)
            status = ga__evaluation_report(s, 0);
    }
    ga__staging_reset(&staging);
    return status;
}

/* Computes into the file or into a new array. */
static ga_status compute(ga__evaluation *s, gpuarray **result)
{
    const int last = s->plan->nsteps - 1;
    gpuarray *x = NULL;
    ga_status status = run_sweeps(s);
    if (status == GA_OK && last < 0) {
        x = ga__number_array(s->device, ga__number_of(&s->numbers, s->plan, s->plan->graph.root));
        status = x ? GA_OK : ga_error();
    } else if (status == GA_OK) {
        x = s->kept[last];
        s->kept[last] = NULL;
    }
    if (status == GA_OK && s->file && x)
        status = save_kept(s, x);
    if (status == GA_OK && !s->file)
        *result = x;
    else
        ga_free(x);
    for (int k = 0; s->kept && k <= last; k++)
        ga_free(s->kept[k]);
    ga__free(s->kept);
    for (int k = 0; k < GA__MAX_EVAL_ARGS; k++)
        ga_free(s->loaded[k]);
    return status;
}

/* ---- QUARRY_CHECK=nan ---- */

static int64_t source_bytes(int count, const ga_named *args)
{
    int64_t bytes = 0;
    for (int k = 0; k < count; k++)
        if (args[k].value.kind == GA_VALUE_SOURCE) {
            const ga_source *x = args[k].value.as.source;
            bytes = ga__add_sizes(
                bytes, ga__shape_bytes(x->ndim, x->shape, (int64_t)ga__dtype_size(x->dtype)));
        }
    return bytes;
}

static ga_status load_sources(int count, const ga_named *args, ga_named *loaded)
{
    for (int k = 0; k < count; k++) {
        loaded[k] = args[k];
        if (args[k].value.kind != GA_VALUE_SOURCE)
            continue;
        gpuarray *x = (ga_eval_chunked)(0, NULL, args[k].name, 1, &args[k]);
        if (!x)
            return ga_error();
        loaded[k].value = ga_value_array(x);
    }
    return GA_OK;
}

/* Checks the evaluation operation by operation if the sources fit a quarter of the free memory.
 * `result` is NULL if it is in the file. */
__attribute__((noinline, cold)) static ga_status check_nan(const ga__evaluation *s,
                                                           const gpuarray *result)
{
    ga_named loaded[GA__MAX_EVAL_ARGS];
    ga__memory_state memory;
    s->device->backend->memory.state(s->device, &memory);
    if (source_bytes(s->count, s->args) > (int64_t)(memory.available / 4))
        return GA_OK;
    ga__check_begin();
    ga_status status = load_sources(s->count, s->args, loaded);
    if (status == GA_OK)
        status = ga__eval_check_nan(s->text, NULL, result, s->count, loaded);
    ga__check_end();
    return status;
}

static ga_status compute_to_array(ga__evaluation *s, gpuarray **result)
{
    gpuarray *x = NULL;
    ga_status status = compute(s, &x);
    if (status == GA_OK && ga__checks_nan())
        status = check_nan(s, x);
    if (status == GA_OK)
        *result = x;
    else
        ga_free(x);
    return status;
}

static ga_status compute_to_file(ga__evaluation *s, const char *path)
{
    const ga__node *root = &s->plan->graph.nodes[s->plan->graph.root];
    ga__npy_writer file;
    ga_status status = ga__npy_create(&file, path, root->dtype, root->ndim, root->shape);
    if (status != GA_OK)
        return status;
    s->file = &file;
    status = compute(s, NULL);
    if (status == GA_OK && ga__checks_nan())
        status = check_nan(s, NULL);
    if (status == GA_OK)
        return ga__npy_finish(&file);
    ga__npy_discard(&file);
    return status;
}

/* The default chunk size does not depend on the free memory, so that sums have the same bits in
 * every run. */
ga_status ga__room_make(ga__room *room, const ga_chunks *chunks, ga__device *device, bool saves)
{
    const int64_t bytes = chunks ? chunks->bytes : 0;
    if (bytes < 0)
        return ga__fail(GA_ERR_INVALID, "eval: the chunk size %lld is negative", (long long)bytes);
    *room = (ga__room){.chunk = bytes, .whole = bytes, .saves = saves};
    if (bytes == 0) {
        ga__memory_state memory;
        device->backend->memory.state(device, &memory);
        room->chunk = ga__on_host(device) ? HOST_CHUNK : CUDA_CHUNK;
        room->whole = (int64_t)(memory.available / 4);
        room->otherwise = (int64_t)(memory.available / 4 * 3);
    }
    if (room->whole < LEAST_WHOLE)
        room->whole = LEAST_WHOLE;
    return GA_OK;
}

/* Evaluates into a file at `path`, or into a new array if that is NULL. */
static ga_status evaluate(const char *path, const ga_chunks *chunks, const char *expression,
                          int count, const ga_named *args, gpuarray **result)
{
    ga__evaluation s = {.text = expression, .count = count, .args = args, .how = chunks};
    ga__room room;
    GA__RANGE(expression);
    if (!ga__not_recording("eval_chunked"))
        return GA_ERR_UNSUPPORTED;
    ga_status status = ga__eval_check(count, args, true, &s.device);
    if (status == GA_OK)
        status = ga__room_make(&room, chunks, s.device, path != NULL);
    if (status != GA_OK)
        return status;
    ga__plan *plan = ga__eval_plan(expression, NULL, s.device, count, args, 1);
    if (!plan)
        return ga_error();
    s.plan = plan;
    if (!ga__numbers_make(&s.numbers, plan, args))
        status = ga__fail(GA_ERR_INVALID, "eval: the arguments changed during the call");
    if (status == GA_OK)
        status = ga__split_make(&s.split, plan, args, expression, &room);
    const ga__watch before = ga__watch_set(watch_of(&s));
    if (status == GA_OK)
        status = path ? compute_to_file(&s, path) : compute_to_array(&s, result);
    (void)ga__watch_set(before);
    ga__split_reset(&s.split);
    ga__plan_free(plan);
    return status;
}

ga_status ga__chunks_read(ga_chunks *known, size_t size, const ga_chunks *chunks)
{
    *known = (ga_chunks){0};
    return chunks ? ga__options_read("eval", known, sizeof *known, chunks, size) : GA_OK;
}

gpuarray *(ga_eval_chunked)(size_t size, const ga_chunks *chunks, const char *expression, int count,
                            const ga_named *args)
{
    ga_chunks known;
    gpuarray *result = NULL;
    if (ga__chunks_read(&known, size, chunks) != GA_OK)
        return NULL;
    return evaluate(NULL, &known, expression, count, args, &result) == GA_OK ? result : NULL;
}

ga_status(ga_eval_save)(const char *path, size_t size, const ga_chunks *chunks,
                        const char *expression, int count, const ga_named *args)
{
    ga_chunks known;
    const ga_status status = ga__chunks_read(&known, size, chunks);
    if (status != GA_OK)
        return status;
    if (!path)
        return ga__fail(GA_ERR_INVALID, "eval: the path is NULL");
    return evaluate(path, &known, expression, count, args, NULL);
}
