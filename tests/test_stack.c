/* Tests that first calls, which plan and compile, work on threads with stacks of 128 KiB. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <quarry.h>

#include "base/alloc.h"
#include "base/os/system.h"
#include "jit/compile.h"
#include "run.h"

#ifdef QUARRY_CUDA
#include "device/cuda/nvrtc.h"
#endif

/* Sanitizers put red zones around every variable. */
#if defined(__SANITIZE_ADDRESS__)
#define STACK ((size_t)1024 << 10)
#else
#define STACK ((size_t)128 << 10)
#endif

static char folder[] = "/tmp/quarry-test-stack-XXXXXX";

/* ---- A thread on a painted stack ---- */

typedef struct job {
    bool (*body)(void);
    bool worked;
} job;

static void *run_job(void *argument)
{
    job *j = argument;
    GA_SCOPE {
        j->worked = j->body();
    }
    if (!j->worked)
        fprintf(stderr, "%s\n", ga_error_message());
    return NULL;
}

/* A page below the stack faults, so using more than STACK ends the test; returns the bytes used. */
static void on_stack(size_t nbytes, const char *name, bool (*body)(void))
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    pthread_attr_t attributes;
    pthread_t thread;
    job j = {body, false};
    char *memory =
        mmap(NULL, page + nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory, page, PROT_NONE), 0);
    memset(memory + page, 0x5a, nbytes);
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstack(&attributes, memory + page, nbytes), 0);
    assert_int_equal(pthread_create(&thread, &attributes, run_job, &j), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    size_t untouched = 0;
    while (untouched < nbytes && memory[page + untouched] == 0x5a)
        untouched++;
    munmap(memory, page + nbytes);
    print_message("%s: %zu of %zu bytes\n", name, nbytes - untouched, nbytes);
    assert_true(j.worked);
}

static void on_small_stack(const char *name, bool (*body)(void))
{
    on_stack(STACK, name, body);
}

/* ---- First calls ---- */

static bool add(void)
{
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3, 4)), *y = ga_add(ga_transpose(x), 0.5);
    return y && ga_item_double(ga_slice(y, "0, 0")) == 1.5;
}

static bool cast(void)
{
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3, 4));
    return ga_astype(x, GA_FLOAT16) && ga_copy(ga_transpose(x)) && ga_where(ga_less(x, 3), x, 0);
}

static bool reduce(void)
{
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(30, 40));
    return ga_item_double(ga_sum(x)) == 1200 && ga_max(ga_transpose(x), GA_AXIS(0)) &&
           ga_std(x, GA_AXIS(1)) && ga_argmin(x) && ga_dot(ga_ravel(x), ga_ravel(x));
}

static bool draw(void)
{
    return ga_random(GA_SHAPE(100)) &&
           ga_rng_normal(ga_rng_default(), GA_FLOAT32, 0, 1, GA_SHAPE(100)) &&
           ga_rng_permutation(ga_rng_default(), 50);
}

static bool custom(void)
{
    gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(10));
    ga_kernel *k = ga_elementwise_kernel("float *x", "x[i] = i", "custom");
    ga_kernel *r = ga_reduction_kernel(GA_FLOAT32, "0", "a + b", "x[i]", "const float *x", "total");
    const bool ran = ga_run(k, x) == GA_OK && ga_item_double(ga_reduce(r, x)) == 45;
    ga_kernel_free(k);
    ga_kernel_free(r);
    return ran;
}

static bool fail_to_compile(void)
{
    gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(10));
    ga_kernel *k = ga_elementwise_kernel("float *x", "x[i] = nonsense", "custom");
    const bool failed = ga_run(k, x) == GA_ERR_COMPILE;
    ga_kernel_free(k);
    ga_clear_error();
    return failed;
}

static bool module(void)
{
    int out = 0;
    ga_module *m = ga_module_compile("__global__ void f(int *x) { __syncthreads(); *x = 5; }");
    ga_launch(ga_module_kernel(m, "f"), GA_DIM(1), GA_DIM(64), GA_OUT(&out, sizeof out));
    ga_module_free(m);
    return out == 5;
}

static bool formula(void)
{
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(30, 40)), *y = ga_ones(GA_FLOAT64, GA_SHAPE(40));
    return ga_eval("sqrt(mean((x - y)**2)) + sum(x, axis=0) / max(y)", GA(x), GA(y)) != NULL;
}

/* Short rows of many operands pass through arrays of the thread that computes them. */
static bool windows(void)
{
    enum { WINDOWS = 6, LENGTH = 7, ROWS = 1000 };
    ga_named names[WINDOWS];
    char letters[WINDOWS][2], text[2 * WINDOWS + 8], *end = text;
    end = stpcpy(end, "exp(");
    for (int k = 0; k < WINDOWS; k++) {
        letters[k][0] = (char)('a' + k);
        letters[k][1] = 0;
        end = stpcpy(stpcpy(end, k ? "+" : ""), letters[k]);
        gpuarray *x = ga_zeros(GA_FLOAT64, GA_SHAPE(ROWS, LENGTH + 2));
        names[k] = GA_NAMED(letters[k], ga_slice(x, ":, 1:-1"));
    }
    stpcpy(end, ")");
    gpuarray *y = (ga_eval)(text, WINDOWS, names);
    return y && ga_item_double(ga_sum(y)) == ROWS * LENGTH;
}

static bool chunked(void)
{
    char path[128], out[128];
    const ga_chunks chunks = {.bytes = 65536};
    gpuarray *ones = ga_ones(GA_FLOAT32, GA_SHAPE(100, 1000));
    snprintf(path, sizeof path, "%s/x.npy", folder);
    snprintf(out, sizeof out, "%s/y.npy", folder);
    if (ga_save(ones, path) != GA_OK)
        return false;
    ga_source *x = ga_source_open(path);
    gpuarray *sum = ga_eval_chunked(&chunks, "sum(x - mean(x))", GA(x));
    const ga_status saved = ga_eval_save(out, &chunks, "x * 2 - mean(x, axis=0)", GA(x));
    ga_source_free(x);
    return sum && saved == GA_OK && ga_load(out);
}

static bool other(void)
{
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3, 4));
    char *text = ga_format(x), *plan = ga_explain("x + sum(x)", GA(x));
    const bool made = text && plan && ga_device_name(NULL) && ga_slice(x, "1:, ::2, None");
    free(text);
    free(plan);
    return made;
}

/* ---- Kernels of many operands ---- */

/* How an operand of `many` elements lies: whole; in rows with gaps; transposed, every other one. */
typedef enum lie { WHOLE, GAPS, TURNED } lie;

enum { MOST = 38, ROWS = 96, BIG_ROWS = 1100, LENGTH = 1001, WORKERS = 3 };

/* In a formula `@` stands for the sum of all operands; a custom kernel has its own text. */
static const struct many {
    const char *formula;
    ga_dtype dtype;
    int count;
    lie how;
    int rows, length;
} many[] = {
    {"exp(@)", GA_FLOAT64, 24, WHOLE, ROWS, LENGTH},
    {"exp(@)", GA_FLOAT64, 24, GAPS, ROWS, LENGTH},
    {"exp(@)", GA_FLOAT64, 24, TURNED, ROWS, LENGTH},
    {"exp(@)", GA_FLOAT64, MOST, WHOLE, ROWS, LENGTH},
    {"exp(@)", GA_FLOAT64, 24, WHOLE, BIG_ROWS, LENGTH},
    {"gamma(@)", GA_FLOAT64, 24, GAPS, ROWS, LENGTH},
    {"exp(@)", GA_COMPLEX128, 16, GAPS, ROWS, LENGTH},
    {"log(@)", GA_COMPLEX128, MOST, WHOLE, ROWS, LENGTH},
    {"exp(@)", GA_FLOAT16, MOST, GAPS, ROWS, LENGTH},
    {"@ * v0 / v1", GA_COMPLEX128, MOST, GAPS, ROWS, LENGTH},
    {"sum(exp(@), axis=0)", GA_FLOAT64, 30, WHOLE, ROWS, LENGTH},
    {"sum(exp(@), axis=0)", GA_FLOAT64, 24, GAPS, ROWS, 5 * LENGTH},
    {"sum(exp(@), axis=1)", GA_FLOAT64, MOST, GAPS, ROWS, LENGTH},
    {"sum(exp(@), axis=1)", GA_COMPLEX128, 16, TURNED, ROWS, LENGTH},
    {"sum(@, axis=1)", GA_FLOAT64, 24, WHOLE, LENGTH, 8},
    {"var(exp(@), axis=0)", GA_COMPLEX128, 16, WHOLE, ROWS, LENGTH},
    {"exp(@) / sum(exp(@), axis=1, keepdims=True)", GA_FLOAT64, 24, WHOLE, ROWS, LENGTH},
    {"exp(@) / sum(exp(@), axis=0, keepdims=True)", GA_FLOAT64, 24, WHOLE, ROWS, LENGTH},
    {"@ - mean(@, axis=1, keepdims=True)", GA_COMPLEX128, 16, WHOLE, ROWS, LENGTH},
    {"(@ - mean(@, axis=0)) / std(@, axis=0)", GA_COMPLEX128, 16, WHOLE, ROWS, LENGTH},
    {"cumsum(exp(@), axis=1)", GA_FLOAT64, 24, WHOLE, ROWS, LENGTH},
    {"cumsum(exp(@), axis=0)", GA_COMPLEX128, 16, WHOLE, ROWS, LENGTH},
    {NULL, GA_FLOAT64, 24, WHOLE, ROWS, LENGTH},
    {NULL, GA_COMPLEX128, 16, WHOLE, ROWS, LENGTH},
};

static const struct many *wanted;
static gpuarray *arrays[MOST];
static double results[1 + WORKERS];

static gpuarray *lying(const struct many *m, int k)
{
    const bool turned = m->how == TURNED && k % 2;
    const int64_t rows = turned ? m->length : m->rows, length = turned ? m->rows : m->length;
    gpuarray *x = ga_full(m->dtype, GA_SHAPE(rows, length + 2 * (m->how == GAPS)), 0.001 * (k + 1));
    return turned ? ga_transpose(x) : m->how == GAPS ? ga_slice(x, ":, 1:-1") : x;
}

/* "v0+v1+...", with `element` after each name. */
static char *append_sum(char *end, int count, const char *element)
{
    for (int k = 0; k < count; k++)
        end += sprintf(end, "%sv%d%s", k ? "+" : "", k, element);
    return end;
}

static gpuarray *evaluate(const struct many *m)
{
    char text[2048], names[MOST][8], *end = text;
    ga_named args[MOST];
    for (const char *at = m->formula; *at; at++)
        if (*at == '@')
            end = stpcpy(append_sum(stpcpy(end, "("), m->count, ""), ")");
        else
            *end++ = *at;
    *end = 0;
    for (int k = 0; k < m->count; k++) {
        snprintf(names[k], sizeof names[k], "v%d", k);
        args[k] = GA_NAMED(names[k], arrays[k]);
    }
    return (ga_eval)(text, m->count, args);
}

static gpuarray *run_custom(const struct many *m)
{
    const char *type = m->dtype == GA_COMPLEX128 ? "complex128" : "double";
    char args[2048], body[2048], *end = args + sprintf(args, "%s *y", type);
    gpuarray *y = ga_empty(m->dtype, GA_SHAPE(m->rows, m->length));
    ga_value values[1 + MOST] = {GA_V(y)};
    for (int k = 0; k < m->count; k++) {
        end += sprintf(end, ", const %s *v%d", type, k);
        values[1 + k] = GA_V(arrays[k]);
    }
    strcpy(append_sum(body + sprintf(body, "y[i] = exp("), m->count, "[i]"), ")");
    ga_kernel *k = ga_elementwise_kernel(args, body, "many");
    const bool ran = k && (ga_run)(k, 1 + m->count, values) == GA_OK;
    ga_kernel_free(k);
    return ran ? y : NULL;
}

static bool compute_many(double *result)
{
    gpuarray *y = wanted->formula ? evaluate(wanted) : run_custom(wanted);
    *result = y ? ga_item_double(ga_sum(ga_abs(y))) : NAN;
    return y != NULL;
}

static bool many_operands(void)
{
    return compute_many(&results[0]);
}

/* Kernels of one thread run on its stack alone, while another one's have the workers. */
static void *compute_beside(void *result)
{
    GA_SCOPE {
        compute_many(result);
    }
    return NULL;
}

static void compute_at_once(void)
{
    pthread_t threads[WORKERS];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK), 0);
    for (int k = 0; k < WORKERS; k++)
        assert_int_equal(pthread_create(&threads[k], &attributes, compute_beside, &results[1 + k]),
                         0);
    for (int k = 0; k < WORKERS; k++)
        pthread_join(threads[k], NULL);
    pthread_attr_destroy(&attributes);
}

static void kernels_of_many_operands_need_little_stack(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        double expected;
        wanted = &many[i];
        GA_SCOPE {
            for (int k = 0; k < wanted->count; k++)
                assert_non_null(arrays[k] = lying(wanted, k));
            on_small_stack(wanted->formula ? wanted->formula : "custom", many_operands);
            on_small_stack("again", many_operands);
            compute_at_once();
            assert_true(compute_many(&expected));
        }
        for (int k = 0; k <= WORKERS; k++)
            assert_true(results[k] == expected);
    }
}

/* ---- NVRTC, which needs a larger stack ---- */

#ifdef QUARRY_CUDA
static bool nvrtc(void)
{
    void *code = NULL;
    size_t nbytes = 0;
    const ga_status status = ga__nvrtc_compile(
        "f", "extern \"C\" __global__ void f(float *x) { x[threadIdx.x] += sinf(x[0]); }", 90,
        false, &code, &nbytes);
    ga__free(code);
    return status == GA_OK;
}
#endif

static void nvrtc_has_a_stack_of_its_own(void **state)
{
    (void)state;
#ifdef QUARRY_CUDA
    char text[256];
    if (ga__nvrtc_found(text, sizeof text) == GA_OK) {
        on_small_stack("NVRTC", nvrtc);
        return;
    }
    ga_clear_error();
#endif
    print_message("skipped: there is no NVRTC\n");
    skip();
}

/* ---- Deep formulas: computed or rejected ---- */

/* "((( x )))", "-(-( x ))" and so on, `depth` times. */
static char *nested(const char *open, const char *close, int depth)
{
    const size_t length = (strlen(open) + strlen(close)) * (size_t)depth + 2;
    char *text = malloc(length), *end = text;
    for (int k = 0; k < depth; k++)
        end = stpcpy(end, open);
    end = stpcpy(end, "x");
    for (int k = 0; k < depth; k++)
        end = stpcpy(end, close);
    return text;
}

static int depth;
static const char *opening, *closing;

static bool nest(void)
{
    char *text = nested(opening, closing, depth);
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3));
    gpuarray *y = ga_eval(text, GA(x));
    char *plan = y ? ga_explain(text, GA(x)) : NULL;
    const ga_status status = ga_error();
    const bool refused =
        !y && (status == GA_ERR_INVALID || status == GA_ERR_UNSUPPORTED || status == GA_ERR_DTYPE);
    const bool computed = y && plan;
    if (!computed && !refused)
        fprintf(stderr, "%.40s... (%d): %s\n", text, depth, ga_error_message());
    free(plan);
    free(text);
    ga_clear_error();
    return computed || refused;
}

static const struct {
    const char *name;
    bool (*body)(void);
} firsts[] = {{"eager", add},       {"casts", cast},       {"reductions", reduce},
              {"random", draw},     {"custom", custom},    {"compile errors", fail_to_compile},
              {"modules", module},  {"formulas", formula}, {"chunked", chunked},
              {"windows", windows}, {"other calls", other}};

static void first_calls_need_little_stack(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++)
        on_small_stack(firsts[i].name, firsts[i].body);
}

/* A call with less than 128 KiB: the error says what is missing. */
static bool work_or_tell(void)
{
    const bool worked = add();
    const bool told = ga_error() == GA_ERR_MEMORY && strstr(ga_error_message(), "stack");
    ga_clear_error();
    return worked || told;
}

static void less_stack_is_an_error(void **state)
{
    (void)state;
    ga__module_forget();
    on_stack(STACK / 4 * 3, "three quarters", work_or_tell);
}

static void deep_formulas_need_little_stack(void **state)
{
    (void)state;
    static const struct {
        const char *open, *close;
    } forms[] = {{"(", ")"},          {"-", ""},          {"-(", ")"},
                 {"abs(", ")"},       {"2**", ""},        {"x+(", ")"},
                 {"not ", ""},        {"(x)**(", ")"},    {"where(x>0,", ",x)"},
                 {"float32(", ")"},   {"sum(", ")"},      {"(1<(", "))"},
                 {"x*(1+", ")"},      {"(x and (", "))"}, {"x+sum(", ")"},
                 {"maximum(x,", ")"}, {"x[", "]"},        {"x[(", ")]"},
                 {"round(", ",1)"}};
    static const int depths[] = {95, 199, 5000};
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
        for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
            char name[64];
            opening = forms[f].open;
            closing = forms[f].close;
            depth = depths[d];
            snprintf(name, sizeof name, "%d times %s", depth, opening);
            on_small_stack(name, nest);
        }
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    pthread_attr_t small; /* what the library's own threads would have */
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, STACK);
    pthread_setattr_default_np(&small);
    pthread_attr_destroy(&small);
    setenv("QUARRY_THREADS", "3", 0);
    setenv("QUARRY_CACHE_DIR", "", 1); /* everything compiles */
    if (getenv("QUARRY_TEST_REDUCED"))
        setenv("QUARRY_CXXFLAGS", "-O1", 1); /* sanitizers do not see the compiler */
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    ga__remove_tree(folder);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_calls_need_little_stack),
        slow_test(kernels_of_many_operands_need_little_stack),
        cmocka_unit_test(less_stack_is_an_error),
        cmocka_unit_test(nvrtc_has_a_stack_of_its_own),
        slow_test(deep_formulas_need_little_stack),
    };
    return run_named_tests(argc, argv, tests, make_folder, remove_folder);
}
