/* Custom kernels keep the elements that they do not assign. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <quarry.h>

#include "run.h"
#include "user/arguments.h"

/* Each operation over "const int *x, int *z", the new element as a function of the old ones and the
 * index i, and whether the kernel may skip loading z. `x` is i % 5. */
typedef struct operation {
    const char *text;
    int (*element)(int x, int z, int i);
    bool loads;
} operation;

#define ELEMENT(name, value)                                                                       \
    static int name(int x, int z, int i)                                                           \
    {                                                                                              \
        (void)x, (void)z, (void)i;                                                                 \
        return value;                                                                              \
    }
ELEMENT(is_x, x)
ELEMENT(is_double, 2 * x)
ELEMENT(is_old, z)
ELEMENT(is_sum, x + z)
ELEMENT(is_x_if_odd, x % 2 ? x : z)
ELEMENT(is_x_unless_2, x == 2 ? z : x)
ELEMENT(is_x_from_2, x >= 2 ? x : z)
ELEMENT(is_9_or_x, x == 3 ? 9 : x)
ELEMENT(is_sum_or_x, x == 3 ? x + z : x)
ELEMENT(is_third, i % 3 ? z : x)
ELEMENT(is_7_every_third, i % 3 ? z : 7)

static const operation operations[] = {
    /* Certainly assigned before it is read. */
    {"z[i] = x[i]", is_x, false},
    {"int t = x[i]; z[i] = t;", is_x, false},
    {"{ int t = x[i]; (void)t; } z[i] = x[i];", is_x, false},
    {"int t = 0; if (x[i] > 1) { t = 1; } z[i] = x[i] + t - t", is_x, false},
    {"int t = 0; for (int k = 0; k < 2; k++) t += x[i]; z[i] = t", is_double, false},
    {"z[i] = x[i]; z[i] += x[i]", is_double, false},
    {"z[i] = x[i]; if (x[i] == 3) z[i] = 9", is_9_or_x, false},
    {"if (x[i]) { ; } else { ; } z[i] = x[i]", is_x, false},
    /* Conditional statements, with and without braces. */
    {"if (x[i] % 2) z[i] = x[i]", is_x_if_odd, true},
    {"if (x[i] % 2) { z[i] = x[i]; }", is_x_if_odd, true},
    {"if (x[i] % 2) { int t = x[i]; z[i] = t; }", is_x_if_odd, true},
    {"if (x[i] % 2) { { ; } z[i] = x[i]; }", is_x_if_odd, true},
    {"if (x[i] % 2 == 0) ; else z[i] = x[i]", is_x_if_odd, true},
    {"if (x[i] % 2 == 0) { ; } else { ; z[i] = x[i]; }", is_x_if_odd, true},
    {"switch (x[i] % 2) { case 1: ; z[i] = x[i]; }", is_x_if_odd, true},
    {"switch (x[i] % 2) { case 0: break; default: ; z[i] = x[i]; }", is_x_if_odd, true},
    {"while (x[i] % 2) { ; z[i] = x[i]; break; }", is_x_if_odd, true},
    {"for (int k = 0; k < x[i] % 2; k++) { ; z[i] = x[i]; }", is_x_if_odd, true},
    {"for (int k = 0; k < x[i] % 2; z[i] = x[i], k++) ;", is_x_if_odd, true},
    {"x[i] % 2 ? z[i] = x[i] : 0", is_x_if_odd, true},
    {"(void)(x[i] % 2 && (z[i] = x[i]))", is_x_if_odd, true},
    {"auto f = [&]() { ; z[i] = x[i]; }; if (x[i] % 2) f()", is_x_if_odd, true},
    {"if (x[i] % 2) /* ; */ z[i] = x[i]", is_x_if_odd, true},
    {"if (x[i] % 2) // {;}\n z[i] = x[i]", is_x_if_odd, true},
    {"if (i % 3 == 0) z[i] = x[i]", is_third, true},
    /* Jumps past the assignment. */
    {"if (x[i] < 2) return; z[i] = x[i]", is_x_from_2, true},
    {"if (x[i] < 2) { return; } z[i] = x[i];", is_x_from_2, true},
    {"if (i % 3) return; z[i] = 7", is_7_every_third, true},
    {"if (x[i] < 2) continue; z[i] = x[i]", is_x_from_2, true},
    {"if (x[i] < 2) break; z[i] = x[i]", is_x_from_2, true},
    {"int t = 0; if (x[i] == 2) goto end; t = x[i]; z[i] = t; end: ;", is_x_unless_2, true},
    {"for (int k = 0; k < 2; k++) { if (x[i] == 2) continue; z[i] = x[i]; }", is_x_unless_2, true},
    {"do { if (x[i] == 2) break; z[i] = x[i]; } while (0)", is_x_unless_2, true},
    /* The same through the preprocessor. */
    {"SKIP_2; z[i] = x[i]", is_x_unless_2, true},
    {"UNLESS_2 ; z[i] = x[i]; END", is_x_unless_2, true},
    {"int t = 0;\n#ifdef NOT_DEFINED\nt = 1; z[i] = t;\n#endif\n(void)t", is_old, true},
    /* Reads of the old value. */
    {"z[i] = z[i] + x[i]", is_sum, true},
    {"z[i] += x[i]", is_sum, true},
    {"int t = z[i]; z[i] = x[i]; z[i] += t", is_sum, true},
    {"z[i] = x[i] == 3 ? x[i] + z[i] : x[i]", is_sum_or_x, true},
    {"int *p = &z[i]; if (x[i] % 2) *p = x[i]", is_x_if_odd, true},
    {"z[i]++; z[i]--", is_old, true},
    {"(void)z[i]", is_old, true},
};
enum { OPERATIONS = sizeof operations / sizeof *operations, COUNT = 1003 };

static const char preamble[] = "#define SKIP_2 if (x[i] == 2) \\\n return\n"
                               "#define UNLESS_2 if (x[i] != 2) {\n"
                               "#define END }\n";

/* ---- Results of the scanner ---- */

static void the_scanner_knows_what_must_be_loaded(void **state)
{
    (void)state;
    const char *const others[] = {NULL};
    for (int k = 0; k < OPERATIONS; k++) {
        ga__arguments arguments;
        assert_int_equal(ga__arguments_parse(&arguments, "scanned", "const int *x, int *z"), GA_OK);
        ga__arguments_use(&arguments, operations[k].text, preamble, others);
        const ga__argument *z = &arguments.argument[1];
        if (z->access != GA__ELEMENT || z->reads != operations[k].loads ||
            z->writes != (strstr(operations[k].text, "(void)z") == NULL))
            fail_msg("%s: access %d, reads %d, writes %d", operations[k].text, (int)z->access,
                     z->reads, z->writes);
        if (arguments.argument[0].reads != (strstr(operations[k].text, "x[i]") != NULL))
            fail_msg("%s: reads of x %d", operations[k].text, arguments.argument[0].reads);
        ga__arguments_reset(&arguments);
    }
}

/* Macros that only name values change nothing; files may contain anything. */
static void only_macros_that_may_jump_are_feared(void **state)
{
    (void)state;
    static const struct {
        const char *preamble;
        bool loads;
    } cases[] = {{"#define HALF 0.5f\n", false},
                 {"#define OTHER return\n", false},
                 {"#define HALF 0.5f\n#define OTHER return\n", true},
                 {"# define HALF (OTHER 1)\n#define OTHER \\\n goto end,\n", true},
                 {"#define HALF }\n", true},
                 {"#undef HALF\nfloat f() { return 1; }\n", false},
                 {"#include \"half.h\"\n", true}};
    const char *const others[] = {NULL};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ga__arguments arguments;
        assert_int_equal(ga__arguments_parse(&arguments, "scanned", "float *x, float *z"), GA_OK);
        ga__arguments_use(&arguments, "z[i] = HALF * x[i]", cases[k].preamble, others);
        if (arguments.argument[1].reads != cases[k].loads)
            fail_msg("%s: reads %d", cases[k].preamble, arguments.argument[1].reads);
        ga__arguments_reset(&arguments);
    }
}

/* ---- Features of kernels ---- */

static void check_elements(const operation *o, const gpuarray *z, const char *how)
{
    int32_t got[COUNT];
    assert_int_equal(ga_to_host(z, got, sizeof got), GA_OK);
    for (int i = 0; i < COUNT; i++) {
        const int want = o->element(i % 5, -i, i);
        if (got[i] != want)
            fail_msg("%s, %s: element %d is %d, wanted %d", o->text, how, i, got[i], want);
    }
}

static void run_operation(const operation *o, const gpuarray *x, const gpuarray *z, const char *how)
{
    ga_kernel *kernel =
        ga_elementwise_kernel("const int *x, int *z", o->text, "writes", .preamble = preamble);
    if (ga_run(kernel, x, z) != GA_OK)
        fail_msg("%s, %s: %s", o->text, how, ga_error_message());
    ga_kernel_free(kernel);
    check_elements(o, z, how);
}

static void elements_that_are_not_assigned_keep_their_values(void **state)
{
    (void)state;
    int32_t x[COUNT], z[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = i % 5;
        z[i] = -i;
    }
    for (int k = 0; k < OPERATIONS; k++)
        GA_SCOPE {
            if (!in_eighth(operations[k].text))
                continue;
            gpuarray *in = ga_from_host(x, GA_INT32, GA_SHAPE(COUNT));
            run_operation(&operations[k], in, ga_from_host(z, GA_INT32, GA_SHAPE(COUNT)),
                          "in a row");
            if (k % 5)
                continue;
            gpuarray *wide = ga_zeros(GA_INT32, GA_SHAPE(2 * COUNT)),
                     *every = ga_slice(wide, "::2");
            assert_int_equal(ga_assign(every, ga_from_host(z, GA_INT32, GA_SHAPE(COUNT))), GA_OK);
            run_operation(&operations[k], in, every, "every second");
            assert_int_equal(ga_item_int64(ga_any(ga_slice(wide, "1::2"))), 0);
        }
    assert_int_equal(ga_error(), GA_OK);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_scanner_knows_what_must_be_loaded),
        cmocka_unit_test(only_macros_that_may_jump_are_feared),
        cmocka_unit_test(elements_that_are_not_assigned_keep_their_values),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
