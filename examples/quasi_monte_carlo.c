/* Prices an Asian option in 64 dimensions by pseudorandom and by Sobol points, 16 times each, and
 * compares their errors with a closed form. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

#define POINTS 4096
#define REPEATS 16
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

/* The mean payoff over points (POINTS, STEPS) in (0, 1). */
static double price_of(const gpuarray *points)
{
    /* Step k is in the steps k, k + 1, ..., so it counts (STEPS - k) / STEPS times in the mean. */
    gpuarray *weights = ga_linspace(GA_FLOAT64, 1, 1.0 / STEPS, STEPS);
    gpuarray *normal = ga_multiply(ga_erfinv(ga_eval("2 * points - 1", GA(points))), sqrt(2.0));
    gpuarray *mean = ga_sum(ga_multiply(normal, weights), GA_AXIS(1));
    gpuarray *payoff = ga_eval(
        "discount * maximum(price * exp(drift + step * mean) - strike, 0)", GA(mean),
        GA_NAMED("discount", exp(-RATE)), GA_NAMED("price", PRICE), GA_NAMED("strike", STRIKE),
        GA_NAMED("step", VOLATILITY / sqrt(STEPS)),
        GA_NAMED("drift", (RATE - 0.5 * VOLATILITY * VOLATILITY) * (STEPS + 1) / (2.0 * STEPS)));
    return ga_item_double(ga_mean(payoff));
}

int main(void)
{
    const double exact = exact_price();
    double squares[2] = {0, 0};
    ga_rng *rng = ga_rng_new(2026);
    for (uint64_t repeat = 0; repeat < REPEATS; repeat++)
        GA_SCOPE {
            gpuarray *random = ga_rng_random(rng, GA_FLOAT64, GA_SHAPE(POINTS, STEPS));
            gpuarray *sobol =
                ga_sobol(GA_FLOAT64, POINTS, STEPS, .scrambled = true, .seed = repeat);
            /* Half a step away from 0, where the normal numbers would be infinite. */
            const double errors[] = {price_of(ga_add(random, 0x1p-54)) - exact,
                                     price_of(ga_add(sobol, 0x1p-33)) - exact};
            for (int which = 0; which < 2; which++)
                squares[which] += errors[which] * errors[which] / REPEATS;
        }
    ga_rng_free(rng);
    const double random = sqrt(squares[0]), sobol = sqrt(squares[1]);
    const int right = random < 0.25 && sobol < random / 5;
    printf("%d points in %d dimensions: error %.4f by random points, %.4f by Sobol points: %s\n",
           POINTS, STEPS, random, sobol, right ? "right" : "wrong");
    if (ga_error() != GA_OK)
        fprintf(stderr, "quasi_monte_carlo: %s\n", ga_error_message());
    return ga_error() != GA_OK || !right;
}
