/* Tests of compilers that misbehave, and of programs that make it hard to watch one: scripts stand
 * in for the compiler, each in a child without a cache. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quarry.h>

#include "base/os/system.h"
#include "children.h"
#include "run.h"

static char folder[] = "/tmp/quarry-test-compiler-XXXXXX";
static char script_path[128], temporary[128], attempts_path[128];

/* ---- The test's own compiler, in a child ---- */

static int count_entries(const char *path)
{
    int count = 0;
    DIR *directory = opendir(path);
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count - 2; /* . and .. */
}

static long count_attempts(void)
{
    struct stat status;
    return stat(attempts_path, &status) == 0 ? (long)status.st_size : 0;
}

/* $out is the compiler's output file; NULL selects the real compiler. */
static void use_compiler(const char *script)
{
    unsetenv("QUARRY_CXX");
    unlink(attempts_path);
    if (!script)
        return;
    FILE *file = fopen(script_path, "we");
    assert_non_null(file);
    fprintf(file,
            "#!/bin/sh\n"
            "printf x >> %s\n"
            "previous=; for word; do [ \"$previous\" = -o ] && out=$word; previous=$word; done\n"
            "%s\n",
            attempts_path, script);
    fclose(file);
    assert_int_equal(chmod(script_path, 0700), 0);
    setenv("QUARRY_CXX", script_path, 1);
}

/* Runs `body` with that compiler in a child; it must return 0 and leave no temporary file. */
static void compiling_with(const char *script, int (*body)(void))
{
    use_compiler(script);
    assert_int_equal(in_child(body), 0);
    assert_int_equal(count_entries(temporary), 0);
}

/* ---- Three ways to compile ---- */

static bool compiles_template(void)
{
    gpuarray *x = ga_add(ga_ones(GA_FLOAT64, GA_SHAPE(10)), 2.5);
    return x && ga_item_double(ga_sum(x)) == 35;
}

static bool compiles_custom(const char *operation)
{
    gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(10)); /* which accepts no kernel */
    ga_kernel *kernel = ga_elementwise_kernel("float *x", operation, "custom");
    const bool compiled = ga_run(kernel, x) == GA_OK;
    ga_kernel_free(kernel);
    return compiled;
}

static bool compiles_module(const char *body)
{
    char text[512];
    float out = 0;
    snprintf(text, sizeof text, "__global__ void f(float *x) { %s }", body);
    ga_module *module = ga_module_compile(text);
    ga_launch(ga_module_kernel(module, "f"), GA_DIM(1), GA_DIM(1), GA_OUT(&out, sizeof out));
    ga_module_free(module);
    return ga_error() == GA_OK && out == 7;
}

/* ---- Programs that ignore or reap their children ---- */

static int compile_all_ways(void)
{
    return !compiles_template() || !compiles_custom("x[i] = 2*x[i]") || !compiles_module("*x = 7;");
}

/* The compiler's exit status is lost, but its output is not. */
static int see_errors(void)
{
    if (compiles_custom("x[i] = nonsense") || ga_error() != GA_ERR_COMPILE ||
        !strstr(ga_error_message(), "nonsense"))
        return 1;
    ga_clear_error();
    if (compiles_module("*x = nonsense;") || ga_error() != GA_ERR_COMPILE ||
        !strstr(ga_error_message(), "nonsense"))
        return 2;
    ga_clear_error();
    return 0;
}

static int compile_ignoring_children(void)
{
    signal(SIGCHLD, SIG_IGN);
    return compile_all_ways() ? 1 : see_errors();
}

static int compile_reaping_children(void)
{
    reap_children();
    return compile_all_ways() ? 1 : see_errors();
}

static void programs_that_ignore_or_reap_children_compile(void **state)
{
    (void)state;
    compiling_with(NULL, compile_ignoring_children);
    compiling_with(NULL, compile_reaping_children);
}

/* ---- Compilers that hang ---- */

static int fail_in_time(void)
{
    setenv("QUARRY_COMPILE_TIMEOUT", "0.4", 1);
    if (compiles_custom("x[i] = 3") || ga_error() != GA_ERR_IO ||
        !strstr(ga_error_message(), "did not finish within 0.4 s") ||
        !strstr(ga_error_message(), "QUARRY_COMPILE_TIMEOUT") ||
        !strstr(ga_error_message(), "thinking"))
        return 1;
    ga_clear_error();
    return 0;
}

static int fail_module_in_time(void)
{
    setenv("QUARRY_COMPILE_TIMEOUT", "0.4", 1);
    return compiles_module("*x = 7;") || ga_error() != GA_ERR_IO;
}

static void a_compiler_that_hangs_is_stopped_once(void **state)
{
    (void)state;
    compiling_with("echo thinking; echo > $TMPDIR/half.o; sleep 1000", fail_in_time);
    assert_int_equal(count_attempts(), 1);
    compiling_with("sleep 1000", fail_module_in_time);
    assert_int_equal(count_attempts(), 1);
}

static int work_with_limit(void)
{
    setenv("QUARRY_COMPILE_TIMEOUT", "nonsense", 1); /* the default then */
    if (!compiles_custom("x[i] = 4"))
        return 1;
    setenv("QUARRY_COMPILE_TIMEOUT", "0", 1); /* none */
    return !compiles_custom("x[i] = 5");
}

static void other_limits_are_no_limits(void **state)
{
    (void)state;
    compiling_with("exec c++ \"$@\"", work_with_limit);
}

/* ---- Compilers that print, stay, fail and crash ---- */

static int fail_small(void)
{
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    if (compiles_custom("x[i] = 6") || ga_error() != GA_ERR_COMPILE ||
        !strstr(ga_error_message(), "first words"))
        return 1;
    getrusage(RUSAGE_SELF, &after);
    return after.ru_maxrss - before.ru_maxrss > 20000; /* KiB */
}

static void a_gigabyte_of_messages_takes_little_memory(void **state)
{
    (void)state;
    compiling_with("echo first words; yes 'and so on and so on' | head -c 1000000000 >&2; exit 1",
                   fail_small);
}

/* Ends what the script has listed. */
static void end_what_is_left(void)
{
    char path[sizeof script_path + 8];
    long process;
    snprintf(path, sizeof path, "%.*s/left", (int)(strrchr(script_path, '/') - script_path),
             script_path);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fscanf(file, "%ld", &process) == 1)
        kill((pid_t)process, SIGKILL);
    fclose(file);
    unlink(path);
}

static void nobody_waits_for_what_a_compiler_leaves_running(void **state)
{
    (void)state;
    compiling_with("sleep 1000 & echo $! >> ${0%/*}/left; exec c++ \"$@\"", compile_all_ways);
    end_what_is_left();
}

static int fail_for_want_of_output(void)
{
    if (compiles_custom("x[i] = 8") || ga_error() != GA_ERR_COMPILE ||
        !strstr(ga_error_message(), "not a complete shared object"))
        return 1;
    ga_clear_error();
    if (compiles_module("*x = 7;") || ga_error() != GA_ERR_COMPILE ||
        !strstr(ga_error_message(), "not a complete shared object"))
        return 2;
    ga_clear_error();
    return 0;
}

static int fail_unseen(void)
{
    signal(SIGCHLD, SIG_IGN);
    const bool compiled = compiles_custom("x[i] = 9");
    return compiled || ga_error() != GA_ERR_COMPILE;
}

static void output_that_is_no_code_is_an_error(void **state)
{
    (void)state;
    compiling_with("exit 0", fail_for_want_of_output);
    compiling_with(": > $out", fail_for_want_of_output);
    compiling_with("echo nonsense > $out", fail_for_want_of_output);
    compiling_with("c++ \"$@\"; truncate -s 3000 $out", fail_for_want_of_output);
    compiling_with("c++ \"$@\"; truncate -s -100 $out", fail_for_want_of_output);
    compiling_with("c++ \"$@\"; truncate -s 3000 $out; exit 1", fail_unseen);
}

static int tell_the_signal(void)
{
    return compiles_custom("x[i] = 10") || ga_error() != GA_ERR_COMPILE ||
           !strstr(ga_error_message(), "ended by signal 9");
}

static void a_compiler_that_is_killed_is_told(void **state)
{
    (void)state;
    compiling_with("kill -9 $$", tell_the_signal);
}

/* ---- Stopping a compile ---- */

static bool never_go_on(int64_t done, int64_t total, void *user)
{
    (void)total;
    ++*(int *)user;
    return done > 0;
}

static int stop_by_progress(void)
{
    int calls = 0;
    const ga_chunks chunks = {0, never_go_on, &calls};
    static const float numbers[10];
    gpuarray *x = ga_from_host(numbers, GA_FLOAT32, GA_SHAPE(10));
    if (ga_eval_chunked(&chunks, "x*x + 11", GA(x)) || ga_error() != GA_ERR_CANCELLED)
        return 1;
    return calls == 0;
}

static void an_evaluation_is_stopped_while_it_compiles(void **state)
{
    (void)state;
    compiling_with("sleep 1000", stop_by_progress);
}

/* ---- What a debugger sees ---- */

static int libraries, misnamed;

/* A debugger opens the files of libraries by their names, from its own process. */
static int look_at_library(struct dl_phdr_info *info, size_t size, void *user)
{
    char own[32];
    struct stat status;
    (void)size, (void)user;
    if (strncmp(info->dlpi_name, "/proc/", 6) == 0) {
        snprintf(own, sizeof own, "/proc/%ld/fd/", (long)getpid());
        libraries++;
        misnamed +=
            strncmp(info->dlpi_name, own, strlen(own)) != 0 || stat(info->dlpi_name, &status) == 0;
    }
    return 0;
}

static int look_at_libraries(void)
{
    gpuarray *x = ga_ones(GA_FLOAT32, 1, ((int64_t[]){3})), *y = ga_sin(x);
    int numbers[8]; /* of descriptors that were free */
    for (int i = 0; i < 8; i++)
        numbers[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dl_iterate_phdr(look_at_library, NULL);
    for (int i = 0; i < 8; i++)
        close(numbers[i]);
    ga_free(x);
    ga_free(y);
    return libraries > 0 && misnamed == 0 ? 0 : 1;
}

static void names_of_loaded_code_lead_a_debugger_nowhere_else(void **state)
{
    (void)state;
    compiling_with(NULL, look_at_libraries);
}

static int make_folders(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(script_path, sizeof script_path, "%s/compiler", folder);
    snprintf(attempts_path, sizeof attempts_path, "%s/attempts", folder);
    snprintf(temporary, sizeof temporary, "%s/tmp", folder);
    setenv("TMPDIR", temporary, 1);
    setenv("QUARRY_CACHE_DIR", "", 1);
    setenv("QUARRY_DEVICE", "cpu", 1);
    return mkdir(temporary, 0700);
}

static int remove_folders(void **state)
{
    (void)state;
    ga__remove_tree(folder);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_that_ignore_or_reap_children_compile),
        cmocka_unit_test(a_compiler_that_hangs_is_stopped_once),
        cmocka_unit_test(other_limits_are_no_limits),
        cmocka_unit_test(a_gigabyte_of_messages_takes_little_memory),
        cmocka_unit_test(nobody_waits_for_what_a_compiler_leaves_running),
        cmocka_unit_test(output_that_is_no_code_is_an_error),
        cmocka_unit_test(a_compiler_that_is_killed_is_told),
        cmocka_unit_test(an_evaluation_is_stopped_while_it_compiles),
        cmocka_unit_test(names_of_loaded_code_lead_a_debugger_nowhere_else),
    };
    return run_named_tests(argc, argv, tests, make_folders, remove_folders);
}
