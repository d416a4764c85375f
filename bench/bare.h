/* The library of products without Quarry: the same call, prepared beforehand. */
#ifndef BENCH_BARE_H
#define BENCH_BARE_H

#include <stdbool.h>
#include <stdint.h>

#include <quarry.h>

typedef struct bare bare;

/* What multiplies a @ b into out, square matrices of n x n float32 in C order, by the library that
 * Quarry has loaded for the current device. NULL, after a line to stderr, if there is none. */
bare *bare_new(const gpuarray *a, const gpuarray *b, gpuarray *out, int64_t n);

/* One call, on a GPU in the thread's current stream. */
bool bare_multiply(bare *call);

void bare_free(bare *call);

#endif
