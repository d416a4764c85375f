/* quarry-bench: times Quarry's operations beside the machine's own limits, in one run and one
 * table. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "overheads.h"
#include "report.h"

enum { MAX_SETS = 8, BATCH = 100 /* calls */, BATCH_US = 20000 };

static const char usage[] =
    "usage: quarry-bench [--json FILE] [--cases NAME,...] [--n N] [--list | --turns]\n"
    "  --json FILE      writes the results as JSON too\n"
    "  --cases NAME,... only cases whose name contains one of these\n"
    "  --n N            2^N elements, or N of them when N is 65536 or more\n"
    "                   (default: 2^28 on CUDA, 10^7 on the host)\n"
    "  --list           prints the names of the cases over large arrays\n"
    "  --turns          prints the name of each of these, and times as many runs as a line of the\n"
    "                   standard input says, until a line says 0; bench/turns.py drives it\n"
    "QUARRY_DEVICE chooses the device.\n";

typedef struct options {
    const char *json;
    int64_t n;               /* 0: the machine's default */
    const char *first_calls; /* this process is the child, which finds texts there */
    bool list, turns;
} options;

static const char *cases_wanted;

static bool wanted(const char *name)
{
    const char *part = cases_wanted;

    while (part && *part) {
        const size_t length = strcspn(part, ",");
        for (const char *at = name; length && strlen(at) >= length; at++)
            if (strncmp(at, part, length) == 0)
                return true;
        part += length + (part[length] == ',');
    }
    return !cases_wanted;
}

/* ---- Cases over large arrays ---- */

typedef struct timed_run {
    const bench_case *c;
    workload *w;
    ga_status status;
} timed_run;

static void run_once(void *context)
{
    timed_run *t = context;

    t->status = t->c->run(t->w);
    if (strcmp(t->w->machine->name, "cpu") == 0)
        ga_synchronize();
}

/* Whether the time is the caller's. */
static bool is_call(const bench_case *c)
{
    return strncmp(c->name, "call: ", 6) == 0;
}

/* The caller's time for one of `count` calls and their end. */
static double calls_us(timed_run *t, int count)
{
    ga_synchronize();
    const double start = now_us();
    for (int i = 0; i < count && t->status == GA_OK; i++)
        t->status = t->c->run(t->w);
    ga_synchronize();
    return (now_us() - start) / count;
}

/* For one of many calls: of as many as take BATCH_US, at most BATCH. */
static double call_us(timed_run *t)
{
    const double count = BATCH_US / calls_us(t, 1);

    return calls_us(t, count < 1 ? 1 : count < BATCH ? (int)count : BATCH);
}

/* The bytes that a run takes besides its inputs and its result, which exists. A ballast raises the
 * memory in use to its maximum so far, so that the run sets a new one. */
static double temporary_bytes(workload *w, const bench_case *c)
{
    timed_run t = {c, w, GA_OK};
    ga_memory_stats before, after;

    ga_memory_info(NULL, &before);
    gpuarray *ballast = ga_empty(GA_UINT8, GA_SHAPE((int64_t)(before.peak - before.used)));
    ga_memory_info(NULL, &before);
    run_once(&t);
    ga_memory_info(NULL, &after);
    ga_free(ballast);
    ga_memory_trim(NULL);
    return (double)(after.peak - before.used);
}

/* As many sets of inputs as it takes to leave the cache before one comes round again. */
static int make_sets(workload *sets, const bench_case *c, const machine *m, int64_t n)
{
    int count = 0, wanted_sets = 2;

    while (count < wanted_sets) {
        sets[count] = (workload){.machine = m, .n = n, .seed = 1000u + 10u * (uint32_t)count};
        count++;
        if (!c->setup(&sets[count - 1], c))
            return -count;
        const double bytes = c->bytes * (double)ga_size(sets[0].x);
        const double sets_needed = 4.0 * (double)m->cache_bytes() / bytes;
        wanted_sets = sets_needed > MAX_SETS ? MAX_SETS
                      : sets_needed > 2      ? (int)(sets_needed + 1)
                                             : 2;
    }
    return count;
}

/* Warms up, poisons the outputs, times the case and its limit in turns, and checks every output. */
static bool time_sets(workload *sets, int count, const bench_case *c, const machine *m,
                      double bytes, double *us, double *limit_gbps)
{
    double samples[SAMPLES + MAX_SETS], limits[SAMPLES + MAX_SETS];
    const int runs = (SAMPLES + count - 1) / count * count;
    bool right = true;

    for (int i = 0; i < count; i++) {
        timed_run t = {c, &sets[i], GA_OK};
        run_once(&t);
        right = right && t.status == GA_OK;
    }
    for (int i = 0; i < count && right; i++)
        m->poison(ga_data(sets[i].out), ga_nbytes(sets[i].out));
    for (int i = 0; i < runs && right; i++) {
        timed_run t = {c, &sets[i % count], GA_OK};
        limits[i] = c->limit < LIMIT_COUNT ? m->bandwidth_again(c->limit, bytes) : 0;
        samples[i] = is_call(c) ? call_us(&t) : m->time_us(run_once, &t);
        right = t.status == GA_OK;
    }
    for (int i = 0; i < count && right; i++)
        right = workload_check(&sets[i], c);
    *us = right ? median(samples, runs) : 0;
    *limit_gbps = right ? median(limits, runs) : 0;
    return right;
}

/* The cases of both tables; NULL at the end. */
static const bench_case *nth_case(int i)
{
    return i < bench_case_count                      ? &bench_cases[i]
           : i < bench_case_count + order_case_count ? &order_cases[i - bench_case_count]
                                                     : NULL;
}

static void bench_large(report *r, const machine *m, const bench_case *c)
{
    workload sets[MAX_SETS];
    double us = 0, limit_gbps = 0;
    const int made = make_sets(sets, c, m, r->n);
    const double bytes = made > 0 ? c->bytes * (double)ga_size(sets[0].x) : 0;
    const bool right = made > 0 && time_sets(sets, made, c, m, bytes, &us, &limit_gbps);
    const double most = right && !is_call(c) ? order_temporary(c) * (double)ga_size(sets[0].x) : 0;
    const double temporary = most > 0 ? temporary_bytes(&sets[0], c) : 0;

    if (ga_error() != GA_OK)
        fprintf(stderr, "quarry-bench: %s: %s\n", c->name, ga_error_message());
    ga_clear_error();
    for (int i = 0; i < abs(made); i++)
        workload_reset(&sets[i]);
    report_add(r, (result){.name = c->name,
                           .us = us,
                           .gbps = limit_gbps > 0 ? bytes / us / 1e3 : 0,
                           .limit_us = limit_gbps > 0 ? bytes / limit_gbps / 1e3 : 0,
                           .wrong = !right,
                           .temporary = temporary,
                           .temporary_most = most});
}

/* ---- One case whenever it is asked for ---- */

/* The least time of some runs, in microseconds; negative when one fails. `*next` set comes first.
 */
static double least_us(workload *sets, int count, const bench_case *c, const machine *m, int runs,
                       int *next)
{
    double least = HUGE_VAL;

    for (int i = 0; i < runs; i++) {
        timed_run t = {c, &sets[(*next)++ % count], GA_OK};
        const double us = m->time_us(run_once, &t);
        if (t.status != GA_OK)
            return -1;
        least = us < least ? us : least;
    }
    return least;
}

/* Answers each line with a time; false when a run fails. */
static bool answer(workload *sets, int count, const bench_case *c, const machine *m)
{
    char line[32];
    int next = 0;

    if (least_us(sets, count, c, m, count, &next) < 0) /* touches every page */
        return false;
    printf("%s\n", c->name);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin) && atoi(line) > 0) {
        const double us = least_us(sets, count, c, m, atoi(line), &next);
        printf("%.3f\n", us);
        fflush(stdout);
        if (us < 0)
            return false;
    }
    return true;
}

static bool take_turns(int64_t n, const machine *m, const bench_case *c)
{
    workload sets[MAX_SETS];
    const int made = make_sets(sets, c, m, n);
    const bool right = made > 0 && answer(sets, made, c, m);

    if (!right)
        fprintf(stderr, "quarry-bench: %s: %s\n", c->name, ga_error_message());
    for (int i = 0; i < abs(made); i++)
        workload_reset(&sets[i]);
    return right;
}

static int bench_turns(int64_t n, const machine *m)
{
    for (int i = 0; nth_case(i); i++)
        if (wanted(nth_case(i)->name) && !take_turns(n, m, nth_case(i)))
            return 1;
    return 0;
}

/* ---- The run ---- */

/* The limits' own arrays, kept for the whole run. */
static gpuarray *limit_out, *limit_x, *limit_y;

static bool measure_limits(report *r, const machine *m)
{
    /* Past the cache, unless so small a run is no measurement anyway. */
    const int64_t least = r->n < 1 << 20 ? 0 : (int64_t)m->cache_bytes() / 2;
    const int64_t n = (r->n > least ? r->n : least) & ~(int64_t)15;

    limit_x = ga_empty(GA_FLOAT32, GA_SHAPE(n));
    limit_y = ga_empty(GA_FLOAT32, GA_SHAPE(n));
    limit_out = ga_empty(GA_FLOAT32, GA_SHAPE(n));
    if (!limit_x || !limit_y || !limit_out)
        return false;
    m->fill(ga_data(limit_x), RANDOM_F32, n, 1);
    m->fill(ga_data(limit_y), RANDOM_F32, n, 2);
    for (int i = 0; i < LIMIT_COUNT; i++)
        r->limits[i] = m->bandwidth((limit_kind)i, ga_data(limit_out), ga_data(limit_x),
                                    ga_data(limit_y), 4 * (size_t)n);
    return true;
}

static void free_limits(void)
{
    ga_free(limit_out);
    ga_free(limit_x);
    ga_free(limit_y);
}

static const machine *machine_of(const char *device)
{
#ifdef BENCH_CUDA
    if (strncmp(device, "cuda", 4) == 0)
        return &cuda_machine;
#endif
    return strcmp(device, "cpu") == 0 ? &host_machine : NULL;
}

static int count_wrong(const report *r)
{
    int wrong = 0;

    for (int i = 0; i < r->count; i++)
        wrong += r->results[i].wrong;
    return wrong;
}

/* The path of this executable; "" when the system does not say. */
static const char *own_path(void)
{
    static char path[1000];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);

    path[length > 0 ? length : 0] = '\0';
    return path;
}

static int bench(const options *o)
{
    static report r;
    const char *device = ga_current_device();
    const machine *m = device ? machine_of(device) : NULL;

    if (!m || !m->open()) {
        fprintf(stderr, "quarry-bench: no way to measure on %s: %s\n",
                device ? device : "this device", ga_error_message());
        return 1;
    }
    r.device = device;
    r.json = o->json;
    r.description = ga_device_name(NULL);
    r.n = o->n ? o->n : m->default_n;
    if (o->turns)
        return bench_turns(r.n, m);
    if (!measure_limits(&r, m)) {
        fprintf(stderr, "quarry-bench: %s\n", ga_error_message());
        free_limits();
        return 1;
    }
    report_limits(&r);
    for (int i = 0; nth_case(i); i++)
        if (wanted(nth_case(i)->name))
            bench_large(&r, m, nth_case(i));
    free_limits();
    bench_launches(&r, m, wanted);
    bench_streams(&r, wanted);
    bench_first_calls(&r, wanted, own_path());
    if (r.json && !report_json(&r)) {
        fprintf(stderr, "quarry-bench: cannot write %s: %s\n", r.json, strerror(errno));
        return 1;
    }
    return count_wrong(&r) != 0;
}

/* Elements by their number or its logarithm; negative when it is out of range. */
static int64_t count_of(const char *text)
{
    const int64_t number = atoll(text);

    if (number >= 16 && number <= 36)
        return (int64_t)1 << number;
    return number >= 65536 && number <= (int64_t)1 << 36 ? number : -1;
}

static bool parse(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        const bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--list") == 0)
            o->list = true;
        else if (strcmp(argv[i], "--turns") == 0)
            o->turns = true;
        else if (strcmp(argv[i], "--first-calls") == 0 && has_value)
            o->first_calls = argv[++i];
        else if (strcmp(argv[i], "--json") == 0 && has_value)
            o->json = argv[++i];
        else if (strcmp(argv[i], "--cases") == 0 && has_value)
            cases_wanted = argv[++i];
        else if (strcmp(argv[i], "--n") == 0 && has_value)
            o->n = count_of(argv[++i]);
        else
            return false;
    }
    return o->n >= 0;
}

int main(int argc, char **argv)
{
    options o = {0};

    if (!parse(argc, argv, &o)) {
        fputs(usage, stderr);
        return 2;
    }
    if (o.first_calls) {
        const machine *m = ga_current_device() ? machine_of(ga_current_device()) : NULL;
        return m ? bench_first_calls_child(m, o.first_calls) : 1;
    }
    for (int i = 0; o.list && nth_case(i); i++)
        puts(nth_case(i)->name);
    return o.list ? 0 : bench(&o);
}
