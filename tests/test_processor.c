/* Tests of the instruction sets that compiled code may use, and of the hash that distinguishes
 * processors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "base/alloc.h"
#include "base/os/process.h"
#include "device/cpu/compiler.h"
#include "device/cpu/processor.h"
#include "run.h"

/* Intel's model 60 of family 6 with AVX2, as Valgrind 3.19 presents it. */
static const ga__cpuid haswell = {
    .vendor = {0x756e6547, 0x49656e69, 0x6c65746e}, /* GenuineIntel */
    .leaf = {{0x000306c3, 0, 0x7ffafbff, 0xbfebfbff}, {0, 0x27ab, 0, 0}, {0}, {0, 0, 0x21, 0}},
    .saved = 7,
};

#define FLAGS "pni ssse3 fma cx16 sse4_1 sse4_2 movbe popcnt avx f16c bmi1 avx2 bmi2 abm"

static const char same_machine[] =
    "processor\t: 0\nvendor_id\t: GenuineIntel\n"
    "cpu family\t: 6\nmodel\t\t: 60\nmodel name\t: i7\n"
    "stepping\t: 3\nflags\t\t: fpu " FLAGS " rdrand\n\nprocessor\t: 1\n";
static const char larger_machine[] =
    "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 60\nflags\t\t: " FLAGS " avx512f\n\n";
static const char other_machine[] =
    "vendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\nflags\t\t: " FLAGS "\n\n";

static bool has(const char *const *options, const char *wanted)
{
    for (; *options; options++)
        if (strcmp(*options, wanted) == 0)
            return true;
    return false;
}

static void another_processor_is_an_emulators(void **state)
{
    (void)state;
    assert_false(ga__cpuid_is_emulated(&haswell, same_machine));
    assert_true(ga__cpuid_is_emulated(&haswell, larger_machine));
    assert_true(ga__cpuid_is_emulated(&haswell, other_machine));
    assert_false(ga__cpuid_is_emulated(&haswell, "")); /* nothing is known */
    assert_false(ga__cpuid_is_emulated(&(ga__cpuid){.saved = 0}, same_machine)); /* no CPUID */
}

static void an_emulators_instructions_are_named(void **state)
{
    (void)state;
    const char *options[32];
    ga__cpuid_options(&haswell, options);
    assert_string_equal(options[0], "-march=x86-64");
    assert_true(has(options, "-mavx2") && has(options, "-mfma") && has(options, "-mlzcnt"));
    assert_false(has(options, "-mavx512f"));
    ga__cpuid without_avx = haswell;
    without_avx.saved = 3; /* the system does not save the registers of AVX */
    ga__cpuid_options(&without_avx, options);
    assert_false(has(options, "-mavx") || has(options, "-mavx2") || has(options, "-mf16c"));
    assert_true(has(options, "-msse4.2") && has(options, "-mbmi2"));
}

static void every_difference_of_instructions_is_another_hash(void **state)
{
    (void)state;
    const uint64_t hash = ga__cpuid_hash(&haswell, same_machine);
    const unsigned char *bytes = (const unsigned char *)&haswell;
    for (size_t i = 0; i < sizeof haswell; i++) {
        ga__cpuid other = haswell;
        ((unsigned char *)&other)[i] = bytes[i] ^ 1;
        assert_true(ga__cpuid_hash(&other, same_machine) != hash);
    }
    assert_true(ga__cpuid_hash(&haswell, larger_machine) != hash);
    assert_true(ga__cpuid_hash(&haswell, other_machine) != hash);
    /* Lines that change over time, and those of other processors, do not count. */
    char longer[1024];
    snprintf(longer, sizeof longer, "cpu MHz\t: 1234.5\nbogomips\t: 1\n%sflags\t: none\n",
             same_machine);
    assert_true(ga__cpuid_hash(&haswell, longer) == hash);
}

/* The compiler accepts every option that can be chosen. */
static void the_compiler_takes_every_option(void **state)
{
    (void)state;
    const ga__compiler *c = NULL;
    const char *options[32], *argv[64];
    ga__cpuid all;
    memset(&all, 0xff, sizeof all);
    ga__cpuid_options(&all, options);
    assert_true(has(options, "-mavx512vl"));
#ifndef __x86_64__
    print_message("skipped: the options are those of x86-64\n");
    skip();
#endif
    assert_int_equal(ga__compiler_get(&c), GA_OK);
    int n = 0;
    argv[n++] = c->command.text[0];
    for (const char **option = options; *option; option++)
        argv[n++] = *option;
    argv[n++] = "-Werror";
    argv[n++] = "-xc++";
    argv[n++] = "-fsyntax-only";
    argv[n++] = "/dev/null";
    argv[n] = NULL;
    ga__process_end end;
    assert_int_equal(ga__process_run(&(ga__process){argv, NULL, 0}, &end), GA_OK);
    assert_string_equal(end.output, "");
    assert_int_equal(end.how, GA__PROCESS_EXITED);
    assert_int_equal(end.code, 0);
    ga__free(end.output);
}

static void the_key_holds_the_processor(void **state)
{
    (void)state;
    const ga__compiler *c = NULL;
    char text[32];
    assert_int_equal(ga__compiler_get(&c), GA_OK);
    snprintf(text, sizeof text, "processor %016llx", (unsigned long long)ga__processor_hash());
    assert_non_null(strstr(c->key, text));
    assert_non_null(strstr(c->key, ga__processor_options()[0]));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_processor_is_an_emulators),
        cmocka_unit_test(an_emulators_instructions_are_named),
        cmocka_unit_test(every_difference_of_instructions_is_another_hash),
        cmocka_unit_test(the_compiler_takes_every_option),
        cmocka_unit_test(the_key_holds_the_processor),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
