/* Draws one library's part of the map: the time of each case over rows of random lengths, as a
 * share of the memory bus. quarry-map writes one CSV line for each cell; map.py adds the peers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "machine.h"

enum { MOST_LENGTHS = 4096, MOST_ROUNDS = 64 };

static const char usage[] =
    "usage: quarry-map [--device NAME] [--bytes BYTES] [--cases NAME,...] [--dtypes NAME,...]\n"
    "                  [--layouts contiguous,windowed,transposed] [--lengths L,... | --count N]\n"
    "                  [--longest L] [--seed SEED] [--rounds N] [--out FILE]\n";

typedef struct options {
    const char *device, *cases, *dtypes, *layouts, *out;
    int64_t bytes, longest;
    uint32_t seed;
    int count, rounds;
    int64_t length[MOST_LENGTHS];
} options;

/* What a cell works on: m has rows of `length` elements, y is as large, column and row broadcast.
 */
typedef struct arrays {
    gpuarray *whole, *other, *result; /* one allocation each */
    gpuarray *m, *y, *column, *row, *out;
} arrays;

/* ---- The cases ---- */

typedef enum shape_of { PER_ROW, PER_COLUMN, SAME, TRANSPOSED } shape_of;

/* `text` is an expression of m, y, column and row; NULL copies the transpose of m. */
typedef struct map_case {
    const char *name, *kinds; /* of dtypes: "?iufc" */
    shape_of result;
    bool reads_y;
    const char *text;
} map_case;

static const map_case cases[] = {
    {"sum1", "?iufc", PER_ROW, false, "sum(m, axis=1)"},
    {"max1", "?iuf", PER_ROW, false, "max(m, axis=1)"},
    {"argmax1", "?iuf", PER_ROW, false, "argmax(m, axis=1)"},
    {"var1", "fc", PER_ROW, false, "var(m, axis=1)"},
    {"all1", "?iufc", PER_ROW, false, "all(m, axis=1)"},
    {"dot1", "iufc", PER_ROW, true, "sum(m * y, axis=1)"},
    {"sum0", "?iufc", PER_COLUMN, false, "sum(m, axis=0)"},
    {"max0", "?iuf", PER_COLUMN, false, "max(m, axis=0)"},
    {"argmax0", "?iuf", PER_COLUMN, false, "argmax(m, axis=0)"},
    {"var0", "fc", PER_COLUMN, false, "var(m, axis=0)"},
    {"copyT", "?iufc", TRANSPOSED, false, NULL},
    {"addcol", "iufc", SAME, false, "m + column"},
    {"addrow", "iufc", SAME, false, "m + row"},
    {"add", "iufc", SAME, true, "m + y"},
    {"softmax1", "f", SAME, false,
     "exp(m - max(m, axis=1, keepdims=True)) / "
     "sum(exp(m - max(m, axis=1, keepdims=True)), axis=1, keepdims=True)"},
    {"layernorm1", "f", SAME, false,
     "(m - mean(m, axis=1, keepdims=True)) / sqrt(var(m, axis=1, keepdims=True) + 0.001)"},
    {"rmsnorm1", "f", SAME, false, "m / sqrt(mean(m * m, axis=1, keepdims=True) + 0.001) * row"},
    {"logsumexp1", "f", PER_ROW, false,
     "log(sum(exp(m - max(m, axis=1, keepdims=True)), axis=1)) + max(m, axis=1)"},
    {"softmax0", "f", SAME, false,
     "exp(m - max(m, axis=0)) / sum(exp(m - max(m, axis=0)), axis=0)"},
    {"layernorm0", "f", SAME, false, "(m - mean(m, axis=0)) / sqrt(var(m, axis=0) + 0.001)"},
    {"rmsnorm0", "f", SAME, false, "m / sqrt(mean(m * m, axis=0) + 0.001) * column"},
    {"logsumexp0", "f", PER_COLUMN, false,
     "log(sum(exp(m - max(m, axis=0)), axis=0)) + max(m, axis=0)"},
};
enum { CASES = sizeof cases / sizeof *cases };

/* '?', 'i', 'u', 'f' or 'c' */
static char kind_of(ga_dtype dtype)
{
    const char *name = ga_dtype_name(dtype);
    return name[0] == 'b' ? name[1] == 'o' ? '?' : 'f' : name[0];
}

static void check(const void *made, const char *what)
{
    if (!made) {
        fprintf(stderr, "quarry-map: %s: %s\n", what, ga_error_message());
        exit(1);
    }
}

static void run_case(const map_case *c, const arrays *a)
{
    GA_SCOPE {
        if (c->result == TRANSPOSED)
            check(ga_assign(a->out, ga_transpose(a->m)) == GA_OK ? a : NULL, c->name);
        else if (c->result == SAME)
            check(ga_eval_into(a->out, c->text, GA_NAMED("m", a->m), GA_NAMED("y", a->y),
                               GA_NAMED("column", a->column), GA_NAMED("row", a->row)) == GA_OK
                      ? a
                      : NULL,
                  c->name);
        else
            check(ga_eval(c->text, GA_NAMED("m", a->m), GA_NAMED("y", a->y)), c->name);
    }
}

/* ---- Time ---- */

/* Microseconds of one of `calls` runs that are queued together. */
static double batch_us(const map_case *c, const arrays *a, int calls, ga_event *from, ga_event *to)
{
    ga_event_record(from, NULL);
    for (int k = 0; k < calls; k++)
        run_case(c, a);
    ga_event_record(to, NULL);
    check(ga_event_synchronize(to) == GA_OK ? to : NULL, c->name);
    return ga_event_elapsed(from, to) * 1e3 / calls;
}

static double time_us(const map_case *c, const arrays *a, int rounds)
{
    ga_event *from = ga_event_new(), *to = ga_event_new();
    double samples[MOST_ROUNDS];
    check(from, "an event");
    check(to, "an event");
    batch_us(c, a, 1, from, to);
    const double once = batch_us(c, a, 1, from, to);
    const int calls = once < 1000 ? (int)(1000 / (once + 1)) + 1 : 1;
    for (int k = 0; k < rounds; k++)
        samples[k] = batch_us(c, a, calls, from, to);
    ga_event_free(from);
    ga_event_free(to);
    return median(samples, rounds);
}

/* ---- The arrays of a cell ---- */

/* Floats in [0, 8), as in the logits of a softmax; integers in [0, 100). */
static gpuarray *random_array(ga_dtype dtype, int64_t count)
{
    gpuarray *x = NULL;
    GA_SCOPE {
        const gpuarray *u = ga_random(1, &count);
        const char kind = kind_of(dtype);
        x = ga_astype(kind == '?'                  ? ga_eval("u > 0.5", GA(u))
                      : kind == 'f' || kind == 'c' ? ga_eval("u * 8", GA(u))
                                                   : ga_eval("u * 100", GA(u)),
                      dtype);
        ga_keep(x);
    }
    check(x, ga_dtype_name(dtype));
    return x;
}

static gpuarray *first(const gpuarray *whole, int64_t count)
{
    return ga_slice(whole, ":%lld", (long long)count);
}

/* Rows of `length`: side by side; with three more elements in each; or the columns of an array
 * that is contiguous the other way. */
static gpuarray *matrix(const gpuarray *whole, const char *layout, int64_t length)
{
    const int64_t pitch = strcmp(layout, "windowed") == 0 ? length + 3 : length,
                  rows = ga_size(whole) / pitch;
    const gpuarray *used = first(whole, rows * pitch);
    if (strcmp(layout, "transposed") == 0)
        return ga_transpose(ga_reshape(used, GA_SHAPE(length, rows)));
    gpuarray *m = ga_reshape(used, GA_SHAPE(rows, pitch));
    return pitch == length ? m : ga_slice(m, ":, 1:%lld", (long long)(1 + length));
}

static void set_arrays(arrays *a, const map_case *c, const char *layout, int64_t length)
{
    a->m = matrix(a->whole, layout, length);
    check(a->m, "a matrix");
    const int64_t rows = ga_shape(a->m)[0];
    a->y = c->reads_y ? matrix(a->other, layout, length) : a->m;
    a->column = ga_reshape(first(a->other, rows), GA_SHAPE(rows, 1));
    a->row = first(a->other, length);
    const int64_t shape[] = {rows, length}, turned[] = {length, rows};
    a->out =
        ga_reshape(first(a->result, rows * length), 2, c->result == TRANSPOSED ? turned : shape);
    check(a->y, "a matrix");
    check(a->column, "a column");
    check(a->row, "a row");
    check(a->out, "a result");
}

/* ---- Cells ---- */

/* Microseconds of a byte that is read, and of one that is written. */
typedef struct bus {
    double read, written;
} bus;

/* From the library's own sum and copy of float32, which stand at the limits of the machine. */
static bus measure_bus(int64_t bytes, int rounds)
{
    static const map_case sum = {"limit", "f", PER_ROW, false, "sum(m, axis=(0, 1))"},
                          copy = {"limit", "f", TRANSPOSED, false, NULL};
    bus b;
    GA_SCOPE {
        arrays a = {.whole = random_array(GA_FLOAT32, bytes / 4)};
        a.other = a.whole;
        a.result = ga_copy(a.whole);
        check(a.result, "a copy");
        set_arrays(&a, &sum, "contiguous", 1 << 12);
        const double size = (double)ga_nbytes(a.m);
        b.read = time_us(&sum, &a, rounds) / size;
        a.out = a.result;
        a.m = a.whole;
        /* Times of small arrays scatter: a byte written takes at least a quarter of one read. */
        const double both = time_us(&copy, &a, rounds) / (double)ga_nbytes(a.whole);
        b.written = fmax(both - b.read, b.read / 4);
    }
    return b;
}

/* Bytes of a matrix that memory delivers, whose sectors of 32 bytes have what lies between rows
 * too. */
static double delivered(const gpuarray *m)
{
    enum { SECTOR = 32 };
    const double rows = (double)ga_shape(m)[0], own = (double)ga_nbytes(m),
                 pitch = (double)ga_strides(m)[0], around = own / rows + SECTOR - 1;
    return pitch < own / rows ? own : rows * fmin(pitch, around);
}

/* Bytes that a case reads, each once. */
static double bytes_read(const map_case *c, const arrays *a)
{
    double bytes = (c->reads_y ? 2 : 1) * delivered(a->m);
    if (c->text && strstr(c->text, "column"))
        bytes += (double)ga_nbytes(a->column);
    if (c->text && strstr(c->text, "row"))
        bytes += (double)ga_nbytes(a->row);
    return bytes;
}

static double least_us(const map_case *c, const arrays *a, bus b)
{
    const double rows = (double)ga_shape(a->m)[0], columns = (double)ga_shape(a->m)[1],
                 outputs = c->result == PER_ROW      ? rows
                           : c->result == PER_COLUMN ? columns
                                                     : (double)ga_size(a->m);
    double out = (double)ga_dtype_size(ga_dtype_of(a->m));
    if (c->result == PER_ROW || c->result == PER_COLUMN) {
        const gpuarray *one = ga_eval(c->text, GA_NAMED("m", ga_slice(a->m, ":1, :1")),
                                      GA_NAMED("y", ga_slice(a->m, ":1, :1")));
        check(one, c->name);
        out = (double)ga_dtype_size(ga_dtype_of(one));
    }
    return bytes_read(c, a) * b.read + outputs * out * b.written;
}

static bool named(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += n)
        if ((at == list || at[-1] == ',') && (at[n] == ',' || at[n] == '\0'))
            return true;
    return *list == '\0';
}

static void draw_cell(FILE *out, const options *o, const map_case *c, arrays *a, const char *layout,
                      int64_t length, bus b)
{
    GA_SCOPE {
        set_arrays(a, c, layout, length);
        const double least = least_us(c, a, b), us = time_us(c, a, o->rounds);
        fprintf(out, "%s,%s,%s,%lld,%lld,%.2f,%.4g\n", c->name, ga_dtype_name(ga_dtype_of(a->m)),
                layout, (long long)ga_shape(a->m)[0], (long long)length, us, least / us);
        fflush(out);
    }
}

static void draw_dtype(FILE *out, const options *o, ga_dtype dtype, bus b)
{
    static const char *const layouts[] = {"contiguous", "windowed", "transposed"};
    GA_SCOPE {
        const int64_t count = o->bytes / (int64_t)ga_dtype_size(dtype);
        arrays a = {.whole = random_array(dtype, count), .other = random_array(dtype, count)};
        a.result = ga_copy(a.whole);
        check(a.result, "a result");
        for (int k = 0; k < CASES; k++)
            for (int l = 0; l < 3; l++)
                for (int i = 0; i < o->count; i++)
                    if (named(o->cases, cases[k].name) && named(o->layouts, layouts[l]) &&
                        strchr(cases[k].kinds, kind_of(dtype)) && o->length[i] + 3 <= count)
                        draw_cell(out, o, &cases[k], &a, layouts[l], o->length[i], b);
    }
}

/* ---- Options ---- */

static bool chosen(const options *o, int64_t length)
{
    for (int k = 0; k < o->count; k++)
        if (o->length[k] == length)
            return true;
    return false;
}

/* Different ones, log-uniform between 1 and the longest; every second one is odd. */
static void choose_lengths(options *o)
{
    const int wanted = o->count < o->longest ? o->count : (int)o->longest;
    o->count = 0;
    for (uint64_t draw = 0; o->count < wanted && draw < 1000 * MOST_LENGTHS; draw++) {
        const double share = random_mix(o->seed, draw) / 4294967296.0;
        int64_t length = (int64_t)exp(share * log((double)o->longest + 1));
        if (o->count % 2 == 0)
            length |= 1;
        if (!chosen(o, length))
            o->length[o->count++] = length;
    }
}

static void read_lengths(options *o, const char *list)
{
    for (o->count = 0; list && o->count < MOST_LENGTHS; o->count++) {
        o->length[o->count] = strtoll(list, NULL, 10);
        if (o->length[o->count] < 1) {
            fprintf(stderr, "quarry-map: \"%s\": a length is a number from 1 on\n", list);
            exit(2);
        }
        list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL;
    }
}

static bool read_option(options *o, const char *name, const char *value, const char **lengths)
{
    const struct {
        const char *name, **text;
    } texts[] = {{"--device", &o->device},   {"--cases", &o->cases}, {"--dtypes", &o->dtypes},
                 {"--layouts", &o->layouts}, {"--out", &o->out},     {"--lengths", lengths}};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (strcmp(name, texts[k].name) == 0)
            return (*texts[k].text = value) != NULL;
    const long long number = strtoll(value, NULL, 10);
    if (strcmp(name, "--bytes") == 0)
        o->bytes = number;
    else if (strcmp(name, "--longest") == 0)
        o->longest = number;
    else if (strcmp(name, "--seed") == 0)
        o->seed = (uint32_t)number;
    else if (strcmp(name, "--count") == 0)
        o->count = (int)number;
    else if (strcmp(name, "--rounds") == 0)
        o->rounds = (int)number;
    else
        return false;
    return number > 0;
}

static options read_options(int argc, char **argv)
{
    options o = {.cases = "",
                 .dtypes = "float32,float16,int8,float64",
                 .layouts = "contiguous",
                 .bytes = 1 << 28,
                 .longest = 1 << 24,
                 .seed = (uint32_t)now_us(),
                 .count = 24,
                 .rounds = 7};
    const char *lengths = NULL;
    for (int k = 1; k < argc; k += 2)
        if (k + 1 == argc || !read_option(&o, argv[k], argv[k + 1], &lengths)) {
            fputs(usage, stderr);
            exit(2);
        }
    o.count = o.count < MOST_LENGTHS ? o.count : MOST_LENGTHS;
    o.rounds = o.rounds < MOST_ROUNDS ? o.rounds : MOST_ROUNDS;
    if (lengths)
        read_lengths(&o, lengths);
    else
        choose_lengths(&o);
    return o;
}

int main(int argc, char **argv)
{
    const options o = read_options(argc, argv);
    FILE *out = o.out ? fopen(o.out, "w") : stdout;
    check(!o.device || ga_set_device(o.device) == GA_OK ? argv : NULL, "the device");
    if (!out) {
        perror(o.out);
        return 1;
    }
    const bus b = measure_bus(o.bytes, o.rounds);
    fprintf(out, "# %s, seed %u, %lld bytes an array, reads %.0f GB/s, copies %.0f GB/s\n",
            ga_current_device(), o.seed, (long long)o.bytes, 1e-3 / b.read,
            2e-3 / (b.read + b.written));
    fputs("case,dtype,layout,rows,length,us,share\n", out);
    for (int dtype = GA_BOOL; dtype < GA_DTYPE_COUNT; dtype++)
        if (named(o.dtypes, ga_dtype_name((ga_dtype)dtype)))
            draw_dtype(out, &o, (ga_dtype)dtype, b);
    return out != stdout && fclose(out) != 0;
}
