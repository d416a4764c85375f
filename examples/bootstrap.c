/* The standard error of a median by the bootstrap, compared with that of the distribution. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

#define SAMPLE 2001
#define RESAMPLES 4000

int main(void)
{
    double median = NAN, error = NAN;
    ga_rng *rng = ga_rng_new(7);
    GA_SCOPE {
        gpuarray *x = ga_rng_gamma(rng, GA_FLOAT64, 2, 1, GA_SHAPE(SAMPLE));
        gpuarray *again = ga_rng_choice(rng, x, GA_SHAPE(RESAMPLES, SAMPLE));
        median = ga_item_double(ga_median(x));
        error = ga_item_double(ga_std(ga_median(again, GA_AXIS(1))));
    }
    ga_rng_free(rng);
    /* The median of gamma(2) is m = 1.678347, where the density is m e ** -m. */
    const double m = 1.6783469900166608, exact = 0.5 / (m * exp(-m) * sqrt(SAMPLE));
    const int right = fabs(median - m) < 4 * exact && fabs(error / exact - 1) < 0.2;
    printf("the median is %.4f +- %.4f, of the distribution %.4f +- %.4f: %s\n", median, error, m,
           exact, right ? "right" : "wrong");
    if (ga_error() != GA_OK)
        fprintf(stderr, "bootstrap: %s\n", ga_error_message());
    return ga_error() != GA_OK || !right;
}
