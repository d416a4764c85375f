/* Chooses the tiles of an elementwise kernel on CUDA: which part of each axis a block computes. */
#include "kernels/cuda/tile_plan.h"

#include "kernels/request.h"

#define TILES_AT_ONCE 3       /* whose stages a multiprocessor holds, */
#define MOST_BYTES (64 << 10) /* of this size at most: measured, */
#define LEAST_BYTES (4 << 10) /* and at least where tiles would be too few */
#define LINE 128              /* bytes that neighbouring threads store together */
#define SECTOR 32             /* bytes that memory moves at least */
#define BANKS 8               /* of 16 bytes */
#define LINE_SHIFT 3          /* log2 of the vectors of a line */
#define TURNS 4               /* of a thread where no operand is staged */
#define MANY_TILES 8          /* times the fewest tiles: with less, a thread takes fewer turns */

typedef ga__tile tile;
typedef ga__tile_request wanted;

/* ---- Stretches ---- */

static bool joins(const ga__nest *nest, int written, int axis)
{
    for (int place = 0; place < written; place++)
        if (nest->strides[place][axis] != nest->strides[place][axis - 1] * nest->shape[axis - 1])
            return false;
    return true;
}

static bool begins(const ga__nest *nest, int written)
{
    for (int place = 0; place < written; place++)
        if (nest->strides[place][0] != 1)
            return false;
    return true;
}

int ga__tile_run(const ga__nest *nest, int written)
{
    int run = 1;
    while (run < nest->ndim && begins(nest, written) && joins(nest, written, run))
        run++;
    return run;
}

/* A stretch that may grow: its bytes, and the axis along which; -1 for none. */
typedef struct stretch {
    int64_t bytes;
    int axis;
} stretch;

static stretch result_stretch(const tile *t, const ga__nest *nest, const wanted *w)
{
    stretch s = {w->size, begins(nest, w->written) ? 0 : -1};
    for (int axis = 0; s.axis >= 0; axis++) {
        s.bytes *= t->extent[axis];
        s.axis = axis;
        if (t->extent[axis] < nest->shape[axis])
            return s;
        if (axis + 1 == nest->ndim || !joins(nest, w->written, axis + 1))
            s.axis = -1;
    }
    return s;
}

/* The axis of the shortest positive stride in bytes from `from` on that is not done; -1. */
static int next_axis(const ga__nest *nest, const ga__stage *s, uint32_t done)
{
    int best = -1;
    for (int axis = 0; axis < nest->ndim; axis++) {
        const int64_t stride = nest->strides[s->place][axis];
        if (stride > 0 && !(done >> axis & 1) &&
            (best < 0 || stride < nest->strides[s->place][best]))
            best = axis;
    }
    return best;
}

/* Gaps of less than a sector count as part of the stretch: memory moves them all the same. */
static stretch stage_stretch(const tile *t, const ga__nest *nest, const ga__stage *s, uint32_t *in)
{
    stretch r = {s->size, -1};
    uint32_t done = 0;
    *in = 0;
    for (int axis; (axis = next_axis(nest, s, done)) >= 0; done |= 1u << axis) {
        const int64_t stride = nest->strides[s->place][axis] * s->size;
        if (stride - r.bytes >= SECTOR)
            return r;
        *in |= 1u << axis;
        r.bytes += (t->extent[axis] - 1) * stride;
        if (t->extent[axis] < nest->shape[axis]) {
            r.axis = axis;
            return r;
        }
    }
    return r;
}

/* ---- The extents ---- */

static int64_t volume(const tile *t, const ga__nest *nest)
{
    int64_t elements = 1;
    for (int axis = 0; axis < nest->ndim; axis++)
        elements *= t->extent[axis];
    return elements;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The axis to extend: of the shorter stretch, or any where neither can grow. */
static int axis_to_grow(const tile *t, const ga__nest *nest, const wanted *w)
{
    uint32_t in;
    const stretch out = result_stretch(t, nest, w),
                  from = stage_stretch(t, nest, &t->stage[0], &in);
    if (out.axis >= 0 && (from.axis < 0 || out.bytes <= from.bytes))
        return out.axis;
    int axis = from.axis >= 0 ? from.axis : 0;
    while (axis < nest->ndim && t->extent[axis] == nest->shape[axis])
        axis++;
    return axis < nest->ndim ? axis : -1;
}

/* Extends the axis to its whole length if the other stretch then still has a line, or nearly. */
static bool take_whole(tile *t, const ga__nest *nest, const wanted *w, int axis, int64_t budget)
{
    uint32_t in;
    if (axis < 0)
        return false;
    const tile before = *t;
    t->extent[axis] = nest->shape[axis];
    const int out = result_stretch(t, nest, w).axis,
              from = stage_stretch(t, nest, &t->stage[0], &in).axis,
              other = out >= 0 && t->extent[out] > 1 ? out : from;
    if (other >= 0) {
        const int64_t left = budget / (volume(t, nest) / t->extent[other]);
        t->extent[other] = least(left, t->extent[other]);
        if (left > 0 && result_stretch(t, nest, w).bytes >= LINE * 3 / 4 &&
            stage_stretch(t, nest, &t->stage[0], &in).bytes >= LINE * 3 / 4)
            return true;
    }
    *t = before;
    return false;
}

/* Doubles axes in turn. An axis that two tiles would share is whole if it can be. */
static void grow(tile *t, const ga__nest *nest, const wanted *w, int64_t budget)
{
    uint32_t in;
    for (int axis = 0; axis < nest->ndim; axis++)
        t->extent[axis] = 1;
    for (int axis; (axis = axis_to_grow(t, nest, w)) >= 0;) {
        const int64_t before = t->extent[axis];
        t->extent[axis] = least(2 * before, nest->shape[axis]);
        if (volume(t, nest) <= budget)
            continue;
        t->extent[axis] = before;
        if (!take_whole(t, nest, w, stage_stretch(t, nest, &t->stage[0], &in).axis, budget))
            take_whole(t, nest, w, result_stretch(t, nest, w).axis, budget);
        return;
    }
}

static int64_t round_up(int64_t a, int64_t unit)
{
    return ga__ceil_div(a, unit) * unit;
}

/* Elements of the run's inner axes. */
static int64_t inner_of(const tile *t, const ga__nest *nest)
{
    int64_t inner = 1;
    for (int axis = 0; axis < t->run - 1; axis++)
        inner *= nest->shape[axis];
    return inner;
}

/* The least number of steps of `inner` elements that is a multiple of `whole` elements. */
static int64_t unit_of(int64_t inner, int64_t whole)
{
    int64_t unit = whole;
    while (unit > 1 && unit / 2 * inner % whole == 0)
        unit /= 2;
    return unit;
}

/* The length of parts of at most `most`, such that parts, `inner` elements a step, begin at a
 * multiple of as many bytes of a line as make each an eighth shorter, or all an eighth longer, at
 * most. */
static int64_t equal_parts(const tile *t, int64_t shape, int64_t most, int64_t inner, int64_t size)
{
    const int64_t steps = ga__ceil_div(shape, ga__ceil_div(shape, most));
    for (int64_t bytes = LINE; bytes >= t->align * size; bytes /= 2) {
        const int64_t unit = unit_of(inner, bytes / size), longer = round_up(steps, unit),
                      length = longer <= most ? longer : most / unit * unit;
        if (length >= steps - steps / 8 && round_up(shape, length) - shape <= shape / 8)
            return length;
    }
    return steps;
}

static void find_run(tile *t, const ga__nest *nest, const wanted *w)
{
    const int most = ga__tile_run(nest, w->written);
    t->run = 1;
    while (t->run < most && t->extent[t->run - 1] == nest->shape[t->run - 1] &&
           t->extent[t->run] > 1)
        t->run++;
}

/* Stretches of whole lines of a stage that begin anywhere take a vector more. Those of one vector
 * less begin in the same bank, whatever their number. */
static void spare_a_vector(tile *t, const ga__nest *nest, const wanted *w)
{
    const ga__stage *s = &t->stage[0];
    uint32_t in;
    const stretch from = stage_stretch(t, nest, s, &in);
    const int axis = from.axis;
    if (axis < 0 || nest->strides[s->place][axis] != 1 || from.bytes % LINE != 0 ||
        result_stretch(t, nest, w).axis == axis)
        return;
    bool aligned = s->begin % GA__VECTOR_BYTES == 0;
    for (int k = 0; k < nest->ndim; k++)
        aligned =
            aligned && (k == axis || nest->strides[s->place][k] * s->size % GA__VECTOR_BYTES == 0);
    if (!aligned)
        t->extent[axis] -= GA__VECTOR_BYTES / s->size;
}

/* Cuts the axes in equal parts; the run's last one fills the budget. */
static void fit(tile *t, const ga__nest *nest, const wanted *w, int64_t budget)
{
    spare_a_vector(t, nest, w);
    for (int axis = 0; axis < nest->ndim; axis++)
        t->extent[axis] =
            ga__ceil_div(nest->shape[axis], ga__ceil_div(nest->shape[axis], t->extent[axis]));
    find_run(t, nest, w);
    const int last = t->run - 1;
    const int64_t shape = nest->shape[last], others = volume(t, nest) / t->extent[last],
                  most = budget / others > 1 ? budget / others : 1;
    const int64_t inner = inner_of(t, nest), early = ga__ceil_div(t->align - 1, inner);
    t->extent[last] = most >= shape ? shape : equal_parts(t, shape + early, most, inner, w->size);
}

/* ---- Staged operands ---- */

/* The steps between stretches, and within one those of its own axes, are whole units. */
static bool steps_align(const tile *t, const ga__nest *nest, const ga__stage *s, uint32_t own)
{
    bool align = s->begin % s->unit == 0;
    for (int axis = 0; axis < nest->ndim; axis++) {
        const int64_t stride = nest->strides[s->place][axis] * s->size,
                      step = own >> axis & 1 ? t->extent[axis] * stride : stride;
        align = align && t->halo[axis] == 0 && step % s->unit == 0;
    }
    return align;
}

/* Shared memory of a stage: stretches one after another, each element in the place that it has in
 * its vector or sector, so a step between stretches differs from memory's by whole units. */
static int64_t lay_out(const tile *t, const ga__nest *nest, ga__stage *s)
{
    int64_t moved = 1;
    uint32_t in;
    tile all = {.run = t->run};
    for (int axis = 0; axis < nest->ndim; axis++)
        all.extent[axis] = least(t->extent[axis] + t->halo[axis], nest->shape[axis]);
    int64_t span = stage_stretch(&all, nest, s, &in).bytes;
    s->unit = span >= LINE ? SECTOR : GA__VECTOR_BYTES;
    const int64_t most = steps_align(t, nest, s, in) ? 0 : s->unit - 1; /* of the places */
    s->vectors = (int)(round_up(span + most, s->unit) / GA__VECTOR_BYTES);
    for (int axis = 0; axis < nest->ndim; axis++) {
        const int64_t stride = nest->strides[s->place][axis] * s->size;
        const bool own = in >> axis & 1 || stride == 0;
        s->reach[axis] = own ? stride : 0;
        s->count[axis] = own ? 1 : (int)all.extent[axis];
        s->step[axis] = stride;
        if (own)
            continue;
        const int64_t room = span + most;
        s->step[axis] = room + ((stride - room) & (s->unit - 1));
        span += (all.extent[axis] - 1) * s->step[axis];
        moved *= all.extent[axis];
    }
    return moved * s->vectors > INT32_MAX / 2 ? INT32_MAX / 2 : span;
}

/* Stretches of the results in a tile. */
static int64_t count_stretches(const tile *t, const ga__nest *nest)
{
    int64_t stretches = 1;
    for (int axis = t->run; axis < nest->ndim; axis++)
        stretches *= t->extent[axis];
    return stretches;
}

/* Neighbouring vectors of results take elements of a stage that lie `lanes` steps apart: log2 of
 * the banks between these. 0 if neighbours never meet in a bank. */
static int banks_between(const ga__nest *nest, const ga__stage *s, int lanes)
{
    const int64_t apart = s->step[0] * lanes;
    if (apart <= 0 || apart % GA__VECTOR_BYTES != 0 || nest->shape[0] < 2 * lanes)
        return 0;
    return __builtin_ctzll((uint64_t)(apart / GA__VECTOR_BYTES));
}

/* log2 of the neighbouring vectors that a warp takes. Four that are two banks apart do not meet. */
static int choose_across(const tile *t, const ga__nest *nest, const wanted *w)
{
    const int64_t stretches = count_stretches(t, nest);
    int across = stretches >= 4 ? 3 : stretches >= 2 ? 4 : 5;
    for (int k = 0; k < t->nstages && stretches >= 4; k++)
        if (banks_between(nest, &t->stage[k], w->lanes) == 1)
            across = 2;
    return across;
}

/* Where neighbouring vectors would meet in few banks, bits of the line's number change the bank.
 * The vectors of a line keep their order: copies to shared memory that exchanged them measured 10 %
 * slower. */
static void choose_swizzle(const ga__nest *nest, ga__stage *s, int lanes, int across)
{
    const int between = banks_between(nest, s, lanes);
    const bool meet = between > 1 || (between == 1 && across > 2);
    s->mask = meet ? (BANKS - 1) * GA__VECTOR_BYTES : 0;
    s->shift = !meet ? 0 : between > LINE_SHIFT ? between : LINE_SHIFT;
}

static void lay_out_all(tile *t, const ga__nest *nest, const wanted *w)
{
    t->shared = 0;
    for (int k = 0; k < t->nstages; k++) {
        ga__stage *s = &t->stage[k];
        s->offset = (int)least(t->shared, INT32_MAX / 2);
        t->shared += round_up(lay_out(t, nest, s) + s->unit + GA__VECTOR_BYTES, LINE);
    }
    const int across = choose_across(t, nest, w);
    for (int k = 0; k < t->nstages; k++)
        choose_swizzle(nest, &t->stage[k], w->lanes, across);
}

/* ---- The whole ---- */

/* Elements by which a tile's stretches may begin before its own, so that they are aligned: none
 * where all stretches are. */
static int64_t spare_of(const tile *t, const ga__nest *nest, const wanted *w)
{
    bool aligned = w->aligned;
    for (int axis = t->run; axis < nest->ndim; axis++)
        aligned = aligned && nest->strides[0][axis] % t->align == 0;
    return aligned ? 0 : t->align - 1;
}

static void set_total(tile *t, const ga__nest *nest)
{
    t->total = inner_of(t, nest) * nest->shape[t->run - 1];
}

/* The order of the blocks: along the axes of the fewest tiles first, so that neighbours along any
 * axis run at nearly the same time, and what they share is still in the cache. */
static void order_tiles(tile *t, int ndim)
{
    for (int axis = 0; axis < ndim; axis++) {
        t->before[axis] = 1;
        for (int other = 0; other < ndim; other++)
            if (t->tiles[other] < t->tiles[axis] ||
                (t->tiles[other] == t->tiles[axis] && other < axis))
                t->before[axis] *= t->tiles[other];
    }
}

/* Vectors and stretches of the results, and which of them the threads of a warp take. */
static void share_out(tile *t, const ga__nest *nest, const wanted *w)
{
    const int64_t stretches = count_stretches(t, nest);
    t->stretches = (int)stretches;
    t->across = choose_across(t, nest, w);
    t->ends = t->spare > 0 || t->total % w->lanes != 0;
    t->turns = (int)ga__ceil_div(t->vectors, 1 << t->across);
    t->ids = t->turns * GA__WARP * (int)ga__ceil_div(stretches, GA__WARP >> t->across);
    for (int axis = 0; axis < nest->ndim; axis++)
        t->tiles[axis] = ga__ceil_div(nest->shape[axis], t->extent[axis]);
    for (int axis = 0; axis < t->run; axis++)
        t->tiles[axis] = 1;
    t->tiles[t->run - 1] = ga__ceil_div(t->total + t->spare, t->part);
    order_tiles(t, nest->ndim);
}

static int64_t count_tiles(const tile *t, const ga__nest *nest)
{
    int64_t tiles = 1;
    for (int axis = 0; axis < nest->ndim; axis++)
        tiles *= t->tiles[axis];
    return tiles;
}

/* Whether the tiles of this budget fit. */
static bool try_budget(tile *t, const ga__nest *nest, const wanted *w, int64_t bytes)
{
    int64_t size = 0;
    for (int k = 0; k < t->nstages; k++)
        size += t->stage[k].size;
    grow(t, nest, w, bytes / size);
    fit(t, nest, w, bytes / size);
    const int last = t->run - 1;
    const int64_t inner = inner_of(t, nest), part = t->extent[last] * inner;
    const bool one = t->extent[last] == nest->shape[last];
    t->spare = one || part % t->align == 0 ? spare_of(t, nest, w) : t->align - 1;
    for (int axis = 0; axis < nest->ndim; axis++)
        t->halo[axis] = axis == last ? ga__ceil_div(t->spare, inner) : 0;
    set_total(t, nest);
    t->part = one ? round_up(t->total + t->spare, t->align) : part;
    t->vectors = (int)ga__ceil_div(t->part + (t->part % t->align ? t->spare : 0), w->lanes);
    lay_out_all(t, nest, w);
    share_out(t, nest, w);
    return t->shared <= w->shared / 2;
}

static bool choose_budget(tile *t, const ga__nest *nest, const wanted *w)
{
    bool fits = false;
    int64_t bytes = MOST_BYTES;
    while (TILES_AT_ONCE * bytes > w->shared && bytes > LEAST_BYTES)
        bytes /= 2;
    for (; bytes >= LEAST_BYTES; bytes /= 2) {
        fits = try_budget(t, nest, w, bytes);
        if (fits && count_tiles(t, nest) >= w->fewest)
            break;
    }
    return fits;
}

/* Where each stretch of the results is of axis 0 alone, the axis that is nearest in the stage comes
 * next: neighbouring blocks and threads then share what they read. */
static bool choose_staged(tile *t, ga__nest *nest, const wanted *w)
{
    const int near = next_axis(nest, &t->stage[0], 0);
    const bool fits = choose_budget(t, nest, w);
    if (t->run > 1 || near <= 1)
        return fits;
    ga__nest_swap(nest, 1, near);
    return choose_budget(t, nest, w);
}

/* Vectors of a long stretch that a thread has in turn: several, which share what the thread does
 * first, where tiles are then still many. */
static int64_t turns_of(const tile *t, const ga__nest *nest, const wanted *w, int64_t vectors)
{
    int64_t stretches = 1, turns = TURNS;
    for (int axis = t->run; axis < nest->ndim; axis++)
        stretches *= nest->shape[axis];
    while (turns > 1 && vectors / (w->block * turns) * stretches < MANY_TILES * w->fewest)
        turns /= 2;
    return turns;
}

/* A thread has a few vectors, of one stretch or of several short ones. */
static bool choose_plain(tile *t, const ga__nest *nest, const wanted *w)
{
    t->run = w->apart ? 1 : ga__tile_run(nest, w->written);
    set_total(t, nest);
    t->shared = 0;
    t->spare = spare_of(t, nest, w);
    const int64_t all = ga__ceil_div(t->total + t->spare, w->lanes);
    t->vectors = (int)least(all, w->block * turns_of(t, nest, w, all));
    t->part = (int64_t)t->vectors * w->lanes;
    for (int axis = 0; axis < nest->ndim; axis++) {
        t->extent[axis] = axis < t->run ? nest->shape[axis] : 1;
        t->halo[axis] = 0;
    }
    int64_t missing = (int64_t)w->block * TURNS / t->vectors;
    for (int axis = t->run; axis < nest->ndim && missing > TURNS; axis++) {
        t->extent[axis] = least(missing, nest->shape[axis]);
        missing /= t->extent[axis];
    }
    share_out(t, nest, w);
    return true;
}

bool ga__tile_choose(ga__tile *t, ga__nest *nest, const ga__tile_request *w)
{
    t->align = w->lanes;
    if (t->nstages && begins(nest, w->written))
        t->align = SECTOR / w->size;
    return t->nstages ? choose_staged(t, nest, w) : choose_plain(t, nest, w);
}
