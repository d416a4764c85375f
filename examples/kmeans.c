/* k-means: points find their clusters by broadcasting distances and taking the nearest centre. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

enum { POINTS = 3000, CLUSTERS = 3, ROUNDS = 20 };

static const double wanted[CLUSTERS][2] = {{-4, 0}, {3, 3}, {2, -5}};

/* Three clouds of points, one after the other. */
static gpuarray *make_points(void)
{
    ga_rng *rng = ga_rng_new(7);
    gpuarray *p = ga_rng_standard_normal(rng, GA_FLOAT32, GA_SHAPE(POINTS, 2));
    gpuarray *centres = ga_from_host(wanted, GA_FLOAT64, GA_SHAPE(CLUSTERS, 2));
    gpuarray *clouds = ga_reshape(p, GA_SHAPE(CLUSTERS, POINTS / CLUSTERS, 2));

    ga_eval_into(clouds, "clouds + centres[:, None]", GA(clouds), GA(centres));
    ga_rng_free(rng);
    return p;
}

/* Moves the centres to the means of their points; returns how far the furthest one moves. */
static double step(gpuarray **centres, const gpuarray *p, const gpuarray *names)
{
    GA_SCOPED;
    gpuarray *c = *centres;
    gpuarray *nearest = ga_eval("argmin(sum((p[:, None] - c)**2, axis=2), 1)", GA(p), GA(c));
    gpuarray *moved = ga_eval("is_in = float32(nearest[:, None] == names);"
                              "total = sum(is_in[:, :, None] * p[:, None], axis=0);"
                              "total / maximum(sum(is_in, axis=0), 1)[:, None]",
                              GA(nearest), GA(names), GA(p));
    const double distance = ga_item_double(ga_eval("max(abs(moved - c))", GA(moved), GA(c)));

    ga_replace(centres, moved);
    return distance;
}

/* The distance from a wanted centre to the nearest one found. */
static double distance_to(const gpuarray *centres, int k)
{
    const double x = wanted[k][0], y = wanted[k][1];

    return ga_item_double(ga_eval("sqrt(min((c[:, 0] - x)**2 + (c[:, 1] - y)**2))",
                                  GA_NAMED("c", centres), GA(x), GA(y)));
}

int main(void)
{
    double worst = 0;
    int rounds = 0;

    GA_SCOPE {
        gpuarray *p = make_points(), *names = ga_arange(GA_INT64, 0, CLUSTERS, 1);
        gpuarray *centres = ga_copy(ga_slice(p, "::%d", POINTS / CLUSTERS));
        while (rounds < ROUNDS && step(&centres, p, names) > 1e-4)
            rounds++;
        for (int k = 0; k < CLUSTERS; k++)
            worst = fmax(worst, distance_to(centres, k));
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "kmeans: %s\n", ga_error_message());
        return 1;
    }
    const bool right = worst < 0.15 && rounds < ROUNDS;
    printf("kmeans: %d rounds, centres within %.3f%s\n", rounds, worst, right ? ": OK" : "");
    return !right;
}
