/* Heat spreads over a plate: a graph of one time step is launched a thousand times. */
#include <stdio.h>

#include <quarry.h>

enum { N = 256, STEPS = 1000 };

int main(void)
{
    double heat = 0.0, hottest = 0.0;

    GA_SCOPE {
        gpuarray *u = ga_zeros(GA_FLOAT64, GA_SHAPE(N, N));
        gpuarray *middle = ga_slice(u, "1:-1, 1:-1");
        ga_assign(ga_slice(u, "%d, %d", N / 2, N / 2), 1000.0);

        ga_graph *step;
        GA_GRAPH(step)
        GA_SCOPE { /* du/dt = laplacian of u, by the five-point stencil */
            gpuarray *n = ga_slice(u, ":-2, 1:-1"), *s = ga_slice(u, "2:, 1:-1");
            gpuarray *w = ga_slice(u, "1:-1, :-2"), *e = ga_slice(u, "1:-1, 2:");
            ga_eval_into(middle, "middle + 0.2 * (n + s + w + e - 4*middle)", GA(middle), GA(n),
                         GA(s), GA(w), GA(e));
        }
        for (int i = 0; i < STEPS; i++)
            ga_graph_launch(step);
        ga_graph_free(step);

        heat = ga_item_double(ga_sum(u));
        hottest = ga_item_double(ga_max(u));
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "heat: %s\n", ga_error_message());
        return 1;
    }

    /* At time t = 0.2 * STEPS the centre of a point source has 1000 / (4 pi t): 0.398. */
    const bool right = heat > 999.0 && heat < 1000.0 + 1e-9 && hottest > 0.39 && hottest < 0.41;
    printf("heat: %.4f in all, %.4f at most%s\n", heat, hottest, right ? ": OK" : "");
    return !right;
}
