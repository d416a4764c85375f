/* Tests of jit/template.c: the language, its errors, digests, and every failed allocation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry/error.h>

#include "base/alloc.h"
#include "base/embedded.h"
#include "base/os/system.h"
#include "base/strbuf.h"
#include "jit/template.h"
#include "run.h"

static void assert_fills(const ga__record *record, const char *text, const char *expected)
{
    char *filled = ga__fill(&(ga__embedded){.name = "t", .text = text}, record);
    assert_non_null(filled);
    assert_string_equal(filled, expected);
    ga__free(filled);
    assert_int_equal(ga_error(), GA_OK);
}

static void assert_error(const ga__record *record, const char *text, const char *message)
{
    assert_null(ga__fill(&(ga__embedded){.name = "t", .text = text}, record));
    assert_int_equal(ga_error(), GA_ERR_INVALID);
    assert_string_equal(ga_error_message(), message);
    ga_clear_error();
}

/* name = "add", empty = "", zero = "0"; lists "none" and "operand" of two records. */
static ga__record *sample(void)
{
    ga__record *record = ga__record_new();
    ga__record_set(record, "name", "first");
    ga__record_set(record, "name", "add");
    ga__record_set(record, "empty", "");
    ga__record_set(record, "zero", "0");
    ga__record_set(record, "hole", "@name@");
    ga__record_set(record, "lines", "one\n//@end\ntwo");
    ga__record_list(record, "none");
    for (int k = 0; k < 2; k++) {
        ga__record *operand = ga__record_append(record, "operand");
        ga__record_set_number(operand, "k", k);
        if (k == 0)
            ga__record_set(operand, "name", "x");
        for (int axis = 0; axis <= k; axis++)
            ga__record_set_number(ga__record_append(operand, "axis"), "axis", axis);
    }
    return record;
}

static void holes_are_filled(void **state)
{
    ga__record *r = sample();
    (void)state;
    assert_fills(r, "", "");
    assert_fills(NULL, "plain\n", "plain\n");
    assert_fills(r, "@name@", "add");
    assert_fills(r, "a@name@@zero@b@empty@c\n", "aadd0bc\n");
    assert_fills(r, "@hole@", "@name@");
    assert_fills(r, "<@lines@>\nnext", "<one\n//@end\ntwo>\nnext");
    ga__record_free(r);
}

static void other_at_signs_stay(void **state)
{
    ga__record *r = sample();
    (void)state;
    assert_fills(r, "@", "@");
    assert_fills(r, "@@", "@@");
    assert_fills(r, "@p bra @q;", "@p bra @q;");
    assert_fills(r, "@!p @%p1\n", "@!p @%p1\n");
    assert_fills(r, "me@host me@name@", "me@host meadd");
    assert_fills(r, "@name", "@name");
    assert_fills(r, "@\nname@", "@\nname@");
    ga__record_free(r);
}

static void each_repeats_its_block(void **state)
{
    ga__record *r = sample();
    (void)state;
    assert_fills(r, "//@each operand\n@k@:@name@\n//@end\n", "0:x\n1:add\n");
    assert_fills(r, "a\n//@each none\n@unknown@\n//@end\nb\n", "a\nb\n");
    assert_fills(r, "  //@each operand  \n//@each axis\n@name@@k@@axis@ \n\t//@end\n//@end",
                 "x00 \nadd10 \nadd11 \n");
    assert_fills(r, "//@each operand\n//@each operand\n@k@\n//@end\n//@end\n", "0\n1\n0\n1\n");
    ga__record_free(r);
}

static void if_chooses_its_block(void **state)
{
    ga__record *r = sample();
    (void)state;
    assert_fills(r, "//@if name\nyes\n//@end\n", "yes\n");
    assert_fills(r, "//@if zero\nyes\n//@else\nno\n//@end\n", "no\n");
    assert_fills(r, "//@if empty\nyes\n//@else\nno\n//@end\n", "no\n");
    assert_fills(r, "//@if !empty\nyes\n//@else\nno\n//@end\n", "yes\n");
    assert_fills(r, "//@if !name\n@unknown@\n//@if unknown\n//@else\n//@end\n//@end\nz", "z");
    assert_fills(r,
                 "//@if zero\n//@each unknown\n//@end\n//@include unknown\n//@else\n"
                 "//@if name\n1\n//@else\n2\n//@end\n//@end\n",
                 "1\n");
    ga__record_free(r);
}

static void values_are_copied_and_null_is_ignored(void **state)
{
    char value[] = "before";
    ga__record *r = ga__record_new();
    (void)state;
    ga__record_set(r, "v", value);
    strcpy(value, "after");
    ga__record_set(r, "null", NULL);
    assert_fills(r, "@v@@null@", "before");
    ga__record_set(NULL, "v", "x");
    ga__record_set_number(NULL, "v", 1);
    ga__record_list(NULL, "l");
    assert_null(ga__record_append(NULL, "l"));
    ga__record_free(NULL);
    ga__record_free(r);
    assert_int_equal(ga_error(), GA_OK);
}

static void errors_name_template_and_line(void **state)
{
    ga__record *r = sample();
    (void)state;
    assert_error(r, "a\nb @nope@ c\n", "t:2: no value for the hole @nope@");
    assert_error(NULL, "@name@", "t:1: no value for the hole @name@");
    assert_error(r, "a\n//@if nope\n//@end\n", "t:2: no value for //@if nope");
    assert_error(r, "//@each nope\n//@end\n", "t:1: no list nope");
    assert_error(r, "//@each operand\n@axis@\n//@end\n", "t:2: no value for the hole @axis@");
    assert_error(r, "\n//@include nope\n", "t:2: no template nope");
    assert_error(r, "\n\n//@if name\nx\n", "t:3: //@if has no //@end");
    assert_error(r, "//@each none\nx\n", "t:1: //@each has no //@end");
    assert_error(r, "//@each none\n//@else\n//@end\n", "t:1: //@each has a second //@else");
    assert_error(r, "//@if name\n//@else\n//@else\n//@end\n", "t:1: //@if has a second //@else");
    assert_error(r, "x\n//@end\n", "t:2: //@end outside any block");
    assert_error(r, "//@else\n", "t:1: //@else outside any block");
    assert_error(r, "  //@endif \n", "t:1: //@endif is not a directive");
    assert_error(r, "//@if\n//@end\n", "t:1: //@if is not a directive");
    assert_error(r, "//@if name\n//@end name\n", "t:2: //@end name is not a directive");
    assert_error(r, "x\n//@include nope.tmpl\n", "t:2: no template nope.tmpl");
    ga__record_free(r);
}

static void depth_is_bounded(void **state)
{
    ga__strbuf text = GA__STRBUF_INIT;
    ga__record *r = sample();
    (void)state;
    for (int i = 0; i < 100; i++)
        ga__strbuf_add(&text, "//@if name\n");
    assert_error(r, text.text, "t:64: more than 64 nested blocks and files");
    ga__strbuf_reset(&text);
    ga__record_free(r);
}

static void includes_become_their_text(void **state)
{
    char directive[128];
    (void)state;
    /* Any embedded text without holes and directives includes unchanged. */
    for (const ga__embedded *file = ga__templates; file->name; file++) {
        size_t length = strlen(file->text);
        if (strchr(file->text, '@') || !length || file->text[length - 1] != '\n')
            continue;
        snprintf(directive, sizeof directive, "//@include %s\n", file->name);
        assert_fills(NULL, directive, file->text);
        char *filled = ga__fill(file, NULL);
        assert_string_equal(filled, file->text);
        ga__free(filled);
    }
}

static char *printed(const ga__record *record, size_t *nbytes)
{
    ga__strbuf out = GA__STRBUF_INIT;
    ga__record_print(record, &out);
    *nbytes = out.length;
    return ga__strbuf_take(&out);
}

static bool print_alike(const ga__record *a, const ga__record *b)
{
    size_t a_bytes, b_bytes;
    char *of_a = printed(a, &a_bytes), *of_b = printed(b, &b_bytes);
    const bool alike = a_bytes == b_bytes && memcmp(of_a, of_b, a_bytes) == 0;
    ga__free(of_a);
    ga__free(of_b);
    return alike;
}

static void numbers_are_written_in_decimal(void **state)
{
    static const struct {
        int64_t number;
        const char *text;
    } cases[] = {{0, "0"},
                 {7, "7"},
                 {-1, "-1"},
                 {1000000, "1000000"},
                 {INT64_MAX, "9223372036854775807"},
                 {INT64_MIN, "-9223372036854775808"}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ga__record *r = ga__record_new();
        size_t nbytes;
        ga__record_set_number(r, "n", cases[k].number);
        assert_string_equal(ga__record_value(r, "n", 1, &nbytes), cases[k].text);
        assert_int_equal(nbytes, strlen(cases[k].text));
        ga__record_free(r);
    }
    ga__record_set_number(NULL, "n", 1);
}

/* Equal records print alike; no change of a value, a name or a list's shape is lost. */
static void print_tells_records_apart(void **state)
{
    enum { CHANGES = 7 };
    (void)state;
    for (int change = 0; change <= CHANGES; change++) {
        ga__record *plain = sample(), *other = sample();
        ga__record *entry = ga__record_append(plain, "operand");
        ga__record_set(entry, "k", "2");
        if (change != 1)
            entry = ga__record_append(other, change == 2 ? "axis" : "operand");
        if (change != 1 && change != 3)
            ga__record_set(entry, change == 4 ? "kk" : "k", change == 5 ? "20" : "2");
        if (change == 6)
            ga__record_set(other, "empty", "0");
        if (change == 7)
            ga__record_list(other, "axis");
        assert_int_equal(print_alike(plain, other), change == 0);
        ga__record_free(plain);
        ga__record_free(other);
    }
    /* A value is never parsed as structure. */
    ga__record *nested = ga__record_new(), *flat = ga__record_new();
    ga__record_list(nested, "x");
    ga__record_set(flat, "x", "]");
    assert_false(print_alike(nested, flat));
    ga__record_free(nested);
    ga__record_free(flat);
}

/* ---- digests ---- */

static void assert_prints(const ga__record *record, const ga__embedded *file, const char *expected)
{
    ga__strbuf out = GA__STRBUF_INIT;
    ga__template_print(file, record, &out);
    char *text = ga__strbuf_take(&out);
    assert_string_equal(text, expected);
    ga__free(text);
}

static void digests_follow_conditions(void **state)
{
    ga__record *r = sample();
    const ga__embedded deep = {.name = "deep", .digest = "4"};
    const ga__include of_one[] = {{"!zero name", &deep}, {"name", &deep}, {NULL, NULL}};
    const ga__embedded one = {.name = "one", .digest = "2", .includes = of_one};
    const ga__embedded two = {.name = "two", .digest = "3"};
    const ga__include of_t[] = {{"", &two},         {"name !empty", &one}, {"name empty", &two},
                                {"!name", &two},    {"zero", &two},        {"missing", &two},
                                {"!missing", &two}, {NULL, NULL}};
    (void)state;
    assert_prints(r, &deep, "deep 4\n");
    assert_prints(r, &one, "one 2\ndeep 4\ndeep 4\n");
    assert_prints(r, &(ga__embedded){.name = "t", .digest = "1", .includes = of_t},
                  "t 1\ntwo 3\none 2\ndeep 4\ndeep 4\n");
    ga__record_free(r);
}

enum { MOST_FILES = 1000 };

/* Marks the files whose first line, a comment, the text has. One walk over its lines serves all
 * files: sanitizers make a search of a long text slow. */
static void find_files(const char *filled, bool *has)
{
    static size_t length[MOST_FILES];
    for (size_t k = 0; ga__templates[k].name && !length[k]; k++) {
        assert_in_range(k, 0, MOST_FILES - 2);
        assert_int_equal(ga__templates[k].text[0], '/');
        length[k] = strcspn(ga__templates[k].text, "\n") + 1;
    }
    const char *const end = filled + strlen(filled);
    for (const char *line = filled, *next; line < end; line = next) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end;
        for (size_t k = 0; *line == '/' && length[k]; k++)
            has[k] |= length[k] == (size_t)(next - line) &&
                      memcmp(line, ga__templates[k].text, length[k]) == 0;
    }
}

static bool has_digest_of(const char *printed, const ga__embedded *file)
{
    char line[128];
    snprintf(line, sizeof line, "\n%s %s\n", file->name, file->digest);
    return strstr(printed, line);
}

/* Whether to try a choice of `count` flags: any `few` in every combination, beside the others all
 * set or all unset, and some of the other choices. All choices of many flags take too long. */
static bool is_tried(int choice, int count, bool reduced)
{
    const int set = __builtin_popcount((unsigned)choice), few = reduced ? 2 : 3;
    return set <= few || count - set <= few || choice % (reduced ? 32003 : 4001) == 0;
}

/* The digests are those of the files whose text ga__fill uses. */
static void digests_are_those_of_the_files_filled(void **state)
{
    static const char *const flags[] = {
        "cuda",         "complex",    "integer", "functions", "fast_path",  "distributions",
        "reduce_types", "scan_types", "bins",    "order_key", "runs",       "user",
        "cuda_words",   "elements",   "special", "gather",    "samplers",   "counts",
        "fold",         "exact",      "series",  "reduces",   "transposes", "short_circuit",
        "convolve",     "search"};
    enum { FLAGS = sizeof flags / sizeof flags[0] };
    const ga__embedded *head = ga__embedded_file("head.tmpl", strlen("head.tmpl"));
    const bool reduced = getenv("QUARRY_TEST_REDUCED");
    (void)state;
    assert_non_null(head);
    for (int choice = 0; choice < 1 << FLAGS; choice++) {
        if (!is_tried(choice, FLAGS, reduced))
            continue;
        ga__record *r = ga__record_new();
        ga__record_set(r, "nwords", "1");
        ga__record_set(r, "preamble", "");
        ga__record_set(r, "vector_math", "");
        ga__record_list(r, "named_type");
        for (int k = 0; k < FLAGS; k++)
            ga__record_set(r, flags[k], choice >> k & 1 ? "1" : "");
        ga__strbuf out = GA__STRBUF_INIT;
        ga__strbuf_add(&out, "\n");
        ga__template_print(head, r, &out);
        char *filled = ga__fill(head, r), *digests = ga__strbuf_take(&out);
        assert_non_null(filled);
        bool has[MOST_FILES] = {false};
        find_files(filled, has);
        for (size_t k = 0; ga__templates[k].name; k++)
            assert_int_equal(has_digest_of(digests, &ga__templates[k]), has[k]);
        ga__free(filled);
        ga__free(digests);
        ga__record_free(r);
    }
}

/* The flags select one kernel of the elementwise engine. */
static void digests_name_one_kernel(void **state)
{
    static const char *const flags[] = {"cuda",  "tiled", "square",   "fast_path",
                                        "lines", "spans", "descends", "panels"};
    enum { FLAGS = sizeof flags / sizeof *flags };
    static const struct {
        const char *file, *set[3]; /* the flags that are set */
    } kernels[] = {{"elementwise.host", {NULL}},
                   {"elementwise_tiled.host", {"tiled"}},
                   {"elementwise_short.host", {"panels"}},
                   {"elementwise_flat.cuda", {"cuda"}},
                   {"elementwise_fast.cuda", {"cuda", "fast_path"}},
                   {"elementwise_tiled.cuda", {"cuda", "tiled"}},
                   {"elementwise_squares.cuda", {"cuda", "tiled", "square"}},
                   {"elementwise_lines.cuda", {"cuda", "lines"}},
                   {"elementwise_spans.cuda", {"cuda", "spans"}},
                   {"elementwise_descent.cuda", {"cuda", "descends"}}};
    enum { KERNELS = sizeof kernels / sizeof *kernels };
    const ga__embedded *engine = ga__embedded_file("elementwise.tmpl", strlen("elementwise.tmpl"));
    (void)state;
    assert_non_null(engine);
    for (int chosen = 0; chosen < KERNELS; chosen++) {
        ga__record *r = ga__record_new();
        for (int f = 0; f < FLAGS; f++)
            ga__record_set(r, flags[f], "");
        for (int f = 0; f < 3 && kernels[chosen].set[f]; f++)
            ga__record_set(r, kernels[chosen].set[f], "1");
        ga__strbuf out = GA__STRBUF_INIT;
        ga__template_print(engine, r, &out);
        char *digests = ga__strbuf_take(&out);
        for (int k = 0; k < KERNELS; k++) {
            const ga__embedded *file = ga__embedded_file(kernels[k].file, strlen(kernels[k].file));
            assert_non_null(file);
            assert_int_equal(has_digest_of(digests, file), k == chosen);
        }
        ga__free(digests);
        ga__record_free(r);
    }
}

static void every_failed_allocation_is_survived(void **state)
{
    int64_t live = ga__alloc_live();
    const ga__embedded template = {.name = "t",
                                   .text = "@name@\n//@each operand\n@k@\n//@end\n@lines@"};
    char *filled = NULL;
    (void)state;
    for (int64_t n = 1; !filled; n++) {
        assert_true(n < 200);
        ga__alloc_fail_at(n);
        ga__record *r = sample();
        filled = ga__fill(&template, r);
        ga__alloc_fail_at(0);
        ga__record_free(r);
        if (filled)
            break;
        assert_true(ga_error() == GA_ERR_MEMORY || (!r && ga_error() != GA_OK));
        assert_int_equal(ga__alloc_live(), live);
        ga_clear_error();
    }
    assert_string_equal(filled, "add\n0\n1\none\n//@end\ntwo");
    ga__free(filled);
    assert_int_equal(ga__alloc_live(), live);
}

/* A template longer than any buffer's first size loses nothing. */
static void a_long_template_loses_nothing(void **state)
{
    enum { TIMES = 250 };
    const char *const lines =
        "//@each operand\n    float @name@_@k@ = 0;\n//@end\n    // as it is\n";
    const char *const filled_lines = "    float x_0 = 0;\n    float add_1 = 0;\n    // as it is\n";
    ga__strbuf text = GA__STRBUF_INIT, want = GA__STRBUF_INIT;
    ga__record *r = sample();
    (void)state;
    for (int i = 0; i < TIMES; i++) {
        ga__strbuf_add(&text, lines);
        ga__strbuf_add(&want, filled_lines);
    }
    char *filled = ga__fill(&(ga__embedded){.name = "t", .text = text.text}, r);
    assert_non_null(filled);
    assert_string_equal(filled, want.text);
    ga__free(filled);
    ga__strbuf_reset(&text);
    ga__strbuf_reset(&want);
    ga__record_free(r);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holes_are_filled),
        cmocka_unit_test(other_at_signs_stay),
        cmocka_unit_test(each_repeats_its_block),
        cmocka_unit_test(if_chooses_its_block),
        cmocka_unit_test(values_are_copied_and_null_is_ignored),
        cmocka_unit_test(errors_name_template_and_line),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(includes_become_their_text),
        cmocka_unit_test(numbers_are_written_in_decimal),
        cmocka_unit_test(print_tells_records_apart),
        cmocka_unit_test(digests_follow_conditions),
        cmocka_unit_test(digests_are_those_of_the_files_filled),
        cmocka_unit_test(digests_name_one_kernel),
        cmocka_unit_test(every_failed_allocation_is_survived),
        cmocka_unit_test(a_long_template_loses_nothing),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
