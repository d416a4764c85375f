/* The first principal component of points by power iteration: the variance along it is the largest
 * eigenvalue that numpy.linalg.eigvalsh finds of the covariance. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

enum { POINTS = 2000, AXES = 8, STEPS = 300 };

static double largest_variance(void)
{
    gpuarray *k = ga_arange(GA_FLOAT64, 0, POINTS * AXES, 1),
             *scale = ga_arange(GA_FLOAT64, 1, 9, 1);
    gpuarray *x = ga_eval("sin(k * k * 0.21)", GA(k));
    x = ga_multiply(ga_reshape(x, GA_SHAPE(POINTS, AXES)), scale);
    x = ga_eval("x - mean(x, axis=0)", GA(x));
    const gpuarray *covariance = ga_matmul(ga_transpose(x), x, .alpha = 1.0 / (POINTS - 1));
    gpuarray *axis = ga_ones(GA_FLOAT64, GA_SHAPE(AXES));
    double variance = 0;
    for (int step = 0; step < STEPS; step++) {
        gpuarray *image = ga_matvec(covariance, axis);
        variance = sqrt(ga_item_double(ga_dot(image, image)));
        axis = ga_divide(image, variance);
    }
    return variance;
}

int main(void)
{
    double variance = NAN;
    GA_SCOPE {
        variance = largest_variance();
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "principal_axis: %s\n", ga_error_message());
        return 1;
    }
    const int right = fabs(variance - 32.155809638380) < 1e-9;
    printf("principal_axis: variance %.12f%s\n", variance, right ? ": OK" : "");
    return !right;
}
