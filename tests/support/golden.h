/* Golden files: reads NumPy's answers, and compares results with them. */
#ifndef GA_TESTS_GOLDEN_H
#define GA_TESTS_GOLDEN_H

#include <quarry.h>

/* One array of a golden file. */
typedef struct golden_blob {
    ga_dtype dtype;
    int ndim;
    int64_t shape[GA_MAX_NDIM];
    int64_t size;
    const unsigned char *data;
} golden_blob;

enum {
    GOLDEN_ERROR = 1,      /* the call fails */
    GOLDEN_LOOSE_ZERO = 2, /* zeros may differ in sign */
    GOLDEN_NORMWISE = 4,   /* complex: the tolerance is of the modulus */
    GOLDEN_LOOSE_INF = 8,  /* complex: any infinity for an infinity, any NaN for a NaN */
    GOLDEN_KEEPDIMS = 16,
    GOLDEN_BOUNDED = 32 /* the last answer holds the largest errors allowed, as float64 */
};

/* One call: its arguments (arg[k] NULL: the C number number[k]) and its answers. */
typedef struct golden_case {
    char name[32];
    int nargs, nouts;
    unsigned flags;
    ga_dtype dtype; /* the option .dtype */
    int ddof;
    int naxes; /* -1: no axes given */
    int axes[8];
    float tolerance; /* units in the last place */
    const golden_blob *arg[3];
    ga_value number[3];
    const golden_blob *out[3];
} golden_case;

typedef struct golden_file {
    int nblobs, ncases;
    golden_blob *blobs;
    golden_case *cases;
    unsigned char *memory;
} golden_file;

/* Reads a golden file (files.h); exits on an error. */
golden_file *golden_open(const char *name);
void golden_close(golden_file *file);

/* "element 7 is 2, wanted 1": how element i differs; both are elements of the dtype. Returns the
 * text's length. */
int golden_difference(char *text, size_t nbytes, ga_dtype dtype, int64_t i, const void *found,
                      const void *wanted);

/* Fails the test at the first element whose bytes differ. */
void assert_elements(ga_dtype dtype, int64_t count, const void *found, const void *wanted);

/* Whether both have the same dtype, shape and numbers; if not, `why` says where they differ. */
bool equal_arrays(const gpuarray *found, const gpuarray *wanted, char *why, size_t why_bytes);

void assert_arrays_equal(const gpuarray *found, const gpuarray *wanted);

/* Whether `got` (host bytes of `want->dtype`, `copies` times want's elements) answers the case; if
 * not, `why` says where. */
bool golden_matches(const golden_case *c, const golden_blob *want, const void *got, int copies,
                    char *why, size_t why_bytes);

/* The same for a result array: dtype, shape (`copies` > 1: with a leading axis of that length) and
 * elements. NULL does not match. */
bool golden_result(const golden_case *c, const golden_blob *want, const gpuarray *got, int copies,
                   char *why, size_t why_bytes);

/* A new array of the blob's dtype, shape and elements. */
gpuarray *golden_array(const golden_blob *blob);

/* Records a failure (parallel.h) unless the call of a case with GOLDEN_ERROR gave NULL and an error
 * whose message starts with the case's name. `text` names the call. Clears the error. */
void golden_refuses(const golden_case *c, const char *text, const gpuarray *got);

/* "add(float32, 2.5)": the call, for messages; in a buffer of the thread's own. */
const char *golden_call(const golden_case *c);

/* The same after "name(dtypes); ", for row_selected(): calls that differ only in their numbers are
 * in a sample together. */
const char *golden_row(const golden_case *c);

#endif
