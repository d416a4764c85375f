/* Every elementwise function against NumPy's answers, for every dtype, in every layout. */
#include <complex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "array_support.h"
#include "golden.h"
#include "layouts.h"
#include "parallel.h"
#include "run.h"

typedef struct op {
    const char *name;
    int nargs;
    gpuarray *(*one)(ga_value);
    gpuarray *(*two)(ga_value, ga_value);
    gpuarray *(*three)(ga_value, ga_value, ga_value);
    ga_status (*one_into)(gpuarray *, ga_value);
    ga_status (*two_into)(gpuarray *, ga_value, ga_value);
    ga_status (*three_into)(gpuarray *, ga_value, ga_value, ga_value);
    ga_status (*split)(const gpuarray *, gpuarray **, gpuarray **);
    ga_status (*split_into)(gpuarray *, gpuarray *, const gpuarray *);
} op;

static const op ops[] = {
#define GA_UNARY(name, ...) {#name, 1, .one = (ga_##name), .one_into = ga_##name##_into},
#include <quarry/unary.def>
#undef GA_UNARY
#define GA_BINARY(name, ...) {#name, 2, .two = (ga_##name), .two_into = ga_##name##_into},
#include <quarry/binary.def>
#undef GA_BINARY
#define GA_TERNARY(name, ...) {#name, 3, .three = (ga_##name), .three_into = ga_##name##_into},
#include <quarry/ternary.def>
#undef GA_TERNARY
#define GA_SPLIT(name, ...) {#name, 1, .split = ga_##name, .split_into = ga_##name##_into},
#include <quarry/split.def>
#undef GA_SPLIT
};

static golden_file *file;

static const op *find_op(const char *name)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(ops[i].name, name) == 0)
            return &ops[i];
    return NULL;
}

static gpuarray *call(const op *o, const ga_value *v)
{
    if (o->one)
        return o->one(v[0]);
    return o->two ? o->two(v[0], v[1]) : o->three(v[0], v[1], v[2]);
}

static ga_status call_into(const op *o, gpuarray *out, const ga_value *v)
{
    if (o->one)
        return o->one_into(out, v[0]);
    return o->two ? o->two_into(out, v[0], v[1]) : o->three_into(out, v[0], v[1], v[2]);
}

/* The case's arguments in a layout, under a shape with the same number of elements. */
static void arguments(const golden_case *c, layout how, int ndim, const int64_t *shape, ga_value *v)
{
    for (int k = 0; k < c->nargs; k++) {
        const golden_blob *b = c->arg[k];
        v[k] = b ? ga_value_array(layout_array(how, b->data, b->dtype, ndim, shape)) : c->number[k];
    }
}

static void check_error(const golden_case *c, const op *o, const ga_value *v)
{
    gpuarray *r = NULL, *s = NULL;
    if (o->split)
        o->split(v[0].as.array, &r, &s);
    else
        r = call(o, v);
    if (r || s)
        fail_later("%s gives %s, wanted an error", golden_call(c), ga_dtype_name(ga_dtype_of(r)));
    else if (ga_error() != GA_ERR_DTYPE && ga_error() != GA_ERR_INVALID)
        fail_later("%s: %s: %s", golden_call(c), ga_status_name(ga_error()), ga_error_message());
    ga_clear_error();
}

static void check_split(const golden_case *c, const op *o, const char *how, int copies,
                        const ga_value *v)
{
    char why[300];
    gpuarray *result[2] = {NULL, NULL};
    o->split(v[0].as.array, &result[0], &result[1]);
    for (int k = 0; k < 2; k++)
        if (!golden_result(c, c->out[k], result[k], copies, why, sizeof why))
            fail_later("%s, %s, result %d: %s", golden_call(c), how, k, why);
    ga_clear_error();
}

/* Into every second element of the first result, and in reverse order of the second. */
static void check_split_into(const golden_case *c, const op *o, const ga_value *v)
{
    char why[300];
    const int64_t size = c->out[0]->size;
    gpuarray *first = ga_slice(ga_zeros(c->out[0]->dtype, GA_SHAPE(2 * size)), "::2"),
             *second = ga_flip(ga_zeros(c->out[1]->dtype, GA_SHAPE(size)), 0);
    if (o->split_into(first, second, v[0].as.array) != GA_OK)
        fail_later("%s_into: %s", golden_call(c), ga_error_message());
    else if (!golden_result(c, c->out[0], first, 1, why, sizeof why) ||
             !golden_result(c, c->out[1], second, 1, why, sizeof why))
        fail_later("%s_into: %s", golden_call(c), why);
    ga_clear_error();
}

static bool written_between(const gpuarray *wide)
{
    size_t nbytes = ga_nbytes(wide), size = ga_dtype_size(ga_dtype_of(wide));
    char *host = malloc(nbytes);
    bool written = !host || ga_to_host(wide, host, nbytes) != GA_OK;
    for (size_t i = 0; !written && i < nbytes; i++)
        written = i / size % 2 == 1 && host[i];
    free(host);
    return written;
}

/* The same into an array of every second element. */
static void check_into(const golden_case *c, const op *o, const ga_value *v)
{
    char why[300];
    gpuarray *wide = ga_zeros(c->out[0]->dtype, GA_SHAPE(2 * c->out[0]->size));
    gpuarray *out = ga_slice(wide, "::2");
    if (call_into(o, out, v) != GA_OK)
        fail_later("%s_into: %s", golden_call(c), ga_error_message());
    else if (!golden_result(c, c->out[0], out, 1, why, sizeof why))
        fail_later("%s_into: %s", golden_call(c), why);
    else if (written_between(wide))
        fail_later("%s_into wrote between the elements of out", golden_call(c));
    ga_clear_error();
}

static void check_call(const golden_case *c, const op *o, layout how, int ndim,
                       const int64_t *shape)
{
    char why[300];
    ga_value v[3];
    int copies = how == LAYOUT_BROADCAST ? 3 : 1;
    arguments(c, how, ndim, shape, v);
    if (o->split)
        check_split(c, o, layout_names[how], copies, v);
    else if (!golden_result(c, c->out[0], call(o, v), copies, why, sizeof why))
        fail_later("%s, %s: %s", golden_call(c), layout_names[how], why);
    ga_clear_error();
}

/* Element k alone, as 0-d arrays. */
static void check_zero_d(const golden_case *c, const op *o, int64_t k)
{
    char why[300];
    ga_value v[3];
    golden_case alone = *c;
    golden_blob part[2];
    for (int q = 0; q < c->nouts; q++) {
        part[q] = *c->out[q];
        part[q].size = 1;
        part[q].data += (size_t)k * ga_dtype_size(part[q].dtype);
        alone.out[q] = &part[q];
    }
    for (int a = 0; a < c->nargs; a++) {
        const golden_blob *b = c->arg[a];
        const unsigned char *element = b ? b->data + (size_t)k * ga_dtype_size(b->dtype) : NULL;
        v[a] = b ? ga_value_array(ga_from_host(element, b->dtype, GA_SHAPE0)) : c->number[a];
    }
    gpuarray *got = call(o, v);
    if (!golden_result(&alone, &part[0], got, 1, why, sizeof why) || ga_ndim(got) != 0)
        fail_later("%s, 0-d element %lld: %s", golden_call(c), (long long)k, why);
    ga_clear_error();
}

/* The engine handles layouts, not the op: three dtypes run in all of them. complex64 and int16 run
 * with every third op, so that the host backend compiles fewer kernels. */
static bool takes_layouts(const golden_case *c, int item)
{
    ga_dtype dtype = c->arg[0] ? c->arg[0]->dtype : GA_NO_DTYPE;
    for (int k = 1; k < c->nargs; k++)
        if (!c->arg[k] || (c->arg[k]->dtype != dtype && strcmp(c->name, "where") != 0))
            return false;
    return dtype == GA_FLOAT32 || ((dtype == GA_COMPLEX64 || dtype == GA_INT16) && item % 3 == 0);
}

static void run_case(int item)
{
    const golden_case *c = &file->cases[item];
    const op *o = find_op(c->name);
    ga_value v[3];
    if (!o || o->nargs != c->nargs) {
        fail_later("%s: no such function", c->name);
        return;
    }
    GA_SCOPE {
        if (c->flags & GOLDEN_ERROR) {
            arguments(c, LAYOUT_CONTIGUOUS, 1, &c->arg[c->arg[0] ? 0 : 1]->size, v);
            check_error(c, o, v);
            continue;
        }
        check_call(c, o, LAYOUT_CONTIGUOUS, 1, &c->out[0]->size);
        if (!takes_layouts(c, item))
            continue;
        const int64_t shape[2] = {5, c->out[0]->size / 5};
        for (layout how = LAYOUT_FORTRAN; how < LAYOUT_COUNT; how++)
            check_call(c, o, how, 2, shape);
        arguments(c, LAYOUT_CONTIGUOUS, 1, &c->out[0]->size, v);
        if (o->split) {
            check_split_into(c, o, v);
            continue;
        }
        check_zero_d(c, o, item % c->out[0]->size);
        check_into(c, o, v);
    }
}

static const char *case_text(int item)
{
    return golden_call(&file->cases[item]);
}

static void every_row_answers_as_numpy(void **state)
{
    (void)state;
    rows_in_threads(file->ncases, case_text, run_case);
    assert_int_equal(failures(), 0);
}

/* Each C type is a weak number of its kind: the array's dtype stays. */
static void every_c_type_is_a_weak_number(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3));
        gpuarray *sums[] = {ga_add(x, (_Bool)1),
                            ga_add(x, (char)1),
                            ga_add(x, (signed char)1),
                            ga_add(x, (unsigned char)1),
                            ga_add(x, (short)1),
                            ga_add(x, (unsigned short)1),
                            ga_add(x, 1),
                            ga_add(x, 1u),
                            ga_add(x, 1L),
                            ga_add(x, 1UL),
                            ga_add(x, 1LL),
                            ga_add(x, 1ULL),
                            ga_add(x, 1.0f),
                            ga_add(x, 1.0),
                            ga_add(x, 1.0L),
                            ga_add(1, x),
                            ga_add(GA_V(1), x)};
        for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
            assert_int_equal(ga_dtype_of(sums[i]), GA_FLOAT32);
            assert_float_equal(ga_item_double(ga_sum(sums[i])), 6.0, 0.0);
        }
        assert_int_equal(ga_dtype_of(ga_add(x, 1.0f + 0.0f * I)), GA_COMPLEX64);
        assert_int_equal(ga_dtype_of(ga_add(x, 1.0 + 1.0 * I)), GA_COMPLEX64);
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* A 0-d array is strong, unlike a number. */
static void a_0d_array_is_strong(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(2));
        assert_int_equal(ga_dtype_of(ga_multiply(x, ga_scalar(GA_FLOAT64, 2.0))), GA_FLOAT64);
        assert_int_equal(ga_dtype_of(ga_multiply(x, ga_scalar(GA_INT8, 2))), GA_FLOAT32);
        assert_int_equal(ga_dtype_of(ga_multiply(2.0, 3)), GA_FLOAT64);
        assert_int_equal(ga_dtype_of(ga_multiply(2, 3)), GA_INT64);
        assert_float_equal(ga_item_double(ga_multiply(2, 3)), 6.0, 0.0);
        assert_int_equal(ga_error(), GA_OK);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        table_test(every_row_answers_as_numpy),
        cmocka_unit_test(every_c_type_is_a_weak_number),
        cmocka_unit_test(a_0d_array_is_strong),
    };
    file = golden_open("ops.bin");
    sample_on_gpu(3);
    const int failed = run_named_tests(argc, argv, tests, NULL, NULL);
    golden_close(file);
    return failed;
}
