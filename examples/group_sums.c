/* Groups a table of sales by shop without sorting it: each sale is added to its shop's sum, count
 * and best amount. */
#include <stdio.h>

#include <quarry.h>

enum { SALES = 1000, SHOPS = 6 };

int main(void)
{
    bool right = true;
    /* NumPy's figures: numpy.add.at and numpy.maximum.at of the same table. */
    static const int64_t sums[SHOPS] = {8061, 7991, 7922, 7980, 8007, 8034},
                         counts[SHOPS] = {167, 166, 166, 167, 167, 167};
    GA_SCOPE {
        gpuarray *sale = ga_arange(GA_INT64, 0, SALES, 1);
        gpuarray *shop = ga_remainder(ga_multiply(sale, 7919), SHOPS);
        gpuarray *amount = ga_add(ga_remainder(sale, 97), 1.0);
        gpuarray *sum = ga_zeros(GA_FLOAT64, GA_SHAPE(SHOPS)), *best = ga_zeros_like(sum),
                 *count = ga_zeros(GA_INT64, GA_SHAPE(SHOPS));
        ga_index_add(sum, amount, shop);
        ga_index_add(count, 1, shop);
        ga_index_maximum(best, amount, shop);
        for (int k = 0; k < SHOPS; k++) {
            printf("shop %d: %3lld sales, sum %6.0f, best %3.0f\n", k,
                   (long long)ga_item_int64(count, k), ga_item_double(sum, k),
                   ga_item_double(best, k));
            right = right && ga_item_int64(sum, k) == sums[k] &&
                    ga_item_int64(count, k) == counts[k] && ga_item_int64(best, k) == 97;
        }
        /* Each sale beside its shop's mean. */
        gpuarray *rest =
            ga_eval("amount - (sum / count)[shop]", GA(amount), GA(sum), GA(count), GA(shop));
        right = right && ga_item_double(ga_absolute(ga_sum(rest))) < 1e-8;
    }
    puts(right ? "right" : "wrong");
    return right && ga_error() == GA_OK ? 0 : 1;
}
