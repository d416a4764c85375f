/* Runs an eager operation, a reduction and an expression on the host, for tests/valgrind.sh. */
#include <stdio.h>

#include <quarry.h>

enum { COUNT = 10001 };

static int check(const char *what, double got, double wanted)
{
    if (ga_error() != GA_OK)
        fprintf(stderr, "%s: %s\n", what, ga_error_message());
    else if (got != wanted)
        fprintf(stderr, "%s: %.17g, not %.17g\n", what, got, wanted);
    return ga_error() != GA_OK || got != wanted;
}

int main(void)
{
    int wrong = 0;
    ga_set_device("cpu");
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_FLOAT32, 0, COUNT, 1);
        gpuarray *sum = ga_add(x, ga_multiply(x, 2));
        wrong += check("add", ga_item_double(ga_max(sum)), 3.0 * (COUNT - 1));
        gpuarray *i = ga_arange(GA_INT8, 0, 100, 1);
        wrong += check("sum", ga_item_double(ga_sum(i)), 4950);
        gpuarray *far = ga_eval("sqrt(x*x + y*y) > 5", GA_NAMED("x", x), GA_NAMED("y", 4));
        wrong += check("eval", ga_item_double(ga_count_nonzero(far)), COUNT - 4);
        gpuarray *angle = ga_sin(ga_multiply(x, 0.0));
        wrong += check("sin", ga_item_double(ga_sum(angle)), 0);
    }
    return wrong != 0;
}
