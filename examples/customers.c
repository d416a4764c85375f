/* Compares the customers of two months: how many there are, who came back, who is new, and who
 * bought most often. Customers are numbers with gaps; sets do without a table of all of them. */
#include <stdio.h>
#include <stdlib.h>

#include <quarry.h>

#define SALES 400000
#define NUMBERS 3000000

/* The same with a table of all numbers: how many are marked in a, in both, and in b alone. */
static void count_by_table(const int32_t *a, const int32_t *b, int64_t *counts)
{
    unsigned char *marks = calloc(NUMBERS, 1);
    for (int k = 0; marks && k < SALES; k++) {
        marks[a[k]] |= 1;
        marks[b[k]] |= 2;
    }
    for (int k = 0; marks && k < NUMBERS; k++) {
        counts[0] += marks[k] & 1;
        counts[1] += marks[k] == 3;
        counts[2] += marks[k] == 2;
    }
    free(marks);
}

static bool agrees(const gpuarray *may, const gpuarray *june, int64_t all, int64_t both,
                   int64_t added)
{
    int64_t counts[3] = {0};
    int32_t *a = malloc(SALES * sizeof *a), *b = malloc(SALES * sizeof *b);
    const bool read = a && b && ga_to_host(may, a, SALES * sizeof *a) == GA_OK &&
                      ga_to_host(june, b, SALES * sizeof *b) == GA_OK;
    if (read)
        count_by_table(a, b, counts);
    free(a);
    free(b);
    return read && counts[0] == all && counts[1] == both && counts[2] == added;
}

int main(void)
{
    bool right = false;
    ga_rng *rng = ga_rng_new(5);
    GA_SCOPE {
        gpuarray *may = ga_rng_integers(rng, GA_INT32, 0, NUMBERS, GA_SHAPE(SALES));
        gpuarray *june = ga_rng_integers(rng, GA_INT32, 0, NUMBERS, GA_SHAPE(SALES));
        gpuarray *counts = NULL, *first = NULL;
        gpuarray *customers = ga_unique(may, .counts = &counts, .indices = &first);
        gpuarray *faithful = ga_intersect1d(may, june), *added = ga_setdiff1d(june, may);
        gpuarray *again = ga_isin(june, faithful);
        printf("May: %lld customers, %lld of them in June again, for %lld sales; %lld are new\n",
               (long long)ga_size(customers), (long long)ga_size(faithful),
               (long long)ga_item_int64(ga_count_nonzero(again)), (long long)ga_size(added));
        const int64_t best = ga_item_int64(ga_argmax(counts));
        printf("number %lld bought %lld times, first as sale %lld\n",
               (long long)ga_item_int64(ga_slice(customers, "%lld", (long long)best)),
               (long long)ga_item_int64(ga_slice(counts, "%lld", (long long)best)),
               (long long)ga_item_int64(ga_slice(first, "%lld", (long long)best)));
        right = agrees(may, june, ga_size(customers), ga_size(faithful), ga_size(added));
    }
    ga_rng_free(rng);
    puts(right ? "as by a table" : "not as by a table");
    if (ga_error() != GA_OK)
        fprintf(stderr, "customers: %s\n", ga_error_message());
    return ga_error() != GA_OK || !right;
}
