/* Prices an Asian option by Monte Carlo, and compares the price with a closed form. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

#define PATHS 200000
#define STEPS 64
#define PRICE 100.0
#define STRIKE 100.0
#define RATE 0.05       /* interest per year */
#define VOLATILITY 0.20 /* of the price, per year */

/* A call on the geometric mean of STEPS prices over one year: A. Kemna and A. Vorst, "A pricing
 * method for options based on average asset values" (1990). The mean is lognormal. */
static double exact_price(void)
{
    const double n = STEPS,
                 variance = VOLATILITY * VOLATILITY * (n + 1) * (2 * n + 1) / (6 * n * n);
    const double mean = (RATE - 0.5 * VOLATILITY * VOLATILITY) * (n + 1) / (2 * n);
    const double forward = PRICE * exp(mean + 0.5 * variance), deviation = sqrt(variance);
    const double d = (log(forward / STRIKE) + 0.5 * variance) / deviation;
    return exp(-RATE) * 0.5 *
           (forward * erfc(-d / sqrt(2.0)) - STRIKE * erfc(-(d - deviation) / sqrt(2.0)));
}

int main(void)
{
    const double drift = (RATE - 0.5 * VOLATILITY * VOLATILITY) / STEPS;
    const double deviation = VOLATILITY / sqrt(STEPS), exact = exact_price();
    double price = NAN, error = NAN;
    ga_rng *rng = ga_rng_new(2026);
    GA_SCOPE {
        gpuarray *paths = ga_zeros(GA_FLOAT64, GA_SHAPE(PATHS)), *sums = ga_zeros_like(paths);
        gpuarray *z = ga_empty_like(paths);
        for (int step = 0; step < STEPS; step++) {
            ga_rng_normal_into(z, rng, drift, deviation);
            ga_add_into(paths, paths, z); /* logarithms of the prices */
            ga_add_into(sums, sums, paths);
        }
        gpuarray *payoff =
            ga_eval("discount * maximum(price * exp(sums / steps) - strike, 0)", GA(sums),
                    GA_NAMED("discount", exp(-RATE)), GA_NAMED("price", PRICE),
                    GA_NAMED("strike", STRIKE), GA_NAMED("steps", (double)STEPS));
        price = ga_item_double(ga_mean(payoff));
        error = ga_item_double(ga_std(payoff)) / sqrt(PATHS);
    }
    ga_rng_free(rng);
    const int right = fabs(price - exact) < 4 * error && error < 0.05;
    printf("%d paths: %.4f +- %.4f, exactly %.4f: %s\n", PATHS, price, error, exact,
           right ? "right" : "wrong");
    if (ga_error() != GA_OK)
        fprintf(stderr, "monte_carlo: %s\n", ga_error_message());
    return ga_error() != GA_OK || !right;
}
