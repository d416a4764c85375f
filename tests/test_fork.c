/* Tests that a forked child can do everything, whatever the parent's other threads were doing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quarry.h>

#include "base/os/system.h"
#include "children.h"
#include "jit/compile.h"
#include "run.h"

static char folder[] = "/tmp/quarry-test-fork-XXXXXX";
static char script_path[128], started_path[128];

/* ---- A thread with a long compile ---- */

/* From now on a compile takes two seconds, and leaves a mark when it begins. */
static void use_slow_compiler(void)
{
    FILE *file = fopen(script_path, "we");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n: > %s\nsleep 2\nexec c++ \"$@\"\n", started_path);
    fclose(file);
    assert_int_equal(chmod(script_path, 0700), 0);
    unlink(started_path);
    setenv("QUARRY_CXX", script_path, 1);
}

static void await_compiler(void)
{
    for (int i = 0; i < 2000 && access(started_path, F_OK) != 0; i++)
        usleep(5000);
    assert_int_equal(access(started_path, F_OK), 0);
}

static int run_wanted(void)
{
    bool right = false;
    ga_kernel *kernel = ga_elementwise_kernel("float *x", "x[i] = i + 0.125f", "wanted");
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(10));
        right = ga_run(kernel, x) == GA_OK && ga_item_double(ga_slice(x, "9")) == 9.125;
    }
    ga_kernel_free(kernel);
    return !right;
}

static ga_module *module;

static int run_instance(void)
{
    int out = 0;
    ga_launch(ga_module_kernel(module, "f<5>"), GA_DIM(1), GA_DIM(1), GA_OUT(&out, sizeof out));
    return out != 5;
}

static void *in_thread(void *body)
{
    int (*run)(void);
    memcpy(&run, &body, sizeof run);
    return (void *)(intptr_t)run();
}

/* A thread, and a child forked while the thread compiles, request the same kernel. */
static void both_get_it(int (*body)(void))
{
    pthread_t thread;
    void *argument, *failed = NULL;
    memcpy(&argument, &body, sizeof argument);
    use_slow_compiler();
    assert_int_equal(pthread_create(&thread, NULL, in_thread, argument), 0);
    await_compiler();
    assert_int_equal(in_child(body), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    unsetenv("QUARRY_CXX");
    assert_null(failed);
}

static void a_child_compiles_what_a_thread_was_compiling(void **state)
{
    (void)state;
    both_get_it(run_wanted);
}

static void a_child_compiles_the_kernel_of_a_module_too(void **state)
{
    (void)state;
    module = ga_module_compile("template <int N> __global__ void f(int *x) { *x = N; }");
    assert_non_null(module);
    both_get_it(run_instance);
    ga_module_free(module);
}

/* ---- Threads that use everything continuously ---- */

static atomic_bool stopping;
static atomic_int rounds;
static ga_rng *rng;
static ga_graph *graph;
static gpuarray *graph_array;

static int use_generators(void)
{
    gpuarray *x = ga_rng_random(rng, GA_FLOAT32, GA_SHAPE(100)), *y = ga_random(GA_SHAPE(100));
    ga_rng *own = ga_rng_split(rng);
    const bool made = x && y && own;
    ga_rng_free(own);
    ga_free(x);
    ga_free(y);
    return !made;
}

static int use_arrays(void)
{
    const int64_t length = 20000 + 1000 * (atomic_fetch_add(&rounds, 1) % 50);
    double sum = 0;
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT64, GA_SHAPE(length), 2.0);
        sum = ga_item_double(ga_sum(ga_multiply(x, 0.5)));
    }
    return sum != (double)length;
}

static int use_formulas(void)
{
    char text[64];
    bool right = false;
    snprintf(text, sizeof text, "sum(x*x) + %d", atomic_fetch_add(&rounds, 1));
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(1000));
        right = ga_eval(text, GA(x)) != NULL;
    }
    return !right;
}

/* Loads code again each time, from the cache on disk. */
static int use_loader(void)
{
    ga__module_forget();
    gpuarray *x = ga_zeros(GA_INT32, GA_SHAPE(100));
    ga_kernel *kernel = ga_elementwise_kernel("int *x", "x[i] = 3*i", "threefold");
    char name[32];
    snprintf(name, sizeof name, "threefold%d", atomic_fetch_add(&rounds, 1) % 4);
    ga_kernel *renamed = ga_elementwise_kernel("int *x", "x[i] += i", name);
    const bool ran = ga_run(kernel, x) == GA_OK && ga_run(renamed, x) == GA_OK;
    ga_kernel_free(kernel);
    ga_kernel_free(renamed);
    ga_free(x);
    return !ran;
}

static int use_module(void)
{
    int out = 0;
    ga_module *own = ga_module_compile(
        "__global__ void g(int *x) { __shared__ int s[32]; s[threadIdx.x] = 1; __syncthreads();\n"
        "    if (threadIdx.x == 0) { int t = 0; for (int k = 0; k < 32; k++) t += s[k]; *x = t; } "
        "}");
    ga_launch(ga_module_kernel(own, "g"), GA_DIM(1), GA_DIM(32), GA_OUT(&out, sizeof out));
    ga_module_free(own);
    return out != 32;
}

static int use_graph(void)
{
    void *pinned = ga_pinned_alloc(1000);
    const ga_status status = ga_graph_launch(graph);
    ga_pinned_free(pinned);
    return status != GA_OK || !pinned;
}

static int (*const uses[])(void) = {use_generators, use_arrays, use_formulas,
                                    use_loader,     use_module, use_graph};
enum { USES = sizeof uses / sizeof *uses };

static void *use_all_the_time(void *index)
{
    int (*const use)(void) = uses[(intptr_t)index];
    while (!atomic_load(&stopping))
        if (use() != 0)
            return index ? index : (void *)-1;
    return NULL;
}

static int use_everything(void)
{
    for (int i = 0; i < USES; i++)
        if (uses[i]() != 0)
            return 1 + i;
    return run_wanted() ? 10 : 0;
}

/* The child's child has the child's locks. */
static int use_everything_and_fork(void)
{
    const int failed = use_everything();
    if (failed)
        return failed;
    assert_int_equal(in_child(use_everything), 0);
    return 0;
}

static void record_graph(void)
{
    graph_array = ga_zeros(GA_FLOAT32, GA_SHAPE(100000));
    assert_int_equal(ga_add_into(graph_array, graph_array, 1), GA_OK);
    assert_int_equal(ga_graph_begin(), GA_OK);
    ga_add_into(graph_array, graph_array, 1);
    graph = ga_graph_end();
    assert_non_null(graph);
}

static void a_child_does_everything_meanwhile(void **state)
{
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    print_message("skipped: the sanitizer's allocator does not free its locks in a child\n");
    skip();
#endif
    pthread_t threads[USES];
    rng = ga_rng_new(1);
    record_graph();
    assert_int_equal(use_everything(), 0); /* compiles */
    for (intptr_t i = 0; i < USES; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_all_the_time, (void *)i), 0);
    const double start = ga__now();
    for (int i = 0; i < 200 && ga__now() - start < 8; i++)
        assert_int_equal(in_child(i % 10 == 0 ? use_everything_and_fork : use_everything), 0);
    atomic_store(&stopping, true);
    for (int i = 0; i < USES; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    ga_graph_free(graph);
    ga_free(graph_array);
    ga_rng_free(rng);
}

/* ---- Forks in users' functions ---- */

static pid_t forked;

static void fork_once(int level, const char *text, void *user)
{
    (void)level, (void)user;
    if (forked == 0 && strstr(text, "compiled in")) {
        forked = fork();
        if (forked == 0) {
            forked = -1;
            alarm(HANG_SECONDS);
        }
    }
}

/* The thread that compiles forks the child, which continues the compile. */
static void the_compiling_thread_itself_forks(void **state)
{
    (void)state;
    int status = -1;
    gpuarray *x = ga_zeros(GA_INT64, GA_SHAPE(10));
    char text[64];
    snprintf(text, sizeof text, "x[i] = i + %lld", (long long)ga__entropy() >> 8);
    ga_kernel *kernel = ga_elementwise_kernel("long long *x", text, "own");
    ga_set_log(fork_once, NULL);
    const ga_status ran = ga_run(kernel, x);
    ga_set_log(NULL, NULL);
    if (forked == -1)
        _exit(ran != GA_OK);
    assert_int_equal(ran, GA_OK);
    assert_true(forked > 0);
    assert_int_equal(waitpid(forked, &status, 0), forked);
    assert_int_equal(status, 0);
    ga_kernel_free(kernel);
    ga_free(x);
}

static int progress_calls;

static bool fork_at_third_chunk(int64_t done, int64_t total, void *user)
{
    (void)total, (void)user;
    progress_calls += done > 0; /* nothing compiles any more */
    if (progress_calls == 3 && forked == 0) {
        forked = fork();
        if (forked == 0) {
            forked = -1;
            alarm(HANG_SECONDS);
        }
    }
    return true;
}

/* The reading thread does not exist in the child, which then reads by itself, or gets an error if a
 * chunk was being read. */
static void a_child_of_the_evaluating_thread_does_not_hang(void **state)
{
    (void)state;
    char path[128];
    int status = -1;
    const ga_chunks chunks = {4096, fork_at_third_chunk, NULL};
    snprintf(path, sizeof path, "%s/x.npy", folder);
    gpuarray *ones = ga_ones(GA_FLOAT32, GA_SHAPE(100, 1000));
    assert_int_equal(ga_save(ones, path), GA_OK);
    ga_source *x = ga_source_open(path);
    assert_non_null(x);
    forked = progress_calls = 0;
    gpuarray *sum = ga_eval_chunked(&chunks, "sum(x)", GA(x));
    if (forked == -1)
        _exit(sum ? ga_item_double(sum) != 100000 : !strstr(ga_error_message(), "fork()"));
    assert_true(forked > 0);
    assert_int_equal(waitpid(forked, &status, 0), forked);
    assert_int_equal(status, 0);
    assert_float_equal(ga_item_double(sum), 100000, 0);
    ga_free(sum);
    ga_source_free(x);
    ga_free(ones);
}

/* ---- ---- */

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(script_path, sizeof script_path, "%s/compiler", folder);
    snprintf(started_path, sizeof started_path, "%s/started", folder);
    setenv("QUARRY_CACHE_DIR", folder, 1); /* the request is in no cache */
    setenv("QUARRY_DEVICE", "cpu", 1);     /* CUDA does not survive a fork */
    setenv("QUARRY_THREADS", "3", 1);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    ga__remove_tree(folder);
    return 0;
}

static int clear(void **state)
{
    (void)state;
    ga_clear_error();
    return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, clear)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_child_compiles_what_a_thread_was_compiling),
        TEST(a_child_compiles_the_kernel_of_a_module_too),
        TEST(a_child_does_everything_meanwhile),
        TEST(the_compiling_thread_itself_forks),
        TEST(a_child_of_the_evaluating_thread_does_not_hang),
    };
    return run_named_tests(argc, argv, tests, make_folder, remove_folder);
}
