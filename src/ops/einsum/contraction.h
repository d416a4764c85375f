/* Sums of products: arrays whose axes have labels. */
#ifndef GA_OPS_EINSUM_CONTRACTION_H
#define GA_OPS_EINSUM_CONTRACTION_H

#include "array/array.h"

/* Labels are numbers below this one. Sets of them are words, a bit for each. */
#define GA__MAX_LABELS 64

/* The most operands of a contraction, and of one of its kernels. */
#define GA__MAX_TERMS 64
#define GA__MAX_FACTORS 8

static inline uint64_t ga__label_bit(int label)
{
    return UINT64_C(1) << label;
}

/* An array with a label for each axis, none twice: a label that an operand repeats is its diagonal.
 * Axes of one element are left out: the array is the same for every place along them. */
typedef struct ga__term {
    const gpuarray *array; /* its memory; NULL: there is none yet, or no more */
    uint64_t labels;
    int ndim;
    int label[GA_MAX_NDIM];
    int64_t strides[GA_MAX_NDIM]; /* in bytes */
} ga__term;

/* One kernel: the product of some terms, summed over the labels that its result lacks. */
typedef struct ga__step {
    uint64_t labels; /* of the result */
    int count;       /* terms; 0: this one is an operand, or a later step includes it */
    bool matrices;   /* a product of two matrices, or of batches of them */
    uint8_t term[GA__MAX_FACTORS]; /* the largest first; all are made before this step */
} ga__step;

/* A sum of products. Terms and steps have the same numbers: the operands come first, in order, then
 * what each step makes. The last step makes the result. */
typedef struct ga__contraction {
    const char *name;
    ga__device *device;
    ga_dtype type;   /* of the result; operands convert to it */
    ga_dtype wide;   /* of what kernels leave for others: type, or float32 for floats of a byte */
    bool conjugates; /* the first of two operands */
    int noperands, nterms;
    ga__term *term; /* room for three for each operand */
    ga__step *step;
    int64_t length[GA__MAX_LABELS];
    int ndim; /* of the result, with a label for each axis */
    int label[GA_MAX_NDIM];
} ga__contraction;

/* A contraction with room for `noperands` operands, and with no labels of more than one element.
 * Freed by ga__free(). NULL on failure. */
ga__contraction *ga__contraction_new(const char *name, ga__device *device, ga_dtype type,
                                     int noperands);

/* Adds an operand with a label for each axis. Returns -1, or the first axis whose length differs
 * from that of its label elsewhere. Lengths of 1 broadcast, but not within one operand. */
int ga__contraction_add(ga__contraction *c, const gpuarray *x, const int *labels);

/* Adds an axis to the result. */
void ga__contraction_keep(ga__contraction *c, int label);

/* The shape of the result. */
void ga__contraction_shape(const ga__contraction *c, int64_t *shape);

/* The places along all labels of the set. */
double ga__label_places(const ga__contraction *c, uint64_t labels);

/* The labels of the result that have more than one element. */
uint64_t ga__kept_labels(const ga__contraction *c);

/* Fills the steps, at least one. */
void ga__contraction_plan(ga__contraction *c);

/* Runs step k into `result`, which has an array and its labels, by one kernel. */
ga_status ga__multiply_terms(const ga__contraction *c, const ga__step *step,
                             const ga__term *result);

/* Runs the step, whose terms are two matrices or stacks of them, by the engine of products. */
ga_status ga__multiply_matrices(const ga__contraction *c, const ga__step *step,
                                const ga__term *result);

/* Runs the contraction: a new array, or `out` unless that is NULL; NULL on failure. Frees it. */
gpuarray *ga__contract(ga__contraction *c, gpuarray *out);

/* The same, but a single operand without sums gives a view of it. */
gpuarray *ga__contract_or_view(ga__contraction *c);

#endif
