/* Chooses how a scan runs on the host: rows of a block, and tiles. */
#include "kernels/scan/scan_plan.h"

#define BLOCKS 4     /* for each thread, so that all end at about the same time */
#define ROW_GROUP 64 /* rows of a block are a multiple of this: of the chains side by side */

/* States that a block keeps on its thread's stack: those of a row's chains, or of strips of
 * columns.
 */
#define ROW_STATES (8 * 257)
#define COLUMN_STATES (7 * GA__SCAN_STRIP)

typedef ga__scan_plan plan;

/* Whether blocks share rows: if there are too few rows for the threads. The results are the same.
 */
static bool shares_rows(const plan *p)
{
    const int threads = p->device->processors;
    return threads > 1 && p->tiles > 1 && p->groups < (int64_t)threads * BLOCKS;
}

static void plan_columns(plan *p)
{
    const int64_t strip = p->width < GA__SCAN_STRIP ? p->width : GA__SCAN_STRIP;
    const int64_t tile = ga__ceil_div(GA__SCAN_CHUNK, strip), piece = ga__scan_piece(&p->v);
    p->tile = p->each = tile > piece ? ga__ceil_div(tile, piece) * piece : tile;
    p->groups = p->rows / p->width * ga__ceil_div(p->width, GA__SCAN_STRIP);
}

static void plan_rows(plan *p)
{
    p->tile = GA__SCAN_CHUNK;
    p->groups = p->rows;
    if (p->length < GA__SCAN_CHUNK)
        p->each = ga__ceil_div(GA__SCAN_CHUNK / p->length, ROW_GROUP) * ROW_GROUP;
}

void ga__scan_plan_host(plan *p)
{
    p->stack = GA__CHOICE_TILE;
    if (p->v.choice != GA__CHOICE_NOT)
        return;
    p->stack = ga__scan_state_bytes(&p->v) * (p->v.columns ? COLUMN_STATES : ROW_STATES);
    if (p->v.columns)
        plan_columns(p);
    else
        plan_rows(p);
    p->tiles = ga__ceil_div(p->length, p->tile);
    p->v.chained = shares_rows(p);
    p->grid = p->v.chained   ? p->groups * p->tiles
              : p->v.columns ? p->groups
                             : ga__ceil_div(p->rows, p->each);
}
