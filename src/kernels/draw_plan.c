/* Chooses how a draw runs, for either kind of device. */
#include "kernels/draw_plan.h"

#define WAVES 2                 /* of resident thread blocks, if the source computes */
#define HOST_ELEMENTS (1 << 15) /* the most that a worker makes at a time */

typedef ga__draw_plan plan;

static void choose_cuda_variant(plan *p)
{
    const int64_t most = (int64_t)p->device->processors * GA__RANDOM_RESIDENT * WAVES;
    const size_t size = ga__dtype_size(p->out->dtype), lanes = (size_t)ga__draw_lanes(&p->v);
    p->v.together = (uint64_t)p->before % lanes == 0 && (uintptr_t)p->data % (lanes * size) == 0;
    p->grid = p->draw->distribution->computes && p->shares > most ? most : p->shares;
}

static void choose_host_variant(plan *p)
{
    const int64_t most = HOST_ELEMENTS / p->share;
    int64_t tiles = p->shares / ((int64_t)p->device->processors * 4);
    tiles = tiles < most ? tiles : most;
    p->v.past_cache = ga__goes_past_cache(p->device, ga_nbytes(p->out));
    p->tiles_per_block = tiles > 1 ? tiles : 1;
    p->grid = ga__ceil_div(p->shares, p->tiles_per_block);
}

void ga__draw_plan_make(plan *p, uint64_t position)
{
    p->v = (ga__draw_variant){.type = (uint8_t)p->out->dtype,
                              .drawn = (uint8_t)p->draw->drawn,
                              .nnumbers = (uint8_t)p->draw->nnumbers,
                              .host = ga__on_host(p->device)};
    for (int k = 0; k < p->draw->nnumbers; k++)
        p->v.number_type[k] = (uint8_t)p->draw->type[k];
    p->share = (int64_t)p->rows *
               (p->v.host ? GA__RANDOM_COLUMN : ga__draw_lanes(&p->v) * GA__RANDOM_BLOCK);
    p->before = (int64_t)(position % (uint64_t)p->share);
    p->shares = ga__ceil_div(p->before + p->count, p->share);
    if (p->v.host)
        choose_host_variant(p);
    else
        choose_cuda_variant(p);
}

int64_t ga__draw_plan_whole(const plan *p)
{
    const int64_t whole = (p->before + p->count) / p->share - (p->before > 0);
    return whole > 0 ? whole : 0;
}
