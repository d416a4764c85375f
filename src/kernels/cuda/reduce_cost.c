/* Estimates the time of a reduction over columns on CUDA. */
#include "kernels/cuda/reduce_cost.h"

#include "device/tickets.h"

/* Costs of reading partial results once, in the time in which the bus delivers a byte to each
 * thread, and of the slowest block of all waves as a share. Measured on an H200. */
#define READ_COST 25
#define UNEVEN_COST 0.04
#define LINE 128 /* bytes that memory delivers together */

typedef ga__reduce_plan plan;
typedef ga__tiling tiling;

bool ga__reduce_in_vectors(const plan *p, int k)
{
    return p->place[k] != GA__NO_PLACE && p->v.operand[k].step == STEP_ONE && !p->v.operand[k].held;
}

bool ga__reduce_is_contiguous(const plan *p)
{
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE && !p->v.operand[k].held &&
            (!ga__reduce_in_vectors(p, k) ||
             p->reduced.strides[p->place[k]][0] != p->kept.shape[0]))
            return false;
    return true;
}

int ga__reduce_first_vector(const plan *p)
{
    for (int k = 0; k < p->noperands; k++)
        if (ga__reduce_in_vectors(p, k))
            return k;
    return -1;
}

/* The rounds in which a block reads the results of all segments: a thread reads several together
 * (combine_results). */
static int64_t read_rounds(const plan *p, int64_t results, int block)
{
    const int bytes = p->v.accumulator_bytes, together = bytes <= 4 ? 16 : bytes <= 16 ? 8 : 4;
    return ga__ceil_div(results, (int64_t)together * block);
}

/* A power of two: as many segments as there are groups, or more. */
static int64_t group_of(const plan *p, int64_t segments, int64_t width, int block, int64_t tiles)
{
    int64_t group = 1;
    while (group * group < segments)
        group *= 2;
    const bool worthwhile = read_rounds(p, segments * width, block) > 2;
    return worthwhile && tiles * (1 + ga__ceil_div(segments, group)) <= GA__TICKETS ? group
                                                                                    : segments;
}

int64_t ga__reduce_plan_group(const plan *p)
{
    return group_of(p, p->segments, p->width, p->v.block, p->tiles);
}

int64_t ga__reduce_useful_segments(const tiling *t)
{
    return t->apart / t->down * ga__ceil_div(t->turns, (int64_t)t->apart * t->unroll);
}

/* Segments of a tile that `waves` waves of blocks have, whose blocks are `fit` for each tile. */
static int64_t segments_of(const tiling *t, int64_t tiles, int64_t fit)
{
    const int64_t shares = t->apart / t->down, useful = ga__reduce_useful_segments(t),
                  wanted = tiles > GA__TICKETS ? 1
                           : fit < useful      ? fit
                                               : useful;
    return wanted > shares ? wanted / shares * shares : shares;
}

/* How much longer the memory takes if it does not serve all threads: half of them keep it busy. */
static double idle_cost(double share)
{
    return share < 0.5 ? 1.1 * 0.5 / share : 1 + 0.1 * (1 / share - 1);
}

double ga__reduce_cost(const plan *p, const tiling *t, int64_t tiles, int waves)
{
    const int64_t threads = (int64_t)p->device->processors * p->device->threads_per_processor,
                  at_once = threads / t->block,
                  segments = segments_of(t, tiles, waves * at_once / tiles),
                  turns = ga__ceil_div(t->turns, t->down * segments),
                  rounds = ga__ceil_div(tiles * segments, at_once),
                  group = t->costs->grouped ? group_of(p, segments, t->width, t->block, tiles)
                                            : segments;
    const double elements = (double)p->count * (double)p->outputs / (double)threads,
                 slots = (double)rounds * (double)turns * t->lanes,
                 issue = t->costs->vector / t->lanes + t->costs->element,
                 result_bytes = (double)t->width * p->v.accumulator_bytes / t->block;
    double block = t->costs->block, reads = 0;
    if (segments > 1) {
        block += 2 * result_bytes;
        reads = (double)((group < segments ? 2 : 1) *
                         read_rounds(p, group * (int64_t)t->width, t->block));
    }
    const double share = elements < slots ? elements / slots : 1,
                 memory = t->bytes * idle_cost(share),
                 each = memory > issue / share ? memory : issue / share;
    return (elements * each + (double)rounds * block) * (1 + UNEVEN_COST / waves) +
           reads * READ_COST;
}

double ga__reduce_delivered_bytes(const plan *p, int first, const tiling *t)
{
    double bytes = 0;
    for (int k = 0; k < p->noperands; k++)
        bytes +=
            ga__reduce_in_vectors(p, k) ? (double)ga__dtype_size(p->operands[k].array->dtype) : 0;
    if (first < 0 || (t->row_tiles == 1 && ga__reduce_is_contiguous(p)))
        return bytes > 1 ? bytes : 1;
    const int64_t size = (int64_t)ga__dtype_size(p->operands[first].array->dtype),
                  pitch = p->reduced.strides[p->place[first]][0] * size, part = t->width * size;
    const bool whole = pitch % LINE == 0 && part % LINE == 0 &&
                       (uintptr_t)p->operands[first].array->data % LINE == 0;
    return whole ? bytes : bytes * (1 + LINE / 2 / (double)part);
}
