/* Formulas that several programs of the bench use. */
#ifndef BENCH_FORMULAS_H
#define BENCH_FORMULAS_H

/* The price of a call by Black and Scholes, over spot, strike, years, rate and sigma. */
#define BLACK_SCHOLES_D1                                                                           \
    "((log(spot/strike) + (rate + 0.5*sigma*sigma)*years) / (sigma*sqrt(years)))"
#define BLACK_SCHOLES_NORMAL(x) "(0.5 + 0.5*erf((" x ") * 0.7071067811865476))"
#define BLACK_SCHOLES                                                                              \
    "spot*" BLACK_SCHOLES_NORMAL(                                                                  \
        BLACK_SCHOLES_D1) " - strike*exp(-rate*years)*" BLACK_SCHOLES_NORMAL(BLACK_SCHOLES_D1      \
                                                                             " - "                 \
                                                                             "sigma*sqrt(years)")

#endif
