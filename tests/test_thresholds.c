/* How plans choose kernels over all lengths of rows: the kernels are few, and next to the lengths
 * at which the choice changes, CUDA's kernels give the host's results. No GPU takes part: one
 * device notes which kernels it would run, and the simulator runs them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <quarry.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "device/stream.h"
#include "fake_device.h"
#include "model/layout.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

/* ---- A device that notes kernels ---- */

/* A softmax over columns has four kernels: the fused one, and those of the three steps. Its rows of
 * one element have two: those of a window are no stretch. */
enum { MOST_KERNELS = 1000, MOST_PER_CASE = 46 };

/* Kernels are known by the hash of their texts. */
static struct noted {
    uint64_t kernels[MOST_KERNELS]; /* that were launched, each once */
    int count;
    uint64_t call; /* of all launches of the current call */
} noted;

static ga_status note_compile(ga__device *device, const ga__source *source, void **code,
                              size_t *nbytes)
{
    const uint64_t hash = ga__hash64(source->text, strlen(source->text), 0) | 1;
    (void)device;
    *nbytes = sizeof hash;
    *code = ga__malloc(sizeof hash);
    if (!*code)
        return GA_ERR_MEMORY;
    memcpy(*code, &hash, sizeof hash);
    return GA_OK;
}

static ga_status note_load(ga__device *device, const void *code, size_t nbytes, ga__image **image)
{
    (void)device, (void)nbytes;
    memcpy(image, code, sizeof *image);
    return GA_OK;
}

static ga_status note_find(ga__image *image, const char *name, ga__function **function)
{
    (void)name;
    *function = (ga__function *)image;
    return GA_OK;
}

static ga_status note_launch(ga__stream *stream, ga__function *function, const ga__launch *launch)
{
    const uint64_t kernel = (uint64_t)(uintptr_t)function;
    (void)stream;
    if (launch->grid < 1 || launch->grid > INT32_MAX)
        return ga__fail(GA_ERR_DEVICE, "a grid of %lld", (long long)launch->grid);
    noted.call = (noted.call ^ kernel) * 0x100000001b3;
    for (int k = 0; k < noted.count; k++)
        if (noted.kernels[k] == kernel)
            return GA_OK;
    assert_true(noted.count < MOST_KERNELS);
    noted.kernels[noted.count++] = kernel;
    return GA_OK;
}

/* Addresses without memory, so that arrays of any size cost nothing; `block` keeps the size. */
static ga_status note_alloc(ga__stream *stream, size_t nbytes, ga__memory *memory)
{
    (void)stream;
    void *const address = mmap(NULL, nbytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED)
        return GA_ERR_MEMORY;
    *memory = (ga__memory){address, (void *)(uintptr_t)nbytes};
    return GA_OK;
}

static void note_free(ga__stream *stream, const ga__memory *memory)
{
    (void)stream;
    munmap(memory->address, (size_t)(uintptr_t)memory->block);
}

/* No kernel runs, so no element matters. */
static ga_status note_copy(ga__stream *stream, void *to, const void *from, size_t nbytes,
                           ga__copy_kind kind)
{
    (void)stream;
    (void)to;
    (void)from;
    (void)nbytes;
    (void)kind;
    return GA_OK;
}

static void note_key(ga__device *device, bool fast_math, ga__strbuf *key)
{
    (void)device;
    ga__strbuf_addf(key, "noted%d", fast_math);
}

static ga__backend noting_backend;
static ga__device noting_device = {.backend = &noting_backend,
                                   .name = "noting",
                                   .arch = 90,
                                   .threads_per_processor = 2048,
                                   .shared_bytes = 227 << 10,
                                   .meets = true,
                                   .cluster_blocks = GA__CLUSTER_BLOCKS,
                                   .lock = PTHREAD_MUTEX_INITIALIZER};

static bool open_noting_device(void)
{
    noting_backend = fake_backend;
    noting_backend.name = "noting";
    noting_backend.memory.alloc = note_alloc;
    noting_backend.memory.free = note_free;
    noting_backend.memory.copy = note_copy;
    noting_backend.memory.copy_async = note_copy;
    noting_backend.code.compile = note_compile;
    noting_backend.code.key = note_key;
    noting_backend.code.load = note_load;
    noting_backend.code.find = note_find;
    noting_backend.code.launch = note_launch;
    return ga__stream_init(&noting_device.stream, &noting_device, false) == GA_OK;
}

/* ---- Cases ---- */

/* An expression over rows `m`, a `column` and a `row`; NULL copies the transpose of m. */
typedef struct row_case {
    const char *text;
    bool floats; /* the expression is for floats alone */
} row_case;

static const row_case cases[] = {
    {"sum(m, axis=1)", false},
    {"max(m, axis=1)", false},
    {"argmax(m, axis=1)", false},
    {"var(m, axis=1)", true},
    {"all(m, axis=1)", false},
    {"sum(m, axis=0)", false},
    {"argmax(m, axis=0)", false},
    {"var(m, axis=0)", true},
    {NULL, false},
    {"m + column", false},
    {"m + row", false},
    {"exp(m - max(m, axis=1, keepdims=True)) / "
     "sum(exp(m - max(m, axis=1, keepdims=True)), axis=1, keepdims=True)",
     true},
    {"(m - mean(m, axis=1, keepdims=True)) / sqrt(var(m, axis=1, keepdims=True) + 0.001)", true},
    {"exp(m - max(m, axis=0)) / sum(exp(m - max(m, axis=0)), axis=0)", true},
    {"(m - mean(m, axis=0)) / sqrt(var(m, axis=0) + 0.001) * column", true},
};
enum { CASES = sizeof cases / sizeof *cases };

static const ga_dtype dtypes[] = {GA_BOOL,          GA_INT8,    GA_UINT16,  GA_INT32,  GA_INT64,
                                  GA_FLOAT8_E4M3FN, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static bool takes(const row_case *c, ga_dtype dtype)
{
    return !c->floats || dtype >= GA_FLOAT16 || dtype == GA_FLOAT8_E4M3FN;
}

enum { CONTIGUOUS, WINDOWED, SHIFTED, LAYOUTS };
static const char *const layout_names[] = {"contiguous", "windowed", "shifted"};

/* Rows of `length` in the elements of `whole`: side by side, with three more in each, or side by
 * side from the second element on. */
static gpuarray *matrix(const gpuarray *whole, int how, int64_t rows, int64_t length)
{
    const int64_t pitch = how == WINDOWED ? length + 3 : length, from = how == SHIFTED;
    const gpuarray *used =
        ga_slice(whole, "%lld:%lld", (long long)from, (long long)(from + rows * pitch));
    gpuarray *m = ga_reshape(used, GA_SHAPE(rows, pitch));
    return how == WINDOWED ? ga_slice(m, ":, 1:%lld", (long long)(1 + length)) : m;
}

static gpuarray *run_case(const row_case *c, const gpuarray *whole, int how, int64_t rows,
                          int64_t length)
{
    const gpuarray *m = matrix(whole, how, rows, length);
    const gpuarray *column = ga_slice(m, ":, :1"), *row = ga_slice(m, "0");
    gpuarray *r = c->text ? ga_eval(c->text, GA(m), GA(column), GA(row)) : ga_copy(ga_transpose(m));
    if (!r)
        fail_msg("%s of (%lld, %lld) %s: %s", c->text ? c->text : "copy", (long long)rows,
                 (long long)length, ga_dtype_name(ga_dtype_of(whole)), ga_error_message());
    return r;
}

static int64_t elements_of(int how, int64_t rows, int64_t length)
{
    return rows * (length + 3) + (how == SHIFTED);
}

/* ---- Kernels are few ---- */

/* Log-uniform between 1 and 2^24; every second one is odd. */
static int64_t random_length(uint64_t *seed, int draw)
{
    const double share = (double)(next_random(seed) >> 11) / 9007199254740992.0;
    return (int64_t)exp2(24 * share) | (draw % 2);
}

static void few_kernels(const row_case *c, ga_dtype dtype, uint64_t *seed)
{
    const int64_t bytes = INT64_C(1) << 30, count = bytes / (int64_t)ga_dtype_size(dtype);
    noted.count = 0;
    for (int draw = 0; draw < 240; draw++)
        GA_SCOPE {
            const int how = draw / 2 % 2; /* contiguous or windowed */
            const int64_t length = random_length(seed, draw), rows = count / (length + 3);
            const gpuarray *whole = ga_empty(dtype, GA_SHAPE(elements_of(how, rows, length)));
            run_case(c, whole, how, rows, length);
        }
    printf("%-9s %3d kernels: %.60s\n", ga_dtype_name(dtype), noted.count,
           c->text ? c->text : "the copy of a transpose");
    if (noted.count > MOST_PER_CASE)
        fail_msg("%s of %s: %d kernels, more than %d", c->text ? c->text : "copy",
                 ga_dtype_name(dtype), noted.count, MOST_PER_CASE);
}

static void shapes_share_few_kernels(void **state)
{
    uint64_t seed = 1; /* other lengths may need a kernel more or less */
    (void)state;
    noting_device.processors = 132;
    ga__use_device(&noting_device);
    for (int k = 0; k < CASES; k++)
        for (int d = 0; d < DTYPES; d++)
            if (takes(&cases[k], dtypes[d]))
                few_kernels(&cases[k], dtypes[d], &seed);
}

/* ---- Results next to thresholds ---- */

enum { LONGEST = 5000, ELEMENTS = 30000, PERIOD = 16, MOST_BYTES = 1 << 20, AT_ONCE = 5 };

/* A draw: a case over rows of one layout. */
typedef struct drawn {
    const row_case *c;
    ga_dtype dtype;
    int how;
} drawn;

static int64_t rows_of(int64_t length)
{
    return 3 + ELEMENTS / length;
}

/* Which kernels run for rows of this length. */
static uint64_t kernels_of(const drawn *d, int64_t length)
{
    noted.count = 0;
    noted.call = 0;
    GA_SCOPE {
        const int64_t rows = rows_of(length);
        const gpuarray *whole = ga_empty(d->dtype, GA_SHAPE(elements_of(d->how, rows, length)));
        run_case(d->c, whole, d->how, rows, length);
    }
    return noted.call;
}

/* Small integers, so that sums are exact in any order. */
static size_t result_on(ga__device *device, const drawn *d, int64_t length, char *bytes,
                        ga_dtype *dtype)
{
    static char elements[MOST_BYTES];
    const int64_t rows = rows_of(length), count = elements_of(d->how, rows, length);
    const size_t itemsize = ga_dtype_size(d->dtype);
    size_t nbytes = 0;
    assert_true((size_t)count * itemsize <= sizeof elements);
    for (int64_t k = 0; k < count; k++) {
        const int64_t number = (k * 7919 + k / 97) % 9 - 4;
        const ga_value value = {.kind = GA_VALUE_NUMBER, .dtype = GA_INT64, .as.i = number};
        ga__dtype_store(d->dtype, value, elements + (size_t)k * itemsize);
    }
    ga__use_device(device);
    GA_SCOPE {
        const gpuarray *whole = ga_from_host(elements, d->dtype, 1, &count);
        const gpuarray *r = run_case(d->c, whole, d->how, rows, length);
        nbytes = ga_nbytes(r);
        *dtype = ga_dtype_of(r);
        assert_true(nbytes <= MOST_BYTES);
        assert_int_equal(ga_to_host(r, bytes, nbytes), GA_OK);
    }
    return nbytes;
}

/* Of results that are no sums of integers. */
static double tolerance_of(ga_dtype dtype)
{
    return dtype == GA_FLOAT64         ? 1e-12
           : dtype == GA_FLOAT32       ? 4e-6
           : dtype == GA_FLOAT16       ? 2e-3
           : dtype == GA_FLOAT8_E4M3FN ? 0.13
                                       : 0;
}

static void check_length(const drawn *d, int64_t length)
{
    static char wanted[MOST_BYTES], got[MOST_BYTES];
    ga_dtype dtype;
    const int before = simulated.launches;
    /* First, because both have the host's memory: later it may hold the host's results. */
    const size_t nbytes = result_on(&simulated_device, d, length, got, &dtype),
                 size = ga_dtype_size(dtype);
    assert_true(simulated.launches > before);
    assert_int_equal(result_on(ga__find_device("cpu"), d, length, wanted, &dtype), nbytes);
    for (size_t at = 0; at < nbytes; at += size) {
        const double a = ga__number_double(ga__dtype_fetch(dtype, wanted + at)),
                     b = ga__number_double(ga__dtype_fetch(dtype, got + at));
        if (memcmp(wanted + at, got + at, size) != 0 && !(isnan(a) && isnan(b)) &&
            !(d->c->floats && fabs(a - b) <= tolerance_of(dtype) * (fabs(a) + 1)))
            fail_msg("%s of %s rows of %lld %s: element %zu is %.17g on the host and %.17g by "
                     "CUDA's kernel",
                     d->c->text ? d->c->text : "copy", layout_names[d->how], (long long)length,
                     ga_dtype_name(d->dtype), at / size, a, b);
    }
}

/* The kernels depend on a row's length and, through its alignment, on the remainder by PERIOD. A
 * threshold is a length whose kernels differ from those of the length PERIOD before. */
static int find_thresholds(const drawn *d, int64_t *lengths)
{
    uint64_t before[PERIOD] = {0};
    int count = 0;
    ga__use_device(&noting_device);
    for (int64_t length = 1; length <= LONGEST; length++) {
        const uint64_t kernels = kernels_of(d, length);
        if (length > PERIOD && kernels != before[length % PERIOD])
            lengths[count++] = length;
        before[length % PERIOD] = kernels;
    }
    return count;
}

static void check_thresholds(const drawn *d, uint64_t *seed)
{
    static int64_t lengths[LONGEST];
    const int count = find_thresholds(d, lengths);
    printf("%d thresholds: %s %s %.60s\n", count, layout_names[d->how], ga_dtype_name(d->dtype),
           d->c->text ? d->c->text : "copy");
    for (int k = 0; k < AT_ONCE && k < count; k++) {
        const int64_t at = lengths[next_random(seed) % (uint64_t)count];
        check_length(d, at - 1);
        check_length(d, at);
        check_length(d, at + 1);
    }
}

static void results_next_to_thresholds_are_the_hosts(void **state)
{
    enum { DRAWS = 12 };
    uint64_t seed = run_seed();
    (void)state;
    noting_device.processors = simulated_device.processors;
    for (int k = 0; k < DRAWS; k++) {
        const drawn d = {&cases[next_random(&seed) % CASES], dtypes[next_random(&seed) % DTYPES],
                         (int)(next_random(&seed) % LAYOUTS)};
        char text[20];
        snprintf(text, sizeof text, "draw %d", k);
        if (takes(d.c, d.dtype) && in_sample(text))
            check_thresholds(&d, &seed);
    }
    ga__use_device(ga__find_device("cpu"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_share_few_kernels),
        cmocka_unit_test(results_next_to_thresholds_are_the_hosts),
    };
    if (!open_noting_device() || !open_simulated_device(2))
        return 1;
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
