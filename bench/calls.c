/* quarry-calls times the calls of calls.def on arrays from files, as often as its input asks;
 * map/calls.py times those of other libraries in turns with them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "machine.h"

/* What the input names: `load FOLDER` replaces the arrays, `time NAME CALLS` times a call. */
#define ARRAYS(A)                                                                                  \
    A(x)                                                                                           \
    A(y)                                                                                           \
    A(m)                                                                                           \
    A(row)                                                                                         \
    A(column)                                                                                      \
    A(out)                                                                                         \
    A(order)                                                                                       \
    A(some_rows)                                                                                   \
    A(some_columns)                                                                                \
    A(places)                                                                                      \
    A(mask)                                                                                        \
    A(none)                                                                                        \
    A(low)                                                                                         \
    A(high)                                                                                        \
    A(points)                                                                                      \
    A(ascending)                                                                                   \
    A(few)                                                                                         \
    A(table)                                                                                       \
    A(shares)                                                                                      \
    A(rare)                                                                                        \
    A(narrow)                                                                                      \
    A(wide)                                                                                        \
    A(sums)                                                                                        \
    A(square)                                                                                      \
    A(stack)

#define DECLARE(name) static gpuarray *name;
ARRAYS(DECLARE)
static gpuarray *turned, *flipped;
static int64_t n;

static void check(bool good, const char *what)
{
    if (!good) {
        fprintf(stderr, "quarry-calls: %s: %s\n", what, ga_error_message());
        exit(1);
    }
}

/* ---- Calls with other results than an array ---- */

static gpuarray *top(const gpuarray *values)
{
    gpuarray *greatest = NULL;
    ga_topk(values, 100, &greatest, NULL);
    return greatest;
}

static gpuarray *counts_of(const gpuarray *values)
{
    gpuarray *counts = NULL, *edges = NULL;
    ga_histogram(values, 50, &counts, &edges);
    ga_free(edges);
    return counts;
}

static gpuarray *counts_from_0_to_1(const gpuarray *values)
{
    gpuarray *counts = NULL;
    ga_histogram(values, 256, &counts, (gpuarray **)NULL, .range = {0, 1});
    return counts;
}

static gpuarray *add_in(gpuarray *to, const gpuarray *indices, const gpuarray *values)
{
    return ga_index_add(to, values, indices) == GA_OK ? ga_retain(to) : NULL;
}

static gpuarray *put_in(gpuarray *to, const gpuarray *indices, const gpuarray *values)
{
    return ga_put(to, indices, values) == GA_OK ? ga_retain(to) : NULL;
}

/* ---- The table ---- */

#define GA_CALL(name, kinds, call, numpy)                                                          \
    static gpuarray *call_##name(void)                                                             \
    {                                                                                              \
        return call;                                                                               \
    }
#include "calls.def"
#undef GA_CALL

static const struct {
    const char *name, *kinds, *numpy;
    gpuarray *(*run)(void);
} calls[] = {
#define GA_CALL(name, kinds, call, numpy) {#name, kinds, numpy, call_##name},
#include "calls.def"
#undef GA_CALL
};
enum { CALLS = sizeof calls / sizeof *calls };

static gpuarray *loaded(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    gpuarray *array = ga_load(path);
    check(array != NULL, path);
    return array;
}

static void load(const char *folder)
{
    ga_free(turned);
    ga_free(flipped);
#define LOAD(name)                                                                                 \
    ga_free(name);                                                                                 \
    name = loaded(folder, #name);
    ARRAYS(LOAD)
    n = ga_size(x);
    turned = ga_transpose(m);
    flipped = ga_slice(x, "::-1");
    check(turned && flipped, "views");
}

/* Microseconds of one of `times` calls. */
static double time_us(int call, int times)
{
    const double start = now_us();
    for (int k = 0; k < times; k++) {
        gpuarray *result = calls[call].run();
        check(result != NULL, calls[call].name);
        ga_free(result);
    }
    check(ga_synchronize() == GA_OK, calls[call].name);
    return (now_us() - start) / times;
}

static int named(const char *name)
{
    for (int k = 0; k < CALLS; k++)
        if (strcmp(calls[k].name, name) == 0)
            return k;
    check(false, name);
    return 0;
}

/* quarry-calls --list, or quarry-calls DEVICE. */
int main(int argc, char **argv)
{
    char line[4200], word[4096];
    int times;

    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        for (int k = 0; k < CALLS; k++)
            printf("%s\t%s\t%s\n", calls[k].name, calls[k].kinds, calls[k].numpy);
    } else {
        check(ga_set_device(argc == 2 ? argv[1] : "cpu") == GA_OK, "the device");
        while (fgets(line, sizeof line, stdin)) {
            if (sscanf(line, "load %4095s", word) == 1) {
                load(word);
                puts("loaded");
            } else if (sscanf(line, "time %4095s %d", word, &times) == 2)
                printf("%.4f\n", time_us(named(word), times));
            fflush(stdout);
        }
    }
    return 0;
}
