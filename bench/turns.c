/* Times reductions of two builds of the library in turns, each in a process of its own, so that a
 * neighbour's load meets both: quarry-turns OLD/libquarry.so NEW/libquarry.so. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quarry.h>

#include "machine.h"

enum { MOST_ROUNDS = 1000 };

/* What is called of a library. */
#define FUNCTIONS(F)                                                                               \
    F(ga_set_device)                                                                               \
    F(ga_linspace)                                                                                 \
    F(ga_nbytes)                                                                                   \
    F(ga_reshape)                                                                                  \
    F(ga_slice)                                                                                    \
    F(ga_free)                                                                                     \
    F(ga_sum)                                                                                      \
    F(ga_mean)                                                                                     \
    F(ga_var)                                                                                      \
    F(ga_max)                                                                                      \
    F(ga_dot)                                                                                      \
    F(ga_eval)                                                                                     \
    F(ga_reduction_kernel)                                                                         \
    F(ga_reduce)                                                                                   \
    F(ga_synchronize)                                                                              \
    F(ga_error_message)

typedef struct library {
#define MEMBER(name) __typeof__(name) *name##_;
    FUNCTIONS(MEMBER)
    gpuarray *whole, *x;
    ga_kernel *custom;
} library;

/* What a process is asked for: a number of calls of a row of n elements. Arrays stay until another
 * row. */
typedef struct request {
    int row, calls;
    int64_t n;
} request;

typedef struct answer {
    double us, bytes; /* of one call */
} answer;

typedef struct process {
    int to, from; /* pipes */
} process;

/* A reduction of `elements` together; a shape's 0 is what the other axes leave. */
typedef struct row {
    const char *name, *what; /* sum, mean, var, max, dot, custom, or an expression of x */
    ga_dtype dtype;
    int ndim;
    int64_t shape[3];
    const char *slice;
    int naxes, axes[2];
} row;

#define F32 GA_FLOAT32
#define F64 GA_FLOAT64
#define F16 GA_FLOAT16
#define C64 GA_COMPLEX64

static const row rows[] = {
    {"sum f32", "sum", F32, 1, {0}, "...", 0, {0}},
    {"sum f16", "sum", F16, 1, {0}, "...", 0, {0}},
    {"sum f64", "sum", F64, 1, {0}, "...", 0, {0}},
    {"sum c64", "sum", C64, 1, {0}, "...", 0, {0}},
    {"mean f32", "mean", F32, 1, {0}, "...", 0, {0}},
    {"var f32", "var", F32, 1, {0}, "...", 0, {0}},
    {"var f64", "var", F64, 1, {0}, "...", 0, {0}},
    {"dot f32", "dot", F32, 1, {0}, "...", 0, {0}},
    {"custom f32", "custom", F32, 1, {0}, "...", 0, {0}},
    {"eval sum((x-1)**2)", "sum((x-1)**2)", F32, 1, {0}, "...", 0, {0}},
    {"eval max(x)-mean(x)", "max(x)-mean(x)", F32, 1, {0}, "...", 0, {0}},
    {"max f32 (no sum)", "max", F32, 1, {0}, "...", 0, {0}},
    {"sum x[1:]", "sum", F32, 1, {0}, "1:", 0, {0}},
    {"sum x[::2]", "sum", F32, 1, {0}, "::2", 0, {0}},
    {"sum x[::-1]", "sum", F32, 1, {0}, "::-1", 0, {0}},
    {"sum (k,1000)[:,:900]", "sum", F32, 2, {0, 1000}, ":, :900", 0, {0}},
    {"sum (k,20)[:,:17]", "sum", F32, 2, {0, 20}, ":, :17", 0, {0}},
    {"sum axis 0 (1000,k)", "sum", F32, 2, {1000, 0}, "...", 1, {0}},
    {"sum axis 1 (1000,k)", "sum", F32, 2, {1000, 0}, "...", 1, {1}},
    {"sum axis 0 (k,4096)", "sum", F32, 2, {0, 4096}, "...", 1, {0}},
    {"sum axis 0 (k,1024)", "sum", F32, 2, {0, 1024}, "...", 1, {0}},
    {"sum axis 0 (k,256)", "sum", F32, 2, {0, 256}, "...", 1, {0}},
    {"sum axis 0 (k,33)", "sum", F32, 2, {0, 33}, "...", 1, {0}},
    {"sum axis 0 (k,4)", "sum", F32, 2, {0, 4}, "...", 1, {0}},
    {"sum axis 0 (k,1)", "sum", F32, 2, {0, 1}, "...", 1, {0}},
    {"sum axis 0 f16 (k,1024)", "sum", F16, 2, {0, 1024}, "...", 1, {0}},
    {"sum axis 0 f64 (k,1024)", "sum", F64, 2, {0, 1024}, "...", 1, {0}},
    {"sum axis 0 c64 (k,1024)", "sum", C64, 2, {0, 1024}, "...", 1, {0}},
    {"var axis 0 (k,1024)", "var", F32, 2, {0, 1024}, "...", 1, {0}},
    {"max axis 0 (k,1024)", "max", F32, 2, {0, 1024}, "...", 1, {0}},
    {"sum rows of 5", "sum", F32, 2, {0, 5}, "...", 1, {1}},
    {"sum rows of 33", "sum", F32, 2, {0, 33}, "...", 1, {1}},
    {"sum rows of 100", "sum", F32, 2, {0, 100}, "...", 1, {1}},
    {"sum rows of 1000", "sum", F32, 2, {0, 1000}, "...", 1, {1}},
    {"sum rows of 1025", "sum", F32, 2, {0, 1025}, "...", 1, {1}},
    {"sum rows of 3000", "sum", F32, 2, {0, 3000}, "...", 1, {1}},
    {"sum rows of 10000", "sum", F32, 2, {0, 10000}, "...", 1, {1}},
    {"sum rows of 1000 f16", "sum", F16, 2, {0, 1000}, "...", 1, {1}},
    {"sum rows of 1000 f64", "sum", F64, 2, {0, 1000}, "...", 1, {1}},
    {"var rows of 1000", "var", F32, 2, {0, 1000}, "...", 1, {1}},
    {"var rows of 3000", "var", F32, 2, {0, 3000}, "...", 1, {1}},
    {"sum middle (64,k,64)", "sum", F32, 3, {64, 0, 64}, "...", 1, {1}},
    {"sum middle (256,k,256)", "sum", F32, 3, {256, 0, 256}, "...", 1, {1}},
    {"sum ends (256,k,256)", "sum", F32, 3, {256, 0, 256}, "...", 2, {0, 2}},
    {"sum outer (k,64,64)", "sum", F32, 3, {0, 64, 64}, "...", 2, {0, 2}},
    {"sum outer (k,300,5)", "sum", F32, 3, {0, 300, 5}, "...", 2, {0, 2}},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static void stop(const char *what, const char *why)
{
    fprintf(stderr, "quarry-turns: %s: %s\n", what, why);
    exit(1);
}

static void open_side(library *side, const char *path, const char *device)
{
    void *opened = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!opened)
        stop(path, dlerror());
#define FIND(name)                                                                                 \
    *(void **)&side->name##_ = dlsym(opened, #name);                                               \
    if (!side->name##_)                                                                            \
        stop(path, dlerror());
    FUNCTIONS(FIND)
    if (device && side->ga_set_device_(device) != GA_OK)
        stop(device, side->ga_error_message_());
}

/* Only for its row: libraries of other versions may take other arguments. */
static ga_kernel *custom_kernel(const library *side)
{
    const ga_reduction_args args = {.dtype_out = GA_FLOAT32,
                                    .neutral = "0",
                                    .reduce_expr = "a+b",
                                    .map_expr = "x[i]",
                                    .arguments = "float *x",
                                    .name = "turns"};
    return side->ga_reduction_kernel_(sizeof args, &args);
}

static gpuarray *reduced(const library *side, const row *r)
{
    const ga_reduce_args args = {.x = side->x, .naxes = r->naxes, .axes = r->axes};
    const ga_value value = ga_value_array(side->x);
    if (strcmp(r->what, "sum") == 0)
        return side->ga_sum_(sizeof args, &args);
    if (strcmp(r->what, "mean") == 0)
        return side->ga_mean_(sizeof args, &args);
    if (strcmp(r->what, "var") == 0)
        return side->ga_var_(sizeof args, &args);
    if (strcmp(r->what, "max") == 0)
        return side->ga_max_(sizeof args, &args);
    if (strcmp(r->what, "dot") == 0)
        return side->ga_dot_(sizeof(ga_product_args),
                             &(ga_product_args){.a = side->x, .b = side->x});
    if (strcmp(r->what, "custom") == 0)
        return side->ga_reduce_(side->custom, 1, &value);
    return side->ga_eval_(r->what, 1, &(ga_named){"x", value});
}

/* Microseconds of one of `calls`, which are waited for together. */
static double time_of(const library *side, const row *r, int calls)
{
    const double start = now_us();
    for (int k = 0; k < calls; k++) {
        gpuarray *result = reduced(side, r);
        if (!result)
            stop(r->name, side->ga_error_message_());
        side->ga_free_(result);
    }
    if (side->ga_synchronize_() != GA_OK)
        stop(r->name, side->ga_error_message_());
    return (now_us() - start) / calls;
}

static void set_arrays(library *side, const row *r, int64_t n)
{
    int64_t shape[3], others = 1, size = 1;
    for (int k = 0; k < r->ndim; k++)
        others *= r->shape[k] ? r->shape[k] : 1;
    for (int k = 0; k < r->ndim; k++)
        size *= shape[k] = r->shape[k] ? r->shape[k] : n / others > 0 ? n / others : 1;
    side->ga_free_(side->x);
    side->ga_free_(side->whole);
    gpuarray *line = side->ga_linspace_(r->dtype, 0.1, 1, size);
    side->whole = line ? side->ga_reshape_(line, r->ndim, shape) : NULL;
    side->x = side->whole ? side->ga_slice_(side->whole, "%s", r->slice) : NULL;
    side->ga_free_(line);
    if (!side->custom && strcmp(r->what, "custom") == 0)
        side->custom = custom_kernel(side);
    if (!side->x)
        stop(r->name, side->ga_error_message_());
}

/* A process: answers requests until there are no more. */
static void serve(process p, const char *path, const char *device)
{
    library side = {0};
    request wanted, last = {-1, 0, 0};
    open_side(&side, path, device);
    while (read(p.from, &wanted, sizeof wanted) == sizeof wanted) {
        const row *r = &rows[wanted.row];
        if (wanted.row != last.row || wanted.n != last.n)
            set_arrays(&side, r, wanted.n);
        last = wanted;
        time_of(&side, r, 1);
        const answer a = {time_of(&side, r, wanted.calls), (double)side.ga_nbytes_(side.whole)};
        if (write(p.to, &a, sizeof a) != sizeof a)
            break;
    }
    exit(0);
}

static process start(const char *path, const char *device)
{
    int there[2], back[2];
    if (pipe(there) != 0 || pipe(back) != 0)
        stop(path, "no pipes");
    const pid_t pid = fork();
    if (pid < 0)
        stop(path, "cannot fork");
    if (pid == 0) {
        close(there[1]);
        close(back[0]);
        serve((process){.to = back[1], .from = there[0]}, path, device);
    }
    close(there[0]);
    close(back[1]);
    return (process){.to = there[1], .from = back[0]};
}

static answer ask(process p, int number, int64_t n, int calls)
{
    const request r = {number, calls, n};
    answer a;
    if (write(p.to, &r, sizeof r) != sizeof r || read(p.from, &a, sizeof a) != sizeof a)
        exit(1); /* it has said why */
    return a;
}

/* Least and median of each side. */
static void run_row(const process *sides, int number, int64_t n, int rounds, double batch_us)
{
    static double times[2][MOST_ROUNDS];
    double least[2] = {1e30, 1e30};
    const answer once = ask(sides[0], number, n, 2), others = ask(sides[1], number, n, 2);
    const int calls = (int)(batch_us / (once.us < others.us ? once.us : others.us)) + 1;
    for (int round = 0; round < rounds; round++)
        for (int turn = 0; turn < 2; turn++) {
            const int side = (round + turn) % 2;
            const double t = ask(sides[side], number, n, calls).us;
            times[side][round] = t;
            least[side] = t < least[side] ? t : least[side];
        }
    const double old = median(times[0], rounds), new = median(times[1], rounds);
    printf("| %-24s | %10lld | %10.2f | %10.2f | %6.3f | %6.3f | %7.1f |\n", rows[number].name,
           (long long)n, least[0], least[1], least[1] / least[0], new / old,
           once.bytes / least[1] / 1e3);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *device = NULL, *wanted = "", *sizes = "268435456";
    int rounds = 30;
    double batch_us = 2000;
    for (int k = 3; k + 1 < argc; k += 2) {
        if (strcmp(argv[k], "--device") == 0)
            device = argv[k + 1];
        else if (strcmp(argv[k], "--n") == 0)
            sizes = argv[k + 1];
        else if (strcmp(argv[k], "--cases") == 0)
            wanted = argv[k + 1];
        else if (strcmp(argv[k], "--rounds") == 0)
            rounds = atoi(argv[k + 1]) < MOST_ROUNDS ? atoi(argv[k + 1]) : MOST_ROUNDS;
        else if (strcmp(argv[k], "--batch") == 0)
            batch_us = atof(argv[k + 1]);
        else
            argc = 0;
    }
    if (argc < 3) {
        fprintf(stderr, "usage: quarry-turns OLD.so NEW.so [--device NAME] [--n SIZE,...] "
                        "[--cases TEXT] [--rounds N] [--batch MICROSECONDS]\n");
        return 2;
    }
    const process sides[] = {start(argv[1], device), start(argv[2], device)};
    puts("| case | n | old us | new us | least new/old | median new/old | new GB/s |\n"
         "|---|---|---|---|---|---|---|");
    for (const char *at = sizes; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        for (int k = 0; k < ROWS; k++)
            if (strstr(rows[k].name, wanted))
                run_row(sides, k, strtoll(at, NULL, 10), rounds, batch_us);
    return 0;
}
