/* Writes to indexed elements. */
#ifndef GA_OPS_INDEX_SCATTER_H
#define GA_OPS_INDEX_SCATTER_H

#include "ops/index/steps.h"

/* x[...] = value at what the parts describe. `mode` is that of every index. `steps` are the strides
 * of a tuple's key over the axes of the tuples, for calls in which a tuple also names elements of
 * other axes; NULL otherwise. Of equal tuples the last one wins. Raises before it writes where the
 * index is known to be out of range. The value is a number, or an array that broadcasts to the
 * shape of the result. */
ga_status ga__scatter(const char *name, const ga__indexing *g, ga_index_mode mode,
                      const int64_t *steps, ga_value value);

/* The element that each tuple names, as a key: its place in elements from the lowest one on; -1 for
 * a tuple that is out of range, which on the host raises. */
typedef struct ga__tuple_keys {
    gpuarray *keys; /* int64, one for each tuple; the caller's */
    int64_t low;    /* the place of key 0, in elements from the parts' offset */
    int64_t span;   /* keys are less */
} ga__tuple_keys;
ga_status ga__scatter_keys(const char *name, const ga__indexing *g, ga__tuple_keys *keys);

/* All keys: those of the indices, and of the axes that the tuples name besides, by the `steps` of
 * ga__scatter(). INT64_MAX if they are more. */
int64_t ga__count_keys(const ga__indexing *g, const int64_t *steps);

/* The bits of a number up to its highest 1. */
int ga__bits_of(uint64_t number);

/* The bits of an element that words may have beside a key or a position: of an integer, or a number
 * that moves as one, of up to 32 bits; 0 for others, whose positions words have. */
int ga__value_bits(ga_dtype dtype);

/* Whether random claims of ga__scatter() would miss a GPU's cache. */
bool ga__claims_are_far(const ga__indexing *g, const int64_t *steps);

/* Fills packed->words, from words of this form, low, span and shift. */
ga_status ga__scatter_pack(const char *name, const ga__indexing *g, ga_index_mode mode,
                           ga_value value, const ga__packed *packed);

/* Raises words that are 0 to those of the tuples. */
ga_status ga__scatter_latest(const char *name, const ga__indexing *g, ga_index_mode mode,
                             ga_value value, const ga__latest *latest);

/* CUDA: folds the value into what the parts describe, by atomics. `fold` is an operation of
 * fold.tmpl that computes in `loop`. */
ga_status ga__scatter_fold(const char *name, const ga__indexing *g, ga_value value,
                           const char *fold, ga_dtype loop);

/* CUDA: adds the value, as `loop`, to the sums of what the parts describe: single elements. */
ga_status ga__scatter_sum(const char *name, const ga__indexing *g, ga_value value, ga_dtype loop,
                          const ga__sums *sums);

/* Raises what ga__scatter() would. */
ga_status ga__check_tuples(const char *name, const ga__indexing *g);

/* The value, if it is an array, in the dtype of x, on its device, and apart from its memory. *copy
 * is to be freed after the launch. */
ga_status ga__scattered_value(const char *name, const gpuarray *x, ga_value *value,
                              gpuarray **copy);

/* ga_putmask() and ga_place() for the function `name`. */
ga_status ga__putmask(const char *name, gpuarray *x, const gpuarray *mask, ga_value value);
ga_status ga__place(const char *name, gpuarray *x, const gpuarray *mask, ga_value value);

#endif
