/* The deepest fall of a price from its highest so far, and when: scans of a random walk. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

#define DAYS 1000000
#define VOLATILITY 0.01 /* of a day's return */

/* The price after each day, from 100 on: the product of daily returns. */
static gpuarray *random_prices(void)
{
    ga_rng *rng = ga_rng_new(7);
    gpuarray *returns = ga_rng_lognormal(rng, GA_FLOAT64, 0, VOLATILITY, GA_SHAPE(DAYS));

    ga_rng_free(rng);
    return ga_cumprod(returns, GA_INITIAL(100.0));
}

/* The same on the processor, one day after another. */
static double deepest_fall(const double *price, int64_t *day)
{
    double highest = 0, deepest = 0;

    for (int64_t k = 0; k < DAYS; k++) {
        highest = price[k] > highest ? price[k] : highest;
        if (1 - price[k] / highest > deepest) {
            deepest = 1 - price[k] / highest;
            *day = k;
        }
    }
    return deepest;
}

int main(void)
{
    static double prices[DAYS];
    int failed = 1;

    GA_SCOPE {
        gpuarray *price = random_prices();
        gpuarray *highest = ga_cummax(price);
        gpuarray *fall = ga_eval("1 - price/highest", GA(price), GA(highest));
        const int64_t day = ga_item_int64(ga_argmax(fall));
        const double deepest = ga_item_double(ga_max(fall));
        int64_t wanted_day = 0;

        ga_to_host(price, prices, sizeof prices);
        if (ga_error() == GA_OK) {
            const double wanted = deepest_fall(prices, &wanted_day);
            printf("the deepest fall is %.2f %%, on day %lld\n", 100 * deepest, (long long)day);
            failed = day != wanted_day || fabs(deepest - wanted) > 1e-12;
        }
    }
    if (ga_error() != GA_OK)
        fprintf(stderr, "%s\n", ga_error_message());
    return failed;
}
