/* quarry-products draws random shapes of products of matrices and times ga_matmul() on each. It
 * writes one CSV line for each shape; map/products.py adds PyTorch's times. With --bare it times
 * ga_matmul() in turns with the bare call of the library instead. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "bare.h"
#include "machine.h"

enum { MOST_ROUNDS = 64, BATCH_US = 1000 };
enum { NO_LIBRARY = 77 }; /* an exit status, of a skipped test */

static const char usage[] =
    "usage: quarry-products [--device NAME] [--dtypes NAME,...] [--count N] [--seed SEED]\n"
    "                       [--bytes BYTES] [--work MULTIPLICATIONS] [--rounds N] [--shapes CSV]\n"
    "  --shapes: times the shapes of an earlier run instead of random ones; where a table says "
    "tf32,\n"
    "            float32 with `.tf32`\n"
    "  --bare N,...: times N x N float32 in turns with the library's own call\n";

static const char TF32[] = "tf32";

typedef struct options {
    const char *device, *dtypes, *shapes, *bare;
    int64_t count, seed, bytes, work, rounds; /* bytes: the most of an operand or of the result */
} options;

/* A stack of products. A turned operand is the transpose of an array in C order. */
typedef struct shape {
    int64_t places, m, n, k;
    bool a_turned, b_turned, tf32;
} shape;

static void check(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "quarry-products: %s: %s\n", what, ga_error_message());
        exit(1);
    }
}

/* ---- Shapes ---- */

/* Between 0 and 1, and never the same one. */
static double draw(const options *o, uint64_t *at)
{
    return random_mix((uint32_t)o->seed, (*at)++) / 4294967296.0;
}

/* Log-uniform from 1 to 2^14; one of two is a multiple of 8. */
static int64_t draw_length(const options *o, uint64_t *at)
{
    const int64_t length = (int64_t)exp2(14 * draw(o, at));
    return draw(o, at) < 0.5 ? (length + 7) / 8 * 8 : length;
}

static bool fits(const options *o, const shape *s, int64_t size)
{
    const int64_t most = o->bytes / size / s->places;
    return s->m * s->k <= most && s->k * s->n <= most && s->m * s->n <= most &&
           (double)s->places * (double)s->m * (double)s->n * (double)s->k <= (double)o->work;
}

static shape draw_shape(const options *o, int64_t size, uint64_t *at)
{
    shape s;
    do {
        s.places = draw(o, at) < 0.5 ? 1 : (int64_t)exp2(14 * draw(o, at));
        s.m = draw_length(o, at);
        s.n = draw_length(o, at);
        s.k = draw_length(o, at);
        s.a_turned = draw(o, at) < 0.25;
        s.b_turned = draw(o, at) < 0.25;
    } while (!fits(o, &s, size));
    return s;
}

/* ---- Time ---- */

/* Numbers in [-1, 1), integers from -50 on; a GPU computes faster on simpler ones. */
static gpuarray *operand(ga_dtype dtype, int64_t places, int64_t rows, int64_t columns, bool turned)
{
    const int64_t lengths[] = {places, turned ? columns : rows, turned ? rows : columns};
    const double half = strstr(ga_dtype_name(dtype), "int") ? 50 : 1;
    const gpuarray *u = ga_random(3, lengths);
    gpuarray *x = ga_astype(
        ga_eval("u * two - one", GA(u), GA_NAMED("two", 2 * half), GA_NAMED("one", half)), dtype);
    return turned ? ga_matrix_transpose(x) : x;
}

static double batch_us(const gpuarray *a, const gpuarray *b, gpuarray *out, bool tf32, int calls,
                       ga_event *const at[2])
{
    ga_event_record(at[0], NULL);
    for (int k = 0; k < calls; k++)
        check(ga_matmul(a, b, .out = out, .tf32 = tf32) != NULL, "matmul");
    ga_event_record(at[1], NULL);
    check(ga_event_synchronize(at[1]) == GA_OK, "matmul");
    return ga_event_elapsed(at[0], at[1]) * 1e3 / calls;
}

/* Microseconds of one call: the median of batches. */
static double time_us(const gpuarray *a, const gpuarray *b, gpuarray *out, bool tf32, int rounds)
{
    ga_event *at[] = {ga_event_new(), ga_event_new()};
    double samples[MOST_ROUNDS];
    check(at[0] && at[1], "events");
    batch_us(a, b, out, tf32, 1, at);
    const double once = batch_us(a, b, out, tf32, 1, at);
    const int calls = once < BATCH_US ? (int)(BATCH_US / (once + 1)) + 1 : 1;
    for (int k = 0; k < rounds; k++)
        samples[k] = batch_us(a, b, out, tf32, calls, at);
    ga_event_free(at[0]);
    ga_event_free(at[1]);
    return median(samples, rounds);
}

static void time_shape(const options *o, ga_dtype dtype, const shape *s)
{
    GA_SCOPE {
        const gpuarray *a = operand(dtype, s->places, s->m, s->k, s->a_turned),
                       *b = operand(dtype, s->places, s->k, s->n, s->b_turned);
        gpuarray *out = ga_zeros(dtype, GA_SHAPE(s->places, s->m, s->n));
        check(a && b && out, "operands");
        const double us = time_us(a, b, out, s->tf32, (int)o->rounds);
        printf("%s,%lld,%lld,%lld,%lld,%d,%d,%.2f\n", s->tf32 ? TF32 : ga_dtype_name(dtype),
               (long long)s->places, (long long)s->m, (long long)s->n, (long long)s->k, s->a_turned,
               s->b_turned, us);
        fflush(stdout);
    }
}

/* ---- Beside the bare call ---- */

/* Microseconds of a call: of the caller, and between events. */
typedef struct times {
    double host, device;
} times;

/* `calls` calls, which one wait ends: of ga_matmul() without a bare call. */
static times batch(const gpuarray *a, const gpuarray *b, gpuarray *out, bare *call, int calls,
                   ga_event *const at[2])
{
    check(ga_synchronize() == GA_OK, "matmul");
    const double before = now_us();
    ga_event_record(at[0], NULL);
    for (int k = 0; k < calls; k++)
        check(call ? bare_multiply(call) : ga_matmul(a, b, .out = out) != NULL, "matmul");
    ga_event_record(at[1], NULL);
    const double host = (now_us() - before) / calls;
    check(ga_event_synchronize(at[1]) == GA_OK, "matmul");
    return (times){host, ga_event_elapsed(at[0], at[1]) * 1e3 / calls};
}

static void keep_least(times *least, times t)
{
    least->host = t.host < least->host ? t.host : least->host;
    least->device = t.device < least->device ? t.device : least->device;
}

/* Both products are the same, but for rounding. */
static void check_bare(const gpuarray *a, const gpuarray *b, gpuarray *out, bare *call)
{
    const gpuarray *ours = ga_matmul(a, b);
    check(bare_multiply(call), "the bare call");
    const gpuarray *difference =
        ga_eval("max(abs(x - y) / y)", GA_NAMED("x", ours), GA_NAMED("y", out));
    check(difference && ga_item_double(difference) < 1e-4, "the bare call's product");
}

/* The least of `rounds` batches of each, in turns. A GPU's queue holds a batch, so that the caller
 * does not wait. */
static void time_beside_bare(const options *o, int64_t n)
{
    enum { CALLS = 200, FEW_CALLS = 5, LONG_US = 1000 };
    ga_event *at[] = {ga_event_new(), ga_event_new()};
    check(at[0] && at[1], "events");
    GA_SCOPE {
        const gpuarray *a = ga_random(GA_SHAPE(n, n)), *b = ga_random(GA_SHAPE(n, n));
        a = ga_astype(a, GA_FLOAT32), b = ga_astype(b, GA_FLOAT32);
        gpuarray *out = ga_zeros(GA_FLOAT32, GA_SHAPE(n, n));
        check(a && b && out, "operands");
        bare *call = bare_new(a, b, out, n);
        if (!call)
            exit(NO_LIBRARY);
        check_bare(a, b, out, call);
        times ours = {INFINITY, INFINITY}, bares = ours;
        const times first = batch(a, b, out, NULL, FEW_CALLS, at);
        const int calls = first.device > LONG_US ? FEW_CALLS : CALLS;
        for (int k = 0; k < o->rounds; k++) {
            keep_least(&bares, batch(a, b, out, call, calls, at));
            keep_least(&ours, batch(a, b, out, NULL, calls, at));
        }
        printf("%lld,%.2f,%.2f,%.3f,%.2f,%.2f,%.3f\n", (long long)n, ours.host, bares.host,
               ours.host / bares.host, ours.device, bares.device, ours.device / bares.device);
        bare_free(call);
    }
    ga_event_free(at[0]);
    ga_event_free(at[1]);
}

static void time_bare(const options *o)
{
    puts("n,host_us,bare_host_us,host_ratio,us,bare_us,ratio");
    for (const char *at = o->bare; *at;) {
        char *end;
        const int64_t n = strtoll(at, &end, 10);
        if (n < 1 || end == at) {
            fputs(usage, stderr);
            exit(2);
        }
        time_beside_bare(o, n);
        at = *end == ',' ? end + 1 : "";
    }
}

/* ---- Dtypes and tables ---- */

static ga_dtype dtype_of(const char *name)
{
    if (strcmp(name, TF32) == 0)
        return GA_FLOAT32;
    for (int dtype = GA_BOOL; dtype < GA_DTYPE_COUNT; dtype++)
        if (strcmp(ga_dtype_name((ga_dtype)dtype), name) == 0)
            return (ga_dtype)dtype;
    fprintf(stderr, "quarry-products: unknown dtype %s\n", name);
    exit(1);
}

/* The shapes of a table that this program or map/products.py has written. */
static void time_table(const options *o)
{
    FILE *table = fopen(o->shapes, "r");
    char line[256], name[16];
    long long l[4];
    int turned[2];
    if (!table) {
        fprintf(stderr, "quarry-products: %s cannot be read\n", o->shapes);
        exit(1);
    }
    while (fgets(line, sizeof line, table)) {
        if (sscanf(line, "%15[^,],%lld,%lld,%lld,%lld,%d,%d", name, &l[0], &l[1], &l[2], &l[3],
                   &turned[0], &turned[1]) == 7)
            time_shape(
                o, dtype_of(name),
                &(shape){l[0], l[1], l[2], l[3], turned[0], turned[1], strcmp(name, TF32) == 0});
    }
    fclose(table);
}

static bool named(const char *list, const char *name)
{
    const char *at = strstr(list, name);
    const char after = at ? at[strlen(name)] : '?';
    return at && (at == list || at[-1] == ',') && (after == ',' || after == '\0');
}

/* ---- Options ---- */

static bool read_option(options *o, const char *name, const char *value)
{
    const struct {
        const char *name;
        int64_t *number;
    } numbers[] = {{"--count", &o->count},
                   {"--seed", &o->seed},
                   {"--bytes", &o->bytes},
                   {"--work", &o->work},
                   {"--rounds", &o->rounds}};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        if (strcmp(name, numbers[k].name) == 0)
            return (*numbers[k].number = strtoll(value, NULL, 10)) > 0;
    const char **text = strcmp(name, "--device") == 0   ? &o->device
                        : strcmp(name, "--dtypes") == 0 ? &o->dtypes
                        : strcmp(name, "--shapes") == 0 ? &o->shapes
                        : strcmp(name, "--bare") == 0   ? &o->bare
                                                        : NULL;
    if (text)
        *text = value;
    return text != NULL;
}

static options read_options(int argc, char **argv)
{
    options o = {.dtypes = "float32,float64,float16,bfloat16",
                 .count = 50,
                 .seed = (int64_t)now_us() & INT32_MAX,
                 .bytes = 1 << 28,
                 .work = (int64_t)1 << 37,
                 .rounds = 7};
    for (int k = 1; k < argc; k += 2)
        if (k + 1 == argc || !read_option(&o, argv[k], argv[k + 1])) {
            fputs(usage, stderr);
            exit(2);
        }
    o.rounds = o.rounds < MOST_ROUNDS ? o.rounds : MOST_ROUNDS;
    return o;
}

int main(int argc, char **argv)
{
    const options o = read_options(argc, argv);
    check(!o.device || ga_set_device(o.device) == GA_OK, "the device");
    char *library = ga_product_library(ga_current_device());
    printf("# %s, seed %lld, %s\n", ga_current_device(), (long long)o.seed,
           library ? library : "no library of products");
    free(library);
    if (o.bare) {
        time_bare(&o);
        return 0;
    }
    puts("dtype,places,m,n,k,a_turned,b_turned,us");
    if (o.shapes)
        time_table(&o);
    for (int dtype = GA_BOOL; dtype < GA_DTYPE_COUNT && !o.shapes; dtype++) {
        uint64_t at = 0;
        for (int64_t k = 0; k < o.count && named(o.dtypes, ga_dtype_name((ga_dtype)dtype)); k++) {
            const shape s = draw_shape(&o, (int64_t)ga_dtype_size((ga_dtype)dtype), &at);
            time_shape(&o, (ga_dtype)dtype, &s);
        }
    }
    return 0;
}
