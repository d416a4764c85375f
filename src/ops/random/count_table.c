/* Makes the tables of counts from the ratios of neighbouring probabilities.
 *
 * Each sum has two doubles, and each step is a correctly rounded operation, so that the table is
 * the same on all processors; it is right within 2^-64. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

#include "ops/random/count_table.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os/fork.h"

#define MOST_VARIANCE 4096.0
#define LEAST_WEIGHT 0x1p-80 /* of the mode's */

enum {
    HALF = 1023, /* counts on either side of the mode: 16 deviations */
    WEIGHTS = 2 * HALF + 1,
    LEAST_BITS = 8,
    MOST_BITS = 10, /* of a word, that choose a cell of the guide */
    GUIDE_WORDS = (1 << MOST_BITS) / 4
};

bool ga__count_law_has_table(ga__count_law law)
{
    return (isinf(law.n) ? law.p : law.n * law.p * (1 - law.p)) <= MOST_VARIANCE;
}

/* ---- Sums of two doubles: T. J. Dekker, "A floating-point technique for extending the available
 * precision" (1971), with fused multiply-adds ---- */

typedef struct sum {
    double high, low;
} sum;

static sum exact(double a, double b)
{
    const double high = a + b, from_b = high - a;
    return (sum){high, (a - (high - from_b)) + (b - from_b)};
}

static sum plus(sum a, sum b)
{
    const sum high = exact(a.high, b.high);
    return exact(high.high, high.low + (a.low + b.low));
}

static sum times(sum a, sum b)
{
    const double high = a.high * b.high;
    return exact(high, fma(a.low, b.high, fma(a.high, b.low, fma(a.high, b.high, -high))));
}

static sum over(sum a, sum b)
{
    const double high = a.high / b.high;
    const double left = fma(-high, b.low, fma(-high, b.high, a.high) + a.low);
    return exact(high, left / b.high);
}

/* ---- Probabilities ---- */

/* Probabilities over that of the mode, which is weight HALF. */
typedef struct weights {
    double mode;
    int low, high; /* the first and the last */
    sum weight[WEIGHTS];
} weights;

/* The two factors whose quotient is the probability of k over that of k - 1. */
static void ratio_at(ga__count_law law, double k, sum *above, sum *below)
{
    const sum number = {k, 0}, left = {isinf(law.n) ? 1 : law.n - k + 1, 0};
    *above = times(left, (sum){law.p, 0});
    *below = isinf(law.n) ? number : times(number, exact(1, -law.p));
}

static void weigh(weights *w, ga__count_law law)
{
    sum above, below;
    w->mode = isinf(law.n) ? floor(law.p) : fmin(floor((law.n + 1) * law.p), law.n);
    w->low = w->high = HALF;
    w->weight[HALF] = (sum){1, 0};
    for (double k = w->mode; k > 0 && w->weight[w->low].high >= LEAST_WEIGHT; k--) {
        ratio_at(law, k, &above, &below);
        assert(w->low > 0);
        w->weight[w->low - 1] = over(times(w->weight[w->low], below), above);
        w->low--;
    }
    for (double k = w->mode; k < law.n && w->weight[w->high].high >= LEAST_WEIGHT; k++) {
        ratio_at(law, k + 1, &above, &below);
        assert(w->high < WEIGHTS - 1);
        w->weight[w->high + 1] = over(times(w->weight[w->high], above), below);
        w->high++;
    }
}

/* ---- The table ---- */

/* The table's words, as they go to the device: the guide, of `1 << bits` cells, then the bounds. */
typedef struct table {
    int count, bits;
    uint64_t first, bound[WEIGHTS];
    union {
        uint16_t cell[1 << MOST_BITS];
        uint64_t word[GUIDE_WORDS + WEIGHTS];
    } made;
} table;

/* The greatest word among a share of all 2^64, which is at most 1; false if the share has none. */
static bool last_word(sum share, uint64_t *word)
{
    const double high = share.high * 0x1p64, whole = fmin(floor(high), 0x1p64 - 0x1p11);
    const double rest = floor((high - whole) + share.low * 0x1p64);
    const uint64_t count = (uint64_t)whole + (uint64_t)(int64_t)rest;
    const bool is_all = rest > 0 && count < (uint64_t)rest;
    *word = is_all ? UINT64_MAX : count - 1;
    return is_all || count > 0;
}

/* The last bound takes what remains: it is the greatest word. */
static void set_bounds(table *t, const weights *w, uint64_t most)
{
    sum total = {0, 0}, below = {0, 0};
    for (int k = w->low; k <= w->high; k++)
        total = plus(total, w->weight[k]);
    t->count = 0;
    for (int k = w->low; k <= w->high; k++) {
        const uint64_t number = (uint64_t)w->mode + (uint64_t)k - HALF;
        uint64_t word;
        below = plus(below, w->weight[k]);
        const bool any = last_word(over(below, total), &word);
        const bool ends = k == w->high || number >= most;
        if (!any && !ends)
            continue;
        t->first = t->count == 0 ? number : t->first;
        t->bound[t->count++] = ends ? UINT64_MAX : word;
        if (ends || word == UINT64_MAX)
            break;
    }
}

/* Each cell names the first count that its words may choose. */
static void set_guide(table *t)
{
    t->bits = LEAST_BITS;
    while (t->bits < MOST_BITS && 1 << t->bits < 2 * t->count)
        t->bits++;
    for (int cell = 0, k = 0; cell < 1 << t->bits; cell++) {
        while (t->bound[k] < (uint64_t)cell << (64 - t->bits))
            k++;
        t->made.cell[cell] = (uint16_t)k;
    }
    memcpy(t->made.word + (1 << t->bits) / 4, t->bound, sizeof *t->bound * (size_t)t->count);
}

/* The table of the last call: programs draw from one law again and again. */
static struct {
    pthread_mutex_t lock;
    bool filled;
    ga__count_law law;
    uint64_t most;
    table made;
} last = {.lock = PTHREAD_MUTEX_INITIALIZER};
GA__FORK_GUARD(&last.lock, GA__FORK_LEAF, NULL)

static bool recall(table *t, ga__count_law law, uint64_t most)
{
    pthread_mutex_lock(&last.lock);
    const bool known =
        last.filled && last.law.n == law.n && last.law.p == law.p && last.most == most;
    if (known)
        *t = last.made;
    pthread_mutex_unlock(&last.lock);
    return known;
}

static void keep(const table *t, ga__count_law law, uint64_t most)
{
    pthread_mutex_lock(&last.lock);
    last.law = law;
    last.most = most;
    last.made = *t;
    last.filled = true;
    pthread_mutex_unlock(&last.lock);
}

static void make(table *t, weights *w, ga__count_law law, uint64_t most)
{
    if (recall(t, law, most))
        return;
    weigh(w, law);
    set_bounds(t, w, most);
    set_guide(t);
    keep(t, law, most);
}

static gpuarray *upload(const table *t, const char *name, ga__device *device)
{
    const int64_t nwords = (1 << t->bits) / 4 + t->count;
    return ga__array_from(name, device, GA_UINT64, 1, &nwords, t->made.word);
}

ga_status ga__count_table_make(ga__count_table *made, const char *name, ga__device *device,
                               ga__count_law law, uint64_t most)
{
    typedef struct work {
        weights w;
        table t;
    } work;
    work *own = ga__malloc(sizeof *own);
    if (!own)
        return ga_error();
    make(&own->t, &own->w, law, most);
    gpuarray *words = upload(&own->t, name, device);
    if (words)
        *made = (ga__count_table){words, own->t.first, 64 - own->t.bits};
    ga__free(own);
    return words ? GA_OK : ga_error();
}
