/* What the text of a sort's kernel may depend on: no address, no size. */
#ifndef GA_KERNELS_SORT_SORT_VARIANT_H
#define GA_KERNELS_SORT_SORT_VARIANT_H

#include <stdbool.h>
#include <stdint.h>

/* The work of one launch. */
typedef enum ga__sort_step {
    GA__SORT_SHORT_ROWS, /* sorts several rows, by a network of comparisons */
    GA__SORT_ROWS,       /* sorts each row by its digits, in cache or shared memory */
    GA__SORT_COUNT,      /* of long rows: counts all digits; quick: divides chunks into parts */
    GA__SORT_PLAN,       /* decides which digits need a pass, */
    GA__SORT_DIGIT,      /* on the host: counts the pass's digit, */
    GA__SORT_PASS,       /* moves the elements to the places of their digits */
    GA__SORT_GATHER,     /* quick: brings the parts of buckets together, */
    GA__SORT_BUCKETS,    /* sorts the buckets, */
    GA__SORT_SPECIALS    /* and puts zeros and NaNs in their order */
} ga__sort_step;

/* Its word is the key, after the formula's id and the device. */
typedef struct ga__sort_variant {
    uint8_t type; /* the dtype */
    uint8_t step; /* a ga__sort_step */
    uint8_t host : 1, descending : 1;
    uint8_t values : 1, indices : 1; /* the results */
    uint8_t wide : 1;                /* indices of rows have 64 bits */
    uint8_t last : 1;                /* CUDA: the pass that writes the results */
    uint8_t quick : 1;               /* host: comparisons of words, not digits */
    uint8_t skips : 1;               /* CUDA: some digits are not counted */
    uint8_t items;                   /* CUDA: elements of a thread */
    uint16_t block;                  /* CUDA: threads */
    uint8_t team;                    /* CUDA: threads of a short row */
    uint8_t packs : 1;               /* host: words of keys and indices, before digits */
    uint8_t counts : 1;              /* host: counts of keys */
    uint8_t : 6;
} ga__sort_variant;
_Static_assert(sizeof(ga__sort_variant) == 8, "a sort's variant is one word of the key");

#endif
