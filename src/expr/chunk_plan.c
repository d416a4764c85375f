/* Plans the evaluation of data that does not fit memory: sweeps over chunks of rows. */
#include "expr/chunk_plan.h"

#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/text/lexer.h"
#include "kernels/request.h"

/* The axis along which a step can be split: its first one longer than 1. */
typedef struct split_axis {
    int depth; /* the number of axes up to and including it; 0: the step cannot be split */
    int64_t length;
    bool local; /* its result is split like its data: these axes are not reduced */
    bool kept;
    int level; /* the number of sweeps that must come before */
} split_axis;

typedef struct splitter {
    const ga__plan *plan;
    const ga_named *args;
    const char *text;
    const ga__room *room;
    bool at_once;
    split_axis *split_axes; /* by step */
    bool *placed;           /* by step: its kept result belongs to a sweep already */
    uint64_t whole;         /* sources that are loaded completely so far */
    int64_t resident;       /* bytes of the arrays that every chunk needs */
    ga__split *split;
} splitter;

/* ---- Shapes ---- */

static const ga__node *node_of(const splitter *s, int k)
{
    return &s->plan->graph.nodes[k];
}

static const ga__node *domain_of(const splitter *s, const ga__step *step)
{
    return node_of(s, step->domain);
}

/* Bytes at one index of the axes before `axis`. */
static int64_t bytes_within(const ga__node *node, int axis)
{
    int64_t bytes = (int64_t)ga__dtype_size(node->dtype);
    for (; axis < node->ndim; axis++)
        bytes *= node->shape[axis];
    return bytes;
}

static const ga_source *source_of(const ga_named *args, const ga__input *input)
{
    if (input->source != GA__FROM_ARGUMENT)
        return NULL;
    const ga_value *value = &args[input->index].value;
    return value->kind == GA_VALUE_SOURCE ? value->as.source : NULL;
}

/* Whether the result keeps the first `depth` axes of the step's data. */
static bool keeps_axes(const ga__step *step, const ga__node *domain, int depth)
{
    if (step->scan && step->axes == 0)
        return false;
    for (int axis = 0; axis < depth; axis++)
        if (step->axes >> axis & 1 && (!step->keepdims || domain->shape[axis] > 1))
            return false;
    return true;
}

/* Whether the step reduces all of them. */
static bool reduces_axes(const ga__step *step, const ga__node *domain, int depth)
{
    for (int axis = 0; axis < depth; axis++)
        if (domain->shape[axis] > 1 && !(step->axes >> axis & 1))
            return false;
    return step->group.nparts > 0 && !step->scan;
}

/* Whether the node has the domain's axes before `depth`. */
static bool spans(const ga__node *node, const ga__node *domain, int depth)
{
    return node->ndim == domain->ndim &&
           memcmp(node->shape, domain->shape, (size_t)depth * sizeof(int64_t)) == 0;
}

/* ---- Steps that can run chunk by chunk ---- */

static void find_split_axis(const splitter *s, const ga__step *step, split_axis *c)
{
    const ga__node *domain = domain_of(s, step);
    int axis = 0;
    *c = (split_axis){.depth = 0};
    if (step->product) /* its operands lie in memory as a whole */
        return;
    while (axis < domain->ndim && domain->shape[axis] == 1)
        axis++;
    if (axis == domain->ndim || ga__shape_size(domain->ndim, domain->shape) == 0)
        return;
    c->local = keeps_axes(step, domain, axis + 1);
    if (!c->local && !reduces_axes(step, domain, axis + 1))
        return;
    c->depth = axis + 1;
    c->length = domain->shape[axis];
}

static bool split_alike(const split_axis *a, const split_axis *b)
{
    return a->depth == b->depth && a->length == b->length;
}

/* Whether the input is the array itself, not a view of it. */
static bool reads_all(const splitter *s, const ga__input *input)
{
    return node_of(s, input->node)->key.kind != GA__NODE_VIEW;
}

/* The array that an input is, or is a view of. */
static const ga__node *viewed_by(const splitter *s, const ga__input *input)
{
    return node_of(s, ga__viewed_node(&s->plan->graph, input->node));
}

/* Whether `user` can read the results of a step chunk by chunk. */
static bool feeds(const splitter *s, const ga__input *input, int user)
{
    const int step = input->index;
    const split_axis *from = &s->split_axes[step], *to = &s->split_axes[user];
    const ga__step *steps = s->plan->steps;
    return reads_all(s, input) && from->local && from->depth > 0 && split_alike(from, to) &&
           spans(node_of(s, steps[step].group.result[0]), domain_of(s, &steps[user]), to->depth);
}

static void find_split_axes(splitter *s)
{
    const int last = s->plan->nsteps - 1;
    for (int k = 0; k <= last; k++) {
        const ga__step *step = &s->plan->steps[k];
        split_axis *c = &s->split_axes[k];
        find_split_axis(s, step, c);
        c->kept = !c->local || k == last;
        for (int i = 0; i < step->ninputs; i++) {
            if (step->inputs[i].source != GA__FROM_STEP)
                continue;
            split_axis *from = &s->split_axes[step->inputs[i].index];
            const bool fed = feeds(s, &step->inputs[i], k);
            const int level = from->level + (from->depth > 0 && !fed);
            from->kept |= !fed;
            c->level = level > c->level ? level : c->level;
        }
    }
}

/* ---- One sweep ---- */

static int64_t whole_limit(const splitter *s)
{
    return s->at_once ? INT64_MAX : s->room->whole;
}

static bool takes_chunks(const splitter *s, const ga__part *part, int depth, const ga__input *input)
{
    const ga__step *step = &s->plan->steps[part->step];
    return depth > 0 && !s->at_once && reads_all(s, input) && source_of(s->args, input) &&
           spans(node_of(s, input->node), domain_of(s, step), depth);
}

/* Finds the sources that the sweep reads chunk by chunk, and those that it needs completely. */
static void find_reads(const splitter *s, ga__sweep *sweep, int depth)
{
    sweep->streamed_args = sweep->whole = 0;
    for (int p = 0; p < sweep->nparts; p++) {
        const ga__step *step = &s->plan->steps[sweep->parts[p].step];
        for (int i = 0; i < step->ninputs; i++) {
            const ga__input *input = &step->inputs[i];
            if (!source_of(s->args, input))
                continue;
            if (takes_chunks(s, &sweep->parts[p], depth, input))
                sweep->streamed_args |= (uint64_t)1 << input->index;
            else
                sweep->whole |= (uint64_t)1 << input->index;
        }
    }
    sweep->whole |= sweep->streamed_args & s->whole; /* loaded already */
    sweep->streamed_args &= ~sweep->whole;
}

/* The bytes of one row of everything that a chunk holds. */
static int64_t row_bytes(const splitter *s, const ga__sweep *sweep, int depth)
{
    uint64_t counted = 0;
    int64_t bytes = 0;
    for (int p = 0; p < sweep->nparts; p++) {
        const int k = sweep->parts[p].step;
        const ga__step *step = &s->plan->steps[k];
        const bool stays = s->split_axes[k].kept && !(k == s->plan->nsteps - 1 && s->room->saves);
        if (s->split_axes[k].local && !stays)
            bytes = ga__add_sizes(bytes, bytes_within(node_of(s, step->group.result[0]), depth));
        for (int i = 0; i < step->ninputs; i++) {
            const uint64_t bit = (uint64_t)1 << (step->inputs[i].index & 63);
            if (!source_of(s->args, &step->inputs[i]) || !(sweep->streamed_args & bit) ||
                counted & bit)
                continue;
            counted |= bit;
            bytes = ga__add_sizes(bytes, bytes_within(node_of(s, step->inputs[i].node), depth));
        }
    }
    return bytes;
}

/* Whether all parts can be split along one more axis. */
static bool goes_deeper(const splitter *s, const ga__sweep *sweep, int depth)
{
    const ga__node *first = domain_of(s, &s->plan->steps[sweep->parts[0].step]);
    for (int p = 0; p < sweep->nparts; p++) {
        const int k = sweep->parts[p].step;
        const ga__step *step = &s->plan->steps[k];
        const ga__node *domain = domain_of(s, step);
        if (domain->ndim <= depth || domain->shape[depth] != first->shape[depth])
            return false;
        if (s->split_axes[k].local ? !keeps_axes(step, domain, depth + 1)
                                   : !reduces_axes(step, domain, depth + 1))
            return false;
    }
    return true;
}

static void choose_rows(ga__sweep *sweep, int64_t bytes, int64_t room)
{
    const int64_t length = sweep->lengths[sweep->depth - 1];
    int64_t most = bytes > 0 ? room / bytes : length;
    most = most < length ? most : length;
    const int64_t pieces = ga__ceil_div(length, most);
    sweep->rows = ga__ceil_div(length, pieces);
    sweep->chunks = ga__ceil_div(length, sweep->rows);
    for (int axis = 0; axis < sweep->depth - 1; axis++)
        sweep->chunks *= sweep->lengths[axis];
}

/* Chooses the smallest number of axes whose rows fit. */
static ga_status choose_depth(const splitter *s, ga__sweep *sweep)
{
    const int k = sweep->parts[sweep->nparts - 1].step;
    const ga__node *domain = domain_of(s, &s->plan->steps[k]);
    int depth = s->split_axes[k].depth;
    sweep->rows = sweep->chunks = 1;
    find_reads(s, sweep, depth);
    if (depth == 0 || s->at_once)
        return GA_OK;
    int64_t bytes = row_bytes(s, sweep, depth);
    while (bytes > s->room->chunk && goes_deeper(s, sweep, depth)) {
        find_reads(s, sweep, ++depth);
        bytes = row_bytes(s, sweep, depth);
    }
    if (bytes > s->room->chunk)
        return ga__eval_fail(
            s->text, node_of(s, s->plan->steps[k].group.result[0])->at, GA_ERR_UNSUPPORTED,
            "one row takes %" PRId64 " bytes here, more than the chunk size %" PRId64, bytes,
            s->room->chunk);
    sweep->depth = depth;
    memcpy(sweep->lengths, domain->shape, (size_t)depth * sizeof(int64_t));
    choose_rows(sweep, bytes, s->room->chunk);
    return GA_OK;
}

static ga_status add_resident(splitter *s, const char *what, size_t at, int64_t bytes)
{
    s->resident = ga__add_sizes(s->resident, bytes);
    if (s->resident <= whole_limit(s))
        return GA_OK;
    return ga__eval_fail(s->text, at, GA_ERR_UNSUPPORTED,
                         "%s must be in memory completely: that takes %" PRId64
                         " bytes with the other such arrays, and %" PRId64 " are available",
                         what, s->resident, whole_limit(s));
}

/* Decides how a part gets its inputs, and counts the bytes that stay in memory. */
static ga_status place_part(splitter *s, ga__sweep *sweep, ga__part *part)
{
    const ga__step *step = &s->plan->steps[part->step];
    const split_axis *c = &s->split_axes[part->step];
    const ga__node *result = node_of(s, step->group.result[0]);
    part->combined = !c->local && sweep->chunks > 1;
    for (int i = 0; i < step->ninputs; i++) {
        const ga__input *input = &step->inputs[i];
        if (input->source == GA__FROM_STEP && !s->placed[input->index])
            part->local |= (uint64_t)1 << i;
        if (!source_of(s->args, input))
            continue;
        const uint64_t bit = (uint64_t)1 << input->index;
        part->streamed_inputs |= sweep->streamed_args & bit ? (uint64_t)1 << i : 0;
        if (!(sweep->whole & ~s->whole & bit))
            continue;
        s->whole |= bit;
        const int64_t bytes = bytes_within(viewed_by(s, input), 0);
        sweep->bytes = ga__add_sizes(sweep->bytes, bytes);
        const ga_status status =
            add_resident(s, s->args[input->index].name, node_of(s, input->node)->at, bytes);
        if (status != GA_OK)
            return status;
    }
    const bool collected = c->kept && c->local && part->step != s->plan->nsteps - 1;
    return collected ? add_resident(s, "this", result->at, bytes_within(result, 0)) : GA_OK;
}

static ga_status place_sweep(splitter *s, ga__sweep *sweep)
{
    ga_status status = choose_depth(s, sweep);
    for (int p = 0; p < sweep->nparts && status == GA_OK; p++)
        status = place_part(s, sweep, &sweep->parts[p]);
    for (int k = 0; k < GA__MAX_EVAL_ARGS; k++)
        if (sweep->streamed_args >> k & 1) {
            const ga_source *x = s->args[k].value.as.source;
            const int64_t itemsize = (int64_t)ga__dtype_size(x->dtype);
            sweep->bytes =
                ga__add_sizes(sweep->bytes, ga__shape_bytes(x->ndim, x->shape, itemsize));
        }
    for (int p = 0; p < sweep->nparts; p++) {
        const int k = sweep->parts[p].step;
        s->placed[k] |= s->split_axes[k].kept;
        if (k == s->plan->nsteps - 1 && s->room->saves)
            sweep->bytes = ga__add_sizes(
                sweep->bytes, bytes_within(node_of(s, s->plan->steps[k].group.result[0]), 0));
    }
    s->split->bytes = ga__add_sizes(s->split->bytes, sweep->bytes);
    return status;
}

/* ---- All sweeps ---- */

/* Also marks the steps that feed the marked ones and are not kept elsewhere. */
static int mark_producers(const splitter *s, bool *marked)
{
    int count = 0;
    for (int k = s->plan->nsteps - 1; k >= 0; k--) {
        const ga__step *step = &s->plan->steps[k];
        for (int i = 0; marked[k] && i < step->ninputs; i++)
            if (step->inputs[i].source == GA__FROM_STEP &&
                !s->split_axes[step->inputs[i].index].kept)
                marked[step->inputs[i].index] = true;
        count += marked[k];
    }
    return count;
}

/* Adds the sweep that has step `first` and all others that can run with it. */
static ga_status add_sweep(splitter *s, int first, bool *marked)
{
    const int nsteps = s->plan->nsteps;
    ga__sweep *sweep = &s->split->sweeps[s->split->nsweeps];
    memset(marked, 0, (size_t)nsteps * sizeof(*marked));
    for (int k = first; k < nsteps; k++)
        marked[k] = s->split_axes[k].kept && s->split_axes[k].level == s->split_axes[first].level &&
                    split_alike(&s->split_axes[k], &s->split_axes[first]);
    const int count = mark_producers(s, marked);
    sweep->parts = ga__calloc((size_t)count, sizeof(*sweep->parts));
    if (!sweep->parts)
        return ga_error();
    s->split->nsweeps++;
    for (int k = 0; k < nsteps; k++)
        if (marked[k])
            sweep->parts[sweep->nparts++].step = k;
    return place_sweep(s, sweep);
}

/* Adds the sweeps level by level. On each level, steps that are not split come first, because
 * others may use them. */
static ga_status add_sweeps(splitter *s, bool *marked)
{
    const int nsteps = s->plan->nsteps;
    ga_status status = GA_OK;
    for (int level = 0; level <= s->split_axes[nsteps - 1].level; level++)
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < nsteps && status == GA_OK; k++)
                if (s->split_axes[k].kept && !s->placed[k] && s->split_axes[k].level == level &&
                    (s->split_axes[k].depth > 0) == (pass == 1))
                    status = add_sweep(s, k, marked);
    return status;
}

/* The bytes of the sources that the plan reads, plus those of all steps' results. */
static int64_t plan_bytes(const ga__plan *plan, const ga_named *args)
{
    uint64_t counted = 0;
    int64_t bytes = 0;
    for (int k = 0; k < plan->nsteps; k++) {
        const ga__step *step = &plan->steps[k];
        bytes = ga__add_sizes(bytes, bytes_within(&plan->graph.nodes[step->group.result[0]], 0));
        for (int i = 0; i < step->ninputs; i++) {
            const ga__input *input = &step->inputs[i];
            const uint64_t bit = (uint64_t)1 << (input->index & 63);
            if (!source_of(args, input) || counted & bit)
                continue;
            counted |= bit;
            const int read = ga__viewed_node(&plan->graph, input->node);
            bytes = ga__add_sizes(bytes, bytes_within(&plan->graph.nodes[read], 0));
        }
    }
    return bytes;
}

static ga_status split_plan(splitter *s)
{
    const size_t n = (size_t)s->plan->nsteps;
    ga__split *split = s->split;
    *split = (ga__split){.nsweeps = 0};
    s->split_axes = ga__calloc(n + 1, sizeof(*s->split_axes));
    s->placed = ga__calloc(2 * n + 1, sizeof(*s->placed));
    split->sweeps = ga__calloc(n + 1, sizeof(*split->sweeps));
    split->kept = ga__calloc(n + 1, sizeof(*split->kept));
    ga_status status =
        s->split_axes && s->placed && split->sweeps && split->kept ? GA_OK : ga_error();
    if (status == GA_OK && n > 0) {
        find_split_axes(s);
        for (size_t k = 0; k < n; k++)
            split->kept[k] = s->split_axes[k].kept;
        status = add_sweeps(s, s->placed + n);
    }
    ga__free(s->placed);
    ga__free(s->split_axes);
    if (status != GA_OK)
        ga__split_reset(split);
    return status;
}

ga_status ga__split_make(ga__split *split, const ga__plan *plan, const ga_named *args,
                         const char *text, const ga__room *room)
{
    if (plan->graph.ngathers > 0 || plan->graph.selects)
        return ga__fail(GA_ERR_UNSUPPORTED, "eval_chunked: an array of %s",
                        plan->graph.selects ? "truths chooses elements" : "indices");
    const int64_t all = plan_bytes(plan, args);
    splitter s = {.plan = plan, .args = args, .text = text, .room = room, .split = split};
    const ga__saved_error before = ga__error_save();
    s.at_once = all <= room->chunk;
    ga_status status = split_plan(&s);
    if (status == GA_ERR_UNSUPPORTED && all <= room->otherwise) {
        ga_clear_error();
        s = (splitter){.plan = plan, .args = args, .room = room, .split = split, .at_once = true};
        status = split_plan(&s);
    }
    ga__error_settle(before);
    return status;
}

void ga__split_reset(ga__split *split)
{
    for (int k = 0; k < split->nsweeps; k++)
        ga__free(split->sweeps[k].parts);
    ga__free(split->sweeps);
    ga__free(split->kept);
    *split = (ga__split){.nsweeps = 0};
}

void ga__sweep_box(const ga__sweep *sweep, int64_t chunk, ga__box *box)
{
    const int last = sweep->depth - 1;
    if (sweep->depth == 0)
        return;
    const int64_t length = sweep->lengths[last], pieces = ga__ceil_div(length, sweep->rows);
    int64_t outer = chunk / pieces;
    box->low[last] = chunk % pieces * sweep->rows;
    box->high[last] = length - box->low[last] < sweep->rows ? length : box->low[last] + sweep->rows;
    for (int axis = last - 1; axis >= 0; axis--) {
        box->low[axis] = outer % sweep->lengths[axis];
        box->high[axis] = box->low[axis] + 1;
        outer /= sweep->lengths[axis];
    }
}
