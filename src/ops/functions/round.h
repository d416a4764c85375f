/* Powers of ten, by which numbers are rounded to decimals. */
#ifndef GA_OPS_FUNCTIONS_ROUND_H
#define GA_OPS_FUNCTIONS_ROUND_H

/* 10 to the power |decimals|, infinite from 309 on: what ga::round_to() takes. */
double ga__power_of_ten(int decimals);

#endif
