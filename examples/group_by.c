/* Groups a table of sales by shop: the number, the sum, the median and the best of each shop's
 * amounts. Two stable sorts, by amount and then by shop, bring each shop's amounts together, in
 * order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <quarry.h>

#define SALES 500000
#define SHOPS 6

/* The same without sorting: a loop over all sales. */
static void sum_by_loop(const int32_t *shops, const float *amounts, double *sums, int64_t *counts)
{
    for (int k = 0; k < SALES; k++) {
        sums[shops[k]] += (double)amounts[k];
        counts[shops[k]]++;
    }
}

/* Prints one shop's line. Its amounts are [first, first + count) of the sorted ones. */
static double print_shop(int shop, const gpuarray *amounts, int64_t first, int64_t count)
{
    const gpuarray *own =
        ga_slice(amounts, "%lld:%lld", (long long)first, (long long)(first + count));
    const double sum = ga_item_double(ga_sum(own, .dtype = GA_FLOAT64));
    const double median = ga_item_double(ga_slice(own, "%lld", (long long)(count / 2)));
    printf("shop %d: %6lld sales, sum %11.2f, median %6.2f, best %7.2f\n", shop, (long long)count,
           sum, median, ga_item_double(ga_slice(own, "-1")));
    return sum;
}

int main(void)
{
    double sums[SHOPS] = {0};
    int64_t counts[SHOPS] = {0}, first = 0;
    int right = 1;
    ga_rng *rng = ga_rng_new(7);
    GA_SCOPE {
        gpuarray *shops = ga_rng_integers(rng, GA_INT32, 0, SHOPS, GA_SHAPE(SALES));
        gpuarray *amounts = ga_rng_lognormal(rng, GA_FLOAT32, 3, 1, GA_SHAPE(SALES));
        int32_t *own_shops = malloc(SALES * sizeof *own_shops);
        float *own_amounts = malloc(SALES * sizeof *own_amounts);
        if (own_shops && own_amounts &&
            ga_to_host(shops, own_shops, SALES * sizeof *own_shops) == GA_OK &&
            ga_to_host(amounts, own_amounts, SALES * sizeof *own_amounts) == GA_OK)
            sum_by_loop(own_shops, own_amounts, sums, counts);
        free(own_shops);
        free(own_amounts);
        ga_sort_by_key(amounts, shops, &amounts, &shops);
        ga_sort_by_key(shops, amounts, &shops, &amounts);
        for (int shop = 0; shop < SHOPS; shop++) {
            const int64_t count = ga_item_int64(ga_count_nonzero(ga_equal(shops, shop)));
            const double sum = print_shop(shop, amounts, first, count);
            right &= count == counts[shop] && fabs(sum - sums[shop]) < 1e-6 * sums[shop];
            first += count;
        }
    }
    ga_rng_free(rng);
    puts(right ? "as by a loop" : "not as by a loop");
    if (ga_error() != GA_OK)
        fprintf(stderr, "group_by: %s\n", ga_error_message());
    return ga_error() != GA_OK || !right;
}
