/* Groups a table of sales by shop without sorting it: each sale is added to its shop's sum, count
 * and best amount. */
#include <stdio.h>

#include <quarry.h>

enum { SALES = 1000, SHOPS = 6 };

/* NumPy's figures (numpy/group_sums.py). */
static const int64_t wanted[] = {8061, 7991, 7922, 7980, 8007, 8034}, wanted_above = 494;

int main(void)
{
    bool right = true;
    GA_SCOPE {
        gpuarray *sale = ga_arange(GA_INT64, 0, SALES, 1);
        gpuarray *shop = ga_remainder(ga_multiply(sale, 7919), SHOPS);
        gpuarray *amount = ga_add(ga_remainder(sale, 97), 1.0);
        gpuarray *total = ga_zeros(GA_FLOAT64, GA_SHAPE(SHOPS)), *best = ga_zeros_like(total),
                 *count = ga_zeros(GA_INT64, GA_SHAPE(SHOPS));
        ga_index_add(total, amount, shop);
        ga_index_add(count, 1, shop);
        ga_index_maximum(best, amount, shop);
        for (int k = 0; k < SHOPS; k++) {
            printf("shop %d: %3lld sales, sum %6.0f, best %3.0f\n", k,
                   (long long)ga_item_int64(count, k), ga_item_double(total, k),
                   ga_item_double(best, k));
            right = right && ga_item_int64(total, k) == wanted[k];
        }
        /* Each sale beside its shop's mean. */
        const int64_t above = ga_item_int64(ga_eval("sum(amount > (total / count)[shop])",
                                                    GA(amount), GA(total), GA(count), GA(shop)));
        printf("%lld sales above their mean\n", (long long)above);
        right = right && above == wanted_above;
    }
    return right && ga_error() == GA_OK ? 0 : 1;
}
