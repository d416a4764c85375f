/* Particles as structs: a custom kernel moves them, members are views, a reduction finds the box
 * that holds them, and those outside a sphere are dropped. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <quarry.h>

#define N 100000

typedef struct particle {
    float x, y, z, mass;
    float vx, vy, vz;
} particle;

typedef struct box {
    float least[3], most[3];
} box;

static const char particle_text[] = "struct particle { float x, y, z, mass, vx, vy, vz; };";

static const char box_text[] =
    "struct box { float least[3], most[3]; };\n"
    "__device__ box around(float x, float y, float z) { return {{x, y, z}, {x, y, z}}; }\n"
    "__device__ box both(box a, box b)\n"
    "{\n"
    "    for (int k = 0; k < 3; k++) {\n"
    "        a.least[k] = fminf(a.least[k], b.least[k]);\n"
    "        a.most[k] = fmaxf(a.most[k], b.most[k]);\n"
    "    }\n"
    "    return a;\n"
    "}\n";

static gpuarray *make_particles(ga_dtype dtype)
{
    particle *all = calloc(N, sizeof *all);
    const int64_t count = N;
    for (int k = 0; all && k < N; k++) {
        const float t = 0.001f * (float)k;
        all[k] = (particle){cosf(t), sinf(t), t / 100, 1, -sinf(t), cosf(t), 0.5f};
    }
    gpuarray *p = all ? ga_from_host(all, dtype, 1, &count) : NULL;
    free(all);
    return p;
}

/* How many of the particles that the program moved lie outside the box, or in the wrong place. */
static int check(gpuarray *p, const box *found)
{
    particle *all = calloc(N, sizeof *all);
    int wrong = !all || ga_to_host(p, all, N * sizeof *all) != GA_OK;
    for (int k = 0; !wrong && k < N; k++) {
        const float t = 0.001f * (float)k, x = cosf(t) - 0.1f * sinf(t);
        wrong += fabsf(all[k].x - x) > 1e-5f || all[k].x < found->least[0] ||
                 all[k].x > found->most[0] || all[k].z < found->least[2];
    }
    free(all);
    return wrong;
}

int main(void)
{
    const ga_dtype dtype = ga_struct_dtype("particle", sizeof(particle), particle_text);
    const ga_dtype box_dtype = ga_struct_dtype("box", sizeof(box), box_text);
    box found = {{0}, {0}};
    int64_t inside = 0;
    int wrong = 1;

    GA_SCOPE {
        gpuarray *p = make_particles(dtype);
        ga_kernel *drift = ga_elementwise_kernel(
            "particle *p, float dt",
            "p[i].x += dt * p[i].vx; p[i].y += dt * p[i].vy; p[i].z += dt * p[i].vz", "drift");
        ga_run(drift, p, 0.1);
        /* The neutral box holds nothing. */
        ga_kernel *bounds = ga_reduction_kernel(
            box_dtype, "box{{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}}",
            "both(a, b)", "around(p[i].x, p[i].y, p[i].z)", "const particle *p", "bounds");
        ga_to_host(ga_reduce(bounds, p), &found, sizeof found);

        gpuarray *z = ga_field(p, GA_FLOAT32, offsetof(particle, z));
        gpuarray *low = ga_compress(ga_less(z, 0.5), p);
        inside = ga_size(low);
        wrong = check(p, &found);
        ga_kernel_free(drift);
        ga_kernel_free(bounds);
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "particles: %s\n", ga_error_message());
        return 1;
    }
    printf("particles: box (%.3f, %.3f, %.3f) to (%.3f, %.3f, %.3f), %lld below z = 0.5%s\n",
           (double)found.least[0], (double)found.least[1], (double)found.least[2],
           (double)found.most[0], (double)found.most[1], (double)found.most[2], (long long)inside,
           wrong ? " WRONG" : "");
    return wrong || inside != 45000;
}
