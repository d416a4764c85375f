/* Tests of jit/cache_disk.c: stored code comes back, and anything else in the folder is a miss. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quarry/error.h>

#include "base/alloc.h"
#include "base/os/system.h"
#include "jit/cache_disk.h"
#include "run.h"
#include "scratch.h"

enum { OVERHEAD = 40, PATH_SIZE = 512 }; /* bytes of a file besides key and code */

static char *directory;
static int info_lines;

static void count_line(int level, const char *text, void *user)
{
    (void)user;
    (void)text;
    info_lines += level == GA_LOG_INFO;
}

static int set_up(void **state)
{
    (void)state;
    directory = ga__make_temporary_directory();
    setenv("QUARRY_CACHE_DIR", directory, 1);
    unsetenv("QUARRY_CACHE_SIZE");
    info_lines = 0;
    ga_set_log(count_line, NULL);
    return directory ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    ga_set_log(NULL, NULL);
    if (getuid() == 0 && seteuid(0) != 0)
        return -1;
    chmod(directory, 0700);
    remove_folder(directory);
    ga__free(directory);
    ga_clear_error();
    return 0;
}

static void put(const char *key, const char *code)
{
    ga__disk_cache_put(key, strlen(key), code, strlen(code));
    assert_int_equal(ga_error(), GA_OK);
}

/* Whether the key is stored, with exactly this code. */
static bool has(const char *key, const char *code)
{
    void *got = NULL;
    size_t nbytes = 0;
    if (!ga__disk_cache_get(key, strlen(key), &got, &nbytes)) {
        assert_null(got);
        assert_int_equal(ga_error(), GA_OK);
        return false;
    }
    assert_int_equal(nbytes, strlen(code));
    assert_memory_equal(got, code, nbytes);
    ga__free(got);
    return true;
}

static int64_t file_count(int64_t *bytes)
{
    int64_t files, total;
    ga__disk_cache_usage(&files, &total);
    if (bytes)
        *bytes = total;
    return files;
}

/* The path of the only file in a directory. */
static void only_file(const char *in, char path[PATH_SIZE])
{
    int found = 0;
    DIR *stream = opendir(in);
    for (struct dirent *item; (item = readdir(stream)) != NULL;)
        if (item->d_name[0] != '.') {
            snprintf(path, PATH_SIZE, "%s/%s", in, item->d_name);
            found++;
        }
    closedir(stream);
    assert_int_equal(found, 1);
}

static void overwrite(const char *path, const void *bytes, size_t nbytes)
{
    int file = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(file, bytes, nbytes), (ssize_t)nbytes);
    close(file);
}

static void entries_come_back(void **state)
{
    int64_t bytes;
    (void)state;
    assert_false(has("key", "code"));
    put("key", "code");
    put("key 2", "");
    put("", "nothing");
    assert_true(has("key", "code"));
    assert_true(has("key 2", ""));
    assert_true(has("", "nothing"));
    assert_false(has("key 3", ""));
    put("key", "other code");
    assert_true(has("key", "other code"));
    assert_int_equal(file_count(&bytes), 3);
    assert_int_equal(bytes, 3 * OVERHEAD + 8 + 17);
    assert_int_equal(ga__disk_cache_clear(), 3);
    assert_int_equal(file_count(&bytes), 0);
    assert_int_equal(bytes, 0);
    assert_false(has("key", "other code"));
}

static void long_keys_and_code_come_back(void **state)
{
    static char key[10001], code[100001];
    (void)state;
    memset(key, 'k', sizeof key - 1);
    memset(code, 'c', sizeof code - 1);
    put(key, code);
    assert_true(has(key, code));
    key[9999] = 'x';
    assert_false(has(key, code));
}

static void the_directory_is_made_and_private(void **state)
{
    char outer[PATH_SIZE], inner[PATH_SIZE], path[PATH_SIZE];
    struct stat status;
    (void)state;
    snprintf(outer, sizeof outer, "%s/deep", directory);
    snprintf(inner, sizeof inner, "%.400s/deeper", outer);
    setenv("QUARRY_CACHE_DIR", inner, 1);
    assert_false(has("key", "code"));
    assert_int_equal(file_count(NULL), 0);
    put("key", "code");
    assert_true(has("key", "code"));
    assert_int_equal(stat(inner, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    only_file(inner, path);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(info_lines, 0);
    remove_folder(inner);
    remove_folder(outer);
}

static void the_environment_chooses_the_directory(void **state)
{
    char *path;
    char home[PATH_SIZE];
    (void)state;
    snprintf(home, sizeof home, "%s", getenv("HOME") ? getenv("HOME") : "");
    setenv("QUARRY_CACHE_DIR", "", 1);
    assert_null(ga__disk_cache_directory());
    put("key", "code");
    assert_false(has("key", "code"));
    unsetenv("QUARRY_CACHE_DIR");
    setenv("HOME", "/h", 1);
    setenv("XDG_CACHE_HOME", "/x", 1);
    assert_string_equal(path = ga__disk_cache_directory(), "/x/quarry");
    ga__free(path);
    setenv("XDG_CACHE_HOME", "relative", 1);
    assert_string_equal(path = ga__disk_cache_directory(), "/h/.cache/quarry");
    ga__free(path);
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_null(ga__disk_cache_directory());
    setenv("HOME", home, 1);
}

static void files_cut_or_lengthened_are_misses(void **state)
{
    char path[PATH_SIZE];
    size_t nbytes = 0;
    (void)state;
    put("a key", "and its code");
    only_file(directory, path);
    char *bytes = ga__read_file(path, &nbytes);
    assert_int_equal(nbytes, OVERHEAD + 17);
    for (size_t n = 0; n < nbytes; n++) {
        overwrite(path, bytes, n);
        assert_false(has("a key", "and its code"));
    }
    overwrite(path, bytes, nbytes + 1); /* the NUL that ga__read_file adds */
    assert_false(has("a key", "and its code"));
    overwrite(path, bytes, nbytes);
    assert_true(has("a key", "and its code"));
    ga__free(bytes);
}

static void any_altered_byte_is_a_miss(void **state)
{
    char path[PATH_SIZE];
    size_t nbytes = 0;
    static const unsigned char changes[] = {0x01, 0x80, 0xff};
    (void)state;
    put("a key", "and its code");
    only_file(directory, path);
    char *bytes = ga__read_file(path, &nbytes);
    for (size_t n = 0; n < nbytes; n++)
        for (size_t c = 0; c < sizeof changes; c++) {
            bytes[n] = (char)(bytes[n] ^ changes[c]);
            overwrite(path, bytes, nbytes);
            assert_false(has("a key", "and its code"));
            bytes[n] = (char)(bytes[n] ^ changes[c]);
        }
    put("a key", "and its code"); /* a bad file is replaced */
    assert_true(has("a key", "and its code"));
    ga__free(bytes);
}

/* The file of one key under the name of another: the whole key is compared, not only its hash. */
static void keys_are_compared_in_full(void **state)
{
    char path[PATH_SIZE], other[PATH_SIZE];
    (void)state;
    put("key B", "code");
    only_file(directory, other);
    unlink(other);
    put("key A", "code");
    only_file(directory, path);
    assert_int_equal(rename(path, other), 0);
    assert_false(has("key B", "code"));
    assert_false(has("key A", "code"));
}

static void files_of_other_users_are_misses(void **state)
{
    char path[PATH_SIZE];
    (void)state;
    put("key", "code");
    only_file(directory, path);
    if (geteuid() != 0) {
        print_message("skipped: only root can give files to another user\n");
        skip();
    }
    assert_int_equal(chown(path, 65534, 65534), 0);
    assert_false(has("key", "code"));
    assert_int_equal(chown(path, 0, 0), 0);
    assert_true(has("key", "code"));
    assert_int_equal(info_lines, 0);
    assert_int_equal(chown(directory, 65534, 65534), 0);
    assert_false(has("key", "code"));
    assert_true(info_lines > 0);
    assert_int_equal(chown(directory, 0, 0), 0);
}

static void a_directory_others_may_write_is_not_used(void **state)
{
    static const mode_t modes[] = {0777, 0770, 0720, 0702};
    (void)state;
    put("key", "code");
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        info_lines = 0;
        assert_int_equal(chmod(directory, modes[i]), 0);
        assert_false(has("key", "code"));
        put("key 2", "code");
        assert_int_equal(file_count(NULL), 0);
        assert_int_equal(ga__disk_cache_clear(), 0);
        assert_true(info_lines > 0);
    }
    assert_int_equal(chmod(directory, 0755), 0); /* others may read */
    assert_true(has("key", "code"));
    assert_false(has("key 2", "code"));
}

/* An entry that others may write is not loaded, even if its checksum is right; storing replaces
 * it. */
static void entries_others_may_write_are_misses(void **state)
{
    static const mode_t modes[] = {0660, 0606, 0620, 0602, 0666};
    char path[PATH_SIZE];
    (void)state;
    put("key", "code");
    only_file(directory, path);
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        assert_false(has("key", "code"));
    }
    put("key", "code");
    assert_true(has("key", "code"));
    assert_int_equal(chmod(path, 0644), 0); /* others may read */
    assert_true(has("key", "code"));
}

static void a_read_only_directory_is_still_read(void **state)
{
    (void)state;
    if (geteuid() == 0) { /* root may write anywhere, so become another user for a while */
        assert_int_equal(chown(directory, 65534, 65534), 0);
        assert_int_equal(seteuid(65534), 0);
    }
    put("key", "code");
    assert_int_equal(chmod(directory, 0500), 0);
    put("key 2", "code");
    assert_true(info_lines > 0);
    assert_false(has("key 2", "code"));
    assert_true(has("key", "code"));
    assert_int_equal(ga__disk_cache_clear(), 0);
}

static void a_directory_that_cannot_be_made_is_no_error(void **state)
{
    (void)state;
    setenv("QUARRY_CACHE_DIR", "/proc/self/quarry", 1);
    put("key", "code");
    assert_true(info_lines > 0);
    assert_false(has("key", "code"));
    assert_int_equal(file_count(NULL), 0);
}

static void a_directory_that_is_a_file_is_no_error(void **state)
{
    char path[PATH_SIZE];
    (void)state;
    put("key", "code");
    only_file(directory, path);
    setenv("QUARRY_CACHE_DIR", path, 1);
    put("key", "code");
    assert_false(has("key", "code"));
    assert_int_equal(file_count(NULL), 0);
}

static void links_pipes_and_directories_are_no_entries(void **state)
{
    char path[PATH_SIZE], target[PATH_SIZE];
    (void)state;
    put("key", "code");
    only_file(directory, path);
    snprintf(target, sizeof target, "%s/target", directory);
    assert_int_equal(rename(path, target), 0);
    assert_int_equal(symlink(target, path), 0);
    assert_false(has("key", "code"));
    assert_int_equal(file_count(NULL), 0);
    put("key", "code"); /* replaces the link, not its target */
    assert_true(has("key", "code"));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_false(has("key", "code"));
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_false(has("key", "code"));
    put("key", "code");
    assert_false(has("key", "code"));
    rmdir(path);
}

/* Sets the age of the only entry. */
static void age_entry(time_t seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    char path[4096];
    DIR *stream = opendir(directory);
    assert_non_null(stream);
    for (const struct dirent *item; (item = readdir(stream)) != NULL;)
        if (strstr(item->d_name, ".qk")) {
            snprintf(path, sizeof path, "%s/%s", directory, item->d_name);
            assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
        }
    closedir(stream);
}

static void entries_of_other_days_go_first(void **state)
{
    (void)state;
    setenv("QUARRY_CACHE_SIZE", "150", 1); /* three entries of 46 bytes */
    put("key 1", "1");
    age_entry(1000000);
    put("key 2", "2");
    put("key 3", "3");
    put("key 4", "4");
    assert_false(has("key 1", "1"));
    assert_true(has("key 2", "2"));
    assert_true(has("key 4", "4"));
}

static void the_least_recently_used_go_first(void **state)
{
    int64_t bytes;
    (void)state;
    setenv("QUARRY_CACHE_SIZE", "150", 1); /* three entries of 46 bytes */
    put("key 1", "1");
    put("key 2", "2");
    put("key 3", "3");
    assert_int_equal(file_count(&bytes), 3);
    assert_int_equal(bytes, 3 * (OVERHEAD + 6));
    assert_true(has("key 1", "1")); /* used, so key 2 is now the oldest */
    put("key 4", "4");
    assert_false(has("key 2", "2"));
    assert_true(has("key 3", "3"));
    assert_true(has("key 1", "1"));
    put("key 5", "a longer code, for which two have to go");
    assert_false(has("key 4", "4"));
    assert_false(has("key 3", "3"));
    assert_true(has("key 1", "1"));
    assert_true(has("key 5", "a longer code, for which two have to go"));
    put("key 6",
        "much too long a code to be stored in so small a cache, whatever is removed from it, "
        "so it is not stored at all and nothing is removed");
    assert_int_equal(file_count(NULL), 2);
    setenv("QUARRY_CACHE_SIZE", "0", 1);
    put("key 7", "7");
    assert_int_equal(file_count(NULL), 2);
}

static void sizes_take_suffixes(void **state)
{
    static const char *const good[] = {"1K", "1k", "1024", "1M", "1g", "17179869183G"};
    static const char *const bad[] = {"",
                                      "-1",
                                      "lots",
                                      "1KB",
                                      "1 K",
                                      "0x10",
                                      " 1",
                                      "K",
                                      "1.5G",
                                      "17179869184G",
                                      "99999999999999999999"};
    static char code[900];
    (void)state;
    memset(code, 'c', sizeof code - 1);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        setenv("QUARRY_CACHE_SIZE", good[i], 1);
        put("key", code);
        assert_int_equal(ga__disk_cache_clear(), 1);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) { /* the default, 1 GiB */
        setenv("QUARRY_CACHE_SIZE", bad[i], 1);
        put("key", code);
        assert_int_equal(ga__disk_cache_clear(), 1);
    }
    setenv("QUARRY_CACHE_SIZE", "0K", 1);
    put("key", code);
    assert_int_equal(ga__disk_cache_clear(), 0);
}

static void stale_temporary_files_go(void **state)
{
    char path[PATH_SIZE], old[PATH_SIZE], young[PATH_SIZE], foreign[PATH_SIZE];
    const struct timespec times[2] = {{1000000000, 0}, {1000000000, 0}};
    (void)state;
    put("key", "code");
    only_file(directory, path);
    snprintf(old, sizeof old, "%.400s-99-1", path);
    snprintf(young, sizeof young, "%.400s-99-2", path);
    snprintf(foreign, sizeof foreign, "%s/notes.txt", directory);
    const char *const all[] = {old, young, foreign};
    for (int i = 0; i < 3; i++)
        close(open(all[i], O_WRONLY | O_CREAT, 0600));
    assert_int_equal(utimensat(AT_FDCWD, old, times, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, foreign, times, 0), 0);
    assert_int_equal(file_count(NULL), 1);
    assert_int_not_equal(access(old, F_OK), 0);
    assert_int_equal(access(young, F_OK), 0);
    assert_int_equal(ga__disk_cache_clear(), 1);
    assert_int_equal(access(foreign, F_OK), 0); /* other files are left alone */
}

/* Stores and reads the same few keys; the code identifies its key and is long enough to tear. */
static int hammer(char letter)
{
    static char code[60000];
    memset(code, letter, sizeof code);
    for (int i = 0; i < 150; i++) {
        char key[16];
        void *got;
        size_t nbytes;
        snprintf(key, sizeof key, "key %d", i % 5);
        ga__disk_cache_put(key, strlen(key), code, sizeof code);
        snprintf(key, sizeof key, "key %d", (i + 2) % 5);
        if (!ga__disk_cache_get(key, strlen(key), &got, &nbytes))
            continue;
        const char *text = got;
        bool whole = nbytes == sizeof code && (text[0] == 'a' || text[0] == 'b') &&
                     memcmp(text, text + 1, nbytes - 1) == 0;
        ga__free(got);
        if (!whole)
            return 1;
    }
    return 0;
}

static void two_processes_share_the_directory(void **state)
{
    int status = -1;
    (void)state;
    setenv("QUARRY_CACHE_SIZE", "200K", 1); /* three of the five fit, so both evict */
    pid_t child = fork();
    if (child == 0)
        _exit(hammer('b'));
    assert_int_equal(hammer('a'), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    int64_t bytes, files = file_count(&bytes);
    assert_in_range(files, 1, 5);
    assert_in_range(bytes, 1, 200 * 1024);
    put("last", "code");
    assert_true(has("last", "code"));
}

/* Each process stores too little to list the directory for that reason. */
static void processes_that_store_little_stay_near_the_limit(void **state)
{
    enum { PROCESSES = 250, LIMIT = 64 * (OVERHEAD + 8) };
    int64_t bytes, most = 0;
    (void)state;
    char limit[16];
    snprintf(limit, sizeof limit, "%d", LIMIT);
    setenv("QUARRY_CACHE_SIZE", limit, 1);
    for (int i = 0; i < PROCESSES; i++) {
        char key[16];
        int status = -1;
        snprintf(key, sizeof key, "key %03d", i);
        const pid_t child = fork();
        if (child == 0) {
            ga__disk_cache_put(key, strlen(key), "c", 1);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        file_count(&bytes);
        most = bytes > most ? bytes : most;
    }
    assert_in_range(most, LIMIT / 2, 3 * LIMIT);
}

static void every_failed_allocation_is_survived(void **state)
{
    int64_t live = ga__alloc_live();
    (void)state;
    for (int64_t n = 1; n < 30; n++) {
        ga__alloc_fail_at(n);
        ga__disk_cache_put("key", 3, "code", 4);
        ga__alloc_fail_at(n);
        bool found = has("key", "code");
        ga__alloc_fail_at(n);
        int64_t files = file_count(NULL);
        ga__alloc_fail_at(0);
        assert_int_equal(ga_error(), GA_OK);
        assert_int_equal(ga__alloc_live(), live);
        assert_true(n < 20 || (found && files == 1));
    }
    assert_int_equal(ga__disk_cache_clear(), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(entries_come_back),
        TEST(long_keys_and_code_come_back),
        TEST(the_directory_is_made_and_private),
        TEST(the_environment_chooses_the_directory),
        TEST(files_cut_or_lengthened_are_misses),
        TEST(any_altered_byte_is_a_miss),
        TEST(keys_are_compared_in_full),
        TEST(files_of_other_users_are_misses),
        TEST(a_directory_others_may_write_is_not_used),
        TEST(entries_others_may_write_are_misses),
        TEST(a_read_only_directory_is_still_read),
        TEST(a_directory_that_cannot_be_made_is_no_error),
        TEST(a_directory_that_is_a_file_is_no_error),
        TEST(links_pipes_and_directories_are_no_entries),
        TEST(entries_of_other_days_go_first),
        TEST(the_least_recently_used_go_first),
        TEST(sizes_take_suffixes),
        TEST(stale_temporary_files_go),
        TEST(two_processes_share_the_directory),
        TEST(processes_that_store_little_stay_near_the_limit),
        TEST(every_failed_allocation_is_survived),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
