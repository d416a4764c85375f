/* A summary of each column of a table, as a spreadsheet shows it: how many numbers there are, their
 * mean and quantiles, and the rows of the largest ones. Missing numbers are NaN. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <quarry.h>

enum { ROWS = 100000, COLUMNS = 3, QUANTILES = 5, TOP = 10 };

static const char *const names[COLUMNS] = {"height", "waiting", "balance"};

/* Heights are normal, waiting times exponential, and a fifth of the balances is missing. */
static gpuarray *make_table(void)
{
    ga_rng *rng = ga_rng_new(7);
    gpuarray *table = ga_empty(GA_FLOAT64, GA_SHAPE(ROWS, COLUMNS));
    gpuarray *balance = ga_rng_normal(rng, GA_FLOAT64, 100, 900, GA_SHAPE(ROWS));
    gpuarray *missing = ga_less(ga_rng_random(rng, GA_FLOAT64, GA_SHAPE(ROWS)), 0.2);
    ga_assign(ga_slice(table, ":, 0"), ga_rng_normal(rng, GA_FLOAT64, 1.7, 0.1, GA_SHAPE(ROWS)));
    ga_assign(ga_slice(table, ":, 1"), ga_rng_exponential(rng, GA_FLOAT64, 5, GA_SHAPE(ROWS)));
    ga_assign(ga_slice(table, ":, 2"), ga_where(missing, NAN, balance));
    ga_rng_free(rng);
    return table;
}

static void read_row(const gpuarray *x, double *to)
{
    if (ga_to_host(x, to, ga_nbytes(x)) != GA_OK)
        exit((fprintf(stderr, "%s\n", ga_error_message()), 1));
}

static void print_row(const char *title, const double *numbers)
{
    printf("%-8s", title);
    for (int column = 0; column < COLUMNS; column++)
        printf("%12.4g", numbers[column]);
    putchar('\n');
}

/* The share of the column's numbers that are not greater than `bound`. */
static double share_below(const gpuarray *table, int column, double bound, double count)
{
    gpuarray *numbers = ga_slice(table, ":, %d", column);
    return ga_item_double(ga_count_nonzero(ga_less_equal(numbers, bound))) / count;
}

int main(void)
{
    static const double q[QUANTILES] = {0, 0.25, 0.5, 0.75, 1};
    static const char *const titles[QUANTILES] = {"least", "25 %", "median", "75 %", "most"};
    double counts[COLUMNS], means[COLUMNS], quantiles[QUANTILES][COLUMNS], top[TOP][COLUMNS];
    int wrong = 0;
    GA_SCOPE {
        gpuarray *table = make_table(), *values = NULL, *rows = NULL;
        gpuarray *present = ga_logical_not(ga_isnan(table));
        read_row(ga_astype(ga_count_nonzero(present, GA_AXIS(0)), GA_FLOAT64), counts);
        read_row(ga_nanmean(table, GA_AXIS(0)), means);
        read_row(
            ga_nanquantile(table, ga_from_host(q, GA_FLOAT64, GA_SHAPE(QUANTILES)), GA_AXIS(0)),
            quantiles[0]);
        if (ga_topk(table, TOP, &values, &rows, GA_AXIS(0)) == GA_OK)
            read_row(values, top[0]);
        printf("%-8s%12s%12s%12s\n", "", names[0], names[1], names[2]);
        print_row("count", counts);
        print_row("mean", means);
        for (int k = 0; k < QUANTILES; k++)
            print_row(titles[k], quantiles[k]);
        for (int k = 0; k < TOP; k++) {
            char title[16];
            snprintf(title, sizeof title, "top %d", k + 1);
            print_row(title, top[k]);
        }
        for (int column = 0; column < COLUMNS; column++) {
            wrong += top[0][column] != quantiles[QUANTILES - 1][column];
            wrong += top[TOP - 1][column] > top[0][column];
            for (int k = 1; k < QUANTILES; k++)
                wrong += fabs(share_below(table, column, quantiles[k][column], counts[column]) -
                              q[k]) > 1e-4;
        }
        if (ga_error() != GA_OK || wrong > 0)
            exit((fprintf(stderr, "%d wrong. %s\n", wrong, ga_error_message()), 1));
    }
    return 0;
}
