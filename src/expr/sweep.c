/* Runs a sweep over sources: computes each chunk while the next one is read and the previous one is
 * written. */
#include "expr/sweep.h"

#include <string.h>

#include "array/staging.h"
#include "base/alloc.h"
#include "base/worker.h"
#include "base/error.h"
#include "base/os/process.h"

/* The memory that one chunk is read and computed into. */
typedef struct buffers {
    ga__box box;
    gpuarray *read[GA__MAX_EVAL_ARGS]; /* by argument: room for the largest chunk */
    gpuarray *result; /* for a result that goes to the file: room for the largest chunk */
    size_t nbytes;    /* of this chunk's result */
} buffers;

/* The state of a running sweep. */
typedef struct pass {
    ga__evaluation *s;
    const ga__sweep *sweep;
    bool writes; /* its chunks go to the file */
    buffers slots[2];
    ga__worker reader, writer;
    ga__staging in, out;
    int64_t reading, writing; /* the chunks that they process */
    ga__buffer **levels;      /* by part: the accumulators of the previous chunks */
} pass;

/* ---- Progress ---- */

ga_status ga__evaluation_report(ga__evaluation *s, int64_t bytes)
{
    s->done += bytes;
    if (!s->how || !s->how->progress || s->how->progress(s->done, s->split.bytes, s->how->user))
        return GA_OK;
    return ga__fail(GA_ERR_CANCELLED, "eval: stopped after %lld of %lld bytes", (long long)s->done,
                    (long long)s->split.bytes);
}

/* ---- Sources that are needed completely ---- */

static ga_status load_slabs(ga__evaluation *s, const ga_source *source, ga__staging *staging,
                            gpuarray *memory)
{
    ga__box box;
    ga__source_box(source, &box);
    const int axis = ga__source_slow_axis(source);
    if (axis < 0) {
        const ga_status status = ga__source_load(source, &box, staging, memory, 0);
        return status == GA_OK ? ga__evaluation_report(s, (int64_t)ga__dtype_size(source->dtype))
                               : status;
    }
    const int64_t length = source->shape[axis];
    const int64_t row =
        ga__box_size(&box, source->ndim) / length * (int64_t)ga__dtype_size(source->dtype);
    const int64_t rows = row < GA__SLAB_BYTES ? GA__SLAB_BYTES / row : 1;
    ga_status status = GA_OK;
    for (int64_t low = 0; low < length && status == GA_OK; low += rows) {
        box.low[axis] = low;
        box.high[axis] = length - low < rows ? length : low + rows;
        status = ga__source_load(source, &box, staging, memory, (size_t)(low * row));
        if (status == GA_OK)
            status = ga__evaluation_report(s, (box.high[axis] - low) * row);
    }
    return status;
}

static ga_status load(ga__evaluation *s, int k, ga__staging *staging)
{
    const ga_source *source = s->args[k].value.as.source;
    const int64_t size = ga__shape_size(source->ndim, source->shape);
    gpuarray *memory = ga__array_new("eval", s->device, source->dtype, 1, &size);
    if (!memory)
        return ga_error();
    ga_status status = size > 0 ? load_slabs(s, source, staging, memory) : GA_OK;
    if (status == GA_OK) {
        ga__box box;
        ga__source_box(source, &box);
        s->loaded[k] = ga__source_view(source, &box, memory);
        status = s->loaded[k] ? GA_OK : ga_error();
    }
    ga_free(memory);
    return status;
}

static ga_status load_whole(ga__evaluation *s, uint64_t whole, ga__staging *staging)
{
    ga_status status = GA_OK;
    for (int k = 0; k < GA__MAX_EVAL_ARGS && status == GA_OK; k++)
        if (whole >> k & 1 && !s->loaded[k])
            status = load(s, k, staging);
    return status;
}

/* ---- Reading and writing, in threads of their own ---- */

/* The chunk's box on a source's own axes: the split axes come from the chunk, the others are
 * complete. */
static void source_box(const ga__sweep *sweep, const ga_source *source, const ga__box *chunk,
                       ga__box *box)
{
    ga__source_box(source, box);
    memcpy(box->low, chunk->low, (size_t)sweep->depth * sizeof(int64_t));
    memcpy(box->high, chunk->high, (size_t)sweep->depth * sizeof(int64_t));
}

static ga_status read_chunk(void *context)
{
    pass *p = context;
    buffers *slot = &p->slots[p->reading % 2];
    ga_status status = GA_OK;
    ga__sweep_box(p->sweep, p->reading, &slot->box);
    for (int k = 0; k < GA__MAX_EVAL_ARGS && status == GA_OK; k++) {
        if (!(p->sweep->streamed_args >> k & 1))
            continue;
        const ga_source *source = p->s->args[k].value.as.source;
        ga__box box;
        source_box(p->sweep, source, &slot->box, &box);
        status = ga__source_load(source, &box, &p->in, slot->read[k], 0);
    }
    return status;
}

ga_status ga__evaluation_append(void *context, const void *bytes, size_t nbytes)
{
    return ga__npy_append(context, bytes, nbytes);
}

static ga_status write_chunk(void *context)
{
    pass *p = context;
    const buffers *slot = &p->slots[p->writing % 2];
    return ga__staging_out(&p->out, slot->result, 0, slot->nbytes, ga__evaluation_append,
                           p->s->file);
}

/* ---- Computing a chunk ---- */

/* The part of an array that corresponds to the chunk when it broadcasts with data of `ndim`
 * axes. */
static gpuarray *restricted(const pass *p, const ga__box *box, const gpuarray *x, int ndim)
{
    int64_t shape[GA_MAX_NDIM], offset = 0;
    for (int axis = 0; axis < x->ndim; axis++) {
        const int its = axis + ndim - x->ndim;
        shape[axis] = x->shape[axis];
        if (its < 0 || its >= p->sweep->depth || shape[axis] == 1)
            continue;
        shape[axis] = box->high[its] - box->low[its];
        offset += box->low[its] * x->strides[axis];
    }
    return ga__array_view(x, x->dtype, x->ndim, shape, x->strides, offset);
}

/* A part's input in this chunk, of an array in memory. */
static gpuarray *input_of(const pass *p, const buffers *slot, const ga__part *part, int i,
                          const gpuarray *x)
{
    const ga__plan *plan = p->s->plan;
    const ga__step *step = &plan->steps[part->step];
    const int ndim = plan->graph.nodes[step->domain].ndim, node = step->inputs[i].node;
    if (plan->graph.nodes[node].key.kind != GA__NODE_VIEW)
        return restricted(p, &slot->box, x, ndim);
    gpuarray *view = ga__node_view(&plan->graph, node, x);
    gpuarray *input = view ? restricted(p, &slot->box, view, ndim) : NULL;
    ga_free(view);
    return input;
}

/* A new reference to a part's input in this chunk. */
static gpuarray *input_array(const pass *p, const buffers *slot, const ga__part *part, int i)
{
    const ga__evaluation *s = p->s;
    const ga__step *step = &s->plan->steps[part->step];
    const ga__input *input = &step->inputs[i];
    if (part->local >> i & 1)
        return ga_retain(s->local[input->index]);
    if (input->source == GA__FROM_STEP)
        return input_of(p, slot, part, i, s->kept[input->index]);
    const ga_value *value = &s->args[input->index].value;
    if (value->kind == GA_VALUE_ARRAY)
        return input_of(p, slot, part, i, value->as.array);
    if (!(part->streamed_inputs >> i & 1))
        return input_of(p, slot, part, i, s->loaded[input->index]);
    ga__box box;
    source_box(p->sweep, value->as.source, &slot->box, &box);
    return ga__source_view(value->as.source, &box, slot->read[input->index]);
}

static const ga__node *result_node(const ga__evaluation *s, int step)
{
    return &s->plan->graph.nodes[s->plan->steps[step].group.result[0]];
}

/* The array that outlives the chunks; the first chunk makes it. */
static gpuarray *kept_array(ga__evaluation *s, int k)
{
    const ga__node *node = result_node(s, k);
    if (!s->kept[k])
        s->kept[k] = ga__array_new("eval", s->device, node->dtype, node->ndim, node->shape);
    return s->kept[k];
}

/* A reference, which the caller owns, to the array that a part computes into. */
static gpuarray *output_array(pass *p, buffers *slot, const ga__part *part, int ndim,
                              const int64_t *shape)
{
    ga__evaluation *s = p->s;
    const ga_dtype dtype = result_node(s, part->step)->dtype;
    int64_t strides[GA_MAX_NDIM];
    if (p->writes && part->step == s->plan->nsteps - 1) {
        const size_t itemsize = ga__dtype_size(dtype);
        ga__contiguous_strides(ndim, shape, (int64_t)itemsize, strides);
        slot->nbytes = (size_t)ga__shape_size(ndim, shape) * itemsize;
        return ga__array_view(slot->result, dtype, ndim, shape, strides, 0);
    }
    if (!s->split.kept[part->step])
        return ga__array_new("eval", s->device, dtype, ndim, shape);
    gpuarray *whole = kept_array(s, part->step);
    if (p->sweep->chunks == 1 || part->combined)
        return ga_retain(whole);
    return whole ? restricted(p, &slot->box, whole, ndim) : NULL;
}

/* Chunks are counted in base CARRY_BASE: a level holds the accumulators of up to CARRY_BASE - 1
 * times as many chunks as the level below. In a sum of n chunks, each chunk therefore passes
 * through log n additions of a few terms, not n. */
enum { CARRY_BASE = 4 };

static int carry_levels(int64_t chunks)
{
    int levels = 0;
    for (int64_t rest = chunks - 1; rest > 0; rest /= CARRY_BASE)
        levels++;
    return levels;
}

static void carry_over(ga__carry *carry, int64_t chunk, int64_t chunks)
{
    int level = 0;
    int64_t rest = chunk;
    carry->merged = 0;
    for (; rest > 0 && (chunk == chunks - 1 || rest % CARRY_BASE == CARRY_BASE - 1); level++) {
        carry->merged |= (uint64_t)(rest % CARRY_BASE > 0) << level;
        rest /= CARRY_BASE;
    }
    carry->merged |= (uint64_t)(rest % CARRY_BASE > 0) << level;
    carry->level = chunk == chunks - 1 ? GA__CARRY_DONE : level;
}

/* Sets the carry of a combined part for this chunk. */
static ga_status make_carry(pass *p, const buffers *slot, int index, const gpuarray *out,
                            int64_t chunk, ga__carry *carry)
{
    const ga__part *part = &p->sweep->parts[index];
    const ga__step *step = &p->s->plan->steps[part->step];
    const ga__node *domain = &p->s->plan->graph.nodes[step->domain];
    int64_t first = 0, count = 1;
    for (int axis = 0; axis < domain->ndim; axis++) {
        const int64_t length = step->axes >> axis & 1 ? domain->shape[axis] : 1;
        first = first * length;
        if (axis < p->sweep->depth && length > 1)
            first += slot->box.low[axis];
        count *= length;
    }
    if (!p->levels[index])
        p->levels[index] =
            ga__buffer_new(p->s->device, (size_t)(out->size * carry_levels(p->sweep->chunks)) *
                                             ga__accumulator_bytes(&step->reduction));
    *carry = (ga__carry){.levels = p->levels[index], .first = first, .count = count};
    carry_over(carry, chunk, p->sweep->chunks);
    return carry->levels ? GA_OK : ga_error();
}

static ga_status launch_part(pass *p, buffers *slot, int index, int64_t chunk,
                             const gpuarray *const *arrays)
{
    ga__evaluation *s = p->s;
    const ga__part *part = &p->sweep->parts[index];
    const ga__step *step = &s->plan->steps[part->step];
    ga__binding b;
    ga__carry carry;
    int ndim;
    int64_t shape[GA_MAX_NDIM];
    if (!ga__step_bind(&b, s->plan, step, &s->numbers, arrays) ||
        !ga__step_shape(step, &b, &ndim, shape))
        return ga__fail(GA_ERR_INVALID, "eval: the arguments changed during the call");
    gpuarray *out = output_array(p, slot, part, ndim, shape);
    if (!out)
        return ga_error();
    s->local[part->step] = out;
    if (!part->combined)
        return ga__step_launch(step, s->plan, s->device, &b, &out, NULL);
    const ga_status status = make_carry(p, slot, index, out, chunk, &carry);
    return status == GA_OK ? ga__step_launch(step, s->plan, s->device, &b, &out, &carry) : status;
}

static ga_status compute_part(pass *p, buffers *slot, int index, int64_t chunk)
{
    const ga__part *part = &p->sweep->parts[index];
    const ga__step *step = &p->s->plan->steps[part->step];
    gpuarray *arrays[GA__MAX_OPERANDS] = {NULL};
    ga_status status = GA_OK;
    for (int i = 0; i < step->ninputs && status == GA_OK; i++) {
        if (step->inputs[i].source == GA__FROM_NUMBER)
            continue;
        arrays[i] = input_array(p, slot, part, i);
        status = arrays[i] ? GA_OK : ga_error();
    }
    if (status == GA_OK)
        status = launch_part(p, slot, index, chunk, (const gpuarray *const *)arrays);
    for (int i = 0; i < step->ninputs; i++)
        ga_free(arrays[i]);
    return status;
}

static ga_status compute_chunk(pass *p, int64_t chunk)
{
    ga__evaluation *s = p->s;
    buffers *slot = &p->slots[chunk % 2];
    ga_status status = GA_OK;
    for (int k = 0; k < p->sweep->nparts && status == GA_OK; k++)
        status = compute_part(p, slot, k, chunk);
    for (int k = 0; k < p->sweep->nparts; k++) {
        gpuarray **local = &s->local[p->sweep->parts[k].step];
        ga_free(*local);
        *local = NULL;
    }
    return status;
}

/* ---- A sweep ---- */

static ga_status open_slot(pass *p, buffers *slot)
{
    const ga__evaluation *s = p->s;
    int64_t outer = 1;
    for (int axis = 0; axis < p->sweep->depth; axis++)
        outer *= p->sweep->lengths[axis];
    for (int k = 0; k < GA__MAX_EVAL_ARGS; k++) {
        if (!(p->sweep->streamed_args >> k & 1))
            continue;
        const ga_source *source = s->args[k].value.as.source;
        const int64_t size = ga__shape_size(source->ndim, source->shape) / outer * p->sweep->rows;
        slot->read[k] = ga__array_new("eval", s->device, source->dtype, 1, &size);
        if (!slot->read[k])
            return ga_error();
    }
    if (!p->writes)
        return GA_OK;
    const ga__node *root = &s->plan->graph.nodes[s->plan->graph.root];
    const int64_t size = ga__shape_size(root->ndim, root->shape) / outer * p->sweep->rows;
    slot->result = ga__array_new("eval", s->device, root->dtype, 1, &size);
    return slot->result ? GA_OK : ga_error();
}

static ga_status pass_init(pass *p, ga__evaluation *s, const ga__sweep *sweep)
{
    const bool threads = sweep->chunks > 1;
    *p = (pass){.s = s, .sweep = sweep};
    const ga__part *last = &sweep->parts[sweep->nparts - 1];
    p->writes = s->file && threads && last->step == s->plan->nsteps - 1 && !last->combined;
    ga__worker_init(&p->reader, threads && sweep->streamed_args);
    ga__worker_init(&p->writer, p->writes);
    ga_status status = ga__staging_init(&p->in, s->device, (size_t)sweep->bytes);
    if (status == GA_OK)
        status = ga__staging_init(&p->out, s->device, p->writes ? (size_t)sweep->bytes : 0);
    if (status == GA_OK) {
        p->levels = ga__calloc((size_t)sweep->nparts, sizeof(*p->levels));
        status = p->levels ? GA_OK : ga_error();
    }
    for (int k = 0; k < 1 + threads && status == GA_OK; k++)
        status = open_slot(p, &p->slots[k]);
    return status;
}

static void pass_reset(pass *p)
{
    ga__worker_reset(&p->reader);
    ga__worker_reset(&p->writer);
    for (int k = 0; p->levels && k < p->sweep->nparts; k++)
        ga__buffer_release(p->levels[k]);
    ga__free(p->levels);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < GA__MAX_EVAL_ARGS; i++)
            ga_free(p->slots[k].read[i]);
        ga_free(p->slots[k].result);
    }
    ga__staging_reset(&p->in);
    ga__staging_reset(&p->out);
}

/* Called before the next chunk is launched: reading would wait for that launch. */
static ga_status start_reading(pass *p, int64_t chunk)
{
    ga_status status = GA_OK;
    if (chunk >= p->sweep->chunks)
        return GA_OK;
    gpuarray *const *read = p->slots[chunk % 2].read;
    for (int k = 0; k < GA__MAX_EVAL_ARGS && status == GA_OK; k++)
        if (read[k])
            status = ga__staging_order(&p->in, read[k], true);
    if (status != GA_OK)
        return status;
    p->reading = chunk;
    ga__worker_start(&p->reader, read_chunk, p);
    return GA_OK;
}

/* Called at the same point as start_reading(). */
static ga_status start_writing(pass *p, int64_t chunk)
{
    if (chunk < 0 || !p->writes)
        return GA_OK;
    const ga_status status = ga__staging_order(&p->out, p->slots[chunk % 2].result, false);
    if (status != GA_OK)
        return status;
    p->writing = chunk;
    ga__worker_start(&p->writer, write_chunk, p);
    return GA_OK;
}

/* While chunk c is computed, c + 1 is read and c - 1 is written. */
static ga_status run_chunks(pass *p, int64_t bytes)
{
    const int64_t chunks = p->sweep->chunks;
    ga__stream *stream = ga__current_stream(p->s->device);
    ga_status status = stream ? start_reading(p, 0) : ga_error();
    for (int64_t c = 0; c <= chunks && status == GA_OK; c++) {
        status = ga__worker_wait(&p->reader);
        if (status == GA_OK) /* chunk c - 1 is computed: its slot is free, and its result is
                              * there */
            status = stream->device->backend->stream.synchronize(stream);
        if (status == GA_OK)
            status = ga__worker_wait(&p->writer);
        if (status == GA_OK)
            status = start_writing(p, c - 1);
        if (status == GA_OK)
            status = start_reading(p, c + 1);
        if (c < chunks && status == GA_OK)
            status = compute_chunk(p, c);
        if (c < chunks && status == GA_OK)
            status = ga__evaluation_report(p->s, bytes / chunks + (c < bytes % chunks));
    }
    const ga_status written = ga__worker_wait(&p->writer);
    return status == GA_OK ? written : status;
}

ga_status ga__sweep_run(ga__evaluation *s, const ga__sweep *sweep)
{
    pass p;
    const int64_t before = s->done;
    ga_status status = pass_init(&p, s, sweep);
    if (status == GA_OK)
        status = load_whole(s, sweep->whole, &p.in);
    if (status == GA_OK)
        status = run_chunks(&p, sweep->bytes - (s->done - before));
    pass_reset(&p);
    return status;
}
