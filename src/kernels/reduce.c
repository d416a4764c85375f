/* The reduction engine: plans one call, finds its kernel by a small key, and launches it. */
#include "kernels/reduce.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/post.h"
#include "kernels/program.h"

/* Threads of a block, and the vectors that one has under way at once in rows; less of them in more
 * threads where a small accumulator leaves registers for that. Measured on an H200. */
#define BLOCK 256
#define ROW_UNROLL 8
#define LARGE_BLOCK 512
#define LARGE_ROW_UNROLL 4
#define SMALL_ACCUMULATOR 8 /* bytes */
#define LONG_ROW 1024       /* vectors: a block takes the row together */
#define COLUMN_UNROLL 4
#define THIN_ROWS 4         /* short rows that a team has under way */
#define SPREAD_BELOW 2048   /* threads a row of those that run at once: below it rows are many */
#define SPREAD_STRETCHES 4  /* that a block then has, of rows of at least four times as many */
#define HOST_LANES 64       /* accumulators side by side in a run of a row, */
#define HOST_SHORT_LANES 16 /* in runs too short to repay the combining of so many */
#define HOST_SHORT_RUN 1024
#define HOST_STRIP 1024        /* elements, or neighbouring outputs, taken together */
#define HOST_STRIP_BYTES 32768 /* of small outputs more: their accumulators fit the cache */
#define HOST_LONGEST_STRIP 4096
#define HOST_TOGETHER 256 /* outputs whose runs are taken in turn */
#define HOST_THIN 32      /* rows shorter than this are taken side by side */
#define HOST_GRAIN 65536  /* elements that are worth a block of their own on the host */
#define NO_OPERAND (-1)

/* Parameter words: those that are known last, and the first part's ddof. */
enum { WORD_SEGMENTS = 3, WORD_PARTIALS, WORD_TICKETS, WORD_GROUP, WORD_POST, WORD_TAG, WORD_DDOF };

/* One call. Two loop nests: the kept axes, whose operands are the streamed arrays and last the
 * output, and the reduced axes, whose operands are the streamed arrays and last the index. */
typedef struct plan {
    const ga__reduction *reduction;
    ga__device *device;
    int noperands;
    const ga__operand *operands;
    gpuarray *out;        /* the first */
    gpuarray *const *all; /* nresults */
    int64_t count, outputs;
    ga__nest kept, reduced;
    int rows;                  /* streamed arrays */
    int row[GA__MAX_OPERANDS]; /* nest operand of operand k */
    int step[GA__MAX_OPERANDS +
             1]; /* of the vector axis, by nest operand; of the index in rows mode */
    bool columns, wide, tail, split, host;
    int strip;       /* on the host: elements that are taken together */
    int abreast;     /* and rows of columns */
    int unzip;       /* on the host: elements of rows that are taken apart; 1 */
    int together;    /* on the host: outputs whose runs are taken in turn */
    bool short_rows; /* on the host: one loop takes all elements of each row */
    bool thin;       /* rows of one vector a thread, several rows at a time */
    bool spread;     /* a block has a few stretches, and there are more blocks than run at once */
    bool posted;     /* the one result goes to the host's memory too */
    bool ascending;  /* a thread meets the elements by their number */
    int block, lanes, unroll, team, across;
    int64_t tiles, segments, group, vectors, kept_vectors;
    ga__words words;
    size_t kept_word[GA_MAX_NDIM], reduced_word[GA_MAX_NDIM]; /* divisors */
    size_t data_word[GA__MAX_OPERANDS], out_word, index_word, carry_word;
    size_t result_word[GA__MAX_PARTS]; /* pointers of the results */
} plan;

/* ---- The loop nests ---- */

static void number_rows(plan *p)
{
    p->rows = 0;
    for (int k = 0; k < p->noperands; k++)
        p->row[k] = ga__operand_streamed(&p->operands[k]) ? p->rows++ : NO_OPERAND;
}

/* A nest of one axis of `length`, for no axes or no elements. */
static void set_one_axis(ga__nest *nest, int64_t length)
{
    nest->ndim = 1;
    nest->shape[0] = length;
    for (int row = 0; row < nest->noperands; row++)
        nest->strides[row][0] = 0;
}

/* Gives row `row` of each nest its strides, in elements, innermost axis first. */
static void set_row(plan *p, int row, int ndim, const bool *reduced, const int64_t *strides,
                    int64_t itemsize)
{
    int kept = 0, gone = 0;
    for (int axis = ndim - 1; axis >= 0; axis--) {
        if (reduced[axis])
            p->reduced.strides[row][gone++] = strides[axis] / itemsize;
        else
            p->kept.strides[row][kept++] = strides[axis] / itemsize;
    }
}

/* The strides of the last row of each nest: the output's on kept axes, the index's on reduced ones.
 */
static void output_and_index_strides(const plan *p, int ndim, const int64_t *shape,
                                     const bool *reduced, int64_t *strides)
{
    const int64_t itemsize = (int64_t)ga__dtype_size(p->out->dtype);
    int64_t index = 1;
    for (int axis = ndim - 1, kept = p->out->ndim - 1; axis >= 0; axis--) {
        if (!reduced[axis]) {
            strides[axis] = p->out->strides[kept--] / itemsize;
            continue;
        }
        strides[axis] = index;
        index *= shape[axis];
    }
}

static void plan_nests(plan *p, int ndim, const int64_t *shape, const bool *reduced)
{
    int64_t strides[GA_MAX_NDIM];
    p->kept.ndim = p->reduced.ndim = 0;
    for (int axis = ndim - 1; axis >= 0; axis--) {
        ga__nest *nest = reduced[axis] ? &p->reduced : &p->kept;
        nest->shape[nest->ndim++] = shape[axis];
    }
    for (int k = 0; k < p->noperands; k++) {
        if (p->row[k] == NO_OPERAND)
            continue;
        const gpuarray *x = p->operands[k].array;
        ga__broadcast_strides(ndim, shape, x->ndim, x->shape, x->strides, strides);
        set_row(p, p->row[k], ndim, reduced, strides, (int64_t)ga__dtype_size(x->dtype));
    }
    output_and_index_strides(p, ndim, shape, reduced, strides);
    set_row(p, p->rows, ndim, reduced, strides, 1);
    p->kept.noperands = p->rows + 1;
    p->reduced.noperands = p->rows + (p->reduction->formula.uses_index || p->rows == 0);
    ga__nest_collapse(&p->kept);
    if (p->kept.ndim == 0)
        set_one_axis(&p->kept, 1);
    if (p->count > 0)
        ga__nest_collapse(&p->reduced);
    if (p->count == 0 || p->reduced.ndim == 0)
        set_one_axis(&p->reduced, p->count);
    if (p->reduced.noperands == p->rows)
        memset(p->reduced.strides[p->rows], 0, sizeof(int64_t) * (size_t)p->reduced.ndim);
}

static int64_t magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* Which axis goes to neighbouring threads: the one on which the first array steps least. */
static bool columns_are_better(const plan *p)
{
    if (p->rows == 0 || p->outputs == 1 || p->count <= 1)
        return false;
    const int64_t kept = magnitude(p->kept.strides[0][0]),
                  gone = magnitude(p->reduced.strides[0][0]);
    return gone == 0 ? kept != 0 : kept != 0 && kept < gone;
}

static void choose_steps(plan *p)
{
    const ga__nest *nest = p->columns ? &p->kept : &p->reduced;
    for (int row = 0; row <= p->rows; row++) {
        const int64_t inner = nest->strides[row][0];
        p->step[row] = inner == 0 ? STEP_ZERO : inner == 1 ? STEP_ONE : STEP_ANY;
    }
}

static bool is_wide(const plan *p)
{
    int64_t reach = p->count > p->outputs ? p->count : p->outputs;
    for (int row = 0; row <= p->rows; row++) {
        int64_t extent = 1;
        for (int axis = 0; axis < p->kept.ndim; axis++)
            extent += (p->kept.shape[axis] - 1) * magnitude(p->kept.strides[row][axis]);
        for (int axis = 0; axis < p->reduced.ndim; axis++)
            extent += (p->reduced.shape[axis] - 1) * magnitude(p->reduced.strides[row][axis]);
        reach = extent > reach ? extent : reach;
    }
    for (int k = 0; k < p->noperands; k++)
        if (p->row[k] == NO_OPERAND && p->operands[k].array && p->operands[k].array->size > reach)
            reach = p->operands[k].array->size;
    return !ga__fits_32_bits(reach + (1 << 23));
}

/* Whether the index ascends along the reduced nest. */
static bool index_ascends(const plan *p)
{
    const ga__nest *nest = &p->reduced;
    const int64_t *strides = nest->strides[p->rows];
    int64_t reach = 0;
    for (int axis = 0; axis < nest->ndim; axis++) {
        if (nest->shape[axis] > 1 && strides[axis] <= reach)
            return false;
        reach += (nest->shape[axis] - 1) * strides[axis];
    }
    return true;
}

/* ---- The CUDA variant ---- */

static bool in_step(const ga__nest *nest, int row, int first_axis, int lanes)
{
    for (int axis = first_axis; axis < nest->ndim; axis++)
        if (nest->strides[row][axis] % lanes)
            return false;
    return true;
}

static int choose_lanes(const plan *p)
{
    const ga__nest *nest = p->columns ? &p->kept : &p->reduced;
    size_t widest = 1;
    bool contiguous = false;
    for (int k = 0; k < p->noperands; k++)
        if (p->row[k] != NO_OPERAND && p->step[p->row[k]] == STEP_ONE) {
            const size_t size = ga__dtype_size(p->operands[k].array->dtype);
            widest = size > widest ? size : widest;
            contiguous = true;
        }
    const int lanes = (int)(16 / widest);
    const bool ragged = nest->shape[0] % lanes && (p->columns || nest->ndim > 1);
    if (!contiguous || nest->shape[0] < lanes || ragged)
        return 1;
    for (int k = 0; k < p->noperands; k++) {
        const int row = p->row[k];
        if (row == NO_OPERAND || p->step[row] == STEP_ZERO)
            continue;
        const gpuarray *x = p->operands[k].array;
        if (p->step[row] != STEP_ONE ||
            (uintptr_t)x->data % ((uintptr_t)lanes * ga__dtype_size(x->dtype)) ||
            !in_step(&p->kept, row, p->columns ? 1 : 0, lanes) ||
            !in_step(&p->reduced, row, p->columns ? 0 : 1, lanes))
            return 1;
    }
    return lanes;
}

/* The least power of two from `at_least` on, up to `most`, one itself. */
static int power_of_two(int64_t at_least, int most)
{
    if (at_least >= most)
        return most;
    return at_least <= 1 ? 1 : 1 << (64 - __builtin_clzll((uint64_t)at_least - 1));
}

/* Into how many segments `useful` stretches are cut: few long rows into as many as run at once, so
 * that all end together; many into short ones, so that blocks end one after the other and the rows
 * are read in order. */
static void choose_segments(plan *p, int64_t target, int64_t useful)
{
    const int64_t wanted = target / p->tiles;
    p->spread = !p->columns && wanted * p->block < SPREAD_BELOW && useful >= 4 * SPREAD_STRETCHES;
    p->segments = p->spread ? useful / SPREAD_STRETCHES : wanted < useful ? wanted : useful;
    p->segments = p->segments > 1 ? p->segments : 1;
}

/* Whether a block has many threads with little to keep each; it has enough to do for them. */
static bool wants_large_block(const plan *p)
{
    if (p->rows != 1 || p->reduction->accumulator_bytes > SMALL_ACCUMULATOR)
        return false;
    return p->columns ? p->lanes <= 4 && p->vectors * p->across >= LARGE_BLOCK * COLUMN_UNROLL
                      : p->lanes <= 8 && p->vectors >= LONG_ROW;
}

static void choose_cuda_variant(plan *p)
{
    p->lanes = choose_lanes(p);
    p->team = p->across = 1;
    p->vectors = p->columns ? p->count : p->count / p->lanes;
    p->kept_vectors = p->columns ? p->outputs / p->lanes : p->outputs;
    p->tail = !p->columns && p->lanes > 1 && p->reduced.ndim == 1;
    if (p->columns)
        p->across = power_of_two(p->kept_vectors, 32);
    const bool large = wants_large_block(p);
    p->block = large ? LARGE_BLOCK : BLOCK;
    const int64_t threads = (int64_t)p->device->processors * p->device->threads_per_processor,
                  target = threads / p->block; /* blocks that run at once */
    int together;                              /* threads that walk the reduced axes together */
    if (p->columns) {
        together = p->block / p->across;
        p->tiles = ga__ceil_div(p->kept_vectors, p->across);
    } else {
        p->team = p->vectors >= LONG_ROW ? p->block : power_of_two(p->vectors, 32);
        together = p->team;
        p->tiles = ga__ceil_div(p->outputs, p->block / p->team);
    }
    p->unroll = power_of_two(ga__ceil_div(p->vectors, together), p->columns ? COLUMN_UNROLL
                                                                 : large    ? LARGE_ROW_UNROLL
                                                                            : ROW_UNROLL);
    p->segments = 1;
    p->spread = false;
    p->thin = !p->columns && p->count > 0 && p->count % p->lanes == 0 && p->vectors <= p->team &&
              p->outputs * p->team >= THIN_ROWS * threads;
    p->posted = p->outputs == 1 && p->reduction->nresults == 1 && !p->reduction->carry &&
                p->reduction->results[0].dtype != GA_NO_DTYPE;
    p->ascending = p->reduction->formula.uses_index && index_ascends(p);
    if (p->thin) {
        p->tail = false;
        p->unroll = THIN_ROWS;
        p->tiles = ga__ceil_div(p->outputs, (int64_t)THIN_ROWS * (p->block / p->team));
    }
    if (p->columns || p->team == p->block)
        choose_segments(p, target, ga__ceil_div(p->vectors, (int64_t)together * p->unroll));
}

/* ---- The host variant ---- */

/* Whether rows are so short that it pays to take neighbouring outputs together, at any stride. */
static bool rows_are_thin(const plan *p)
{
    return p->rows > 0 && p->count > 1 && p->count < HOST_THIN && p->kept.shape[0] >= HOST_THIN;
}

/* Rows that are longer than a strip had better be read whole, as far as accumulators fit. */
static int strip_of_columns(const plan *p)
{
    if (p->kept.shape[0] <= HOST_STRIP || rows_are_thin(p))
        return HOST_STRIP;
    const int64_t fit = HOST_STRIP_BYTES / (int64_t)p->reduction->accumulator_bytes;
    return fit < HOST_STRIP ? HOST_STRIP : fit < HOST_LONGEST_STRIP ? (int)fit : HOST_LONGEST_STRIP;
}

/* Whether operand k's rows are of as few elements as are taken apart by shuffles, and follow each
 * other. Measured: for less than 8 of 4 or 8 bytes loads from far apart do as well. */
static bool is_unzipped(const plan *p, int k)
{
    const int row = p->row[k];
    return p->unzip > 1 && row != NO_OPERAND && p->kept.strides[row][0] == p->unzip &&
           p->reduced.strides[row][0] == 1 &&
           (p->unzip == 8 || ga__dtype_size(p->operands[k].array->dtype) <= 2);
}

/* How many rows of columns follow each other in every array and fit a strip. */
static int64_t rows_folded(const plan *p)
{
    const int64_t width = p->kept.shape[0];
    if (p->kept.ndim > 1 || p->reduced.ndim > 1 || p->reduction->formula.uses_index)
        return 1;
    for (int row = 0; row < p->rows; row++)
        if (p->reduced.strides[row][0] != width * p->kept.strides[row][0])
            return 1;
    return width < p->strip ? p->strip / width : 1;
}

/* Whether a host's kernel maps strips of elements before its parts take them: where several parts
 * do, functions of libm have vector forms, or 16-bit floats become float. */
static bool is_staged(const plan *p)
{
    bool narrow = false;
    for (int k = 0; k < p->noperands; k++)
        narrow |= ga__operand_is_narrow(&p->operands[k]);
    return p->host && !p->reduction->formula.user_text &&
           (narrow || p->reduction->nparts > 1 || p->reduction->maps_math);
}

/* Whether the part of a staged kernel takes the very floats that its elements become. */
static bool is_plain(const plan *p)
{
    return p->reduction->maps_nothing && ga__operand_is_narrow(&p->operands[0]) &&
           p->step[p->row[0]] != STEP_ZERO;
}

/* How many rows of columns a host's loop takes at once: one where short rows make a long one
 * already, unless their accumulators take long to load. */
static int rows_abreast(const plan *p)
{
    const bool folded = p->group > 1 && p->reduction->accumulator_bytes <= SMALL_ACCUMULATOR;
    if (is_staged(p) || p->unzip > 1 || folded)
        return 1;
    return p->rows > 1 ? 4 : 8;
}

/* Whether one loop takes all elements of each row, which are as few in every array. */
static bool rows_are_short(const plan *p)
{
    if (p->unzip == 1 || is_staged(p) || p->reduction->formula.uses_index ||
        p->reduction->accumulator_bytes > SMALL_ACCUMULATOR)
        return false;
    for (int row = 0; row < p->rows; row++)
        if (p->kept.strides[row][0] != p->unzip || p->reduced.strides[row][0] != 1)
            return false;
    return true;
}

static void choose_host_variant(plan *p)
{
    const bool short_runs = !p->columns && p->reduced.ndim > 1;
    p->lanes = short_runs && p->reduced.shape[0] < HOST_SHORT_RUN ? HOST_SHORT_LANES : HOST_LANES;
    p->block = BLOCK;
    p->unroll = p->team = p->across = 1;
    p->tail = p->thin = p->posted = p->ascending = false;
    p->group = 1;
    if (p->columns) {
        const int64_t width = p->kept.shape[0];
        p->strip = strip_of_columns(p);
        p->group = rows_folded(p);
        p->tiles = p->outputs / width * ga__ceil_div(width, p->strip);
        if (p->kept.ndim == 1 && p->reduced.ndim == 1 &&
            (p->count == 2 || p->count == 4 || p->count == 8))
            p->unzip = (int)p->count;
        p->short_rows = rows_are_short(p);
        if (p->short_rows) {
            p->strip = HOST_LONGEST_STRIP;
            p->tiles = ga__ceil_div(width, p->strip);
        }
        p->abreast = rows_abreast(p);
    } else {
        if (p->reduced.ndim > 1 && p->outputs > 1)
            p->together = HOST_TOGETHER;
        p->group = p->count < HOST_GRAIN ? ga__ceil_div(HOST_GRAIN, p->count + 1) : p->together;
        p->tiles = ga__ceil_div(p->outputs, p->group);
    }
    const int64_t useful = ga__ceil_div(p->count * p->outputs, (int64_t)HOST_GRAIN * p->tiles);
    const int64_t wanted = p->tiles >= 16 ? 1 : 64 / p->tiles;
    p->segments = wanted < useful ? wanted : useful;
    if (p->segments < 1 || (!p->columns && (p->group > p->together || p->outputs > GA__TICKETS)))
        p->segments = 1;
}

static void choose_variant(plan *p)
{
    p->host = p->device->arch == 0;
    p->together = 1;
    p->strip = HOST_STRIP;
    p->unzip = p->abreast = 1;
    p->short_rows = false;
    p->columns = columns_are_better(p) || (p->host && rows_are_thin(p));
    p->wide = p->host || is_wide(p);
    choose_steps(p);
    if (p->host)
        choose_host_variant(p);
    else
        choose_cuda_variant(p);
    if (p->tiles > GA__TICKETS)
        p->segments = 1;
    p->split = p->segments > 1;
}

/* ---- The parameter words ---- */

static void add_divisors(plan *p, const ga__nest *nest, bool vectors, size_t *word)
{
    for (int axis = 0; axis < nest->ndim - 1; axis++) {
        const int64_t size = axis == 0 && vectors ? nest->shape[0] / p->lanes : nest->shape[axis];
        word[axis] = ga__words_add_divisor(&p->words, size, p->wide);
    }
}

static void add_strides(plan *p, const ga__nest *nest, int row)
{
    for (int axis = 0; axis < nest->ndim; axis++)
        ga__words_add(&p->words, (uint64_t)nest->strides[row][axis]);
}

static void add_operand(plan *p, int k)
{
    const ga__operand *operand = &p->operands[k];
    if (!operand->array) {
        p->data_word[k] = ga__words_add_number(&p->words, operand->type, operand->number);
        return;
    }
    p->data_word[k] = ga__words_add(&p->words, (uint64_t)(uintptr_t)operand->array->data);
    if (p->row[k] == NO_OPERAND) {
        ga__words_add_accessor(&p->words, operand->array);
        return;
    }
    add_strides(p, &p->kept, p->row[k]);
    add_strides(p, &p->reduced, p->row[k]);
}

static void add_carry(plan *p, const ga__carry *carry)
{
    p->carry_word = p->words.n;
    if (!carry)
        return;
    ga__words_add(&p->words, (uint64_t)(uintptr_t)carry->levels->memory);
    ga__words_add(&p->words, (uint64_t)p->outputs);
    ga__words_add(&p->words, carry->merged);
    ga__words_add(&p->words, (uint64_t)(int64_t)carry->level);
    ga__words_add(&p->words, (uint64_t)carry->first);
    ga__words_add(&p->words, (uint64_t)carry->count);
}

static void add_results(plan *p)
{
    ga__words *words = &p->words;
    p->out_word = ga__words_add(words, (uint64_t)(uintptr_t)p->out->data);
    add_strides(p, &p->kept, p->rows);
    p->result_word[0] = p->out_word;
    for (int k = 1; k < p->reduction->nresults; k++)
        p->result_word[k] = ga__words_add(words, (uint64_t)(uintptr_t)p->all[k]->data);
}

/* Words 3 to 5 are set by share_rows, once the kernel is known. */
static void add_words(plan *p)
{
    ga__words *words = &p->words;
    words->n = 0;
    ga__words_add(words, (uint64_t)p->count);
    ga__words_add(words, (uint64_t)(!p->host     ? p->kept_vectors
                                    : p->columns ? p->kept.shape[0]
                                                 : p->outputs));
    ga__words_add(words, (uint64_t)(p->host ? p->reduced.shape[0] : p->vectors));
    for (int k = WORD_SEGMENTS; k <= WORD_TICKETS; k++)
        ga__words_add(words, 0);
    ga__words_add(words, (uint64_t)p->group);
    ga__words_add(words, 0); /* WORD_POST and WORD_TAG */
    ga__words_add(words, 0);
    for (int k = 0; k < p->reduction->nparts; k++) {
        uint64_t word;
        memcpy(&word, &p->reduction->parts[k].ddof, sizeof(word));
        ga__words_add(words, word);
    }
    add_divisors(p, &p->kept, !p->host && p->columns, p->kept_word);
    add_divisors(p, &p->reduced, !p->host && !p->columns, p->reduced_word);
    for (int k = 0; k < p->noperands; k++)
        add_operand(p, k);
    add_results(p);
    p->index_word = words->n;
    add_strides(p, &p->reduced, p->rows);
    add_carry(p, p->reduction->carry);
}

/* ---- The kernel ---- */

static uint64_t operand_key(const plan *p, int k)
{
    return ga__operand_key(&p->operands[k], p->row[k] == NO_OPERAND ? 0 : p->step[p->row[k]]);
}

/* What only the host's kernels differ by. */
static uint64_t host_key(const plan *p)
{
    uint64_t unzipped = 0;
    for (int k = 0; k < p->noperands; k++)
        unzipped |= (uint64_t)is_unzipped(p, k) << k;
    return (uint64_t)p->unzip << 60 | (uint64_t)p->strip << 44 | (uint64_t)(p->abreast / 4) << 41 |
           (uint64_t)p->short_rows << 40 | unzipped;
}

static void make_key(const plan *p, ga__key *key)
{
    ga__key_init(key, &p->reduction->formula, p->device);
    ga__key_add(
        key, (uint64_t)p->kept.ndim | (uint64_t)p->reduced.ndim << 6 | (uint64_t)p->lanes << 12 |
                 (uint64_t)p->unroll << 17 | (uint64_t)(p->team % p->block) << 21 |
                 (uint64_t)p->across << 30 | (uint64_t)p->columns << 36 | (uint64_t)p->wide << 37 |
                 (uint64_t)p->tail << 38 | (uint64_t)p->split << 39 | (uint64_t)p->thin << 40 |
                 (uint64_t)p->posted << 41 | (uint64_t)p->ascending << 42 |
                 (uint64_t)(p->together > 1) << 43 | (uint64_t)p->step[p->rows] << 44 |
                 (uint64_t)(p->reduction->carry != NULL) << 46 |
                 (uint64_t)(p->block == LARGE_BLOCK) << 47 |
                 (uint64_t)p->reduction->parts[0].type << 48 | (uint64_t)p->out->dtype << 56);
    for (int k = 0; k < p->noperands; k += 2) {
        const uint64_t second = k + 1 < p->noperands ? operand_key(p, k + 1) : 0;
        ga__key_add(key, operand_key(p, k) | second << 32);
    }
    if (p->host)
        ga__key_add(key, host_key(p));
}

/* The steps of one operand along the axes of a nest; `inner` is the known step of axis 0, in
 * vectors of `lanes`. */
static void fill_strides(ga__record *record, const char *list, int ndim, int inner, int lanes,
                         size_t word)
{
    ga__record_list(record, list);
    for (int axis = 0; axis < ndim; axis++) {
        ga__record *entry = ga__record_append(record, list);
        ga__record_setf(entry, "axis", "%d", axis);
        if (axis == 0 && lanes > 1)
            ga__record_setf(entry, "step", "%d", inner == STEP_ONE ? lanes : 0);
        else
            ga__program_step(entry, "step", axis == 0 ? inner : STEP_ANY, word + (size_t)axis);
    }
}

static void fill_operand(ga__record *record, const plan *p, int k)
{
    const ga__operand *operand = &p->operands[k];
    const int row = p->row[k];
    const size_t word = p->data_word[k];
    ga__program_operand(record, k, operand);
    ga__record_set(record, "unzip", "");
    ga__record_setf(record, "word", "%zu", word);
    ga__record_setf(record, "word1", "%zu", word + 1);
    if (operand->array && row == NO_OPERAND)
        ga__program_accessor(record, operand->array, word);
    if (row == NO_OPERAND)
        return;
    const int lanes = p->host ? 1 : p->lanes;
    const size_t kept = word + 1, gone = kept + (size_t)p->kept.ndim;
    fill_strides(record, "kept_stride", p->kept.ndim, p->columns ? p->step[row] : STEP_ANY,
                 p->columns ? lanes : 1, kept);
    fill_strides(record, "reduced_stride", p->reduced.ndim, p->columns ? STEP_ANY : p->step[row],
                 p->columns ? 1 : lanes, gone);
    ga__program_step(record, "inner", p->step[row], p->columns ? kept : gone);
    ga__program_step(record, "near", p->step[row], p->columns ? kept : gone);
    if (is_unzipped(p, k)) {
        ga__record_setf(record, "unzip", "%d", p->unzip);
        ga__record_set(record, "inner", "1");
        ga__record_set(record, "near", "1");
    }
    ga__program_group(record, operand, p->step[row]);
    const bool vector = lanes > 1 && p->step[row] == STEP_ONE;
    ga__record_setf(record, "width", "%d", vector ? lanes : 1);
    ga__record_set(record, "lane", vector ? "ga_l" : "0");
}

/* The output's steps, counted in elements; in columns mode its axis 0 advances by whole vectors. */
static void fill_output(ga__record *record, const plan *p)
{
    const int lanes = p->host || !p->columns ? 1 : p->lanes;
    ga__record_setf(record, "out_word", "%zu", p->out_word);
    ga__program_step(record, "out_inner", p->columns ? p->step[p->rows] : STEP_ANY,
                     p->out_word + 1);
    ga__record_list(record, "out_stride");
    for (int axis = 0; axis < p->kept.ndim; axis++) {
        ga__record *entry = ga__record_append(record, "out_stride");
        ga__record_setf(entry, "axis", "%d", axis);
        ga__record_setf(entry, "step", "%d * (ga_index)ga_args.w[%zu]", axis == 0 ? lanes : 1,
                        p->out_word + 1 + (size_t)axis);
    }
}

/* The index's steps along the reduced axes, likewise. */
static void fill_index(ga__record *record, const plan *p)
{
    const int lanes = p->host || p->columns ? 1 : p->lanes;
    ga__record_list(record, "index_stride");
    ga__record_set(record, "index_lane", "0");
    if (!p->reduction->formula.uses_index)
        return;
    if (!p->columns)
        ga__record_setf(record, "index_lane", "(ga_index)ga_args.w[%zu]", p->index_word);
    for (int axis = 0; axis < p->reduced.ndim; axis++) {
        ga__record *entry = ga__record_append(record, "index_stride");
        ga__record_setf(entry, "axis", "%d", axis);
        ga__record_setf(entry, "step", "%d * (ga_index)ga_args.w[%zu]", axis == 0 ? lanes : 1,
                        p->index_word + (size_t)axis);
    }
}

static void fill_carry(ga__record *record, const plan *p)
{
    static const char *const names[] = {"levels_word", "outputs_word", "merged_word",
                                        "level_word",  "first_word",   "count_word"};
    ga__record_set(record, "carried", p->reduction->carry ? "1" : "");
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        ga__record_setf(record, names[k], "%zu", p->carry_word + k);
}

/* T of a part. The host's compilers make no vectors of bool, but of the bytes they are. */
static const char *part_type(const plan *p, const ga__reduce_part *part)
{
    if (!part->finish)
        return "";
    return p->host && part->type == GA_BOOL ? "unsigned char" : ga__dtype_compute_type(part->type);
}

static void fill_part(ga__record *record, const plan *p, int k)
{
    const ga__reduce_part *part = &p->reduction->parts[k];
    ga__record_setf(record, "p", "%d", k);
    ga__record_set(record, "accumulator", part->accumulator);
    ga__record_set(record, "neutral", part->neutral);
    ga__record_set(record, "take", part->step);
    ga__record_set(record, "combine", part->combine);
    ga__record_set(record, "conclude", part->finish ? part->finish : "");
    ga__record_setf(record, "ddof_word", "%d", WORD_DDOF + k);
    ga__record_set(record, "type", part_type(p, part));
}

static void fill_texts(ga__record *record, const plan *p)
{
    const ga__reduction *r = p->reduction;
    ga__record_set(record, "map", r->map);
    ga__record_setf(record, "accumulator_bytes", "%zu", r->accumulator_bytes);
    ga__record_list(record, "part");
    for (int k = 0; k < r->nparts; k++)
        fill_part(ga__record_append(record, "part"), p, k);
    ga__record_set(record, "raw_result", r->results[0].dtype == GA_NO_DTYPE ? "1" : "");
    ga__record_list(record, "result");
    for (int k = 0; k < r->nresults; k++) {
        ga__record *result = ga__record_append(record, "result");
        ga__record_setf(result, "q", "%d", k);
        ga__record_setf(result, "word", "%zu", p->result_word[k]);
        ga__record_set(result, "memory", ga__dtype_memory_type(p->all[k]->dtype));
        ga__record_set(result, "finish", r->results[k].finish);
    }
}

static bool any_complex(const plan *p)
{
    bool complex_types = false;
    for (int k = 0; k < p->reduction->nparts; k++)
        complex_types |= ga__dtype_kind(p->reduction->parts[k].type) == 'c';
    for (int k = 0; k < p->reduction->nresults; k++)
        complex_types |= ga__dtype_kind(p->all[k]->dtype) == 'c';
    for (int k = 0; k < p->noperands; k++)
        complex_types |= ga__operand_is_complex(&p->operands[k]);
    return complex_types;
}

/* The head's record: of all texts, to find what they need. */
static ga__record *new_record(const plan *p)
{
    const ga__reduction *r = p->reduction;
    const char *texts[3 + 6 * GA__MAX_PARTS];
    int n = 0;
    texts[n++] = r->formula.preamble ? r->formula.preamble : "";
    texts[n++] = r->map;
    for (int k = 0; k < r->nparts; k++) {
        const ga__reduce_part *part = &r->parts[k];
        texts[n++] = part->accumulator;
        texts[n++] = part->neutral;
        texts[n++] = part->step;
        texts[n++] = part->combine;
        texts[n++] = part->finish ? part->finish : "";
    }
    for (int k = 0; k < r->nresults; k++)
        texts[n++] = r->results[k].finish;
    texts[n] = NULL;
    return ga__program_record(&r->formula, p->device, p->words.n, any_complex(p), texts);
}

static ga__function *make_function(plan *p)
{
    const ga__reduction *r = p->reduction;
    const bool staged = is_staged(p);
    ga__record *record = new_record(p);
    fill_texts(record, p);
    ga__record_set(record, "staged", staged ? "1" : "");
    ga__record_set(record, "vector_math", staged ? "1" : "");
    ga__record_set(record, "plain", staged && is_plain(p) ? "1" : "");
    ga__record_set(record, "index_type", p->wide ? "long long" : "int");
    ga__record_set(record, "columns", p->columns ? "1" : "");
    ga__record_set(record, "short_row", "");
    if (p->short_rows)
        ga__record_setf(record, "short_row", "%d", p->unzip);
    ga__record_setf(record, "abreast", p->abreast > 1 ? "%d" : "", p->abreast);
    ga__record_set(record, "tail", p->tail ? "1" : "");
    ga__record_set(record, "split", p->split ? "1" : "");
    ga__record_set(record, "thin", p->thin ? "1" : "");
    ga__record_set(record, "posted", p->posted ? "1" : "");
    ga__record_set(record, "ascending", p->ascending ? "true" : "false");
    ga__record_setf(record, "lanes", "%d", p->lanes);
    ga__record_setf(record, "unroll", "%d", p->unroll);
    ga__record_setf(record, "block", "%d", p->block);
    /* Accumulators of eight lanes fit the registers of a full multiprocessor, if they have to. */
    ga__record_setf(record, "bounds", p->block == LARGE_BLOCK && p->lanes == 8 ? "%d, 4" : "%d",
                    p->block);
    ga__record_setf(record, "team", "%d", p->team);
    ga__record_setf(record, "across", "%d", p->across);
    ga__record_set(record, "together", p->columns ? "ga_down" : "ga_team");
    ga__record_setf(record, "outputs_together", "%d", p->together);
    ga__record_setf(record, "strip", "%d", p->strip);
    ga__program_axes(record, "kept_axis", 0, p->kept.ndim, p->kept_word);
    ga__program_axes(record, "reduced_axis", 0, p->reduced.ndim, p->reduced_word);
    ga__record_list(record, "operand");
    for (int k = 0; k < p->noperands; k++)
        fill_operand(ga__record_append(record, "operand"), p, k);
    fill_output(record, p);
    fill_index(record, p);
    fill_carry(record, p);
    return ga__program_function(&r->formula, p->device, "reduce.tmpl", record);
}

/* A kernel, and how many of its blocks the device runs at once. */
typedef struct kernel {
    ga__function *function;
    int resident;
} kernel;

static const kernel *new_kernel(plan *p, ga__key_table *table, const ga__key *key)
{
    kernel *made = ga__malloc(sizeof(*made));
    if (!made)
        return NULL;
    made->function = make_function(p);
    if (!made->function)
        goto failed;
    made->resident = p->device->backend->resident_blocks(p->device, made->function, p->block);
    kernel *stands = ga__key_table_put(table, key, made);
    if (stands == made)
        return made;
    ga__free(made);
    return stands;
failed:
    ga__free(made);
    return NULL;
}

static const kernel *find_kernel(plan *p)
{
    static ga__key_table table = GA__KEY_TABLE_INIT;
    ga__key key;
    make_key(p, &key);
    const kernel *found = ga__key_table_get(&table, &key);
    return found ? found : new_kernel(p, &table, &key);
}

/* Waits for what other streams do with operands and results. */
static ga__stream *choose_stream(const plan *p)
{
    ga__stream *stream = ga__operands_stream(p->device, p->noperands, p->operands);
    for (int k = 0; stream && k < p->reduction->nresults; k++)
        if (ga__use(stream, p->all[k]->buffer, true) != GA_OK)
            return NULL;
    const ga__carry *carry = p->reduction->carry;
    if (stream && carry && ga__use(stream, carry->levels, true) != GA_OK)
        return NULL;
    return stream;
}

/* How many partial results the blocks leave. */
static int64_t partial_count(const plan *p)
{
    if (!p->columns)
        return (p->host ? p->outputs : p->tiles) * p->segments;
    return p->tiles * p->segments * (p->host ? p->strip : (int64_t)p->across * p->lanes);
}

static void set_post(plan *p, ga__stream *stream)
{
    const ga__post post = ga__post_begin(stream, p->out->buffer, p->out->data, ga_nbytes(p->out));
    p->words.word[WORD_POST] = post.address;
    p->words.word[WORD_TAG] = post.tag;
}

/* Fixes how many blocks share a row: as many as run at once, so that all end together. */
static ga_status share_rows(plan *p, ga__stream *stream, int resident, ga__buffer **partials)
{
    if (!p->host && p->split && !p->spread) {
        const int64_t fit = resident / p->tiles;
        p->segments = fit < p->segments ? fit : p->segments;
        p->segments = p->segments > 1 ? p->segments : 1;
    }
    p->words.word[WORD_SEGMENTS] = (uint64_t)p->segments;
    if (p->posted)
        set_post(p, stream);
    if (!p->split)
        return GA_OK;
    void *tickets = ga__stream_tickets(stream);
    if (!tickets)
        return ga_error();
    *partials =
        ga__buffer_new(p->device, (size_t)partial_count(p) * p->reduction->accumulator_bytes);
    if (!*partials)
        return ga_error();
    p->words.word[WORD_PARTIALS] = (uint64_t)(uintptr_t)(*partials)->memory;
    p->words.word[WORD_TICKETS] = (uint64_t)(uintptr_t)tickets;
    return GA_OK;
}

ga_status ga__reduce(const ga__reduction *reduction, ga__device *device, int ndim,
                     const int64_t *shape, const bool *reduced, int noperands,
                     const ga__operand *operands, gpuarray *const *out)
{
    plan p;
    assert(noperands < GA__MAX_OPERANDS);
    assert(!reduction->carry || out[0]->contiguous);
    p.reduction = reduction;
    p.device = device;
    p.noperands = noperands;
    p.operands = operands;
    p.out = out[0];
    p.all = out;
    p.outputs = reduction->results[0].dtype == GA_NO_DTYPE ? 1 : p.out->size;
    p.count = 1;
    p.group = 1;
    p.vectors = p.kept_vectors = 0;
    if (p.outputs == 0)
        return GA_OK;
    for (int axis = 0; axis < ndim; axis++)
        p.count *= reduced[axis] ? shape[axis] : 1;
    number_rows(&p);
    plan_nests(&p, ndim, shape, reduced);
    choose_variant(&p);
    add_words(&p);
    const kernel *k = find_kernel(&p);
    ga__stream *stream = k ? choose_stream(&p) : NULL;
    ga__buffer *partials = NULL;
    if (!stream || share_rows(&p, stream, k->resident, &partials) != GA_OK)
        return ga_error();
    const ga__launch launch = {p.tiles * p.segments, p.block, 0, p.words.word, p.words.n};
    const ga_status status = device->backend->launch(stream, k->function, &launch);
    ga__buffer_release(partials);
    return status;
}
