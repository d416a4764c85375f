/* Golden files: reading NumPy's answers, making inputs in every layout, comparing results. */
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

/* Reads tests/golden/NAME, or NAME in the directory that QUARRY_GOLDEN names; exits when it cannot.
 */
golden_file *golden_open(const char *name);
void golden_close(golden_file *file);

/* Whether `got` (host bytes of `want->dtype`, `copies` times want's elements) answers the case; if
 * not, `why` says where. */
bool golden_matches(const golden_case *c, const golden_blob *want, const void *got, int copies,
                    char *why, size_t why_bytes);

/* The same for a result array: dtype, shape (`copies` > 1: with a leading axis of that length) and
 * elements. NULL does not match. */
bool golden_result(const golden_case *c, const golden_blob *want, const gpuarray *got, int copies,
                   char *why, size_t why_bytes);

/* "add(float32, 2.5)": the call, for messages; in a buffer of the thread's own. */
const char *golden_call(const golden_case *c);

/* How test arrays lie in memory. BROADCAST adds a leading axis of length 3 and stride 0. */
typedef enum layout {
    LAYOUT_CONTIGUOUS,
    LAYOUT_FORTRAN,
    LAYOUT_STEP2,
    LAYOUT_NEGATIVE,
    LAYOUT_OFFSET,
    LAYOUT_BROADCAST,
    LAYOUT_COUNT
} layout;

extern const char *const layout_names[LAYOUT_COUNT];

/* Host elements in C order as an array of the layout. */
gpuarray *layout_array(layout how, const void *data, ga_dtype dtype, int ndim,
                       const int64_t *shape);

/* Runs work(0) .. work(count - 1) from a thread per processor, in any order; with
 * QUARRY_TEST_REDUCED set (under slow checkers) every 37th. */
void in_threads(int count, void (*work)(int item));

/* Records a failure from any thread; the first twenty are printed by failures(), which forgets
 * them. */
void fail_later(const char *format, ...) GA_PRINTF(1, 2);
int failures(void);

/* Small random numbers for tests: the same sequence from the same seed. */
uint64_t next_random(uint64_t *state);
double random_real(uint64_t *state); /* in [-1, 1) */

#endif
