/* The results: a table on standard output and a JSON file. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include <stdbool.h>

#include "machine.h"

typedef struct result {
    const char *name;
    double us;       /* median */
    double gbps;     /* 0: not a matter of bandwidth */
    double limit_us; /* what the machine itself takes; 0: there is no such */
    bool wrong;      /* it failed, or its output is not what was expected */
    double temporary,
        temporary_most; /* bytes besides inputs and result, and the promise; 0: none */
} result;

enum { MAX_RESULTS = 192 };

typedef struct report {
    const char *device, *description;
    const char *json; /* the file of the results; NULL: none */
    int64_t n;
    double limits[LIMIT_COUNT]; /* GB/s; 0: not measured */
    int count;
    result results[MAX_RESULTS];
} report;

extern const char *const limit_names[LIMIT_COUNT];

void report_limits(const report *r);

/* Prints the row, keeps it and writes the file anew: who is killed loses only the next row. */
void report_add(report *r, result row);

/* Writes the file, whole or not at all; false when it cannot. */
bool report_json(const report *r);

#endif
