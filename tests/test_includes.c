/* Tests of the check whether a source depends on files of the user. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jit/includes.h"
#include "run.h"

static bool includes(const char *text)
{
    static const char *const names[] = {"a.h", "dir/b.h", NULL};
    static const char *const texts[] = {"int a;", "#include <cuda_fp16.h>", NULL};
    const ga__cuda_source source = {.text = text, .header_names = names, .header_texts = texts};
    return ga__includes_files(&source);
}

static void given_and_angled_headers_are_known(void **state)
{
    (void)state;
    assert_false(includes(""));
    assert_false(
        includes("#include <cuda_fp16.h>\n#include \"a.h\"\n # include\t\"dir/b.h\" // c"));
    assert_false(includes("int include; // \"c.h\"\n#define X \"c.h\"\n#pragma include"));
}

static void other_files_are_not(void **state)
{
    (void)state;
    assert_true(includes("#include \"c.h\""));
    assert_true(includes("\n\n  #  include \"a.hh\"\n"));
    assert_true(includes("#include \"a.\""));
    assert_true(includes("#define FILE \"a.h\"\n#include FILE\n"));
    assert_true(includes("int a;\n#include \"b.h\""));
    assert_true(includes("#include \"a.h.old\""));
}

static void headers_are_read_too(void **state)
{
    (void)state;
    static const char *const names[] = {"a.h", NULL};
    static const char *const texts[] = {"int a;\n#include \"c.h\"\n", NULL};
    const ga__cuda_source source = {
        .text = "#include \"a.h\"", .header_names = names, .header_texts = texts};
    assert_true(ga__includes_files(&source));
}

static bool option_names_files(const char *option)
{
    const char *const options[] = {"-DN=1", option, NULL};
    const ga__cuda_source source = {.text = "", .options = options};
    return ga__includes_files(&source);
}

static void some_options_name_files(void **state)
{
    (void)state;
    assert_true(option_names_files("-I."));
    assert_true(option_names_files("-I"));
    assert_true(option_names_files("--include-path=/tmp"));
    assert_true(option_names_files("-include=a.h"));
    assert_true(option_names_files("--pre-include=a.h"));
    assert_true(option_names_files("--options-file=x"));
    assert_false(option_names_files("--use_fast_math"));
    assert_false(option_names_files("-DI=-I"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(given_and_angled_headers_are_known),
        cmocka_unit_test(other_files_are_not),
        cmocka_unit_test(headers_are_read_too),
        cmocka_unit_test(some_options_name_files),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
