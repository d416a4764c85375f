/* Plans a sum of products: which kernels compute it, and in which order. */
#include <assert.h>
#include <string.h>

#include "ops/einsum/contraction.h"

/* Up to this number of operands, the cheapest of all orders is found; beyond it, a good one. */
#define SEARCHED 6

double ga__label_places(const ga__contraction *c, uint64_t labels)
{
    double places = 1;
    for (; labels; labels &= labels - 1)
        places *= (double)c->length[__builtin_ctzll(labels)];
    return places;
}

uint64_t ga__kept_labels(const ga__contraction *c)
{
    uint64_t kept = 0;
    for (int k = 0; k < c->ndim; k++)
        if (c->length[c->label[k]] != 1)
            kept |= ga__label_bit(c->label[k]);
    return kept;
}

/* The labels of all terms of a step. */
static uint64_t step_labels(const ga__contraction *c, const ga__step *step)
{
    uint64_t labels = 0;
    for (int k = 0; k < step->count; k++)
        labels |= c->step[step->term[k]].labels;
    return labels;
}

/* Whether a pair has rows, columns and a sum: what a product of matrices computes better than a
 * kernel that meets every element of the larger one for each result. */
static bool is_matrix_product(const ga__contraction *c, uint64_t a, uint64_t b, uint64_t result)
{
    return !c->conjugates && ga__label_places(c, a & ~b) > 1 && ga__label_places(c, b & ~a) > 1 &&
           ga__label_places(c, a & b & ~result) > 1;
}

/* Adds a step over two terms, or over one if both are the same. */
static int add_step(ga__contraction *c, int a, int b, uint64_t result)
{
    const uint64_t first = c->step[a].labels, second = c->step[b].labels;
    const bool swapped = ga__label_places(c, second) > ga__label_places(c, first);
    ga__step *step = &c->step[c->nterms];
    *step = (ga__step){.labels = result, .count = 1 + (a != b)};
    step->term[0] = (uint8_t)(swapped ? b : a);
    step->term[1] = (uint8_t)(swapped ? a : b);
    step->matrices = a != b && is_matrix_product(c, first, second, result);
    return c->nterms++;
}

/* ---- Orders ---- */

/* Terms that are to be multiplied: their numbers. */
typedef struct list {
    int count, term[GA__MAX_TERMS];
} list;

/* The labels that the product of some terms of the list needs to keep: those of the result and of
 * the other terms. */
static uint64_t needed(const ga__contraction *c, const list *l, uint64_t chosen)
{
    uint64_t labels = ga__kept_labels(c);
    for (int k = 0; k < l->count; k++)
        labels |= chosen >> k & 1 ? 0 : c->step[l->term[k]].labels;
    return labels;
}

/* Sums an operand over labels that it has alone, unless a kernel over all operands takes no longer
 * than this sum. */
static void sum_alone(ga__contraction *c, list *l)
{
    uint64_t all = 0;
    for (int k = 0; k < l->count; k++)
        all |= c->step[l->term[k]].labels;
    for (int k = 0; k < l->count; k++) {
        const uint64_t own = c->step[l->term[k]].labels,
                       rest = own & needed(c, l, UINT64_C(1) << k);
        if (own != rest && own != all)
            l->term[k] = add_step(c, l->term[k], l->term[k], rest);
    }
}

/* What all subsets of a short list cost: the places that their kernels visit, and the elements that
 * they store. */
typedef struct search {
    double cost[1 << SEARCHED];
    uint64_t labels[1 << SEARCHED]; /* of the product */
    uint8_t half[1 << SEARCHED];    /* one of the two that it is the product of */
} search;

static void search_subset(const ga__contraction *c, search *s, unsigned set)
{
    const double stored = ga__label_places(c, s->labels[set]);
    s->cost[set] = -1;
    for (unsigned half = (set - 1) & set; half > (set ^ half); half = (half - 1) & set) {
        const unsigned other = set ^ half;
        const double cost = s->cost[half] + s->cost[other] + stored +
                            ga__label_places(c, s->labels[half] | s->labels[other]);
        if (s->cost[set] >= 0 && cost >= s->cost[set])
            continue;
        s->cost[set] = cost;
        s->half[set] = (uint8_t)half;
    }
}

static int build(ga__contraction *c, const list *l, const search *s, unsigned set)
{
    if ((set & (set - 1)) == 0)
        return l->term[__builtin_ctz(set)];
    const int a = build(c, l, s, s->half[set]), b = build(c, l, s, set ^ s->half[set]);
    return add_step(c, a, b, s->labels[set]);
}

/* The cheapest order of all. */
static void multiply_searching(ga__contraction *c, const list *l)
{
    search s;
    const unsigned all = (1u << l->count) - 1;
    for (unsigned set = 1; set <= all; set++) {
        uint64_t labels = 0;
        for (int k = 0; k < l->count; k++)
            labels |= set >> k & 1 ? c->step[l->term[k]].labels : 0;
        const bool single = (set & (set - 1)) == 0;
        s.labels[set] = single ? labels : labels & needed(c, l, set);
        if (single)
            s.cost[set] = 0;
        else
            search_subset(c, &s, set);
    }
    build(c, l, &s, all);
}

/* How much memory the product of two terms takes more than both: the fewest first. */
static double growth(const ga__contraction *c, const list *l, int a, int b, uint64_t *result)
{
    const uint64_t first = c->step[l->term[a]].labels, second = c->step[l->term[b]].labels;
    *result = (first | second) & needed(c, l, UINT64_C(1) << a | UINT64_C(1) << b);
    return ga__label_places(c, *result) - ga__label_places(c, first) - ga__label_places(c, second);
}

/* One pair after another, each the best of those that are left. */
static void multiply_greedily(ga__contraction *c, list *l)
{
    while (l->count > 1) {
        uint64_t labels = 0, result;
        double least = 0;
        int first = -1, second = 0;
        for (int a = 0; a < l->count; a++)
            for (int b = a + 1; b < l->count; b++) {
                const double more = growth(c, l, a, b, &result);
                if (first >= 0 && more >= least)
                    continue;
                least = more;
                labels = result;
                first = a;
                second = b;
            }
        l->term[first] = add_step(c, l->term[first], l->term[second], labels);
        l->term[second] = l->term[--l->count];
    }
}

/* ---- Steps that become one ---- */

/* Puts the terms of an earlier step in the place of its result, if that visits no more places. */
static bool include(ga__contraction *c, ga__step *step, int place)
{
    const ga__step *part = &c->step[step->term[place]];
    if (part->count < 2 || part->matrices || step->count + part->count - 1 > GA__MAX_FACTORS)
        return false;
    ga__step whole = *step;
    whole.count--;
    memmove(whole.term + place, whole.term + place + 1, (size_t)(whole.count - place));
    memcpy(whole.term + whole.count, part->term, (size_t)part->count);
    whole.count += part->count;
    if (ga__label_places(c, step_labels(c, &whole)) >
        ga__label_places(c, step_labels(c, step)) + ga__label_places(c, step_labels(c, part)))
        return false;
    c->step[step->term[place]].count = 0;
    *step = whole;
    return true;
}

/* The largest term first: the engines order their loops by it. */
static void put_largest_first(const ga__contraction *c, ga__step *step)
{
    int largest = 0;
    for (int k = 1; k < step->count; k++)
        if (ga__label_places(c, c->step[step->term[k]].labels) >
            ga__label_places(c, c->step[step->term[largest]].labels))
            largest = k;
    const uint8_t first = step->term[0];
    step->term[0] = step->term[largest];
    step->term[largest] = first;
}

static void join_steps(ga__contraction *c)
{
    for (int k = c->noperands; k < c->nterms; k++) {
        ga__step *step = &c->step[k];
        for (int place = 0; place < step->count && !step->matrices; place++)
            if (include(c, step, place))
                place = -1;
        put_largest_first(c, step);
    }
}

void ga__contraction_plan(ga__contraction *c)
{
    list l = {.count = c->noperands};
    for (int k = 0; k < c->noperands; k++) {
        l.term[k] = k;
        c->step[k] = (ga__step){.labels = c->term[k].labels};
    }
    c->nterms = c->noperands;
    sum_alone(c, &l);
    if (l.count == 1)
        add_step(c, l.term[0], l.term[0], ga__kept_labels(c));
    else if (l.count <= SEARCHED)
        multiply_searching(c, &l);
    else
        multiply_greedily(c, &l);
    join_steps(c);
}
