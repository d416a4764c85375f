/* N bodies under their gravity: all pairs by broadcasting, leapfrog steps, constant memory. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

enum { BODIES = 100, STEPS = 100 };

static const double dt = 0.001;

/* The acceleration of each body. A softening of 0.1 keeps close encounters finite. */
static gpuarray *accelerations(const gpuarray *p, const gpuarray *mass)
{
    return ga_eval("d = p[None] - p[:, None];"
                   "r2 = sum(d * d, axis=2) + 0.01;"
                   "sum(d * (mass / (r2 * sqrt(r2)))[:, :, None], axis=1)",
                   GA(p), GA(mass));
}

static double energy(const gpuarray *p, const gpuarray *v, const gpuarray *mass)
{
    GA_SCOPED;
    gpuarray *moving = ga_eval("sum(mass * sum(v * v, axis=1)) / 2", GA(mass), GA(v));
    gpuarray *pulling = ga_eval("d = p[None] - p[:, None];"
                                "sum(mass[:, None] * mass / sqrt(sum(d * d, axis=2) + 0.01)) / 2",
                                GA(p), GA(mass));
    return ga_item_double(moving) - ga_item_double(pulling);
}

static void step(gpuarray *p, gpuarray *v, const gpuarray *mass)
{
    GA_SCOPED;
    ga_eval_into(p, "p + dt / 2 * v", GA(p), GA(v), GA(dt));
    gpuarray *a = accelerations(p, mass);
    ga_eval_into(v, "v + dt * a", GA(v), GA(a), GA(dt));
    ga_eval_into(p, "p + dt / 2 * v", GA(p), GA(v), GA(dt));
}

int main(void)
{
    double before = 0, after = 0, momentum = 0;

    GA_SCOPE {
        ga_rng *rng = ga_rng_new(3);
        gpuarray *p = ga_rng_standard_normal(rng, GA_FLOAT64, GA_SHAPE(BODIES, 3));
        gpuarray *v = ga_rng_standard_normal(rng, GA_FLOAT64, GA_SHAPE(BODIES, 3));
        gpuarray *mass = ga_rng_uniform(rng, GA_FLOAT64, 0.5, 1.5, GA_SHAPE(BODIES));
        ga_eval_into(v, "m = mass[:, None]; v - sum(m * v, axis=0) / sum(mass)", GA(v), GA(mass));
        ga_rng_free(rng);
        before = energy(p, v, mass);
        for (int i = 0; i < STEPS; i++)
            step(p, v, mass);
        after = energy(p, v, mass);
        momentum =
            ga_item_double(ga_eval("max(abs(sum(mass[:, None] * v, axis=0)))", GA(mass), GA(v)));
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "nbody: %s\n", ga_error_message());
        return 1;
    }
    const bool right = fabs(after / before - 1) < 1e-3 && momentum < 1e-9;
    printf("nbody: energy %.3f, then %.3f%s\n", before, after, right ? ": OK" : "");
    return !right;
}
