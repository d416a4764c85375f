/* k-means: each point finds the nearest centre by broadcasting; a scatter-add sums the points of a
 * cluster, and its centre moves to their mean. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

enum { POINTS = 1000, CLUSTERS = 3, ROUNDS = 50 };

/* NumPy's figures (numpy/kmeans.py): each cluster's points, and its centre. */
static const double wanted[CLUSTERS][3] = {
    {1000, 2.998998, 2.999763}, {999, -4.006672, 0.001932}, {1001, 1.995161, -4.997666}};

/* Three clouds of points, in which they lie as a sunflower's seeds. */
static gpuarray *make_points(void)
{
    gpuarray *seed = ga_arange(GA_FLOAT64, 0, POINTS, 1), *turn = ga_multiply(seed, 2.399963);
    gpuarray *radius = ga_multiply(ga_sqrt(ga_divide(seed, POINTS)), 4);
    gpuarray *x = ga_multiply(radius, ga_cos(turn)), *y = ga_multiply(radius, ga_sin(turn));
    gpuarray *mid = ga_from_host(((double[]){-4, 0, 3, 3, 2, -5}), GA_FLOAT64, GA_SHAPE(3, 1, 2));
    return ga_reshape(ga_add(mid, ga_stack(GA_ARRAYS(x, y), GA_AXIS(-1))), GA_SHAPE(-1, 2));
}

int main(void)
{
    bool right = true;
    int rounds = 0;
    GA_SCOPE {
        gpuarray *p = make_points(), *moved = ga_slice(p, ":%d", CLUSTERS), *count = NULL;
        for (double move = 1; rounds < ROUNDS && move > 1e-9; rounds++) {
            gpuarray *c = moved;
            gpuarray *nearest =
                ga_eval("argmin(sum((p[:, None] - c)**2, axis=2), 1)", GA(p), GA(c));
            gpuarray *total = ga_zeros(GA_FLOAT64, GA_SHAPE(CLUSTERS, 2));
            ga_index_add(total, p, nearest);
            count = ga_bincount(nearest, .minlength = CLUSTERS);
            moved = ga_eval("total / maximum(count, 1)[:, None]", GA(total), GA(count));
            move = ga_item_double(ga_eval("max(abs(moved - c))", GA(moved), GA(c)));
        }
        printf("%d rounds\n", rounds);
        for (int k = 0; k < CLUSTERS; k++) {
            const double found[] = {ga_item_double(count, k), ga_item_double(moved, k, 0),
                                    ga_item_double(moved, k, 1)};
            printf("%4.0f points around %9.6f %9.6f\n", found[0], found[1], found[2]);
            for (int j = 0; j < 3; j++)
                right = right && fabs(found[j] - wanted[k][j]) < 1e-6;
        }
    }
    return right && ga_error() == GA_OK ? 0 : 1;
}
