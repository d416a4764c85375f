/* Linear regression: the normal equations of a few features are sums of products. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

enum { ROWS = 20000, FEATURES = 4 };

static const double wanted[FEATURES] = {2.5, -1.0, 0.25, 3.0};

/* Solves a x = b by elimination with pivots; b becomes x. */
static void solve(double a[FEATURES][FEATURES], double *b)
{
    for (int k = 0; k < FEATURES; k++) {
        int pivot = k;
        for (int row = k + 1; row < FEATURES; row++)
            pivot = fabs(a[row][k]) > fabs(a[pivot][k]) ? row : pivot;
        for (int col = 0; col < FEATURES; col++) {
            const double held = a[k][col];
            a[k][col] = a[pivot][col];
            a[pivot][col] = held;
        }
        const double held = b[k];
        b[k] = b[pivot];
        b[pivot] = held;
        for (int row = k + 1; row < FEATURES; row++) {
            const double factor = a[row][k] / a[k][k];
            for (int col = k; col < FEATURES; col++)
                a[row][col] -= factor * a[k][col];
            b[row] -= factor * b[k];
        }
    }
    for (int k = FEATURES - 1; k >= 0; k--) {
        for (int col = k + 1; col < FEATURES; col++)
            b[k] -= a[k][col] * b[col];
        b[k] /= a[k][k];
    }
}

int main(void)
{
    double normal[FEATURES][FEATURES], found[FEATURES], worst = 0, residual = 0;

    GA_SCOPE {
        ga_rng *rng = ga_rng_new(11);
        gpuarray *x = ga_rng_standard_normal(rng, GA_FLOAT64, GA_SHAPE(ROWS, FEATURES));
        gpuarray *noise = ga_rng_standard_normal(rng, GA_FLOAT64, GA_SHAPE(ROWS));
        gpuarray *w = ga_from_host(wanted, GA_FLOAT64, GA_SHAPE(FEATURES));
        ga_assign(ga_slice(x, ":, -1"), 1); /* the constant term */
        gpuarray *y = ga_eval("sum(x * w, axis=1) + 0.1 * noise", GA(x), GA(w), GA(noise));

        gpuarray *products = ga_eval("sum(x[:, :, None] * x[:, None], axis=0)", GA(x));
        gpuarray *moments = ga_eval("sum(x * y[:, None], axis=0)", GA(x), GA(y));
        ga_to_host(products, normal, sizeof normal);
        ga_to_host(moments, found, sizeof found);
        solve(normal, found);

        gpuarray *f = ga_from_host(found, GA_FLOAT64, GA_SHAPE(FEATURES));
        residual = ga_item_double(ga_eval("std(y - sum(x * f, axis=1))", GA(x), GA(y), GA(f)));
        ga_rng_free(rng);
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "regression: %s\n", ga_error_message());
        return 1;
    }
    for (int k = 0; k < FEATURES; k++)
        worst = fmax(worst, fabs(found[k] - wanted[k]));
    const bool right = worst < 0.01 && fabs(residual - 0.1) < 0.005;
    printf("regression: coefficients within %.4f, residual %.4f%s\n", worst, residual,
           right ? ": OK" : "");
    return !right;
}
