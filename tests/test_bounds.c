/* Bounds of memory: any number of distinct expressions in the space of a few kernels; code in use
 * stays while others come. QUARRY_TEST_EXPRESSIONS=100000 makes the first test as long as
 * docs/reliability.md says. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <quarry.h>

#include "base/alloc.h"
#include "device/context.h"
#include "jit/compile.h"
#include "children.h"
#include "parallel.h"
#include "run.h"

enum {
    LIMIT = 8,     /* QUARRY_LOADED_KERNELS */
    MAPPINGS = 4,  /* of a loaded kernel */
    PLANS = 1024,  /* that ga_eval keeps: eval.c's MOST_PLANS */
    BITS = 20,     /* distinct expressions: 2^BITS */
    FORMULAS = 40, /* the number that is really compiled */
    THREADS = 16,
    ROUNDS = 100,
    EXPRESSIONS = 3000
};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 }; /* the sanitizer keeps freed memory for a while */
#else
enum { SANITIZED = 0 };
#endif

#ifdef QUARRY_CHECK_KEYS
enum { KEYS_CHECKED = 1 }; /* used by texts that are kept */
#else
enum { KEYS_CHECKED = 0 };
#endif

/* Expression k over x, and its value: for each bit of k, from the left, + x or * x. */
static void write_text(char *text, int bits, int k)
{
    memset(text, '(', (size_t)bits);
    char *end = text + bits;
    *end++ = 'x';
    for (int bit = 0; bit < bits; bit++)
        end += sprintf(end, "%cx)", k >> bit & 1 ? '*' : '+');
}

static double value_of(int bits, int k, double x)
{
    double value = x;
    for (int bit = 0; bit < bits; bit++)
        value = k >> bit & 1 ? value * x : value + x;
    return value;
}

/* ---- the process's resources ---- */

static int count_mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    int lines = 0;
    for (int c; (c = fgetc(maps)) != EOF;)
        lines += c == '\n';
    fclose(maps);
    return lines;
}

static long resident_kilobytes(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    char line[200];
    long kilobytes = 0;
    while (fgets(line, sizeof line, status))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kilobytes = atol(line + 6);
    fclose(status);
    return kilobytes;
}

/* ---- many expressions ---- */

/* Every formula compiles to the same prepared code: only the compiler is simulated, and results are
 * not checked. */
static struct {
    void *bytes;
    size_t nbytes;
    ga__backend backend;
} prepared;

static ga_status give_prepared(ga__device *device, const ga__source *source, void **code,
                               size_t *nbytes)
{
    if (strncmp(source->name, "eval_", 5) != 0)
        return ga__host_backend.code.compile(device, source, code, nbytes);
    *code = ga__malloc(prepared.nbytes);
    if (!*code)
        return GA_ERR_MEMORY;
    memcpy(*code, prepared.bytes, prepared.nbytes);
    *nbytes = prepared.nbytes;
    return GA_OK;
}

/* The prepared code has one kernel, whatever the formula is called. */
static ga_status find_prepared(ga__image *image, const char *name, ga__function **function)
{
    const bool is_formula = strncmp(name, "quarry_eval_", 12) == 0;
    return ga__host_backend.code.find(image, is_formula ? "quarry_eval" : name, function);
}

/* Code whose kernel does nothing. */
static void prepare(ga__device *cpu)
{
    const ga__source source = {.name = "nothing",
                               .text = "extern \"C\" void quarry_eval(const unsigned long long *, "
                                       "long long) {}"};
    assert_int_equal(ga__host_backend.code.compile(cpu, &source, &prepared.bytes, &prepared.nbytes),
                     GA_OK);
    prepared.backend = ga__host_backend;
    prepared.backend.code.compile = give_prepared;
    prepared.backend.code.find = find_prepared;
}

static void evaluate(const gpuarray *x, int k)
{
    char text[8 * BITS];
    write_text(text, BITS, k);
    gpuarray *y = ga_eval(text, GA(x));
    if (!y)
        fail_later("expression %d: %s", k, ga_error_message());
    ga_free(y);
}

/* The maxima over a stretch of the expressions. */
typedef struct peak {
    int mappings;
    int64_t loaded, blocks, kilobytes;
} peak;

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static peak evaluate_from_to(const gpuarray *x, int from, int to)
{
    peak p = {0};
    for (int k = from; k < to; k++) {
        evaluate(x, k);
        p.loaded = larger(p.loaded, ga__module_count().loaded);
        p.blocks = larger(p.blocks, ga__alloc_live());
        if (k % 50 == 0) {
            p.mappings = (int)larger(p.mappings, count_mappings());
            p.kilobytes = larger(p.kilobytes, resident_kilobytes());
        }
    }
    return p;
}

static void distinct_expressions_take_no_more_memory(void **state)
{
    (void)state;
    const char *wanted = getenv("QUARRY_TEST_EXPRESSIONS");
    const int count = wanted ? atoi(wanted) : EXPRESSIONS;
    ga__device *cpu = ga__find_device("cpu");
    const char *device_before = ga_current_device(), *folder = getenv("QUARRY_CACHE_DIR");
    char *folder_before = folder ? ga__strdup(folder) : NULL;
    assert_int_equal(ga_set_device("cpu"), GA_OK);
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(16));
    prepare(cpu);
    setenv("QUARRY_CACHE_DIR", "", 1);
    cpu->backend = &prepared.backend;
    const int mappings = count_mappings();
    /* Plans are evicted an eighth of PLANS at a time, so each stretch contains several
     * evictions. */
    evaluate_from_to(x, 0, PLANS);
    const peak first = evaluate_from_to(x, PLANS, 3 * PLANS / 2);
    const peak last = evaluate_from_to(x, 3 * PLANS / 2, count);
    cpu->backend = &ga__host_backend;
    if (folder_before)
        setenv("QUARRY_CACHE_DIR", folder_before, 1);
    else
        unsetenv("QUARRY_CACHE_DIR");
    ga__free(folder_before);
    ga__free(prepared.bytes);
    ga_free(x);
    assert_int_equal(ga_set_device(device_before), GA_OK);
    print_message("%d expressions: %d mappings before, at most %d with them; %lld more kB and %lld "
                  "more blocks than after %d\n",
                  count, mappings, last.mappings, (long long)(last.kilobytes - first.kilobytes),
                  (long long)(last.blocks - first.blocks), 3 * PLANS / 2);
    assert_int_equal(failures(), 0);
    assert_in_range(larger(first.loaded, last.loaded), 1, LIMIT);
    assert_in_range(last.mappings, 1, mappings + MAPPINGS * (LIMIT + 1) + (SANITIZED ? 500 : 10));
    assert_true(KEYS_CHECKED || last.blocks <= first.blocks + 100); /* plans differ a little */
    assert_true(SANITIZED || last.kilobytes <= first.kilobytes + 1024);
}

/* ---- code in use during evictions ---- */

/* Evaluates formula k and compares; returns the error, or NULL. */
static const char *check(int k, int length, double x)
{
    char text[8 * BITS];
    const char *trouble = NULL;
    write_text(text, 6, k);
    gpuarray *a = ga_full(GA_FLOAT64, GA_SHAPE(length), x);
    gpuarray *y = a ? ga_eval(text, GA_NAMED("x", a)) : NULL;
    gpuarray *last = y ? ga_slice(y, "%d", length - 1) : NULL;
    if (!last)
        trouble = "a formula fails";
    else if (ga_item_double(last) != value_of(6, k, x))
        trouble = "a formula's value is wrong";
    ga_free(last);
    ga_free(y);
    ga_free(a);
    return trouble;
}

/* Enough others to evict everything that is not held. */
static void evict_all(void)
{
    for (int k = 0; k < 2 * LIMIT; k++)
        assert_null(check(k, 4, 2));
}

static void what_is_evicted_comes_from_the_disk(void **state)
{
    (void)state;
    evict_all();
    const ga__module_counts before = ga__module_count();
    evict_all();
    const ga__module_counts after = ga__module_count();
    assert_int_equal(after.compiled, before.compiled);
    assert_in_range(after.disk_hits - before.disk_hits, LIMIT, 2 * LIMIT);
    assert_in_range(after.loaded, 1, LIMIT);
}

static void *evaluate_many(void *number)
{
    unsigned next = (unsigned)(intptr_t)number * 7919 + 1;
    for (int round = 0; round < ROUNDS; round++) {
        next = next * 1103515245 + 12345;
        const int k = (int)(next >> 16) % FORMULAS;
        const char *trouble = check(k, 1 + round % 50, 1 + (int)(next >> 24) % 3);
        if (trouble)
            fail_later("thread %d, formula %d: %s %s", (int)(intptr_t)number, k, trouble,
                       ga_error_message());
    }
    return NULL;
}

static void run_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (intptr_t t = 0; t < THREADS; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, body, (void *)t), 0);
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    assert_int_equal(failures(), 0);
}

static void threads_share_a_few_kernels_room(void **state)
{
    (void)state;
    run_threads(evaluate_many);
    evict_all();
    assert_in_range(ga__module_count().loaded, 1, LIMIT);
}

static atomic_bool running;

static void *compute_long(void *unused)
{
    gpuarray *x = ga_full(GA_FLOAT64, GA_SHAPE(1 << 21), 2);
    for (int i = 0; i < 5; i++) {
        atomic_store(&running, true);
        gpuarray *y = ga_eval("sin(x)*cos(x) + tan(x)*exp(x) - log(x)*sinh(x)", GA(x));
        atomic_store(&running, false);
        if (!y)
            fail_later("a long formula: %s", ga_error_message());
        ga_free(y);
    }
    ga_free(x);
    return unused;
}

/* While a kernel runs, others come and go. */
static void what_runs_is_not_unloaded(void **state)
{
    pthread_t thread;
    (void)state;
    evict_all(); /* all on disk */
    assert_int_equal(pthread_create(&thread, NULL, compute_long, NULL), 0);
    for (int round = 0; round < 5; round++) {
        for (int wait = 0; !atomic_load(&running) && wait < 1000; wait++)
            usleep(1000);
        evict_all();
    }
    pthread_join(thread, NULL);
    assert_int_equal(failures(), 0);
}

static void graphs_keep_what_they_run(void **state)
{
    (void)state;
    gpuarray *x = ga_full(GA_FLOAT64, GA_SHAPE(100000), 3), *y = NULL, *sum = NULL;
    ga_graph *graph;
    GA_GRAPH(graph)
    {
        y = ga_eval("x*x*x + 5", GA(x));
        sum = ga_sum(y);
    }
    assert_non_null(graph);
    for (int i = 0; i < 3; i++) {
        evict_all();
        assert_int_equal(ga_graph_launch(graph), GA_OK);
        assert_true(ga_item_double(sum) == 32e5);
    }
    assert_in_range(ga__module_count().loaded, LIMIT + 2, LIMIT + 6);
    ga_graph_free(graph);
    evict_all();
    assert_in_range(ga__module_count().loaded, 1, LIMIT);
    ga_free(sum);
    ga_free(y);
    ga_free(x);
}

static void kernels_of_the_user_come_back(void **state)
{
    (void)state;
    gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(100));
    ga_kernel *add = ga_elementwise_kernel("float *x", "x[i] += 3", "add_three");
    ga_kernel *largest =
        ga_reduction_kernel(GA_FLOAT32, "0", "a > b ? a : b", "x[i]", "const float *x", "largest");
    ga_expr *expr = ga_compile_expr("x - 1");
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(ga_run(add, x), GA_OK);
        evict_all();
        gpuarray *most = ga_reduce(largest, x), *less = ga_eval_expr(expr, GA(x));
        evict_all();
        gpuarray *last = ga_slice(less, "99");
        assert_true(ga_item_double(most) == 3 * i);
        assert_true(ga_item_double(last) == 3 * i - 1);
        ga_free(last);
        ga_free(less);
        ga_free(most);
    }
    ga_expr_free(expr);
    ga_kernel_free(largest);
    ga_kernel_free(add);
    ga_free(x);
}

/* A child has its own space: it neither waits for its parent's threads nor frees what they use. */
static void a_child_evicts_too(void **state)
{
    (void)state;
    evict_all();
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(HANG_SECONDS);
        ga_set_device("cpu");
        for (int k = FORMULAS; k-- > 0;)
            if (check(k, 10, 3))
                _exit(1);
        _exit(ga__module_count().loaded <= LIMIT ? 0 : 2);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    evict_all();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distinct_expressions_take_no_more_memory),
        cmocka_unit_test(what_is_evicted_comes_from_the_disk),
        cmocka_unit_test(threads_share_a_few_kernels_room),
        slow_test(what_runs_is_not_unloaded),
        cmocka_unit_test(graphs_keep_what_they_run),
        cmocka_unit_test(kernels_of_the_user_come_back),
        cmocka_unit_test(a_child_evicts_too),
    };
    setenv("QUARRY_LOADED_KERNELS", "8", 1);
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
