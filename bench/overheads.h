/* The cases over small arrays and new kernels: what a call costs the host. */
#ifndef BENCH_OVERHEADS_H
#define BENCH_OVERHEADS_H

#include "report.h"

typedef bool (*wanted_case)(const char *name);

/* Host time of launches, and of a result read back. */
void bench_launches(report *r, const machine *m, wanted_case wanted);

/* Graphs beside the operations in them, and threads on streams of their own beside one of them. */
void bench_streams(report *r, wanted_case wanted);

/* First calls of new kernels, compiled and from the disk cache; `program` is this executable. */
void bench_first_calls(report *r, wanted_case wanted, const char *program);

/* What the process started by bench_first_calls does: times new kernels and, in turn, the compiler
 * on texts in the directory ("": none), and prints medians. */
int bench_first_calls_child(const machine *m, const char *directory);

#endif
