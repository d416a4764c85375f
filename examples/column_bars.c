/* Summarises the columns of a table: for each its extremes, mean, and a histogram as terminal bars.
 */
#include <stdio.h>
#include <string.h>

#include <quarry.h>

enum { ROWS = 100000, COLUMNS = 3, BINS = 12, WIDTH = 40 };

static const char *const names[COLUMNS] = {"height (cm)", "wait (min)", "dice"};

/* Columns of different distributions, as a file of values separated by commas would have them. */
static gpuarray *read_table(void)
{
    ga_rng *rng = ga_rng_new(2026);
    gpuarray *table = ga_empty(GA_FLOAT64, GA_SHAPE(ROWS, COLUMNS));
    gpuarray *dice = ga_add(ga_rng_integers(rng, GA_INT32, 1, 7, GA_SHAPE(ROWS)),
                            ga_rng_integers(rng, GA_INT32, 1, 7, GA_SHAPE(ROWS)));
    ga_rng_normal_into(ga_slice(table, ":, 0"), rng, 172, 9);
    ga_rng_exponential_into(ga_slice(table, ":, 1"), rng, 4);
    ga_assign(ga_slice(table, ":, 2"), GA_V(dice));
    ga_rng_free(rng);
    return table;
}

static void print_bar(double from, double to, int64_t count, int64_t most)
{
    char bar[WIDTH + 1] = "";
    memset(bar, '#', (size_t)(count * WIDTH / most));
    printf("  %8.2f to %8.2f %7lld %s\n", from, to, (long long)count, bar);
}

/* Returns how many elements the bars show. */
static int64_t print_histogram(const gpuarray *column)
{
    gpuarray *counts, *edges;
    int64_t count[BINS], most = 1, all = 0;
    double edge[BINS + 1];
    if (ga_histogram(column, BINS, &counts, &edges) != GA_OK ||
        ga_to_host(counts, count, sizeof count) != GA_OK ||
        ga_to_host(edges, edge, sizeof edge) != GA_OK)
        return -1;
    for (int k = 0; k < BINS; k++)
        most = count[k] > most ? count[k] : most;
    for (int k = 0; k < BINS; k++) {
        print_bar(edge[k], edge[k + 1], count[k], most);
        all += count[k];
    }
    return all;
}

int main(void)
{
    int right = 1;
    GA_SCOPE {
        const gpuarray *table = read_table();
        for (int k = 0; k < COLUMNS; k++) {
            const gpuarray *column = ga_slice(table, ":, %d", k);
            printf("%s: %.2f to %.2f, mean %.2f\n", names[k], ga_item_double(ga_min(column)),
                   ga_item_double(ga_max(column)), ga_item_double(ga_mean(column)));
            right = right && print_histogram(column) == ROWS;
        }
    }
    if (ga_error() != GA_OK)
        fprintf(stderr, "column_bars: %s\n", ga_error_message());
    return ga_error() != GA_OK || !right;
}
