/* Tests of what the environment selects, and that it selects nothing in a set-user-id program. */
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <quarry.h>

#include "base/alloc.h"
#include "base/os/environment.h"
#include "base/os/system.h"
#include "base/strbuf.h"
#include "children.h"
#include "device/cpu/compiler.h"
#include "device/cpu/cxx.h"
#include "run.h"
#include "scratch.h"

enum { OWNER = 65534, CALLER = 12345, NO_RIGHTS = 77 };

extern char **environ;

static int set_up(void **state)
{
    (void)state;
    ga_clear_error();
    return open_scratch() ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    ga__remove_tree(scratch);
    ga__free(scratch);
    return 0;
}

static void make_folder(const char *name, mode_t mode)
{
    assert_int_equal(mkdir(in_scratch(name), 0700), 0);
    assert_int_equal(chmod(in_scratch(name), mode), 0);
}

static void make_script(const char *name, const char *text)
{
    assert_int_equal(ga__write_file(in_scratch(name), text, strlen(text)), GA_OK);
    assert_int_equal(chmod(in_scratch(name), 0755), 0);
}

/* A program that records that it ran by making the file `caught`. */
static void make_trap(const char *name)
{
    char text[4200];
    snprintf(text, sizeof text, "#!/bin/sh\n: > '%s'\n", in_scratch("caught"));
    make_script(name, text);
}

static bool is_there(const char *name)
{
    return access(in_scratch(name), F_OK) == 0;
}

/* ---- set-user-id programs ---- */

/* The part of the program that runs with another user's rights: see main. A sum needs a
 * compiler. */
static int compute(void)
{
    if (ga_set_device("cpu") != GA_OK)
        return 1;
    gpuarray *x = ga_arange(GA_INT32, 0, 1234, 1);
    const double sum = ga_item_double(ga_sum(x));
    if (sum == 1234 * 1233 / 2.0)
        return 0;
    fprintf(stderr, "the sum is %g: %s\n", sum, ga_error_message());
    return 1;
}

static int run_raised(void)
{
    return getauxval(AT_SECURE) ? compute() : NO_RIGHTS;
}

/* Makes every variable that names a place lead into the scratch folder. */
static char **hostile_environment(void)
{
    static char texts[24][4200];
    static char *list[25];
    static const char *const variables[] = {
        "QUARRY_CXX=%s/bin/trap",
        "QUARRY_CXXFLAGS=-B%s/bin",
        "QUARRY_NVRTC=%s/bin/trap",
        "QUARRY_CACHE_DIR=%s/cache",
        "QUARRY_DUMP_DIR=%s/dump",
        "PATH=%s/bin",
        "TMPDIR=%s/tmp",
        "HOME=%s/home",
        "XDG_CACHE_HOME=%s/xdg",
        "CUDA_HOME=%s/cuda",
        "CUDA_PATH=%s/cuda",
        "GCC_EXEC_PREFIX=%s/bin/",
        "COMPILER_PATH=%s/bin",
        "QUARRY_LOG=debug",
        "QUARRY_ABORT=1",
        "QUARRY_DEVICE=nosuch",
        "QUARRY_THREADS=2",
        "ASAN_OPTIONS=detect_leaks=0",
    };
    int n = 0;
    for (; n < (int)(sizeof variables / sizeof *variables); n++) {
        snprintf(texts[n], sizeof texts[n], variables[n], scratch);
        list[n] = texts[n];
    }
    list[n] = NULL;
    return list;
}

static int run_copy(const char *mode)
{
    char program[4096], *const argv[] = {program, (char *)mode, NULL};
    snprintf(program, sizeof program, "%s/program", scratch);
    if (setgroups(0, NULL) != 0 || setgid(CALLER) != 0 || setuid(CALLER) != 0)
        return 2;
    execve(program, argv, hostile_environment());
    return 3;
}

static int start_copy(void)
{
    return run_copy("--start");
}

static int run_copy_raised(void)
{
    return run_copy("--raised");
}

static int run_copy_plain(void)
{
    return run_copy("--plain");
}

static bool set_user_ids_count(void)
{
    struct statvfs status;
    return geteuid() == 0 && statvfs(scratch, &status) == 0 && !(status.f_flag & ST_NOSUID);
}

static void lay_traps(void)
{
    static const char *const names[] = {"trap", "c++", "g++", "clang++", "cc1plus",
                                        "as",   "ld",  "sh",  "collect2"};
    static const char *const folders[] = {"cache", "dump", "tmp", "home", "xdg", "cuda"};
    char name[64];
    assert_int_equal(chmod(scratch, 0777), 0);
    make_folder("bin", 0755);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(name, sizeof name, "bin/%s", names[i]);
        make_trap(name);
    }
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        make_folder(folders[i], 0777);
}

static void copy_this_program(void)
{
    size_t nbytes = 0;
    char *bytes = ga__read_file("/proc/self/exe", &nbytes);
    assert_non_null(bytes);
    assert_int_equal(ga__write_file(in_scratch("program"), bytes, nbytes), GA_OK);
    ga__free(bytes);
    assert_int_equal(chown(in_scratch("program"), OWNER, OWNER), 0);
    assert_int_equal(chmod(in_scratch("program"), 0755), 0);
}

static void a_set_user_id_program_trusts_no_environment(void **state)
{
    (void)state;
    static const char *const folders[] = {"cache", "dump", "tmp", "home", "xdg", "cuda"};
    if (!set_user_ids_count()) {
        print_message("skipped: only root makes set-user-id programs, and not on nosuid disks\n");
        skip();
    }
    lay_traps();
    copy_this_program();
    if (in_child(start_copy) != 0) {
        print_message("skipped: only LD_LIBRARY_PATH leads to this program's libraries\n");
        skip();
    }
    /* Without the extra rights the traps work. */
    assert_int_not_equal(in_child(run_copy_plain), 0);
    assert_true(is_there("caught"));
    assert_int_equal(unlink(in_scratch("caught")), 0);
    assert_true(is_there("dump"));
    assert_int_not_equal(rmdir(in_scratch("dump")), 0); /* it is not empty */
    ga__remove_tree(in_scratch("dump"));
    make_folder("dump", 0777);

    assert_int_equal(chmod(in_scratch("program"), 04755), 0);
    const int code = in_child(run_copy_raised);
    if (code == NO_RIGHTS) {
        print_message("skipped: the system gives set-user-id programs no rights here\n");
        skip();
    }
    assert_int_equal(code, 0);
    assert_false(is_there("caught"));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(rmdir(in_scratch(folders[i])), 0); /* it is empty */
}

/* ---- choosing the compiler ---- */

static const char source_text[] = "#ifndef GIVEN\n#define GIVEN 1\n#endif\n"
                                  "static_assert(GIVEN == 1, \"another\");\n"
                                  "extern \"C\" int given() { return GIVEN; }\n";

static ga_status compile(void)
{
    const ga__source source = {"given", source_text, false};
    void *code = NULL;
    size_t nbytes;
    const ga_status status = ga__cxx_compile(&source, &code, &nbytes);
    ga__free(code);
    return status;
}

static const ga__compiler *chosen(void)
{
    const ga__compiler *c = NULL;
    assert_int_equal(ga__compiler_find(&c), GA_OK);
    return c;
}

/* A relative folder of PATH, or an empty one, means the current folder, wherever that is: a program
 * there is not run, also not when PATH is searched a second time. */
static int compile_among_traps(void)
{
    char path[8192];
    snprintf(path, sizeof path, ":bin:.:%s", ga__search_path());
    setenv("PATH", path, 1);
    unsetenv("QUARRY_CXX");
    return chdir(scratch) != 0 || compile() != GA_OK;
}

static void relative_folders_of_the_path_are_not_searched(void **state)
{
    (void)state;
    make_folder("bin", 0755);
    make_trap("bin/c++");
    make_trap("c++");
    assert_int_equal(in_child(compile_among_traps), 0);
    assert_false(is_there("caught"));
}

/* Compilers such as ccache search PATH themselves. */
static int compile_by_a_wrapper(void)
{
    char path[8192];
    setenv("QUARRY_CXX", in_scratch("wrapper"), 1);
    snprintf(path, sizeof path, ":bin:.:%s:", ga__search_path());
    setenv("PATH", path, 1);
    return chdir(scratch) != 0 || compile() != GA_OK;
}

static int compile_by_a_wrapper_without_folders(void)
{
    setenv("QUARRY_CXX", in_scratch("wrapper"), 1);
    setenv("PATH", ".::bin", 1);
    return chdir(scratch) != 0 || compile() != GA_ERR_COMPILE;
}

static void nor_are_they_by_the_compiler(void **state)
{
    (void)state;
    make_trap("c++");
    make_script("wrapper", "#!/bin/sh\nexec c++ \"$@\"\n");
    assert_int_equal(in_child(compile_by_a_wrapper), 0);
    assert_int_equal(in_child(compile_by_a_wrapper_without_folders), 0);
    assert_false(is_there("caught"));
}

static int compile_without_path(void)
{
    unsetenv("PATH");
    unsetenv("QUARRY_CXX");
    const ga__compiler *c = chosen();
    return c == NULL || c->command.text[0][0] != '/' || compile() != GA_OK;
}

static void no_path_means_the_systems_default(void **state)
{
    (void)state;
    assert_int_equal(in_child(compile_without_path), 0);
}

/* A compiler deep in folders, followed by many long words: all of them reach it. */
static int compile_with_long_words(void)
{
    enum { WORDS = 60, LENGTH = 1500 };
    char folder[200], path[4096], script[9000];
    ga__strbuf text = GA__STRBUF_INIT;
    memset(folder, 'f', sizeof folder);
    folder[sizeof folder - 1] = '\0';
    snprintf(path, sizeof path, "%s", scratch);
    for (int i = 0; i < 10; i++) {
        strcat(strcat(path, "/"), folder);
        if (mkdir(path, 0755) != 0)
            return 1;
    }
    strcat(path, "/my c++");
    snprintf(script, sizeof script, "#!/bin/sh\nprintf '%%s\\n' \"$@\" > '%s'\nexec c++ \"$@\"\n",
             in_scratch("words"));
    if (ga__write_file(path, script, strlen(script)) != GA_OK || chmod(path, 0755) != 0)
        return 2;
    ga__strbuf_addf(&text, "\"%s\"", path); /* the path has a blank */
    for (int i = 0; i < WORDS; i++)
        ga__strbuf_addf(&text, " -DW%d=%0*d", i, LENGTH, 1);
    setenv("QUARRY_CXX", text.text, 1);
    ga__strbuf_reset(&text);
    const ga__compiler *c = chosen();
    return c == NULL || c->command.count != WORDS + 1 || strcmp(c->command.text[0], path) != 0 ||
           strlen(c->key) < (size_t)WORDS * LENGTH || compile() != GA_OK;
}

static void long_paths_and_many_words_are_not_cut(void **state)
{
    (void)state;
    size_t nbytes;
    assert_int_equal(in_child(compile_with_long_words), 0);
    char *words = ga__read_file(in_scratch("words"), &nbytes);
    assert_non_null(words);
    assert_true(nbytes > 60 * 1500);
    assert_non_null(strstr(words, "-DW59=0"));
    ga__free(words);
}

static int compile_with_flags(void)
{
    setenv("QUARRY_CXXFLAGS", " -DGIVEN=1 '-DB=a b'", 1);
    const ga__compiler *c = chosen();
    if (c->flags.count != 2 || strcmp(c->flags.text[1], "-DB=a b") != 0 || compile() != GA_OK)
        return 1;
    setenv("QUARRY_CXXFLAGS", "-DGIVEN=2", 1);
    return compile() != GA_ERR_COMPILE || strcmp(chosen()->key, c->key) == 0;
}

static void extra_flags_reach_the_compiler_and_the_key(void **state)
{
    (void)state;
    assert_int_equal(in_child(compile_with_flags), 0);
}

static int change_the_compiler(void)
{
    const ga__compiler *before = chosen();
    setenv("QUARRY_CXX", "c++ -DGIVEN=2", 1);
    if (strcmp(chosen()->key, before->key) == 0 || compile() != GA_ERR_COMPILE)
        return 1;
    unsetenv("QUARRY_CXX");
    ga_clear_error();
    return chosen() != before || compile() != GA_OK;
}

static void the_key_follows_the_environment(void **state)
{
    (void)state;
    assert_int_equal(in_child(change_the_compiler), 0);
}

/* The temporary folder is the current one, and its name begins with a dash. */
static int compile_in_odd_folder(void)
{
    setenv("TMPDIR", "-x", 1);
    return chdir(scratch) != 0 || mkdir("-x", 0700) != 0 || compile() != GA_OK || rmdir("-x") != 0;
}

static void no_temporary_name_is_taken_for_an_option(void **state)
{
    (void)state;
    assert_int_equal(in_child(compile_in_odd_folder), 0);
}

static int change_folder_after_choosing(void)
{
    if (chdir(scratch) != 0)
        return 1;
    setenv("QUARRY_CXX", "./chosen", 1);
    const ga__compiler *c = chosen();
    return c == NULL || c->command.text[0][0] != '/' || chdir("/") != 0 || compile() != GA_OK;
}

static void a_relative_compiler_stays_the_same(void **state)
{
    (void)state;
    make_script("chosen", "#!/bin/sh\nexec c++ \"$@\"\n");
    assert_int_equal(in_child(change_folder_after_choosing), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static int run_mode(const char *mode)
{
    if (strcmp(mode, "--start") == 0)
        return 0;
    return strcmp(mode, "--raised") == 0 ? run_raised() : compute();
}

int main(int argc, char **argv)
{
    if (argc > 1 &&
        strncmp(argv[1], "--", 2) ==
            0) /* without the leak checker, which cannot inspect a set-user-id program */
        _exit(run_mode(argv[1]));
    const struct CMUnitTest tests[] = {
        TEST(a_set_user_id_program_trusts_no_environment),
        TEST(relative_folders_of_the_path_are_not_searched),
        TEST(nor_are_they_by_the_compiler),
        TEST(no_path_means_the_systems_default),
        TEST(long_paths_and_many_words_are_not_cut),
        TEST(extra_flags_reach_the_compiler_and_the_key),
        TEST(the_key_follows_the_environment),
        TEST(no_temporary_name_is_taken_for_an_option),
        TEST(a_relative_compiler_stays_the_same),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
