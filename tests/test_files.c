/* Tests of files as other processes see them: replacement, leftovers, and temporary folders. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <quarry.h>

#include "base/alloc.h"
#include "base/os/replacement.h"
#include "base/os/system.h"
#include "base/os/temporary.h"
#include "children.h"
#include "run.h"
#include "scratch.h"

enum { OTHER_USER = 65534 };

/* ---- order of writes to disk ---- */

static char order[64]; /* "F" for a file that is synced, "D" for a folder, "R" for a rename */

static void note(char what)
{
    const size_t length = strlen(order);
    if (length + 1 < sizeof order)
        order[length] = what;
}

/* The C library's functions, recorded: this program's own definitions come first. */
int fsync(int fd)
{
    struct stat status;
    note(fstat(fd, &status) == 0 && S_ISDIR(status.st_mode) ? 'D' : 'F');
    return (int)syscall(SYS_fsync, fd);
}

int rename(const char *from, const char *to)
{
    note('R');
    return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

/* ---- around each test ---- */

static int set_up(void **state)
{
    (void)state;
    ga_clear_error();
    umask(022);
    memset(order, 0, sizeof order);
    return open_scratch() ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    ga__remove_tree(scratch);
    ga__free(scratch);
    return 0;
}

static void write_text(const char *name, const char *text)
{
    assert_int_equal(ga__write_file_atomic(in_scratch(name), text, strlen(text)), GA_OK);
}

static void holds(const char *name, const char *expected)
{
    size_t nbytes = 0;
    char *text = ga__read_file(in_scratch(name), &nbytes);
    assert_non_null(text);
    assert_string_equal(text, expected);
    ga__free(text);
}

static mode_t mode_of(const char *name)
{
    struct stat status;
    assert_int_equal(stat(in_scratch(name), &status), 0);
    return status.st_mode & 07777;
}

static bool is_link(const char *name)
{
    struct stat status;
    return lstat(in_scratch(name), &status) == 0 && S_ISLNK(status.st_mode);
}

static bool is_there(const char *name)
{
    struct stat status;
    return lstat(in_scratch(name), &status) == 0;
}

/* ---- replaced files ---- */

static void bytes_reach_the_disk_before_the_name(void **state)
{
    (void)state;
    write_text("new", "one");
    assert_string_equal(order, "FRD");
    memset(order, 0, sizeof order);
    int32_t numbers[3] = {1, 2, 3};
    gpuarray *x = ga_from_host(numbers, GA_INT32, GA_SHAPE(3));
    assert_int_equal(ga_save(x, in_scratch("x.npy")), GA_OK);
    assert_string_equal(order, "FRD");
    ga_free(x);
}

static void a_replaced_file_keeps_its_mode(void **state)
{
    (void)state;
    static const mode_t modes[] = {0600, 0640, 0444, 0664, 0755};
    write_text("file", "new");
    assert_int_equal(mode_of("file"), 0644);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(in_scratch("file"), modes[i]), 0);
        write_text("file", "newer");
        assert_int_equal(mode_of("file"), modes[i]);
    }
    assert_int_equal(files_in_scratch(), 1);
}

static void a_replaced_file_keeps_its_owner(void **state)
{
    (void)state;
    struct stat status;
    if (geteuid() != 0) {
        print_message("skipped: only root can give files to another user\n");
        skip();
    }
    write_text("file", "old");
    assert_int_equal(chown(in_scratch("file"), OTHER_USER, OTHER_USER), 0);
    assert_int_equal(chmod(in_scratch("file"), 0660), 0);
    write_text("file", "new");
    assert_int_equal(stat(in_scratch("file"), &status), 0);
    assert_int_equal(status.st_uid, OTHER_USER);
    assert_int_equal(status.st_gid, OTHER_USER);
    assert_int_equal(status.st_mode & 0777, 0660);
}

/* As another user, in a folder that everybody can write to, over a file of root's. */
static int replace_as_another(void)
{
    if (setgid(OTHER_USER) != 0 || setuid(OTHER_USER) != 0)
        return 1;
    return ga__write_file_atomic(in_scratch("file"), "new", 3) != GA_OK;
}

static void a_group_that_is_lost_takes_its_rights_along(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can be two users\n");
        skip();
    }
    write_text("file", "old");
    assert_int_equal(chmod(in_scratch("file"), 0664), 0);
    assert_int_equal(chmod(scratch, 0777), 0);
    assert_int_equal(in_child(replace_as_another), 0);
    holds("file", "new");
    assert_int_equal(mode_of("file"), 0644);
}

static void links_are_followed_and_stay(void **state)
{
    (void)state;
    assert_int_equal(mkdir(in_scratch("inner"), 0755), 0);
    write_text("inner/file", "old");
    assert_int_equal(symlink("inner/file", in_scratch("relative")), 0);
    assert_int_equal(symlink("relative", in_scratch("twice")), 0);
    assert_int_equal(symlink(in_scratch("inner/file"), in_scratch("absolute")), 0);
    static const char *const names[] = {"relative", "twice", "absolute"};
    for (int i = 0; i < 3; i++) {
        write_text(names[i], names[i]);
        assert_true(is_link(names[i]));
        holds("inner/file", names[i]);
        assert_false(is_link("inner/file"));
    }
    assert_int_equal(symlink("inner/later", in_scratch("dangling")), 0);
    write_text("dangling", "made");
    assert_true(is_link("dangling"));
    holds("inner/later", "made");
    assert_int_equal(files_in_scratch(), 5);
}

static void links_that_lead_nowhere_are_errors(void **state)
{
    (void)state;
    assert_int_equal(symlink("loop", in_scratch("loop")), 0);
    assert_int_equal(symlink("no/such/file", in_scratch("lost")), 0);
    assert_int_equal(mkdir(in_scratch("folder"), 0755), 0);
    assert_int_equal(symlink("folder", in_scratch("to_folder")), 0);
    assert_int_equal(mkfifo(in_scratch("pipe"), 0600), 0);
    static const char *const names[] = {"loop", "lost", "to_folder", "folder", "pipe"};
    static const char *const reasons[] = {"symbolic links", "No such file", "directory",
                                          "directory", "not a regular file"};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(ga__write_file_atomic(in_scratch(names[i]), "x", 1), GA_ERR_IO);
        assert_non_null(strstr(ga_error_message(), reasons[i]));
        assert_non_null(strstr(ga_error_message(), names[i]));
        ga_clear_error();
    }
    assert_int_equal(files_in_scratch(), 5);
}

/* In a folder like /tmp, a link of another user could lead to a file of ours: the system's own rule
 * (protected_symlinks) applies here too. */
static void another_users_link_in_a_shared_folder_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can give files to another user\n");
        skip();
    }
    assert_int_equal(mkdir(in_scratch("shared"), 0700), 0);
    assert_int_equal(chmod(in_scratch("shared"), 01777), 0);
    write_text("ours", "kept");
    assert_int_equal(symlink("../ours", in_scratch("shared/link")), 0);
    write_text("shared/link", "written");
    holds("ours", "written");
    assert_int_equal(lchown(in_scratch("shared/link"), OTHER_USER, OTHER_USER), 0);
    assert_int_equal(ga__write_file_atomic(in_scratch("shared/link"), "bad", 3), GA_ERR_IO);
    assert_non_null(strstr(ga_error_message(), "Permission denied"));
    ga_clear_error();
    holds("ours", "written");
}

/* ---- leftovers of killed processes ---- */

/* Opens a replacement in a child that is killed before it commits. */
static void kill_while_replacing(const char *name)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        ga__replacement r;
        _exit(ga__replacement_open(&r, "", in_scratch(name)) == GA_OK ? raise(SIGKILL) : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

/* The folder that was searched last is not searched again: now it is this one. */
static void look_elsewhere(void)
{
    (void)mkdir(in_scratch("other"), 0755);
    write_text("other/file", "");
}

static void what_a_killed_save_left_is_removed(void **state)
{
    (void)state;
    static const char *const foreign[] = {".quarry-12", ".quarry-12-x", ".quarry-",
                                          ".quarry-1-2-3"};
    ga__replacement open_one;
    look_elsewhere();
    kill_while_replacing("file");
    kill_while_replacing("file"); /* removes the leftover of the first one */
    assert_int_equal(files_in_scratch(), 2);
    for (int i = 0; i < 4; i++)
        assert_int_equal(ga__write_file(in_scratch(foreign[i]), "", 0), GA_OK);
    assert_int_equal(ga__replacement_open(&open_one, "", in_scratch("file")), GA_OK);
    assert_int_equal(files_in_scratch(), 1 + 4 + 1); /* the folder, the foreign ones, ours */
    look_elsewhere();
    write_text("another", "x"); /* searches here once more; an open file is not touched */
    assert_int_equal(files_in_scratch(), 1 + 4 + 1 + 1);
    assert_int_equal(ga__write_all(open_one.fd, "whole", 5), 0);
    assert_int_equal(ga__replacement_commit(&open_one), GA_OK);
    holds("file", "whole");
    for (int i = 0; i < 4; i++)
        assert_true(is_there(foreign[i]));
}

static void what_another_user_left_stays(void **state)
{
    (void)state;
    if (geteuid() != 0) {
        print_message("skipped: only root can give files to another user\n");
        skip();
    }
    assert_int_equal(ga__write_file(in_scratch(".quarry-1-1"), "", 0), GA_OK);
    assert_int_equal(chown(in_scratch(".quarry-1-1"), OTHER_USER, OTHER_USER), 0);
    assert_int_equal(ga__write_file(in_scratch(".quarry-1-2"), "", 0), GA_OK);
    assert_int_equal(mkfifo(in_scratch(".quarry-1-3"), 0600), 0);
    look_elsewhere();
    write_text("file", "x");
    assert_true(is_there(".quarry-1-1"));
    assert_false(is_there(".quarry-1-2"));
    assert_true(is_there(".quarry-1-3"));
}

/* ---- temporary folders ---- */

/* A child makes a temporary folder and reports its path; it ends when `hold` is closed. */
static pid_t start_holder(int hold, char path[4096])
{
    int tell[2];
    assert_int_equal(pipe(tell), 0);
    const pid_t child = fork();
    if (child == 0) {
        ga__temporary t;
        char byte;
        setenv("TMPDIR", scratch, 1);
        if (ga__temporary_init(&t) != GA_OK || write(tell[1], t.path, strlen(t.path)) < 0)
            _exit(1);
        close(tell[1]);
        (void)!read(hold, &byte, 1);
        ga__temporary_reset(&t);
        _exit(0);
    }
    close(tell[1]);
    const ssize_t length = read(tell[0], path, 4095);
    close(tell[0]);
    assert_true(length > 0);
    path[length] = '\0';
    return child;
}

static void temporary_folders_of_killed_processes_are_removed(void **state)
{
    (void)state;
    char killed[4096], living[4096], last[4096], inner[4200];
    int hold[2], status;
    assert_int_equal(pipe(hold), 0);
    assert_int_equal(mkdir(in_scratch("quarry-foreign"), 0700), 0);
    const pid_t first = start_holder(hold[0], killed);
    snprintf(inner, sizeof inner, "%s/deep", killed);
    assert_int_equal(mkdir(inner, 0700), 0);
    assert_int_equal(symlink("/etc", strcat(inner, "/link")), 0);
    kill(first, SIGKILL);
    waitpid(first, &status, 0);
    assert_int_equal(access(killed, F_OK), 0);

    const pid_t second = start_holder(hold[0], living);
    assert_int_not_equal(access(killed, F_OK), 0);
    assert_int_equal(access("/etc/passwd", F_OK), 0);
    const pid_t third = start_holder(hold[0], last);
    assert_int_equal(access(living, F_OK), 0);
    assert_true(is_there("quarry-foreign"));
    kill(third, SIGKILL); /* it holds an end of the pipe that the second one waits for */
    waitpid(third, &status, 0);
    close(hold[1]);
    kill(second, SIGKILL);
    waitpid(second, &status, 0);
    close(hold[0]);
}

static void a_temporary_folder_is_private_and_absolute(void **state)
{
    (void)state;
    ga__temporary t;
    struct stat status;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(scratch), 0);
    assert_int_equal(mkdir("-odd", 0755), 0);
    setenv("TMPDIR", "-odd", 1); /* a path that a compiler would take for an option */
    const ga_status made = ga__temporary_init(&t);
    const int nameless = ga__open_nameless();
    unsetenv("TMPDIR");
    assert_int_equal(chdir(before), 0);
    assert_int_equal(made, GA_OK);
    assert_int_equal(t.path[0], '/');
    assert_int_equal(stat(t.path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_true(nameless >= 0);
    close(nameless);
    ga__temporary_reset(&t);
    assert_int_equal(rmdir(in_scratch("-odd")), 0); /* it is empty */
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_reach_the_disk_before_the_name),
        TEST(a_replaced_file_keeps_its_mode),
        TEST(a_replaced_file_keeps_its_owner),
        TEST(a_group_that_is_lost_takes_its_rights_along),
        TEST(links_are_followed_and_stay),
        TEST(links_that_lead_nowhere_are_errors),
        TEST(another_users_link_in_a_shared_folder_is_refused),
        TEST(what_a_killed_save_left_is_removed),
        TEST(what_another_user_left_stays),
        TEST(temporary_folders_of_killed_processes_are_removed),
        TEST(a_temporary_folder_is_private_and_absolute),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
