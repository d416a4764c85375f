/* Loops that run in constant memory, and the place of an error: parts of program.c. */
#ifndef SURFACE_LOOPS_H
#define SURFACE_LOOPS_H

#include <string.h>

enum { ELEMENTS = 1 << 16, ROUNDS = 40 };

static size_t most_used;

static size_t used(void)
{
    ga_memory_stats stats;
    return ga_memory_info(NULL, &stats) == GA_OK ? stats.used : 0;
}

static void note_use(void)
{
    const size_t now = used();
    most_used = now > most_used ? now : most_used;
}

/* Runs the body ROUNDS times on an array v; three arrays beside it at most are alive. */
#define LOOP(text, ...)                                                                            \
    do {                                                                                           \
        const size_t before = used();                                                              \
        most_used = before;                                                                        \
        ga_scope_begin();                                                                          \
        gpuarray *v = ga_ones(GA_FLOAT32, GA_SHAPE(ELEMENTS));                                     \
        for (int turn = 0; turn < ROUNDS; turn++) {                                                \
            __VA_ARGS__                                                                            \
            note_use();                                                                            \
        }                                                                                          \
        NUMBER("True", v != NULL);                                                                 \
        ga_scope_end();                                                                            \
        show_("True", text " leaves nothing", ga_scalar(GA_BOOL, used() == before), __LINE__);     \
        show_("True", text " in constant memory",                                                  \
              ga_scalar(GA_BOOL, most_used - before <= 5 * sizeof(float) * ELEMENTS), __LINE__);   \
    } while (0)

static void loops(void)
{
    LOOP("replace", ga_replace(&v, ga_add(v, 1)););
    LOOP("into", ga_add_into(v, v, 1););
    LOOP("a formula", ga_replace(&v, ga_eval("t = v - mean(v); t / (1 + std(t))", GA(v))););
    LOOP("eval_into", ga_eval_into(v, "v*0.5 + 1", GA(v)););
    LOOP("a scope", GA_SCOPED; gpuarray *half = ga_multiply(v, 0.5);
         ga_replace(&v, ga_keep(ga_add(v, half))););
    LOOP("a scope that break leaves", GA_SCOPED; gpuarray *half = ga_multiply(v, 0.5);
         ga_replace(&v, ga_add(v, half)); if (turn == ROUNDS / 2) break;);
    LOOP("a scope that continue leaves", GA_SCOPED; gpuarray *sine = ga_sin(v); note_use();
         if (turn % 2) continue; ga_replace(&v, sine););
    LOOP(
        "a block", GA_SCOPE { ga_replace(&v, ga_sqrt(ga_add(v, 1))); });
    LOOP("a sort", GA_SCOPED; ga_replace(&v, ga_take(v, ga_argsort(v))););
    LOOP("a mask", GA_SCOPED; ga_index_set(v, 1, ga_greater(v, 0.5)););
    LOOP("a join", GA_SCOPED;
         ga_replace(&v, ga_concatenate(GA_ARRAYS(ga_slice(v, "1:"), ga_slice(v, ":1")))););
}

static int handled_line;

static void handle(ga_status status, const char *message, const char *file, int line, void *user)
{
    (void)status, (void)message, (void)file;
    handled_line = line;
    *GA_CAST_(int *, user) += 1;
}

/* The first error keeps its place, whatever follows. */
static void places_of_errors(void)
{
    int errors = 0;
    ga_set_error_handler(handle, &errors);
    const int line = __LINE__ + 1;
    gpuarray *none = ga_add(ga_zeros(GA_FLOAT32, GA_SHAPE(3)), ga_zeros(GA_FLOAT32, GA_SHAPE(4)));
    none = ga_sum(ga_sqrt(none));
    const int64_t length = ga_length(none, 0);
    const char *file = ga_error_file();
    const bool placed = GA_CALL_SITES ? file && strstr(file, "loops.h") && ga_error_line() == line
                                      : !file && ga_error_line() == 0;
    const bool told = strcmp(ga_error_message(), "add: shapes (3,) and (4,) do not broadcast") == 0;
    ga_set_error_handler(NULL, NULL);
    ga_clear_error();
    NUMBER("True", placed && handled_line == (GA_CALL_SITES ? line : 0));
    NUMBER("True", told && errors == 1 && length == 0);
}

#endif
