/* Linear regression by the normal equations, solved by conjugate gradients: the coefficients that
 * numpy.linalg.lstsq finds. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

enum { SAMPLES = 1000, FEATURES = 5 };

/* x' x c = x' y. The matrix has few rows, so the method ends after as many steps. */
static gpuarray *solve(const gpuarray *x, const gpuarray *y)
{
    const gpuarray *gram = ga_matmul(ga_transpose(x), x);
    gpuarray *rest = ga_matmul(ga_transpose(x), y), *way = ga_copy(rest),
             *c = ga_zeros(GA_FLOAT64, GA_SHAPE(FEATURES));
    double norm = ga_item_double(ga_dot(rest, rest));
    for (int step = 0; step < 2 * FEATURES && norm > 1e-24; step++) {
        const gpuarray *image = ga_matvec(gram, way);
        const double alpha = norm / ga_item_double(ga_dot(way, image));
        c = ga_eval("c + alpha * way", GA(c), GA(alpha), GA(way));
        rest = ga_eval("rest - alpha * image", GA(rest), GA(alpha), GA(image));
        const double before = norm;
        norm = ga_item_double(ga_dot(rest, rest));
        const double beta = norm / before;
        way = ga_eval("rest + beta * way", GA(rest), GA(beta), GA(way));
    }
    return c;
}

int main(void)
{
    static const double expected[FEATURES] = {-0.0248005591564995, 0.370717001215167,
                                              1.04805945410898, -0.175151618224359,
                                              -0.370844678452879};
    double found[FEATURES] = {0}, worst = 0;
    GA_SCOPE {
        gpuarray *k = ga_arange(GA_FLOAT64, 0, SAMPLES * FEATURES, 1);
        gpuarray *x = ga_reshape(ga_eval("sin(k * k * 0.37)", GA(k)), GA_SHAPE(SAMPLES, FEATURES));
        gpuarray *y = ga_eval("x @ x[0] + cos(x[:, 0] * 3)", GA(x));
        (void)ga_to_host(solve(x, y), found, sizeof found);
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "linear_regression: %s\n", ga_error_message());
        return 1;
    }
    for (int k = 0; k < FEATURES; k++)
        worst = fmax(worst, fabs(found[k] - expected[k]));
    printf("linear_regression: %.6f %.6f %.6f %.6f %.6f%s\n", found[0], found[1], found[2],
           found[3], found[4], worst < 1e-9 ? ": OK" : "");
    return !(worst < 1e-9);
}
