/* Sums of products: NumPy's answers in several layouts, random subscripts against loops on the host
 * and by CUDA's kernels in the simulator, plans, places of mistakes, and the failure of any
 * allocation. */
#include <stdio.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "golden.h"
#include "layouts.h"
#include "parallel.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

static golden_file *file;
static uint64_t seed = 41;

/* ---- NumPy's answers ---- */

static gpuarray *given(const golden_case *c, int k)
{
    const layout how = (layout)((c - file->cases + 3 * k) % LAYOUT_BROADCAST);
    const golden_blob *x = c->arg[k];
    return layout_array(x->ndim > 0 ? how : LAYOUT_CONTIGUOUS, x->data, x->dtype, x->ndim,
                        x->shape);
}

static const char *text_of(const golden_case *c)
{
    return c->name + strlen("einsum ");
}

static bool is_einsum(const golden_case *c)
{
    return strncmp(c->name, "einsum ", strlen("einsum ")) == 0;
}

static gpuarray *tensordot(const golden_case *c, const gpuarray *a, const gpuarray *b)
{
    const int half = c->naxes / 2;
    if (c->naxes == 1)
        return ga_tensordot(a, b, c->axes[0]);
    return ga_tensordot(a, b, half, c->axes, half, c->axes + half);
}

static gpuarray *product(const golden_case *c, const gpuarray *a, const gpuarray *b)
{
    const int naxes = c->naxes < 0 ? 0 : c->naxes;
    if (!strcmp(c->name, "tensordot"))
        return tensordot(c, a, b);
    if (!strcmp(c->name, "vecdot"))
        return ga_vecdot(a, b, .naxes = naxes, .axes = c->axes);
    if (!strcmp(c->name, "cross"))
        return ga_cross(a, b, .naxes = naxes, .axes = c->axes);
    if (!strcmp(c->name, "vdot"))
        return ga_vdot(a, b);
    if (!strcmp(c->name, "inner"))
        return ga_inner(a, b);
    if (!strcmp(c->name, "outer"))
        return ga_outer(a, b);
    if (!strcmp(c->name, "kron"))
        return ga_kron(a, b);
    fail_later("unknown case %s", c->name);
    return NULL;
}

static gpuarray *run_case(const golden_case *c)
{
    const gpuarray *operands[3];
    for (int k = 0; k < c->nargs; k++)
        operands[k] = given(c, k);
    if (is_einsum(c))
        return ga_einsum(text_of(c), c->nargs, operands, .dtype = c->dtype);
    return product(c, operands[0], operands[1]);
}

static const char *case_text(int item)
{
    return golden_call(&file->cases[item]);
}

static void check_item(int item)
{
    const golden_case *c = &file->cases[item];
    char why[300];
    GA_SCOPE {
        const gpuarray *got = run_case(c);
        if (c->flags & GOLDEN_ERROR) {
            if (got || !ga_error() || strncmp(ga_error_message(), "einsum: ", 8) != 0)
                fail_later("%s: %s", golden_call(c), got ? "an answer" : ga_error_message());
        } else if (!golden_result(c, c->out[0], got, 1, why, sizeof why)) {
            fail_later("%s: %s (%s)", golden_call(c), why, ga_error_message());
        }
        ga_clear_error();
    }
}

static void answers_are_numpys(void **state)
{
    (void)state;
    assert_true(file->ncases > 600);
    rows_in_threads(file->ncases, case_text, check_item);
    assert_int_equal(failures(), 0);
}

/* ---- Random subscripts, against loops ---- */

#define LETTERS 5
#define MOST_AXES 4
#define MOST_OPERANDS 4

/* Terms over the letters a, b, ... with lengths. */
typedef struct sum {
    int count, length[LETTERS];
    char term[MOST_OPERANDS][MOST_AXES + 1], kept[LETTERS + 1];
    int32_t *data[MOST_OPERANDS];
} sum;

static int64_t shape_of(const sum *s, const char *term, int64_t *shape)
{
    int64_t size = 1;
    for (int axis = 0; term[axis]; axis++)
        size *= shape[axis] = s->length[term[axis] - 'a'];
    return size;
}

/* Distinct letters of the operands, in any order. */
static void choose_kept(sum *s)
{
    char used[LETTERS + 1] = "";
    for (int k = 0; k < s->count; k++)
        for (const char *c = s->term[k]; *c; c++)
            if (!strchr(used, *c))
                strncat(used, c, 1);
    const int64_t n = (int64_t)strlen(used), kept = random_below(&seed, n + 1);
    for (int64_t k = 0; k < kept; k++) {
        const int64_t from = k + random_below(&seed, n - k);
        const char c = used[from];
        used[from] = used[k];
        used[k] = s->kept[k] = c;
    }
    s->kept[kept] = '\0';
}

static void choose(sum *s)
{
    static int32_t memory[MOST_OPERANDS][1 << 12];
    static const int lengths[] = {1, 2, 3, 5, 7};
    s->count = 1 + (int)random_below(&seed, MOST_OPERANDS);
    for (int k = 0; k < LETTERS; k++)
        s->length[k] = lengths[random_below(&seed, 5)];
    for (int k = 0; k < s->count; k++) {
        const int axes = (int)random_below(&seed, MOST_AXES + 1);
        for (int axis = 0; axis < axes; axis++)
            s->term[k][axis] = (char)('a' + random_below(&seed, LETTERS));
        s->term[k][axes] = '\0';
        s->data[k] = memory[k];
        for (int64_t i = 0; i < 7 * 7 * 7 * 7; i++)
            memory[k][i] = (int32_t)random_below(&seed, 9) - 4;
    }
    choose_kept(s);
}

/* The element of a term at the place of each letter. */
static int64_t place_of(const sum *s, const char *term, const int *at)
{
    int64_t place = 0;
    for (const char *c = term; *c; c++)
        place = place * s->length[*c - 'a'] + at[*c - 'a'];
    return place;
}

static void add_all(const sum *s, int32_t *result)
{
    bool used[LETTERS] = {false};
    int at[LETTERS] = {0}, letter = 0;
    for (int k = 0; k < s->count; k++)
        for (const char *c = s->term[k]; *c; c++)
            used[*c - 'a'] = true;
    while (letter < LETTERS) {
        uint32_t factor = 1;
        for (int k = 0; k < s->count; k++)
            factor *= (uint32_t)s->data[k][place_of(s, s->term[k], at)];
        int32_t *to = &result[place_of(s, s->kept, at)];
        *to = (int32_t)((uint32_t)*to + factor);
        for (letter = 0; letter < LETTERS && (!used[letter] || ++at[letter] == s->length[letter]);
             letter++)
            at[letter] = 0;
    }
}

static void write_text(const sum *s, char *text, size_t room)
{
    int n = 0;
    for (int k = 0; k < s->count; k++)
        n += snprintf(text + n, room - (size_t)n, "%s%s", k ? "," : "", s->term[k]);
    snprintf(text + n, room - (size_t)n, "->%s", s->kept);
}

static void check_sum(const sum *s)
{
    static int32_t wanted[7 * 7 * 7 * 7 * 7];
    const gpuarray *operands[MOST_OPERANDS];
    int64_t shape[LETTERS];
    char text[64], why[300];
    write_text(s, text, sizeof text);
    for (int k = 0; k < s->count; k++) {
        shape_of(s, s->term[k], shape);
        const int ndim = (int)strlen(s->term[k]);
        const layout how = ndim ? (layout)random_below(&seed, LAYOUT_BROADCAST) : LAYOUT_CONTIGUOUS;
        operands[k] = layout_array(how, s->data[k], GA_INT32, ndim, shape);
    }
    const int64_t size = shape_of(s, s->kept, shape);
    memset(wanted, 0, sizeof(int32_t) * (size_t)size);
    add_all(s, wanted);
    const gpuarray *found = ga_einsum(text, s->count, operands),
                   *as = ga_from_host(wanted, GA_INT32, (int)strlen(s->kept), shape);
    if (!equal_arrays(found, as, why, sizeof why))
        fail_msg("%s: %s", text, why);
}

static void sums_are_their_loops(void **state)
{
    (void)state;
    const int count = items_here(60, 20);
    for (int k = 0; k < count; k++)
        GA_SCOPE {
            sum s;
            choose(&s);
            if (in_short_sample("sums", k, count))
                check_sum(&s);
        }
}

/* ---- Many operands ---- */

static void chains_of_any_length_multiply(void **state)
{
    char text[3 * 65 + 4];
    const gpuarray *operands[65];
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_from_host((int32_t[]){1, 1, 1, 0}, GA_INT32, GA_SHAPE(2, 2));
        int n = 0;
        for (int k = 0; k < 20; k++) {
            operands[k] = x;
            n += snprintf(text + n, sizeof text - (size_t)n, "%s%c%c", k ? "," : "", 'a' + k,
                          'b' + k);
        }
        snprintf(text + n, sizeof text - (size_t)n, "->a%c", 'a' + 20);
        assert_numbers(ga_einsum(text, 20, operands), NUMBERS(10946, 6765, 6765, 4181));
        memset(text, ',', 64);
        gpuarray *two = ga_scalar(GA_FLOAT64, 2);
        for (int k = 0; k < 65; k++)
            operands[k] = two;
        text[63] = '\0';
        assert_true(ga_item_double(ga_einsum(text, 64, operands)) == 0x1p64);
        text[63] = ',';
        text[64] = '\0';
        assert_null(ga_einsum(text, 65, operands));
        assert_error(GA_ERR_INVALID, "einsum: 65 operands, expected 1 to 64");
    }
}

/* Every letter, more than a kernel has axes, most of them of length 1. */
static void unit_axes_cost_nothing(void **state)
{
    (void)state;
    GA_SCOPE {
        int64_t ones[26];
        for (int k = 0; k < 26; k++)
            ones[k] = 1;
        ones[3] = 2;
        gpuarray *x = ga_reshape(counting(GA_SHAPE(2)), 26, ones), *y;
        y = ga_einsum("abcdefghijklmnopqrstuvwxyz,ABCDEFGHIJKLMNOPQRSTUVWXYZ->dD", GA_ARRAYS(x, x));
        assert_shape(y, GA_SHAPE(2, 2));
        assert_numbers(y, NUMBERS(0, 0, 0, 1));
        assert_null(
            ga_einsum("abcdefghijklmnopqrstuvwxyz,ABCDEFGHIJKLMNOPQRSTUVWXYZ", GA_ARRAYS(x, x)));
        assert_error(GA_ERR_INVALID, "the result has 52 axes, more than 32");
    }
}

/* ---- Plans ---- */

static int launches_of(const char *text, int count, const gpuarray *const *operands)
{
    const int before = simulated.launches;
    if (!ga_einsum(text, count, operands))
        fail_msg("%s: %s", text, ga_error_message());
    return simulated.launches - before;
}

static void a_product_is_one_kernel_where_it_can_be(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *m = counting(GA_SHAPE(6, 6)), *v = counting(GA_SHAPE(6)),
                 *t = counting(GA_SHAPE(6, 6, 6));
        assert_int_equal(launches_of("ij->ji", GA_ARRAYS(m)), 0);
        assert_int_equal(launches_of("ii->i", GA_ARRAYS(m)), 0);
        assert_int_equal(launches_of("ii", GA_ARRAYS(m)), 1);
        assert_int_equal(launches_of("i,j->ij", GA_ARRAYS(v, v)), 1);
        assert_int_equal(launches_of("ij,ij,ij->ij", GA_ARRAYS(m, m, m)), 1);
        assert_int_equal(launches_of("ij,j->i", GA_ARRAYS(m, v)), 1);
        assert_int_equal(launches_of("i,ij,j->", GA_ARRAYS(v, m, v)), 1);
        assert_int_equal(launches_of("ij,i->", GA_ARRAYS(m, v)), 1);
        assert_int_equal(launches_of("ij,jk->ik", GA_ARRAYS(m, m)), 1);
        assert_int_equal(launches_of("bij,bjk->bik", GA_ARRAYS(t, t)), 1);
        assert_int_equal(launches_of("ijk,jkl->il", GA_ARRAYS(t, t)), 1);
        assert_int_equal(launches_of("ij,k->k", GA_ARRAYS(m, v)), 2);
        assert_int_equal(launches_of("ij,jk,k->i", GA_ARRAYS(m, m, v)), 2);
        assert_int_equal(launches_of("ij,jk,ik->i", GA_ARRAYS(m, m, m)), 2);
        assert_int_equal(launches_of("ijk,kjl->il", GA_ARRAYS(t, t)), 2); /* a copy, a product */
    }
}

/* ---- Views and out ---- */

static void one_operand_gives_views(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *m = counting(GA_SHAPE(3, 3)), *d = ga_einsum("ii->i", GA_ARRAYS(m));
        assert_int_equal(ga_assign(d, 9), GA_OK);
        assert_numbers(m, NUMBERS(9, 1, 2, 3, 9, 5, 6, 7, 9));
        assert_ptr_equal(ga_data(ga_einsum("ij->ji", GA_ARRAYS(m))), ga_data(m));
        const gpuarray *wide = ga_einsum("ij->ji", GA_ARRAYS(m), .dtype = GA_INT64);
        assert_int_equal(ga_dtype_of(wide), GA_INT64);
        assert_ptr_not_equal(ga_data(wide), ga_data(m));
        assert_shape(ga_einsum("bA", GA_ARRAYS(counting(GA_SHAPE(2, 3)))), GA_SHAPE(3, 2));
        assert_shape(ga_matrix_transpose(counting(GA_SHAPE(2, 3, 4))), GA_SHAPE(2, 4, 3));
    }
}

static void out_may_be_an_operand(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *m = counting(GA_SHAPE(2, 2)), *v = counting(GA_SHAPE(3));
        assert_ptr_equal(ga_einsum("ij,jk->ki", GA_ARRAYS(m, m), .out = m), m);
        assert_numbers(m, NUMBERS(2, 6, 3, 11));
        assert_ptr_equal(ga_einsum("ij->ji", GA_ARRAYS(m), .out = m), m);
        assert_numbers(m, NUMBERS(2, 3, 6, 11));
        assert_ptr_equal(ga_cross(v, ga_add(v, 1), .out = v), v);
        assert_numbers(v, NUMBERS(-1, 2, -1));
        gpuarray *wide = ga_zeros(GA_FLOAT64, GA_SHAPE(3, 3)), *row = ga_slice(wide, "1");
        assert_ptr_equal(ga_outer(v, v, .out = wide), wide);
        assert_true(ga_item_double(wide, 0, 1) == -2);
        assert_ptr_equal(ga_tensordot(wide, v, 1, .out = row), row);
        assert_true(ga_item_double(wide, 1, 1) == 12);
        assert_true(ga_item_double(ga_vecdot(wide, row, GA_AXIS(-1)), 2) == -36);
    }
}

/* Floats of a byte: what one kernel leaves for another is not rounded to them. */
static void kernels_leave_no_bytes(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT8_E4M3FN, GA_SHAPE(30, 40), 7),
                 *y = ga_full(GA_FLOAT8_E4M3FN, GA_SHAPE(2), 0.001953125);
        /* The sum of x is 8400, and the largest float of its dtype is 448. */
        assert_true(ga_item_double(ga_einsum("ij,k->k", GA_ARRAYS(x, y)), 1) == 16);
    }
}

/* Both are sums of products of two complex operands. */
static void conjugates_have_kernels_of_their_own(void **state)
{
    (void)state;
    GA_SCOPE {
        const float z[] = {1, 2, 0, 3};
        gpuarray *a = ga_from_host(z, GA_COMPLEX64, GA_SHAPE(2)), *plain, *real;
        plain = ga_einsum("i,i->", GA_ARRAYS(a, a));
        real = ga_vdot(a, a);
        assert_true(ga_item_double(ga_real(plain)) == -12 && ga_item_double(ga_imag(plain)) == 4);
        assert_true(ga_item_double(ga_real(real)) == 14 && ga_item_double(ga_imag(real)) == 0);
        plain = ga_einsum("i,i->", GA_ARRAYS(a, a));
        assert_true(ga_item_double(ga_real(plain)) == -12);
    }
}

static void a_vector_and_itself_have_no_cross_product(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *v = ga_astype(ga_random(GA_SHAPE(50, 3)), GA_FLOAT32);
        assert_false(ga_item_bool(ga_any(ga_cross(v, v))));
    }
}

static void an_out_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *m = counting(GA_SHAPE(2, 2)), *flat = ga_zeros(GA_INT32, GA_SHAPE(4)),
                 *bools = ga_zeros(GA_BOOL, GA_SHAPE(2, 2));
        assert_null(ga_einsum("ij,jk->ik", GA_ARRAYS(m, m), .out = flat));
        assert_error(GA_ERR_SHAPE, "einsum: the result has shape (2, 2), out has (4,)");
        assert_null(ga_outer(m, m, .out = flat));
        assert_error(GA_ERR_SHAPE, "outer: the result has shape (4, 4)");
        assert_null(ga_einsum("ij,jk->ik", GA_ARRAYS(m, m), .out = bools));
        assert_error(GA_ERR_DTYPE, "einsum: the result is int32 and does not cast to out's bool");
        assert_null(ga_einsum("ij->ji", GA_ARRAYS(m), .out = ga_broadcast_to(m, GA_SHAPE(2, 2))));
        ga_clear_error();
        assert_null(ga_einsum("ij->ji", GA_ARRAYS(m), .dtype = GA_BOOL));
        assert_error(GA_ERR_DTYPE, "einsum: int32 does not convert to bool");
    }
}

/* ---- Mistakes ---- */

static const struct {
    const char *text, *words;
    ga_status status;
    int caret;
} mistakes[] = {
    {"ij,jk->ik7", "unexpected character '7'; subscripts are letters", GA_ERR_INVALID, 9},
    {"ij,j\xc3", "unexpected character '\\xc3'", GA_ERR_INVALID, 4},
    {"ij,jk-ik", "expected \"->\"", GA_ERR_INVALID, 5},
    {"ij,jk->ik->", "expected the end", GA_ERR_INVALID, 9},
    {"ij,jk->i,k", "expected the end", GA_ERR_INVALID, 8},
    {"i..,ij", "expected \"...\"", GA_ERR_INVALID, 1},
    {"...i...,ij", "a second ellipsis", GA_ERR_INVALID, 4},
    {"ij,jk->ii", "the result has the subscript 'i' twice", GA_ERR_INVALID, 8},
    {"ij,jk->il", "no operand has the subscript 'l'", GA_ERR_INVALID, 8},
    {"...j,jk->k", "the result lacks an ellipsis for axes of shape (2,)", GA_ERR_INVALID, 10},
    {"ij", "subscripts of fewer than 2 operands", GA_ERR_INVALID, 2},
    {"ij->i", "subscripts of fewer than 2 operands", GA_ERR_INVALID, 2},
    {"ij,jk,kl->il", "subscripts of more than 2 operands", GA_ERR_INVALID, 5},
    {"ij,jkl->il", "operand 2 has shape (3, 3): 2 axes for 3 subscripts", GA_ERR_SHAPE, 5},
    {"ij, j ->i", "operand 2 has shape (3, 3): 2 axes for 1 subscripts", GA_ERR_SHAPE, 5},
    {"ij,...jkl", "operand 2 has shape (3, 3): 2 axes for 3 subscripts", GA_ERR_SHAPE, 8},
    {"ij,ik->jk", "subscript 'i' has length 3 in operand 2, and 2 before", GA_ERR_SHAPE, 3},
    {"ii,jk->k", "subscript 'i' has length 3 in operand 1, and 2 before", GA_ERR_SHAPE, 1},
    {"...j,...k->jk...", "the ellipsis of operand 2 has shape (3,), others (2,)", GA_ERR_SHAPE, 5},
    {"ijk,jkl", "operand 1 has shape (2, 3): 2 axes for 3 subscripts", GA_ERR_SHAPE, 2},
};

static void mistakes_show_their_place(void **state)
{
    char caret[64];
    (void)state;
    GA_SCOPE {
        const gpuarray *a = counting(GA_SHAPE(2, 3)), *b = counting(GA_SHAPE(3, 3));
        for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++) {
            const gpuarray *r = ga_einsum(mistakes[k].text, GA_ARRAYS(a, b));
            const char *message = ga_error_message(), *line = strrchr(message, '\n');
            snprintf(caret, sizeof caret, "\n    %*s^", mistakes[k].caret, "");
            if (r || ga_error() != mistakes[k].status || !strstr(message, mistakes[k].words) ||
                !line || strcmp(line, caret) != 0)
                fail_msg("%s: %s: %s", mistakes[k].text, ga_status_name(ga_error()), message);
            ga_clear_error();
        }
    }
}

static void bad_calls_are_refused(void **state)
{
    (void)state;
    GA_SCOPE {
        const gpuarray *m = counting(GA_SHAPE(2, 3)), *v = counting(GA_SHAPE(2)), *null = NULL;
        assert_null(ga_einsum("ij,j", GA_ARRAYS(m, null)));
        assert_error(GA_ERR_INVALID, "einsum: operand 2 is NULL");
        assert_null(ga_einsum(NULL, GA_ARRAYS(m)));
        assert_error(GA_ERR_INVALID, "einsum: the text of subscripts is NULL");
        assert_null(ga_einsum("", 0, NULL));
        assert_error(GA_ERR_INVALID, "einsum: 0 operands");
        assert_null(ga_einsum("i", 1, NULL));
        assert_error(GA_ERR_INVALID, "einsum: the list of operands is NULL");
        assert_null(ga_einsum("ij->", GA_ARRAYS(m), .dtype = (ga_dtype)99));
        assert_error(GA_ERR_DTYPE, "einsum: 99 is not a dtype");
        assert_null(ga_einsum("ii", GA_ARRAYS(counting(GA_SHAPE(1, 3)))));
        assert_error(GA_ERR_SHAPE, "subscript 'i' has length 3 in operand 1, and 1 before");
        assert_null(ga_tensordot(m, m, 1));
        assert_error(GA_ERR_SHAPE, "tensordot: axis 1 of (2, 3) has length 3, axis 0 of (2, 3) 2");
        assert_null(ga_tensordot(m, m, 3));
        assert_error(GA_ERR_INVALID,
                     "tensordot: cannot sum over 3 axes of arrays of shapes (2, 3) and (2, 3)");
        assert_null(ga_tensordot(m, m, GA_AXES(0, 1), GA_AXES(0)));
        assert_error(GA_ERR_INVALID, "tensordot: 2 axes of the first array, but 1 of the second");
        assert_null(ga_tensordot(m, m, GA_AXES(0, -2), GA_AXES(0, 1)));
        assert_error(GA_ERR_INVALID, "tensordot: axis 0 of the first array is given twice");
        assert_null(ga_tensordot(m, m, GA_AXES(0), GA_AXES(2)));
        assert_error(GA_ERR_INVALID, "tensordot: axis 2 is out of range");
        assert_null(ga_vecdot(m, v));
        assert_error(GA_ERR_SHAPE,
                     "vecdot: shapes (2, 3) and (2,) do not match along axes 1 and 0");
        assert_null(ga_vecdot(m, ga_scalar(GA_INT32, 1)));
        assert_error(GA_ERR_INVALID, "vecdot: axis -1 is out of range");
        assert_null(ga_vecdot(m, counting(GA_SHAPE(1))));
        assert_error(GA_ERR_SHAPE,
                     "vecdot: shapes (2, 3) and (1,) do not match along axes 1 and 0");
        assert_null(ga_vdot(m, v));
        assert_error(GA_ERR_SHAPE, "vdot: the arrays have 6 and 2 elements");
        assert_null(ga_inner(m, v));
        assert_error(GA_ERR_SHAPE, "inner: the last axes of shapes (2, 3) and (2,) differ");
        assert_null(ga_cross(m, counting(GA_SHAPE(4))));
        assert_error(GA_ERR_SHAPE, "cross: axis 0 of shape (4,) has 4 elements, expected 2 or 3");
        assert_null(ga_cross(m, counting(GA_SHAPE(5, 3))));
        assert_error(GA_ERR_SHAPE, "cross: vectors of shapes (2,) and (5,) do not broadcast");
        assert_null(ga_cross(ga_zeros(GA_BOOL, GA_SHAPE(3)), ga_zeros(GA_BOOL, GA_SHAPE(3))));
        assert_error(GA_ERR_DTYPE, "cross");
        assert_null(ga_matrix_transpose(v));
        assert_error(GA_ERR_SHAPE,
                     "matrix_transpose: the array has 1 dimensions, expected at least 2");
        assert_null(ga_kron(m, null));
        assert_error(GA_ERR_INVALID, "kron: operand 2 is NULL");
    }
}

/* ---- Graphs and memory ---- */

static void sums_can_be_recorded(void **state)
{
    ga_graph *graph;
    (void)state;
    GA_SCOPE {
        gpuarray *a = counting(GA_SHAPE(2, 2)), *b = counting(GA_SHAPE(2, 2)),
                 *c = ga_zeros(GA_INT32, GA_SHAPE(2, 2));
        GA_GRAPH(graph)
        {
            ga_einsum("ij,jk,kl->il", GA_ARRAYS(a, b, a), .out = c);
        }
        assert_non_null(graph);
        assert_int_equal(ga_set(b, (int32_t[]){1, 0, 0, 1}, 16), GA_OK);
        assert_int_equal(ga_graph_launch(graph), GA_OK);
        assert_numbers(c, NUMBERS(2, 3, 6, 11));
        ga_graph_free(graph);
    }
}

static bool multiply_all(void)
{
    bool done = false;
    GA_SCOPE {
        gpuarray *a = ga_zeros(GA_FLOAT32, GA_SHAPE(3, 4, 5)),
                 *m = a ? ga_slice(a, "0, :, :4") : NULL, *v = m ? ga_slice(m, "0") : NULL,
                 *out = v ? ga_zeros(GA_FLOAT32, GA_SHAPE(4, 4)) : NULL;
        done = out && ga_einsum("ijk,kjl->il", GA_ARRAYS(a, ga_transpose(a))) &&
               ga_einsum("ij,jk,kl,lm->im", GA_ARRAYS(m, m, m, m)) &&
               ga_einsum("ij,jk->ki", GA_ARRAYS(m, m), .out = m) &&
               ga_einsum("i,j,k->", GA_ARRAYS(v, v, v)) && ga_einsum("ii->i", GA_ARRAYS(m)) &&
               ga_tensordot(m, m, 1, .out = out) && ga_vecdot(m, v) &&
               ga_vdot(m, ga_transpose(m)) && ga_outer(v, m) && ga_inner(m, v) && ga_kron(m, v) &&
               ga_cross(ga_slice(m, ":, :3"), ga_slice(v, ":3"));
    }
    return done;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    survive_failures(multiply_all);
}

static int open_file(void **state)
{
    (void)state;
    file = golden_open("einsum.bin");
    return 0;
}

static int close_file(void **state)
{
    (void)state;
    golden_close(file);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        table_test(answers_are_numpys),
        cmocka_unit_test(sums_are_their_loops),
        cmocka_unit_test(chains_of_any_length_multiply),
        cmocka_unit_test(unit_axes_cost_nothing),
        cmocka_unit_test(one_operand_gives_views),
        cmocka_unit_test(out_may_be_an_operand),
        cmocka_unit_test(kernels_leave_no_bytes),
        cmocka_unit_test(conjugates_have_kernels_of_their_own),
        cmocka_unit_test(a_vector_and_itself_have_no_cross_product),
        cmocka_unit_test(an_out_that_does_not_fit_is_refused),
        cmocka_unit_test(mistakes_show_their_place),
        cmocka_unit_test(bad_calls_are_refused),
        cmocka_unit_test(sums_can_be_recorded),
        cmocka_unit_test(allocations_may_fail),
        simulated_test(sums_are_their_loops),
        simulated_test(a_product_is_one_kernel_where_it_can_be),
        simulated_test(out_may_be_an_operand),
        simulated_test(conjugates_have_kernels_of_their_own),
        simulated_test(a_vector_and_itself_have_no_cross_product),
    };
    return run_named_tests(argc, argv, tests, open_file, close_file);
}
