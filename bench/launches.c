/* What an operation on a small array costs the host, beside a raw launch. */
#include "overheads.h"

#include <quarry.h>

/* A batch is short enough that the device's queue never fills and makes the host wait. */
enum { BATCH = 200, BATCHES = 51, TRIPS = 301 };

typedef struct small {
    gpuarray *x, *y, *out;
    ga_kernel *linear, *add; /* `add` is a module's */
} small;

static void add_into(const small *s)
{
    ga_add_into(s->out, s->x, s->y);
}

static void add_allocated(const small *s)
{
    ga_free(ga_add(s->x, s->y));
}

static void run_kernel(const small *s)
{
    ga_run(s->linear, 5, s->x, 6, s->y, s->out);
}

static void launch_kernel(const small *s)
{
    ga_launch(s->add, GA_DIM(4), GA_DIM(256), s->out, s->x, s->y, 1024);
}

static void eval_into(const small *s)
{
    ga_eval_into(s->out, "sqrt(x*x + y*y)", GA_NAMED("x", s->x), GA_NAMED("y", s->y));
}

static double batch_us(void (*operation)(const small *), const small *s)
{
    ga_synchronize();
    const double start = now_us();
    for (int i = 0; i < BATCH; i++)
        operation(s);
    const double us = (now_us() - start) / BATCH;
    ga_synchronize();
    return us;
}

/* The operation and its limit in turns, so that both meet the same disturbances. */
static void bench_launch(report *r, const char *name, void (*operation)(const small *),
                         const small *s, double (*limit)(int count))
{
    double samples[BATCHES], limits[BATCHES];

    batch_us(operation, s);
    if (limit)
        limit(BATCH);
    for (int i = 0; i < BATCHES; i++) {
        samples[i] = batch_us(operation, s);
        limits[i] = limit ? limit(BATCH) : 0;
    }
    report_add(r, (result){.name = name,
                           .us = median(samples, BATCHES),
                           .limit_us = median(limits, BATCHES),
                           .wrong = ga_error() != GA_OK});
}

static void bench_round_trip(report *r, const char *name, double (*limit)(void))
{
    double samples[TRIPS], limits[TRIPS], sum = 0;
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(16));

    for (int i = -10; i < TRIPS; i++) {
        const double start = now_us();
        gpuarray *total = ga_sum(x);
        sum = ga_item_double(total);
        const double us = now_us() - start;
        ga_free(total);
        const double limit_us = limit ? limit() : 0;
        if (i >= 0) {
            samples[i] = us;
            limits[i] = limit_us;
        }
    }
    ga_free(x);
    report_add(r, (result){.name = name,
                           .us = median(samples, TRIPS),
                           .limit_us = median(limits, TRIPS),
                           .wrong = sum != 16});
}

/* The kernel of the raw launches. */
static const char *const add_source =
    "__global__ void add(float *out, const float *x, const float *y, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) out[i] = x[i] + y[i];\n"
    "}\n";

void bench_launches(report *r, const machine *m, wanted_case wanted)
{
    ga_module *module =
        wanted("host: ga_launch") ? ga_module_compile(add_source, .name = "add") : NULL;
    small s = {ga_ones(GA_FLOAT32, GA_SHAPE(1024)), ga_ones(GA_FLOAT32, GA_SHAPE(1024)),
               ga_empty(GA_FLOAT32, GA_SHAPE(1024)),
               ga_elementwise_kernel("float a, const float *x, float b, const float *y, float *z",
                                     "z[i] = a*x[i] + b*y[i]", "linear_combination"),
               module ? ga_module_kernel(module, "add") : NULL};

    if (wanted("host: add into out"))
        bench_launch(r, "host: add into out", add_into, &s, m->launch_us);
    if (wanted("host: add, allocated"))
        bench_launch(r, "host: add, allocated", add_allocated, &s, m->launch_pool_us);
    if (wanted("host: custom kernel"))
        bench_launch(r, "host: custom kernel", run_kernel, &s, m->launch_us);
    if (module)
        bench_launch(r, "host: ga_launch", launch_kernel, &s, m->launch_us);
    if (wanted("host: eval into out"))
        bench_launch(r, "host: eval into out", eval_into, &s, m->launch_us);
    if (wanted("host: sum of 16, read"))
        bench_round_trip(r, "host: sum of 16, read", m->round_trip_us);
    ga_free(s.x);
    ga_free(s.y);
    ga_free(s.out);
    ga_kernel_free(s.linear);
    ga_module_free(module);
}
