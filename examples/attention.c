/* Attention of several heads by einsum: scores, their softmax as one formula, and the weighted mean
 * of values. NumPy's figures for the same numbers are below. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

#define BATCH 2
#define WORDS 24
#define HEADS 4
#define WIDTH 8

/* NumPy's: the sum of magnitudes, two elements, and the largest weight of a word. */
static const double wanted[] = {47.250743673790, -0.046261212924, 0.047662860213, 0.109603279979};

/* sin(step * k) in the shape of queries, keys and values. */
static gpuarray *waves(double step)
{
    gpuarray *k = ga_arange(GA_FLOAT64, 0, BATCH * WORDS * HEADS * WIDTH, 1);
    return ga_reshape(ga_eval("sin(k * step)", GA(k), GA(step)),
                      GA_SHAPE(BATCH, WORDS, HEADS, WIDTH));
}

static bool is_near(const char *what, double found, double expected)
{
    printf("%-20s %.12f, NumPy %.12f\n", what, found, expected);
    return fabs(found - expected) <= 1e-10 * (1 + fabs(expected));
}

int main(void)
{
    bool right = false;
    GA_SCOPE {
        gpuarray *q = waves(0.37), *k = waves(0.73), *v = waves(1.31);
        gpuarray *s = ga_einsum("bqhd,bkhd->bhqk", GA_ARRAYS(q, k));
        gpuarray *w = ga_eval("e = exp((s - max(s, axis=-1, keepdims=True)) / sqrt(8)); "
                              "e / sum(e, axis=-1, keepdims=True)",
                              GA(s));
        gpuarray *mixed = ga_einsum("bhqk,bkhd->bqhd", GA_ARRAYS(w, v));
        right =
            is_near("sum of magnitudes", ga_item_double(ga_sum(ga_abs(mixed))), wanted[0]) &
            is_near("first element", ga_item_double(mixed, 0, 0, 0, 0), wanted[1]) &
            is_near("last element",
                    ga_item_double(mixed, BATCH - 1, WORDS - 1, HEADS - 1, WIDTH - 1), wanted[2]) &
            is_near("largest weight", ga_item_double(ga_max(w)), wanted[3]);
        /* The sums of weights, and the covariance of all values, in one call each. */
        gpuarray *sums = ga_einsum("bhqk->bhq", GA_ARRAYS(w));
        gpuarray *rows = ga_reshape(v, GA_SHAPE(BATCH * WORDS * HEADS, WIDTH));
        gpuarray *centred = ga_eval("rows - mean(rows, axis=0)", GA(rows));
        gpuarray *products = ga_einsum("ni,nj->ij", GA_ARRAYS(centred, centred));
        gpuarray *cov = ga_divide(products, BATCH * WORDS * HEADS - 1);
        right = right && ga_allclose(sums, 1) && ga_allclose(cov, ga_cov(rows, .columns = true));
    }
    puts(right ? "as NumPy" : "not as NumPy");
    if (ga_error() != GA_OK)
        fprintf(stderr, "attention: %s\n", ga_error_message());
    return ga_error() != GA_OK || !right;
}
