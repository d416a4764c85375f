/* Prices European options with the formula of Black and Scholes (1973), as one expression. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <quarry.h>

#define OPTIONS 1000000
#define RATE 0.02       /* interest per year */
#define VOLATILITY 0.30 /* of the price, per year */

/* The cumulative normal distribution as a polynomial (Abramowitz and Stegun, 26.2.17; error below
 * 7.5e-8), of w = 1 / (1 + 0.2316419 |x|). */
#define TAIL(x, w)                                                                                 \
    "(" w "*(0.319381530 + " w "*(-0.356563782 + " w "*(1.781477937 + " w "*(-1.821255978 + " w    \
    "*1.330274429)))) * 0.3989422804014327 * exp(-0.5*" x "*" x "))"
#define NORMAL(x, w) "where(" x " > 0, 1 - " TAIL(x, w) ", " TAIL(x, w) ")"
#define D1 "((log(price/strike) + (rate + 0.5*sigma*sigma)*years) / (sigma*sqrt(years)))"
#define D2 "(" D1 " - sigma*sqrt(years))"
#define W(x) "(1/(1 + 0.2316419*abs(" x ")))"
#define CALL "price*" NORMAL(D1, W(D1)) " - strike*exp(-rate*years)*" NORMAL(D2, W(D2))

static double normal(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

/* The same formula in plain C, with the C library's error function. */
static double call_price(double price, double strike, double years)
{
    const double deviation = VOLATILITY * sqrt(years);
    const double d1 =
        (log(price / strike) + (RATE + 0.5 * VOLATILITY * VOLATILITY) * years) / deviation;
    return price * normal(d1) - strike * exp(-RATE * years) * normal(d1 - deviation);
}

/* Pseudo-random numbers between low and high, the same in every run. */
static gpuarray *prices(unsigned seed, float low, float high)
{
    float *host = malloc(OPTIONS * sizeof(*host));
    if (!host)
        return NULL;
    for (int i = 0; i < OPTIONS; i++) {
        seed = seed * 1664525u + 1013904223u;
        host[i] = low + (high - low) * (float)(seed >> 8) / 16777216.0f;
    }
    gpuarray *x = ga_from_host(host, GA_FLOAT32, GA_SHAPE(OPTIONS));
    free(host);
    return x;
}

static double read_at(const gpuarray *x, int i)
{
    return ga_item_double(ga_slice(x, "%d", i));
}

static double worst_difference(const gpuarray *call, const gpuarray *price, const gpuarray *strike,
                               const gpuarray *years)
{
    double worst = 0;
    for (int i = 0; i < OPTIONS; i += OPTIONS / 200)
        GA_SCOPE {
            const double exact =
                call_price(read_at(price, i), read_at(strike, i), read_at(years, i));
            worst = fmax(worst, fabs(read_at(call, i) - exact));
        }
    return worst;
}

int main(void)
{
    double worst = INFINITY;
    GA_SCOPE {
        gpuarray *price = prices(1, 5, 30), *strike = prices(2, 1, 100),
                 *years = prices(3, 0.25f, 10);
        gpuarray *call = ga_eval(CALL, GA(price), GA(strike), GA(years), GA_NAMED("rate", RATE),
                                 GA_NAMED("sigma", VOLATILITY));
        char *plan = ga_explain(CALL, GA(price), GA(strike), GA(years), GA_NAMED("rate", RATE),
                                GA_NAMED("sigma", VOLATILITY));
        int kernels = 0;
        for (const char *at = plan; at && *at; at++)
            kernels += at > plan && at[-1] == '\n' && *at == 'k';
        free(plan);
        worst = worst_difference(call, price, strike, years);
        printf("%d options in %d kernel%s, mean price %.4f, worst error %.1e: %s\n", OPTIONS,
               kernels, kernels == 1 ? "" : "s", ga_item_double(ga_mean(call)), worst,
               worst < 1e-4 ? "right" : "wrong");
    }
    if (ga_error() != GA_OK)
        fprintf(stderr, "black_scholes: %s\n", ga_error_message());
    return ga_error() != GA_OK || !(worst < 1e-4);
}
