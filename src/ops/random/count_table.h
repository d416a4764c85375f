/* Tables by which counts are drawn: the distribution function of a law of counts, inverted. */
#ifndef GA_OPS_RANDOM_COUNT_TABLE_H
#define GA_OPS_RANDOM_COUNT_TABLE_H

#include "array/array.h"

/* A binomial law of n trials with chance p, or if n is infinite a Poisson law of mean p. */
typedef struct ga__count_law {
    double n, p;
} ga__count_law;

/* Whether the law's variance is small enough for a table; of its parameters alone. */
bool ga__count_law_has_table(ga__count_law law);

/* Where the table's counts begin, and by how many bits a word of 64 is shifted to find its cell. */
typedef struct ga__count_table {
    gpuarray *words; /* on the device: ga::count_by_table says what they are */
    uint64_t first;
    int shift;
} ga__count_table;

/* Sets *table, whose words the caller frees; counts above `most` become `most`. */
ga_status ga__count_table_make(ga__count_table *table, const char *name, ga__device *device,
                               ga__count_law law, uint64_t most);

#endif
