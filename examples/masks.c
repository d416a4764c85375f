/* Masks: readings with gaps and outliers are cleaned, and summed up by group. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

enum { READINGS = 10000, GROUPS = 4 };

/* 10 + group, with a small wave; every 100th is missing, every 250th is absurd. */
static gpuarray *make_readings(const gpuarray *i, const gpuarray *group)
{
    return ga_eval("x = 10 + group + 0.1 * sin(i);"
                   "x = where(i % 250 == 3, 1e6, x);"
                   "where(i % 100 == 7, nan, x)",
                   GA(i), GA(group));
}

/* What is absurd becomes missing as well. */
static gpuarray *clean(const gpuarray *x)
{
    return ga_eval("where(abs(x - nanmean(where(x < 1e5, x, nan))) < 5, x, nan)", GA(x));
}

int main(void)
{
    double means[GROUPS] = {0}, worst = 0;
    int64_t missing = 0, kept = 0;

    GA_SCOPE {
        gpuarray *i = ga_arange(GA_INT64, 0, READINGS, 1), *group = ga_remainder(i, GROUPS);
        gpuarray *names = ga_arange(GA_INT64, 0, GROUPS, 1);
        gpuarray *x = make_readings(i, group), *good = clean(x);
        missing = ga_item_int64(ga_eval("count_nonzero(isnan(x))", GA(x)));
        kept = ga_item_int64(ga_eval("count_nonzero(isfinite(good))", GA(good)));
        gpuarray *by_group = ga_eval("nanmean(where(group == names[:, None], good, nan), axis=1)",
                                     GA(group), GA(names), GA(good));
        ga_to_host(by_group, means, sizeof means);
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "masks: %s\n", ga_error_message());
        return 1;
    }
    for (int k = 0; k < GROUPS; k++)
        worst = fmax(worst, fabs(means[k] - (10 + k)));
    const bool right = missing == READINGS / 100 &&
                       kept == READINGS - READINGS / 100 - READINGS / 250 && worst < 0.01;
    printf("masks: %lld of %d readings kept, means within %.4f%s\n", (long long)kept, READINGS,
           worst, right ? ": OK" : "");
    return !right;
}
