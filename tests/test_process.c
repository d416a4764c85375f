/* Tests of running other programs: their end, output, time, signals and leftovers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quarry/error.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/library.h"
#include "base/os/process.h"
#include "base/os/system.h"
#include "children.h"
#include "run.h"

static int clean(void **state)
{
    (void)state;
    ga_clear_error();
    ga__alloc_fail_at(0);
    return ga__alloc_live() == 0 ? 0 : -1;
}

/* Runs the shell's words; 0 seconds means no limit. */
static ga_status run(const char *script, double seconds, ga__process_end *end)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const ga__process process = {.argv = argv, .seconds = seconds};
    *end = (ga__process_end){.code = 99};
    return ga__process_run(&process, end);
}

static void ends(const char *script, int how, int code, const char *output)
{
    ga__process_end end;
    assert_int_equal(run(script, 0, &end), GA_OK);
    assert_int_equal(end.how, how);
    assert_int_equal(end.code, code);
    assert_string_equal(end.output, output);
    ga__free(end.output);
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static int inherited_descriptors(void)
{
    int count = 3;
    for (int fd = 3; fd < 1024; fd++) {
        const int flags = fcntl(fd, F_GETFD);
        count += flags >= 0 && !(flags & FD_CLOEXEC);
    }
    return count;
}

/* ---- The end ---- */

static void the_end_and_the_output_are_told(void **state)
{
    (void)state;
    const int before = open_descriptors();
    ends("cat; echo out; echo err >&2; exit 3", GA__PROCESS_EXITED, 3, "out\nerr\n");
    ends("kill -9 $$", GA__PROCESS_SIGNALLED, 9, "");
    assert_int_equal(open_descriptors(), before);
}

static void no_descriptor_is_inherited_by_accident(void **state)
{
    (void)state;
    const char *const list[] = {"ls", "/proc/self/fd", NULL};
    const ga__process process = {.argv = list};
    ga__process_end end;
    int lines = 0;
    assert_int_equal(ga__process_run(&process, &end), GA_OK);
    for (const char *at = strchr(end.output, '\n'); at; at = strchr(at + 1, '\n'))
        lines++;
    assert_int_equal(lines, inherited_descriptors() + 1); /* and the directory that ls reads */
    ga__free(end.output);
}

static void a_program_that_is_not_there_is_named(void **state)
{
    (void)state;
    const char *const argv[] = {"quarry-no-such-program", NULL};
    const ga__process process = {.argv = argv};
    const int before = open_descriptors();
    ga__process_end end = {.code = 99};
    assert_int_equal(ga__process_run(&process, &end), GA_ERR_IO);
    assert_int_equal(end.code, 99);
    assert_non_null(strstr(ga_error_message(), "quarry-no-such-program"));
    assert_int_equal(open_descriptors(), before);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    const char *const argv[] = {"seq", "1", "2000", NULL};
    const ga__process process = {.argv = argv, .temporary = "/tmp"};
    ga_status status = GA_ERR_MEMORY;
    int n = 0;
    while (status == GA_ERR_MEMORY) {
        ga__process_end end = {.output = NULL};
        assert_true(++n < 20);
        ga__alloc_fail_at(n);
        status = ga__process_run(&process, &end);
        ga__alloc_fail_at(0);
        ga__free(end.output);
        assert_int_equal(ga__alloc_live(), 0);
        ga_clear_error();
    }
    assert_int_equal(status, GA_OK);
    assert_true(n > 2);
}

static void the_temporary_folder_is_the_callers_choice(void **state)
{
    (void)state;
    const char *const argv[] = {"sh", "-c", "echo $TMPDIR; env | grep -c ^TMPDIR=", NULL};
    const ga__process process = {.argv = argv, .temporary = "/some/where"};
    ga__process_end end;
    setenv("TMPDIR", "/else/where", 1);
    assert_int_equal(ga__process_run(&process, &end), GA_OK);
    unsetenv("TMPDIR");
    assert_string_equal(end.output, "/some/where\n1\n");
    ga__free(end.output);
}

/* ---- Signals of the calling program ---- */

static void do_nothing(int number)
{
    (void)number;
}

static void a_signal_meanwhile_changes_nothing(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = do_nothing}, old;
    sigaction(SIGUSR1, &action, &old);
    ends("kill -USR1 $PPID; sleep 0.1; kill -USR1 $PPID; echo x", GA__PROCESS_EXITED, 0, "x\n");
    sigaction(SIGUSR1, &old, NULL);
}

static int run_unseen(void)
{
    ga__process_end end;
    if (run("sleep 0.1; echo x; (exit 5)", 0, &end) != GA_OK || end.how != GA__PROCESS_UNSEEN)
        return 1;
    return strcmp(end.output, "x\n") != 0;
}

static int run_ignoring_children(void)
{
    signal(SIGCHLD, SIG_IGN);
    return run_unseen();
}

static int run_reaping_children(void)
{
    reap_children();
    return run_unseen();
}

static void children_that_others_reap_are_no_failure(void **state)
{
    (void)state;
    assert_int_equal(in_child(run_ignoring_children), 0);
    assert_int_equal(in_child(run_reaping_children), 0);
}

/* The shell itself waits for a child, which an inherited SIG_IGN would prevent. */
static int run_with_odd_signals(void)
{
    sigset_t all;
    ga__process_end end;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGCHLD, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    if (run("grep -E 'Sig(Blk|Ign)' /proc/self/status", 0, &end) != GA_OK)
        return 1;
    unsigned long blocked = 1, ignored = ~0UL;
    sscanf(end.output, "SigBlk: %lx SigIgn: %lx", &blocked, &ignored);
    const unsigned long two = 1UL << (SIGCHLD - 1) | 1UL << (SIGPIPE - 1);
    return blocked != 0 || (ignored & two) != 0;
}

static void the_program_starts_with_fresh_signals(void **state)
{
    (void)state;
    assert_int_equal(in_child(run_with_odd_signals), 0);
}

/* ---- Output ---- */

static void long_output_keeps_both_ends(void **state)
{
    (void)state;
    ga__process_end end;
    assert_int_equal(run("seq 1 3000000", 0, &end), GA_OK); /* 23 MB */
    assert_true(strlen(end.output) < 70000);
    assert_memory_equal(end.output, "1\n2\n3\n", 6);
    assert_non_null(strstr(end.output, "\n[... "));
    assert_string_equal(end.output + strlen(end.output) - 16, "2999999\n3000000\n");
    ga__free(end.output);
    assert_int_equal(run("seq 1 10000", 0, &end), GA_OK); /* all of 48894 bytes */
    assert_int_equal(strlen(end.output), 48894);
    ga__free(end.output);
}

/* The second one's child writes until nothing reads. */
static void nobody_waits_for_a_process_in_the_background(void **state)
{
    (void)state;
    ga__process_end end;
    int left = 0;
    assert_int_equal(run("sleep 1000 & echo $!; exit 2", 0, &end), GA_OK);
    assert_int_equal(end.code, 2);
    assert_int_equal(sscanf(end.output, "%d", &left), 1);
    ga__free(end.output);
    assert_int_equal(kill((pid_t)left, SIGKILL), 0); /* it still runs */
    assert_int_equal(run("yes & sleep 0.1; exit 2", 0, &end), GA_OK);
    assert_int_equal(end.code, 2);
    ga__free(end.output);
}

/* ---- Time ---- */

/* Whether a process with this id runs; zombies do not count. */
static bool is_running(pid_t process)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)process);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    (void)!fread(text, 1, sizeof text - 1, file);
    fclose(file);
    const char *state = strrchr(text, ')');
    return state && state[2] != 'Z' && state[2] != 'X';
}

static bool ends_soon(pid_t process)
{
    for (int i = 0; i < 6000 && is_running(process); i++)
        usleep(10000);
    return !is_running(process);
}

/* The script prints the ids of two processes that would run for a long time. */
static void is_stopped_whole(const char *script)
{
    ga__process_end end;
    int first = 0, second = 0;
    const double start = ga__now();
    assert_int_equal(run(script, 0.3, &end), GA_OK);
    assert_int_equal(end.how, GA__PROCESS_OVERDUE);
    assert_true(ga__now() - start >= 0.3);
    assert_int_equal(sscanf(end.output, "%d %d", &first, &second), 2);
    assert_true(ends_soon(first));
    assert_true(ends_soon(second));
    ga__free(end.output);
}

static void a_program_that_hangs_is_stopped_with_its_children(void **state)
{
    (void)state;
    is_stopped_whole("sleep 1000 & echo $$ $!; wait");
    is_stopped_whole("trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $$ $!; wait; "
                     "while :; do sleep 1; done");
}

static int questions;

static bool until_the_third(void *user)
{
    assert_ptr_equal(user, &questions);
    return ++questions < 3;
}

static void the_watch_stops_a_program(void **state)
{
    (void)state;
    ga__process_end end;
    const ga__watch before = ga__watch_set((ga__watch){until_the_third, &questions});
    assert_null(before.go_on);
    questions = 0;
    assert_int_equal(run("sleep 1000", 0, &end), GA_ERR_CANCELLED);
    assert_int_equal(questions, 3);
    assert_int_equal(end.code, 99);
    assert_ptr_equal(ga__watch_set(before).user, &questions);
}

/* ---- A system without pidfd_open ---- */

static int run_without_pidfd(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    ga__process_end end;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 2;
    if (syscall(SYS_pidfd_open, getpid(), 0) != -1 || errno != ENOSYS)
        return 3;
    if (run("exec >&- 2>&-; sleep 0.1; exit 4", 0, &end) != GA_OK || end.code != 4)
        return 4;
    if (run("sleep 60", 0.2, &end) != GA_OK || end.how != GA__PROCESS_OVERDUE)
        return 5;
    return run_ignoring_children();
}

static void an_old_system_does_too(void **state)
{
    (void)state;
    assert_int_equal(in_child(run_without_pidfd), 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, clean)

/* A child has another name, which is no path, and runs elsewhere. */
static void the_code_knows_its_folder(void **state)
{
    (void)state;
    char own[PATH_MAX], told[PATH_MAX] = "", program[64];
    int ends[2], status = 0;
    snprintf(program, sizeof program, "/proc/%d/exe", (int)getpid());
    assert_true(ga__own_folder(own, sizeof own));
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        if (chdir("/") == 0)
            execl(program, "nobody", "--folder", (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    assert_true(read(ends[0], told, sizeof told - 1) > 0);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_string_equal(told, own);
}

static int tell_folder(void)
{
    char own[PATH_MAX];
    return ga__own_folder(own, sizeof own) && fputs(own, stdout) >= 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--folder") == 0)
        return tell_folder();
    const struct CMUnitTest tests[] = {
        TEST(the_end_and_the_output_are_told),
        TEST(no_descriptor_is_inherited_by_accident),
        TEST(a_program_that_is_not_there_is_named),
        TEST(every_failed_allocation_is_survived),
        TEST(the_temporary_folder_is_the_callers_choice),
        TEST(a_signal_meanwhile_changes_nothing),
        TEST(children_that_others_reap_are_no_failure),
        TEST(the_program_starts_with_fresh_signals),
        TEST(long_output_keeps_both_ends),
        TEST(nobody_waits_for_a_process_in_the_background),
        TEST(the_code_knows_its_folder),
        TEST(a_program_that_hangs_is_stopped_with_its_children),
        TEST(the_watch_stops_a_program),
        TEST(an_old_system_does_too),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
