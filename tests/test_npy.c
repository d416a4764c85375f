/* .npy files: NumPy's own, malformed ones, and files that cannot be written. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "files.h"
#include "golden.h"
#include "run.h"
#include "scratch.h"

static const char *golden_npy(const char *name)
{
    char file[100];

    snprintf(file, sizeof file, "npy/%s%s", name, strchr(name, '.') ? "" : ".npy");
    return golden_path(file);
}

static int remove_scratch(void **state)
{
    (void)state;
    return close_scratch((const char *const[]){"x.npy", NULL});
}

static void check_content(const gpuarray *x, const char *name, const char *dtype, const char *shape,
                          const char *hex)
{
    unsigned char bytes[4096];
    int axis = 0;

    if (!x)
        fail_msg("%s: %s", name, ga_error_message());
    assert_string_equal(ga_dtype_name(ga_dtype_of(x)), dtype);
    while (shape[0] && shape[0] != '-') {
        char *end;
        assert_true(axis < ga_ndim(x));
        assert_int_equal(ga_shape(x)[axis++], strtoll(shape, &end, 10));
        shape = *end ? end + 1 : end;
    }
    assert_int_equal(axis, ga_ndim(x));
    assert_true(ga_nbytes(x) <= sizeof bytes);
    assert_int_equal(ga_nbytes(x), hex[0] == '-' ? 0 : strlen(hex) / 2);
    assert_int_equal(ga_to_host(x, bytes, ga_nbytes(x)), GA_OK);
    for (size_t i = 0; i < ga_nbytes(x); i++) {
        unsigned char want;
        sscanf(hex + 2 * i, "%2hhx", &want);
        if (bytes[i] != want)
            fail_msg("%s: byte %zu is %d, not %d", name, i, bytes[i], want);
    }
}

/* "NAME same|other DTYPE SHAPE HEX" or "NAME error TEXT" */
static void check_line(char *line)
{
    char *rest;
    const char *name = strtok_r(line, " ", &rest), *kind = strtok_r(NULL, " ", &rest);

    if (strcmp(kind, "error") == 0) {
        if (ga_load(golden_npy(name)))
            fail_msg("%s was loaded", name);
        assert_non_null(strstr(ga_error_message(), golden_npy(name)));
        assert_error(GA_ERR_FORMAT, rest);
        return;
    }
    const char *dtype = strtok_r(NULL, " ", &rest), *shape = strtok_r(NULL, " ", &rest);
    const char *hex = strtok_r(NULL, " ", &rest);
    gpuarray *x = ga_load(golden_npy(name));
    check_content(x, name, dtype, shape, hex);
    assert_int_equal(ga_save(x, in_scratch("x.npy")), GA_OK);
    if (strcmp(kind, "same") == 0)
        assert_same_files("saved again", golden_npy(name), in_scratch("x.npy"));
    ga_free(x);
    x = ga_load(in_scratch("x.npy"));
    check_content(x, name, dtype, shape, hex);
    ga_free(x);
}

static void numpys_files_are_read_and_written(void **state)
{
    size_t nbytes;
    char *text = read_bytes(golden_npy("index.txt"), &nbytes), *rest, *line;
    int count = 0;

    (void)state;
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), count++)
        check_line(line);
    free(text);
    assert_true(count > 90);
    assert_int_equal(files_in_scratch(), 1);
}

static void a_fortran_file_is_a_view(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_load(golden_npy("fortran_3d"));
        assert_shape(x, GA_SHAPE(2, 3, 4));
        assert_false(ga_is_contiguous(x));
        assert_true(ga_is_contiguous(ga_transpose(x)));
        assert_true(ga__array_writable("test", x));
    }
}

static void truncated_files_are_errors(void **state)
{
    static const char *const names[] = {"float32", "version2", "float64_fortran", "zero_d"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t nbytes;
        char *bytes = read_bytes(golden_npy(names[i]), &nbytes);
        for (size_t n = 0; n < nbytes; n++) {
            write_bytes(in_scratch("x.npy"), bytes, n);
            assert_null(ga_load(in_scratch("x.npy")));
            assert_error(GA_ERR_FORMAT, "load: ");
        }
        free(bytes);
    }
}

/* Loading ends in an array or in an error, for any bytes. */
static void any_bytes_end_in_an_array_or_an_error(void **state)
{
    static const char letters[] = "'\"{}()[],: 0123456789LTrueFalsedescrshape<>|=biufcV\n\\";
    size_t nbytes;
    uint32_t seed = 4711;

    (void)state;
    char *bytes = read_bytes(golden_npy("float64"), &nbytes), *changed = malloc(nbytes);
    for (int round = 0; round < 4000; round++) {
        memcpy(changed, bytes, nbytes);
        for (int k = 0; k <= round % 4; k++) {
            seed = seed * 1664525u + 1013904223u;
            const size_t at = (seed >> 8) % 128;
            seed = seed * 1664525u + 1013904223u;
            changed[at] =
                round % 3 ? letters[(seed >> 16) % (sizeof letters - 1)] : (char)(seed >> 16);
        }
        write_bytes(in_scratch("x.npy"), changed, nbytes);
        gpuarray *x = ga_load(in_scratch("x.npy"));
        assert_int_equal(ga_error(), x ? GA_OK : GA_ERR_FORMAT);
        assert_true(!x || ga_nbytes(x) <= nbytes);
        ga_clear_error();
        ga_free(x);
    }
    free(changed);
    free(bytes);
}

static void views_are_saved_in_their_order(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4));
        gpuarray *views[] = {ga_transpose(x), ga_slice(x, "::-1, 1::2"), ga_slice(x, "1, 1"),
                             ga_broadcast_to(ga_slice(x, "0"), GA_SHAPE(2, 4)), ga_slice(x, ":0")};
        for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
            int32_t want[12] = {0}, got[12] = {0};
            assert_int_equal(ga_save(views[i], in_scratch("x.npy")), GA_OK);
            gpuarray *y = ga_load(in_scratch("x.npy"));
            assert_shape(y, ga_ndim(views[i]), ga_shape(views[i]));
            ga_to_host(views[i], want, ga_nbytes(views[i]));
            ga_to_host(y, got, ga_nbytes(y));
            assert_elements(GA_INT32, 12, got, want);
        }
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* More than one chunk of host memory, on a GPU. */
static void large_arrays_go_in_chunks(void **state)
{
    (void)state;
    GA_SCOPE {
        const int64_t n = 5 * 1000 * 1000;
        gpuarray *x = counting(GA_SHAPE(n));
        assert_int_equal(ga_save(x, in_scratch("x.npy")), GA_OK);
        gpuarray *y = ga_load(in_scratch("x.npy"));
        assert_shape(y, GA_SHAPE(n));
        int32_t *got = malloc((size_t)n * sizeof *got);
        assert_int_equal(ga_to_host(y, got, (size_t)n * sizeof *got), GA_OK);
        for (int64_t i = 0; i < n; i++)
            if (got[i] != i)
                fail_msg("element %lld is %d", (long long)i, got[i]);
        free(got);
    }
}

static void errors_name_the_file(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3));
        assert_null(ga_load(NULL));
        assert_error(GA_ERR_INVALID, "NULL");
        assert_null(ga_load(in_scratch("none.npy")));
        assert_error(GA_ERR_IO, "none.npy: No such file");
        assert_null(ga_load(scratch));
        assert_error(GA_ERR_IO, "Is a directory");
        assert_null(ga_load("/dev/null"));
        assert_error(GA_ERR_IO, "/dev/null: not a regular file");
        assert_int_equal(ga_save(x, NULL), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "path is NULL");
        assert_int_equal(ga_save(NULL, in_scratch("x.npy")), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "array is NULL");
        assert_int_equal(ga_save(x, in_scratch("none/x.npy")), GA_ERR_IO);
        assert_error(GA_ERR_IO, "none/x.npy: No such file");
        assert_int_equal(ga_save(x, scratch), GA_ERR_IO);
        assert_error(GA_ERR_IO, "Is a directory");
        assert_int_equal(ga_save(x, "/dev/full"), GA_ERR_IO);
        assert_error(GA_ERR_IO, "not a regular file");
        assert_int_equal(ga_save(x, ""), GA_ERR_IO);
        assert_error(GA_ERR_IO, "save: ");
    }
    assert_true(files_in_scratch() <= 1);
}

/* A write that fails halfway leaves only the old file. */
static void a_full_disk_leaves_the_old_file(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3));
        assert_int_equal(ga_save(x, in_scratch("x.npy")), GA_OK);
        struct rlimit kept, limit;
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &kept), 0);
        limit = kept;
        limit.rlim_cur = 1000;
        signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        const ga_status status = ga_save(counting(GA_SHAPE(1000)), in_scratch("x.npy"));
        setrlimit(RLIMIT_FSIZE, &kept);
        assert_int_equal(status, GA_ERR_IO);
        assert_error(GA_ERR_IO, "x.npy: File too large");
        assert_int_equal(files_in_scratch(), 1);
        assert_numbers(ga_load(in_scratch("x.npy")), NUMBERS(0, 1, 2));
    }
}

static void files_have_the_umasks_mode(void **state)
{
    struct stat status;

    (void)state;
    GA_SCOPE {
        const mode_t kept = umask(027);
        unlink(in_scratch("x.npy"));
        assert_int_equal(ga_save(counting(GA_SHAPE(1)), in_scratch("x.npy")), GA_OK);
        umask(kept);
        assert_int_equal(stat(in_scratch("x.npy"), &status), 0);
        assert_int_equal(status.st_mode & 0777, 0640);
    }
}

static gpuarray *fixture;

static bool save_and_load_once(void)
{
    if (ga_save(fixture, in_scratch("x.npy")) != GA_OK)
        return false;
    gpuarray *x = ga_load(in_scratch("x.npy"));
    if (!x)
        return false;
    ga_free(x);
    x = ga_load(golden_npy("fortran_3d"));
    ga_free(x);
    return x;
}

static void failed_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    gpuarray *x = counting(GA_SHAPE(3, 4));
    fixture = ga_transpose(x);
    survive_failures(save_and_load_once);
    assert_int_equal(files_in_scratch(), 1);
    ga_free(fixture);
    ga_free(x);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numpys_files_are_read_and_written),
        cmocka_unit_test(a_fortran_file_is_a_view),
        cmocka_unit_test(truncated_files_are_errors),
        cmocka_unit_test(any_bytes_end_in_an_array_or_an_error),
        cmocka_unit_test(views_are_saved_in_their_order),
        cmocka_unit_test(large_arrays_go_in_chunks),
        cmocka_unit_test(errors_name_the_file),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(files_have_the_umasks_mode),
        cmocka_unit_test(failed_allocations_leave_nothing_behind),
    };

    return run_named_tests(argc, argv, tests, make_scratch, remove_scratch);
}
