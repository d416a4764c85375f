/* Joins two tables on a key, as SQL's JOIN: every order meets each price of its article. The prices
 * are sorted by article once; two searches then find the first and the last price of each order. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <quarry.h>

#define ORDERS 300000
#define PRICES 4000
#define ARTICLES 3000

typedef struct joined {
    gpuarray *order, *price; /* for each row of the result, the row of each table */
} joined;

/* The pairs of rows with equal keys, in the order of the left table. */
static joined join(const gpuarray *left, const gpuarray *right)
{
    gpuarray *sorting = ga_argsort(right);
    gpuarray *sorted = ga_take(right, sorting);
    gpuarray *first = ga_searchsorted(sorted, left);
    gpuarray *counts = ga_subtract(ga_searchsorted(sorted, left, .side_right = true), first);
    gpuarray *before = ga_cumsum(counts, .exclusive = true);

    gpuarray *order = ga_repeat(ga_arange(GA_INT64, 0, (double)ga_size(left), 1), counts);
    gpuarray *row = ga_arange(GA_INT64, 0, (double)ga_size(order), 1);
    gpuarray *within = ga_subtract(row, ga_take(before, order)); /* which of its prices it is */
    gpuarray *price = ga_take(sorting, ga_add(ga_take(first, order), within));
    return (joined){order, price};
}

/* The same by a loop over both tables: the sum, and how many orders have no price. */
static double sum_by_loop(const int32_t *ordered, const float *pieces, const int32_t *priced,
                          const float *prices, int64_t *unpriced)
{
    static double totals[ARTICLES];
    static int counts[ARTICLES];
    double sum = 0;
    for (int k = 0; k < PRICES; k++) {
        totals[priced[k]] += (double)prices[k];
        counts[priced[k]]++;
    }
    for (int k = 0; k < ORDERS; k++) {
        sum += (double)pieces[k] * totals[ordered[k]];
        *unpriced += counts[ordered[k]] == 0;
    }
    return sum;
}

static void make_tables(int32_t *ordered, float *pieces, int32_t *priced, float *prices)
{
    srand(1);
    for (int k = 0; k < ORDERS; k++) {
        ordered[k] = rand() % ARTICLES;
        pieces[k] = (float)(1 + rand() % 9);
    }
    for (int k = 0; k < PRICES; k++) {
        priced[k] = rand() % ARTICLES;
        prices[k] = (float)(rand() % 10000) / 100;
    }
}

int main(void)
{
    static int32_t ordered[ORDERS], priced[PRICES];
    static float pieces[ORDERS], prices[PRICES];
    int64_t unpriced = 0;
    make_tables(ordered, pieces, priced, prices);
    const double wanted = sum_by_loop(ordered, pieces, priced, prices, &unpriced);

    GA_SCOPE {
        gpuarray *articles = ga_from_host(ordered, GA_INT32, GA_SHAPE(ORDERS));
        gpuarray *numbers = ga_from_host(pieces, GA_FLOAT32, GA_SHAPE(ORDERS));
        gpuarray *keys = ga_from_host(priced, GA_INT32, GA_SHAPE(PRICES));
        gpuarray *values = ga_from_host(prices, GA_FLOAT32, GA_SHAPE(PRICES));

        const joined rows = join(articles, keys);
        gpuarray *amounts = ga_multiply(ga_take(numbers, rows.order), ga_take(values, rows.price));
        const double sum = ga_item_double(ga_sum(amounts, .dtype = GA_FLOAT64));
        /* A left join adds the orders without a price: those whose article is in no row. */
        gpuarray *alone = ga_isin(articles, keys, .invert = true);
        const int64_t without = ga_item_int64(ga_count_nonzero(alone));

        if (ga_error() != GA_OK) {
            fprintf(stderr, "%s\n", ga_error_message());
            return 1;
        }
        printf("%lld rows of %d orders and %d prices on %s: %.2f in all, %lld orders without a "
               "price\n",
               (long long)ga_size(rows.order), ORDERS, PRICES, ga_device_of(articles), sum,
               (long long)without);
        if (fabs(sum - wanted) > 1e-6 * wanted || without != unpriced) {
            fprintf(stderr, "wanted %.2f and %lld\n", wanted, (long long)unpriced);
            return 1;
        }
    }
    return 0;
}
