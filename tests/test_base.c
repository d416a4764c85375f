/* Tests of the lowest floor: errors, allocation, strings, hashes, the log and files. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <quarry.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/os/process.h"
#include "base/os/replacement.h"
#include "base/os/system.h"
#include "base/strbuf.h"
#include "base/texts.h"
#include "run.h"

/* Every test ends as it began: no error, no allocation, no request that is about to fail. */
static int clean(void **state)
{
    (void)state;
    ga_clear_error();
    ga__alloc_fail_at(0);
    return ga__alloc_live() == 0 ? 0 : -1;
}

/* ---- Errors ---- */

static void the_first_error_stays(void **state)
{
    (void)state;
    assert_int_equal(ga_error(), GA_OK);
    assert_string_equal(ga_error_message(), "");
    assert_int_equal(ga__fail(GA_ERR_SHAPE, "add: %d and %s", 3, "(4,)"), GA_ERR_SHAPE);
    assert_null(ga__fail_null(GA_ERR_DTYPE, "later"));
    assert_int_equal(ga_error(), GA_ERR_SHAPE);
    assert_string_equal(ga_error_message(), "add: 3 and (4,)");
    ga_clear_error();
    assert_int_equal(ga_error(), GA_OK);
    assert_string_equal(ga_error_message(), "");
}

static void long_messages_keep_their_beginning(void **state)
{
    (void)state;
    enum { LENGTH = 100000 };
    char *text = malloc(LENGTH + 1);

    assert_non_null(text);
    memset(text, 'x', LENGTH);
    memcpy(text, "first", 5);
    strcpy(text + LENGTH - 4, "last");
    for (int fail = 0; fail < 2; fail++) {
        ga__alloc_fail_at(fail);
        assert_int_equal(ga__fail(GA_ERR_COMPILE, "%s", text), GA_ERR_COMPILE);
        assert_int_equal(ga_error(), GA_ERR_COMPILE);
        const char *kept = ga_error_message();
        assert_int_equal(strncmp(kept, "first", 5), 0);
        assert_true(strlen(kept) >= 4096);
        assert_true(fail || strcmp(kept + strlen(kept) - 4, "last") == 0);
        ga_clear_error();
    }
    free(text);
}

static void errors_are_saved_and_restored(void **state)
{
    (void)state;
    ga__fail(GA_ERR_IO, "one");
    ga__saved_error saved = ga__error_save();
    assert_int_equal(ga_error(), GA_OK);
    ga__fail(GA_ERR_DEVICE, "two");
    ga__error_restore(saved);
    assert_int_equal(ga_error(), GA_ERR_IO);
    assert_string_equal(ga_error_message(), "one");

    ga__alloc_fail_at(1);
    saved = ga__error_save();
    assert_int_equal(ga_error(), GA_OK);
    ga__error_restore(saved);
    assert_int_equal(ga_error(), GA_ERR_IO);
    assert_string_not_equal(ga_error_message(), "");

    ga_clear_error();
    saved = ga__error_save();
    ga__fail(GA_ERR_DEVICE, "mended");
    ga__error_restore(saved);
    assert_int_equal(ga_error(), GA_OK);
}

static void *raise_in_thread(void *token)
{
    const bool fresh = ga_error() == GA_OK;

    ga__fail(GA_ERR_INDEX, "in a thread");
    return fresh && ga_error() == GA_ERR_INDEX ? token : NULL;
}

static void each_thread_has_its_own_error(void **state)
{
    pthread_t thread;
    int token = 0;
    void *result = NULL;

    (void)state;
    ga__fail(GA_ERR_SHAPE, "here");
    assert_int_equal(pthread_create(&thread, NULL, raise_in_thread, &token), 0);
    pthread_join(thread, &result);
    assert_ptr_equal(result, &token);
    assert_string_equal(ga_error_message(), "here");
}

static void statuses_and_the_version_have_names(void **state)
{
    (void)state;
    int major, minor, patch;

    assert_string_equal(ga_status_name(GA_OK), "GA_OK");
    assert_string_equal(ga_status_name(GA_ERR_CANCELLED), "GA_ERR_CANCELLED");
    assert_string_equal(ga_status_name((ga_status)(GA_ERR_CANCELLED + 1)), "GA_ERR_?");
    assert_string_equal(ga_status_name((ga_status)-1), "GA_ERR_?");
    assert_int_equal(sscanf(ga_version(), "%d.%d.%d", &major, &minor, &patch), 3);
}

/* ---- Allocation ---- */

static void live_allocations_are_counted(void **state)
{
    (void)state;
    char *a = ga__malloc(0), *b = ga__calloc(3, 5), *c = ga__strndup("abcdef", 3);

    assert_true(a && b && c);
    assert_int_equal(ga__alloc_live(), 3);
    assert_string_equal(c, "abc");
    for (int k = 0; k < 15; k++)
        assert_int_equal(b[k], 0);
    c = ga__realloc(c, 1000);
    assert_string_equal(c, "abc");
    assert_int_equal(ga__alloc_live(), 3);
    ga__free(a);
    ga__free(b);
    ga__free(c);
    ga__free(NULL);
    assert_int_equal(ga__alloc_live(), 0);
    assert_null(ga__calloc(SIZE_MAX, 2));
    assert_int_equal(ga_error(), GA_ERR_MEMORY);
}

static void the_nth_allocation_fails(void **state)
{
    (void)state;
    ga__alloc_fail_at(3);
    char *block = ga__malloc(10);
    assert_non_null(block);
    assert_false(ga__alloc_fails()); /* a backend's request is the second */
    assert_null(ga__realloc(block, 4321));
    assert_int_equal(ga_error(), GA_ERR_MEMORY);
    assert_non_null(strstr(ga_error_message(), "4321"));
    assert_int_equal(ga__alloc_live(), 1);
    ga__free(block);
    block = ga__malloc(10);
    assert_non_null(block);
    ga__free(block);
    assert_int_equal(ga__alloc_live(), 0);
}

static int own_requests, own_releases;

static void *own_reallocate(void *block, size_t nbytes)
{
    own_requests++;
    return realloc(block, nbytes);
}

static void own_release(void *block)
{
    own_releases++;
    free(block);
}

static void the_allocator_can_be_replaced(void **state)
{
    (void)state;
    ga__set_allocator(own_reallocate, own_release);
    ga__free(ga__calloc(2, 2));
    ga__set_allocator(NULL, NULL);
    ga__free(ga__malloc(1));
    assert_int_equal(own_requests, 1);
    assert_int_equal(own_releases, 1);
}

/* ---- Strings ---- */

static char *build_text(void)
{
    ga__strbuf s = GA__STRBUF_INIT;

    for (int k = 0; k < 200; k++)
        ga__strbuf_addf(&s, "%d,", k);
    ga__strbuf_addf(&s, "%0500d", 1);
    ga__strbuf_add(&s, "end");
    return ga__strbuf_take(&s);
}

/* The text is complete, whatever space is left. */
static void strings_of_every_length_are_whole(void **state)
{
    char digits[400];
    (void)state;
    for (int before = 0; before < 3; before++)
        for (int length = 0; length < (int)sizeof digits; length++) {
            ga__strbuf s = GA__STRBUF_INIT;
            memset(digits, '7', sizeof digits);
            digits[length] = '\0';
            ga__strbuf_add_bytes(&s, digits, (size_t)(before < length ? before : length));
            ga__strbuf_addf(&s, "%s", digits + s.length);
            assert_int_equal(s.length, length);
            assert_string_equal(s.text, digits);
            ga__strbuf_reset(&s);
        }
}

static void strings_grow_as_they_are_added_to(void **state)
{
    (void)state;
    ga__strbuf s = GA__STRBUF_INIT;
    char *text = build_text();

    assert_non_null(text);
    assert_int_equal(strncmp(text, "0,1,2,", 6), 0);
    assert_string_equal(text + strlen(text) - 6, "001end");
    assert_int_equal(strlen(text), 690 + 500 + 3);
    ga__free(text);
    ga__strbuf_add_shape(&s, 0, NULL);
    ga__strbuf_add_shape(&s, GA_SHAPE(5));
    ga__strbuf_add_shape(&s, GA_SHAPE(3, -4));
    assert_string_equal(s.text, "()(5,)(3, -4)");
    ga__strbuf_reset(&s);
    assert_int_equal(s.length, 0);
    text = ga__strbuf_take(&s);
    assert_string_equal(text, "");
    ga__free(text);
}

/* Fails each allocation of `work` in turn, until it makes fewer; returns whether it succeeded. */
static void fail_each(bool (*work)(void))
{
    bool worked = false;

    for (int64_t n = 1; !worked; n++) {
        ga__alloc_fail_at(n);
        worked = work();
        ga__alloc_fail_at(0);
        assert_int_equal(ga__alloc_live(), 0);
        assert_int_equal(ga_error(), worked ? GA_OK : GA_ERR_MEMORY);
        ga_clear_error();
        assert_true(n < 1000);
    }
}

static bool text_works(void)
{
    char *text = build_text();
    const bool worked = text != NULL;

    ga__free(text);
    return worked;
}

static void strings_survive_failed_allocations(void **state)
{
    (void)state;
    fail_each(text_works);
}

static void texts_are_split_and_found(void **state)
{
    (void)state;
    ga__texts texts = {0};

    assert_null(ga__texts_list(&texts)[0]);
    assert_int_equal(ga__texts_find(&texts, "a"), -1);
    ga__texts_split(&texts, "  -DA=1\t'-DB=\"x y\"' -I\"my files\"\n''  ");
    assert_int_equal(texts.count, 4);
    assert_string_equal(texts.text[0], "-DA=1");
    assert_string_equal(texts.text[1], "-DB=\"x y\"");
    assert_string_equal(texts.text[2], "-Imy files");
    assert_string_equal(texts.text[3], "");
    for (int i = 0; i < 20; i++)
        ga__texts_addn(&texts, "longer", (size_t)i % 6);
    assert_int_equal(texts.count, 24);
    assert_null(ga__texts_list(&texts)[24]);
    assert_int_equal(ga__texts_find(&texts, "long"), 8);
    ga__texts_remove(&texts, 8);
    assert_int_equal(ga__texts_find(&texts, "longe"), 8);
    assert_null(ga__texts_list(&texts)[23]);
    ga__texts_reset(&texts);
    assert_int_equal(texts.count, 0);
    ga__texts_split(&texts, "'open");
    assert_string_equal(texts.text[0], "open");
    ga__texts_reset(&texts);
}

static bool texts_work(void)
{
    ga__texts texts = {0};

    for (int i = 0; i < 10; i++)
        ga__texts_add(&texts, "text");
    ga__texts_split(&texts, "one two");
    const bool worked = !texts.failed;
    assert_true(texts.count == 12 || !worked);
    ga__texts_reset(&texts);
    return worked;
}

static void texts_survive_failed_allocations(void **state)
{
    (void)state;
    fail_each(texts_work);
}

/* ---- Hashes ---- */

static void hash128_gives_the_published_vectors(void **state)
{
    (void)state;
    const char *fox = "The quick brown fox jumps over the lazy dog";
    const ga__hash128 empty = ga__hash128_of("", 0), hello = ga__hash128_of("hello", 5);
    const ga__hash128 long_text = ga__hash128_of(fox, strlen(fox));

    assert_true(empty.high == 0 && empty.low == 0);
    assert_true(hello.high == UINT64_C(0xcbd8a7b341bd9b02));
    assert_true(hello.low == UINT64_C(0x5b1e906a48ae1d19));
    assert_true(long_text.high == UINT64_C(0xe34bbc7bbc071b6c));
    assert_true(long_text.low == UINT64_C(0x7a433ca9c49a9347));
}

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Similar keys neither collide nor fill some buckets more than others. */
/* The first vectors of the authors' reference implementation: bytes 0, 1, 2, ... under the key of
 * bytes 0 to 15. */
static void siphash_gives_the_published_vectors(void **state)
{
    (void)state;
    static const struct {
        size_t nbytes;
        ga__hash128 hash;
    } vectors[] = {
        {0, {UINT64_C(0xe6a825ba047f81a3), UINT64_C(0x930255c71472f66d)}},
        {1, {UINT64_C(0x44af996bd8c187da), UINT64_C(0x45fc229b11597634)}},
        {15, {UINT64_C(0x11a8b03399e99354), UINT64_C(0xd9c3cf970fec087e)}},
    };
    const ga__hash128 key = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    unsigned char bytes[16];
    for (unsigned char k = 0; k < sizeof(bytes); k++)
        bytes[k] = k;
    for (size_t k = 0; k < sizeof(vectors) / sizeof(vectors[0]); k++) {
        const ga__hash128 got = ga__siphash(bytes, vectors[k].nbytes, key);
        assert_true(got.high == vectors[k].hash.high && got.low == vectors[k].hash.low);
    }
}

static void identities_differ_by_any_byte(void **state)
{
    (void)state;
    char text[64] = "a - b";
    const ga__hash128 first = ga__identity_of(text, sizeof(text));
    for (size_t k = 0; k < sizeof(text); k++) {
        text[k] ^= 1;
        const ga__hash128 other = ga__identity_of(text, sizeof(text));
        assert_true(other.high != first.high && other.low != first.low);
        text[k] ^= 1;
    }
    const ga__hash128 again = ga__identity_of(text, sizeof(text));
    assert_true(again.high == first.high && again.low == first.low);
}

static void hash64_spreads_keys_that_differ_little(void **state)
{
    enum { KEYS = 40000, BUCKETS = 64 };
    static uint64_t hashes[KEYS];
    int buckets[BUCKETS] = {0};

    (void)state;
    for (int k = 0; k < KEYS; k++) {
        const int key[10] = {[4] = k % 200, [7] = k / 200};
        hashes[k] = ga__hash64(key, sizeof key, 0);
        buckets[hashes[k] % BUCKETS]++;
    }
    for (int k = 0; k < BUCKETS; k++)
        assert_in_range(buckets[k], KEYS / BUCKETS * 7 / 10, KEYS / BUCKETS * 13 / 10);
    qsort(hashes, KEYS, sizeof hashes[0], compare_u64);
    for (int k = 1; k < KEYS; k++)
        assert_true(hashes[k] != hashes[k - 1]);
}

/* Each bit of the input flips about half of the output's, at every length. */
static void each_bit_flips_half_of_hash64(void **state)
{
    (void)state;
    for (size_t length = 1; length <= 48; length++) {
        unsigned char key[48] = {0};
        const uint64_t before = ga__hash64(key, length, 5);
        int flipped = 0;
        for (size_t bit = 0; bit < 8 * length; bit++) {
            key[bit / 8] ^= (unsigned char)(1 << bit % 8);
            const uint64_t after = ga__hash64(key, length, 5);
            key[bit / 8] ^= (unsigned char)(1 << bit % 8);
            assert_in_range(__builtin_popcountll(before ^ after), 10, 54);
            flipped += __builtin_popcountll(before ^ after);
        }
        assert_in_range(flipped / (int)(8 * length), 28, 36);
        assert_true(ga__hash64(key, length, 6) != before);
        assert_true(ga__hash64(key, length - 1, 5) != before);
    }
}

/* ---- The log ---- */

static int lines_seen;
static char last_line[2048];

static void keep_line(int level, const char *text, void *user)
{
    assert_int_equal(level, GA_LOG_DEBUG);
    assert_ptr_equal(user, &lines_seen);
    lines_seen++;
    snprintf(last_line, sizeof last_line, "%s", text);
}

static void log_lines_go_to_the_callback(void **state)
{
    (void)state;
    char long_text[3000];

    assert_false(ga__log_wanted(GA_LOG_INFO));
    ga__log(GA_LOG_INFO, "to no one");
    ga_set_log(keep_line, &lines_seen);
    assert_true(ga__log_wanted(GA_LOG_DEBUG));
    ga__log(GA_LOG_DEBUG, "%d\nlines", 2);
    assert_int_equal(lines_seen, 1);
    assert_string_equal(last_line, "2 lines");
    memset(long_text, 'x', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    ga__log(GA_LOG_DEBUG, "%s", long_text);
    assert_string_equal(last_line + strlen(last_line) - 4, "x...");
    ga_set_log(NULL, NULL);
    assert_false(ga__log_wanted(GA_LOG_INFO));
    ga__log(GA_LOG_DEBUG, "to no one");
    assert_int_equal(lines_seen, 2);
}

/* The log of this program, started again with QUARRY_LOG=level: see main. */
static void check_environment(const char *level, const char *want)
{
    const char *const argv[] = {"/proc/self/exe", "--log", NULL};
    const ga__process process = {.argv = argv};
    ga__process_end end = {.code = 99};

    assert_int_equal(setenv("QUARRY_LOG", level, 1), 0);
    assert_int_equal(ga__process_run(&process, &end), GA_OK);
    unsetenv("QUARRY_LOG");
    assert_int_equal(end.code, 0);
    assert_string_equal(end.output, want);
    ga__free(end.output);
}

static void the_environment_sets_the_log_level(void **state)
{
    (void)state;
    check_environment("error", "quarry: none\n");
    check_environment("info", "quarry: none\nquarry: one\n");
    check_environment("debug", "quarry: none\nquarry: one\nquarry: two\n");
    check_environment("", "");
    check_environment("nonsense",
                      "quarry: QUARRY_LOG=nonsense is ignored: it takes error, info or debug\n");
}

/* ---- Files ---- */

static char *directory; /* a new one for the tests below */

static int make_directory(void **state)
{
    (void)state;
    directory = ga__make_temporary_directory();
    return directory ? 0 : -1;
}

static const char *inside(const char *name)
{
    static char path[4096];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int entries_in(const char *path)
{
    DIR *stream = opendir(path);
    int count = 0;

    assert_non_null(stream);
    for (const struct dirent *e = readdir(stream); e; e = readdir(stream))
        count += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(stream);
    return count;
}

static int remove_directory(void **state)
{
    (void)state;
    char command[4200];

    snprintf(command, sizeof command, "rm -r '%s'", directory);
    ga__free(directory);
    return system(command) == 0 ? clean(state) : -1;
}

static void files_are_written_and_read_whole(void **state)
{
    (void)state;
    enum { BIG = 300000 };
    unsigned char *big = malloc(BIG);
    size_t nbytes = 99;

    assert_non_null(big);
    for (int k = 0; k < BIG; k++)
        big[k] = (unsigned char)(k * 7 + k / 256);
    assert_int_equal(ga__write_file_atomic(inside("big"), big, BIG), GA_OK);
    assert_int_equal(ga__write_file_atomic(inside("big"), big, BIG), GA_OK);
    char *back = ga__read_file(inside("big"), &nbytes);
    assert_non_null(back);
    assert_int_equal(nbytes, BIG);
    assert_memory_equal(back, big, BIG);
    assert_int_equal(back[BIG], 0);
    ga__free(back);
    free(big);

    assert_int_equal(ga__write_file_atomic(inside("none"), "", 0), GA_OK);
    back = ga__read_file(inside("none"), &nbytes);
    assert_string_equal(back, "");
    assert_int_equal(nbytes, 0);
    ga__free(back);
    assert_int_equal(entries_in(directory), 2);
}

static void file_errors_name_the_file(void **state)
{
    (void)state;
    size_t nbytes = 99;

    assert_null(ga__read_file(inside("missing"), &nbytes));
    assert_int_equal(ga_error(), GA_ERR_IO);
    assert_non_null(strstr(ga_error_message(), "missing"));
    assert_non_null(strstr(ga_error_message(), strerror(ENOENT)));
    ga_clear_error();
    assert_null(ga__read_file(directory, &nbytes));
    assert_int_equal(ga_error(), GA_ERR_IO);
    ga_clear_error();
    assert_int_equal(nbytes, 99);
    assert_int_equal(ga__write_file_atomic(inside("no/such"), "x", 1), GA_ERR_IO);
    ga_clear_error();
    /* A directory cannot be replaced by rename: the temporary file must be removed. */
    assert_int_equal(ga__make_directories(inside("full/of")), GA_OK);
    assert_int_equal(ga__write_file_atomic(inside("full"), "x", 1), GA_ERR_IO);
    assert_int_equal(entries_in(directory), 1);
}

static void directories_are_made_and_private(void **state)
{
    (void)state;
    struct stat status;

    assert_int_equal(ga__make_directories(inside("a//b/c/")), GA_OK);
    assert_int_equal(ga__make_directories(inside("a/b/c")), GA_OK);
    assert_int_equal(stat(inside("a/b/c"), &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);
    assert_int_equal(ga__write_file_atomic(inside("a/file"), "x", 1), GA_OK);
    assert_int_equal(ga__make_directories(inside("a/file")), GA_ERR_IO);
    ga_clear_error();
    assert_int_equal(ga__make_directories(inside("a/file/b")), GA_ERR_IO);
    ga_clear_error();
    assert_int_equal(ga__make_directories("/"), GA_OK);
    assert_int_equal(setenv("TMPDIR", inside("nowhere"), 1), 0);
    assert_null(ga__make_temporary_directory());
    unsetenv("TMPDIR");
    assert_int_equal(ga_error(), GA_ERR_IO);
}

/* ---- Failures, time ---- */

static char file_path[4096];

static bool files_work(void)
{
    size_t nbytes = 0;
    const bool written = ga__write_file_atomic(file_path, "some text", 9) == GA_OK;
    char *text = written ? ga__read_file(file_path, &nbytes) : NULL;
    const bool worked = text != NULL;

    ga__free(text);
    return worked && ga__make_directories("/tmp") == GA_OK;
}

static void files_survive_failed_allocations(void **state)
{
    (void)state;
    snprintf(file_path, sizeof file_path, "/tmp/quarry-test-base-%ld", (long)getpid());
    fail_each(files_work);
    unlink(file_path);
}

static void time_passes_and_processors_are_counted(void **state)
{
    (void)state;
    const double start = ga__now();

    usleep(2000);
    assert_true(ga__now() - start >= 0.002);
    assert_true(ga__processor_count() >= 1);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--log") == 0) {
        ga__log(GA_LOG_ERROR, "none");
        ga__log(GA_LOG_INFO, "one");
        ga__log(GA_LOG_DEBUG, "two");
        return 0;
    }
    unsetenv("QUARRY_LOG");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(the_first_error_stays, clean),
        cmocka_unit_test_teardown(long_messages_keep_their_beginning, clean),
        cmocka_unit_test_teardown(errors_are_saved_and_restored, clean),
        cmocka_unit_test_teardown(each_thread_has_its_own_error, clean),
        cmocka_unit_test_teardown(statuses_and_the_version_have_names, clean),
        cmocka_unit_test_teardown(live_allocations_are_counted, clean),
        cmocka_unit_test_teardown(the_nth_allocation_fails, clean),
        cmocka_unit_test_teardown(the_allocator_can_be_replaced, clean),
        cmocka_unit_test_teardown(strings_grow_as_they_are_added_to, clean),
        cmocka_unit_test_teardown(strings_of_every_length_are_whole, clean),
        cmocka_unit_test_teardown(strings_survive_failed_allocations, clean),
        cmocka_unit_test_teardown(texts_are_split_and_found, clean),
        cmocka_unit_test_teardown(texts_survive_failed_allocations, clean),
        cmocka_unit_test_teardown(hash128_gives_the_published_vectors, clean),
        cmocka_unit_test_teardown(siphash_gives_the_published_vectors, clean),
        cmocka_unit_test_teardown(identities_differ_by_any_byte, clean),
        cmocka_unit_test_teardown(hash64_spreads_keys_that_differ_little, clean),
        cmocka_unit_test_teardown(each_bit_flips_half_of_hash64, clean),
        cmocka_unit_test_teardown(log_lines_go_to_the_callback, clean),
        cmocka_unit_test_teardown(the_environment_sets_the_log_level, clean),
        cmocka_unit_test_setup_teardown(files_are_written_and_read_whole, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(file_errors_name_the_file, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(directories_are_made_and_private, make_directory,
                                        remove_directory),
        cmocka_unit_test_teardown(files_survive_failed_allocations, clean),
        cmocka_unit_test_teardown(time_passes_and_processors_are_counted, clean),
    };

    return run_named_tests(argc, argv, tests, NULL, NULL);
}
