/* The largest element of an array and the dot product of two, checked against exact sums. */
#include <stdio.h>

#include <quarry.h>

enum { N = 1 << 20 };

int main(void)
{
    double largest = 0.0, dot = 0.0;
    long long where = -1;

    GA_SCOPE {
        gpuarray *x = ga_arange(GA_FLOAT64, 0, N, 1);
        gpuarray *y = ga_subtract(N - 1, x); /* the same numbers in descending order */

        largest = ga_item_double(ga_max(y));
        where = ga_item_int64(ga_argmax(x));
        dot = ga_item_double(ga_dot(x, y));
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "max_and_dot: %s\n", ga_error_message());
        return 1;
    }

    /* The sum of i * (n-1-i) is (n-2)(n-1)n / 6. */
    const double exact = (double)N * (N - 1.0) / 2.0 * ((N - 2.0) / 3.0);
    const int right = largest == N - 1 && where == N - 1 && dot > exact * (1 - 1e-12) &&
                      dot < exact * (1 + 1e-12);
    printf("max_and_dot: max %g at %lld, dot %.17g%s\n", largest, where, dot, right ? ": OK" : "");
    return !right;
}
