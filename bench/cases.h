/* The cases over large arrays: what each needs, does, and must give. */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include <quarry.h>

#include "machine.h"

/* One set of inputs and the output of a case. Sets differ in their seed. */
typedef struct workload {
    const machine *machine;
    int64_t n; /* elements asked for */
    uint32_t seed;
    gpuarray *x, *y, *c; /* what is filled; NULL where a case has none */
    gpuarray *a, *b;     /* what the operation gets: x and y, or views of them */
    gpuarray *out;
} workload;

typedef struct bench_case {
    const char *name;
    limit_kind limit; /* LIMIT_COUNT: too small for a bandwidth */
    double bytes;     /* the least, for each element of x */
    double tolerance; /* relative */
    bool sums;        /* rounding grows with the number of terms */
    random_kind kind; /* of x and y */
    bool (*setup)(workload *w, const struct bench_case *c);
    ga_status (*run)(workload *w);
    double (*expect)(const workload *w, const struct bench_case *c,
                     int64_t i); /* element i of out */
} bench_case;

extern const bench_case bench_cases[], order_cases[];
extern const int bench_case_count, order_case_count;

/* The bytes of temporary memory for each element of x that the case may take: those of its elements
 * twice and 1 % of them, with indices 1 % of all. 0: none are promised. */
double order_temporary(const bench_case *c);

/* Frees what the setup made. */
void workload_reset(workload *w);

/* Compares a sample of out (all of a small one) with what is expected; false, and a line on
 * standard error, when one is off. */
bool workload_check(const workload *w, const bench_case *c);

#endif
