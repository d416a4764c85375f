/* Plans reductions on CUDA whose blocks copy neighbouring rows to shared memory first: the rows of
 * a tile, the threads of a row, and where its elements lie.
 */
#include "kernels/reduce_plan.h"

typedef ga__reduce_plan plan;

/* Threads of a block, and vectors that each has in flight, of all operands. */
#define STAGE_BLOCK 128
#define STAGE_AHEAD 8
#define STAGE_LINE 128     /* bytes, after which a stage may skip an element, but at least a word */
#define SECTOR 32          /* bytes that memory reads together */
#define WORD 4             /* bytes of a bank of shared memory */
#define STAGED_UNROLL 8    /* elements that a thread reads together; twice as many smaller ones */
#define STAGED_BYTES 128   /* of the largest accumulator */
#define REPEATED_ROWS 16   /* neighbours that meet one row, which the cache then keeps, */
#define REPEATED_BYTES 768 /* unless it is longer: each stages it */
#define SHARED_BYTES 2816  /* of a row that all meet: a tile stages a longer one */
#define KNOWN_LENGTH 8     /* the longest rows that have a kernel for each length */
#define MOST_WORDS 256     /* of a thread, whose places keys have: MOST of ga::word_place */

/* Estimated cycles of a tile: instructions that the four schedulers of a multiprocessor issue, and
 * delays, which the blocks of a multiprocessor hide from each other. */
#define ELEMENT_ISSUE 3
#define ROW_ISSUE 30
#define ELEMENT_DELAY 8
#define COMBINE_DELAY 40
#define ROW_DELAY 60
#define TILE_DELAY 600
#define SCHEDULERS 4
#define HIDDEN 6

static int64_t memory_size(const plan *p, int k)
{
    return (int64_t)ga__dtype_size(p->operands[k].array->dtype);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Whether the operand's rows are equally far apart, in the order of the outputs, and none begins
 * before the one before it. */
static bool rows_are_linear(const ga__nest *kept, int place)
{
    const int64_t *strides = kept->strides[place];
    for (int axis = 1; axis < kept->ndim; axis++)
        if (strides[axis] != strides[axis - 1] * kept->shape[axis - 1])
            return false;
    return strides[0] > 0;
}

/* Whether all rows are the same. */
static bool rows_are_shared(const ga__nest *kept, int place)
{
    for (int axis = 0; axis < kept->ndim; axis++)
        if (kept->strides[place][axis] != 0)
            return false;
    return true;
}

/* Whether no kept axis leads in another direction than the others. */
static bool rows_have_one_direction(const ga__nest *kept, int place)
{
    bool up = false, down = false;
    for (int axis = 0; axis < kept->ndim; axis++) {
        up |= kept->strides[place][axis] > 0;
        down |= kept->strides[place][axis] < 0;
    }
    return !up || !down;
}

/* Bytes from a row's first element to the end of its last one. */
static int64_t row_span(const plan *p, int k)
{
    return ((p->count - 1) * p->reduced.strides[p->place[k]][0] + 1) * memory_size(p, k);
}

/* Operands whose rows have more than one element in memory. */
static int count_rows(const plan *p)
{
    int count = 0;
    for (int k = 0; k < p->noperands; k++)
        count += p->place[k] != GA__NO_PLACE && p->reduced.strides[p->place[k]][0] != 0;
    return count;
}

/* Whether the caches have the rows of the operand: few bytes that many rows meet. Threads that take
 * neighbouring elements read longer ones from as many lines at once, which stages avoid. */
static bool is_cached(const plan *p, int k)
{
    const ga__nest *kept = &p->kept;
    const int place = p->place[k];
    if (kept->strides[place][0] != 0)
        return false;
    const int64_t span = row_span(p, k);
    if (rows_are_shared(kept, place))
        return count_rows(p) != 2 || p->reduced.strides[place][0] != 1 || span <= SHARED_BYTES;
    return kept->shape[0] >= REPEATED_ROWS && span <= REPEATED_BYTES;
}

/* From the first byte of a row to that of the next one in the stage. */
static int64_t staged_pitch(const plan *p, int k)
{
    const int64_t vector = GA__VECTOR_BYTES;
    if (p->v.operand[k].apart)
        return (row_span(p, k) + 2 * vector - 2) / vector * vector;
    return p->kept.strides[p->place[k]][0] * memory_size(p, k);
}

/* Decides how operand k is read; false: such rows are not staged. */
static bool stage_operand(plan *p, int k)
{
    const int place = p->place[k];
    const int64_t size = memory_size(p, k), step = p->reduced.strides[place][0];
    if (step == 0 || is_cached(p, k))
        return true;
    if (step < 0 || (step > 1 && step * size > SECTOR) ||
        ga__vector_size((size_t)size) != (size_t)size ||
        p->count > STAGE_BLOCK * STAGE_AHEAD * GA__VECTOR_BYTES / size ||
        !rows_have_one_direction(&p->kept, place))
        return false;
    p->v.operand[k].staged = true;
    p->v.operand[k].apart =
        (!rows_are_linear(&p->kept, place) || staged_pitch(p, k) - row_span(p, k) > SECTOR) &&
        !rows_are_shared(&p->kept, place);
    if (step == 1 && size < WORD && p->v.packed < WORD / size)
        p->v.packed = (uint8_t)(WORD / size);
    return true;
}

/* The rows of a tile that fit the stages of all operands; 0: rows are not staged. */
static int64_t fit_rows(plan *p)
{
    int staged = 0;
    p->v.packed = 1;
    for (int k = 0; k < p->noperands; k++) {
        if (p->place[k] != GA__NO_PLACE && !stage_operand(p, k))
            return 0;
        staged += p->v.operand[k].staged;
    }
    for (p->v.ahead = STAGE_AHEAD; p->v.ahead * staged > STAGE_AHEAD; p->v.ahead /= 2) {
    }
    int64_t rows = staged ? p->outputs : 0;
    for (int k = 0; k < p->noperands; k++) {
        if (!p->v.operand[k].staged)
            continue;
        const int64_t room = (int64_t)p->v.ahead * STAGE_BLOCK * GA__VECTOR_BYTES -
                             (p->v.operand[k].apart ? 0 : STAGE_LINE + GA__VECTOR_BYTES),
                      span = p->v.operand[k].apart ? staged_pitch(p, k) : row_span(p, k);
        if (!p->v.operand[k].apart && p->kept.strides[p->place[k]][0] == 0) { /* shared */
            rows = room < span ? 0 : rows;
            continue;
        }
        const int64_t pitch = staged_pitch(p, k) > span ? staged_pitch(p, k) : span;
        rows = room < span ? 0 : least(rows, 1 + (room - span) / pitch);
    }
    return rows;
}

/* Estimated cycles for a tile of `rows` rows in teams of `team` threads. */
static double tile_cycles(const plan *p, int64_t rows, int team)
{
    const int64_t run = ga__ceil_div(p->count, team),
                  turns = ga__ceil_div(rows, STAGE_BLOCK / team),
                  warps = ga__ceil_div(rows * team, GA__WARP);
    int steps = 0;
    while (1 << steps < team)
        steps++;
    const int words = (p->v.accumulator_bytes + WORD - 1) / WORD, element = ELEMENT_ISSUE + words,
              combine = words > 2 ? 10 * words : 2 + 4 * words; /* of moments, or with an index */
    const double issue = (double)(warps * (run * element + steps * combine + ROW_ISSUE)),
                 delay =
                     (double)(turns * (run * ELEMENT_DELAY + steps * COMBINE_DELAY + ROW_DELAY));
    return issue / SCHEDULERS + (delay + TILE_DELAY) / HIDDEN;
}

/* Rows of a tile: all that fit, but in whole turns of its teams, and few where there are few. */
static int64_t tile_rows(const plan *p, int64_t fitting, int team)
{
    const int64_t teams = STAGE_BLOCK / team,
                  share = ga__ceil_div(p->outputs, (int64_t)p->device->processors * HIDDEN),
                  rows = least(fitting, share);
    return rows > teams ? rows / teams * teams : rows;
}

/* Chooses the team with the fewest cycles for a row; false: sums would have longer chains in each.
 */
static bool choose_team(plan *p, int64_t fitting)
{
    double fewest = 0;
    for (int team = 1; team <= STAGE_BLOCK; team *= team == GA__WARP ? STAGE_BLOCK / GA__WARP : 2) {
        const int64_t run = ga__ceil_div(p->count, team);
        if ((team > 1 && 2 * team > p->count + 1) ||
            (p->sums && run > GA__CUDA_CHAIN * p->v.unroll))
            continue;
        const int64_t rows = tile_rows(p, fitting, team);
        const double cycles = tile_cycles(p, rows, team) / (double)rows;
        if (fewest > 0 && cycles >= fewest)
            continue;
        fewest = cycles;
        p->v.team = (uint16_t)team;
        p->group = rows;
        p->vectors = ga__ceil_div(run, p->v.packed) * p->v.packed;
    }
    return fewest > 0;
}

/* The addresses, in bytes of a stage without skips, of the threads that read together: of teams
 * `pitch` apart, and of their threads `apart`. Lines, units and teams are powers of two. */
typedef struct addresses {
    int64_t pitch, apart;
    int team, unit; /* a bank is `unit` bytes wide */
} addresses;

/* How often the threads take the banks, with skips if they save more than they cost, which is about
 * as much as one conflict. */
typedef struct conflicts {
    addresses of;
    int times;
    bool skewed;
} conflicts;

/* The most of these threads that share a bank. Threads that share a word follow each other. */
static int most_in_a_bank(const addresses *a, bool skewed)
{
    const int banks = STAGE_LINE / a->unit, per_unit = __builtin_ctz((unsigned)a->unit),
              per_team = __builtin_ctz((unsigned)a->team);
    int64_t last[STAGE_LINE / WORD];
    int count[STAGE_LINE / WORD] = {0}, most = 1;
    for (int lane = 0; lane < banks; lane++) {
        const int64_t byte = (lane >> per_team) * a->pitch + (lane & (a->team - 1)) * a->apart,
                      at = (byte >> per_unit) + (skewed ? byte / STAGE_LINE : 0);
        const int bank = (int)at & (banks - 1);
        count[bank] += count[bank] == 0 || last[bank] != at;
        last[bank] = at;
        most = count[bank] > most ? count[bank] : most;
    }
    return most;
}

static conflicts count_conflicts(const addresses *a)
{
    const int plain = most_in_a_bank(a, false),
              apart = plain > 2 ? most_in_a_bank(a, true) + 1 : plain;
    return (conflicts){*a, apart < plain ? apart : plain, apart < plain};
}

/* Of a read of operand k, if each thread takes `run` elements of a row: its first element stands
 * for all. A thread remembers some, because its calls repeat. */
static const conflicts *conflicts_of(const plan *p, int k, int64_t run)
{
    static _Thread_local conflicts known[16];
    const int64_t size = memory_size(p, k);
    const addresses a = {.pitch = staged_pitch(p, k),
                         .apart = run * p->reduced.strides[p->place[k]][0] * size,
                         .team = p->v.team,
                         .unit = (int)(size > WORD ? size : WORD)};
    conflicts *found = &known[(uint64_t)(run + k) % (sizeof known / sizeof *known)];
    const addresses *of = &found->of;
    if (of->pitch != a.pitch || of->apart != a.apart || of->team != a.team || of->unit != a.unit)
        *found = count_conflicts(&a);
    return found;
}

/* Estimated cycles of a thread that reads `run` elements of each staged operand. */
static int64_t read_cycles(const plan *p, int64_t run, bool *skewed)
{
    int64_t times = 0;
    for (int k = 0; k < p->noperands; k++) {
        if (!p->v.operand[k].staged)
            continue;
        const conflicts *c = conflicts_of(p, k, run);
        skewed[k] = c->skewed;
        times += c->times;
    }
    return run * (times + ELEMENT_ISSUE);
}

/* Chooses how many neighbours a thread takes, a few more than the row has for it if they are in
 * other banks then, and whether stages skip bytes. */
static void choose_run(plan *p)
{
    int64_t fewest = INT64_MAX;
    const int64_t even = p->vectors;
    bool skewed[GA__MAX_OPERANDS];
    int staged = 0;
    for (int k = 0; k < p->noperands; k++)
        staged += p->v.operand[k].staged;
    for (int64_t run = even; run == even || (p->v.team > 1 && run <= even + 2 * WORD);
         run += p->v.packed) {
        if (run * (staged + ELEMENT_ISSUE) >= fewest)
            break; /* without conflicts it would take as long */
        const int64_t cycles = read_cycles(p, run, skewed);
        if (cycles >= fewest || (p->sums && run > GA__CUDA_CHAIN * p->v.unroll))
            continue;
        fewest = cycles;
        p->vectors = run;
        for (int k = 0; k < p->noperands; k++)
            p->v.operand[k].skewed = p->v.operand[k].staged && skewed[k];
    }
}

/* Whether whole rows are better read where they are: where a thread does not split too many
 * elements, and only one row fits a tile, or several operands have aligned rows, which share a
 * stage's room, with a vector for each thread of a warp. */
static bool is_better_direct(plan *p, int64_t fitting)
{
    const bool alone = fitting <= 1, several = p->noperands > 1 && count_rows(p) > 1;
    if (p->v.packed == WORD || !(alone || several))
        return false;
    const int lanes = ga__reduce_plan_lanes(p);
    const bool aligned = !p->v.peeled;
    p->v.peeled = false;
    return lanes > 1 && (alone || (aligned && p->count >= (int64_t)lanes * GA__WARP));
}

static void forget_staging(plan *p)
{
    p->v.packed = p->v.ahead = 0;
    for (int k = 0; k < p->noperands; k++)
        p->v.operand[k].staged = p->v.operand[k].apart = false;
}

/* How whole words of small elements are added: bytes are summed by products, elements of up to two
 * bytes compared in pairs. Without a mapping, one operand has all elements. */
static ga__batch choose_words(const plan *p)
{
    const ga__part_formula *part = p->reduction->formula.parts[0];
    const bool words =
        p->v.packed > 1 && p->noperands == 1 && !p->v.carried && p->reduction->formula.maps_nothing;
    const bool bytes = p->v.packed == WORD;
    if (words && bytes && ga__reduce_plan_adds_integers(p))
        return GA__BATCH_NARROW;
    if (words && ga__reduce_plan_tests_integers(p))
        return GA__BATCH_TRUTHS;
    const ga_dtype memory = (ga_dtype)p->v.operand[0].memory;
    const bool compares = words && p->reduction->formula.nparts == 1 &&
                          memory == (ga_dtype)p->v.part_type[0] &&
                          p->device->arch >= GA__FIRST_WITH_PAIRS,
               floats = ga__dtype_kind(memory) == 'f';
    if (compares && !floats && ga__part_is_extreme(part))
        return GA__BATCH_EXTREMES;
    if (compares && !(floats && bytes) && ga__part_is_indexed(part) && p->v.ascending &&
        p->vectors <= MOST_WORDS * p->v.packed)
        return GA__BATCH_PLACES;
    return GA__BATCH_PAIRS;
}

bool ga__reduce_plan_staged(plan *p)
{
    const bool suits = !p->v.columns && p->reduced.ndim == 1 && p->count > 1 && p->outputs > 1 &&
                       p->v.accumulator_bytes <= STAGED_BYTES;
    const int64_t fitting = suits ? fit_rows(p) : 0;
    p->v.unroll = p->v.packed > 1 ? 2 * STAGED_UNROLL : STAGED_UNROLL;
    if (fitting == 0 || is_better_direct(p, fitting) || !choose_team(p, fitting)) {
        forget_staging(p);
        return false;
    }
    choose_run(p);
    p->v.staged = true;
    p->v.row_length = p->v.team == 1 && p->count <= KNOWN_LENGTH ? (uint8_t)p->count : 0;
    p->v.lanes = p->v.across = 1;
    p->v.block = STAGE_BLOCK;
    p->v.batch = choose_words(p);
    p->v.batches_per_chain = GA__CUDA_CHAIN;
    p->kept_vectors = p->outputs;
    p->tiles = ga__ceil_div(p->outputs, p->group);
    p->waves = 1;
    p->segments = p->useful = p->least = 1;
    return true;
}
