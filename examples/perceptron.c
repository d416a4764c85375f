/* A perceptron of two layers learns the exclusive or of two numbers' signs. The backward pass is
 * written out; NumPy, given the same numbers, reaches the same loss. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

enum { POINTS = 256, HIDDEN = 16, STEPS = 800 };

/* As numpy: (sin(k * scale) for k in range(count)).reshape(rows, columns). */
static gpuarray *waves(double scale, int64_t rows, int64_t columns)
{
    gpuarray *k = ga_arange(GA_FLOAT64, 0, (double)(rows * columns), 1);
    return ga_reshape(ga_eval("sin(k * scale)", GA(k), GA(scale)), GA_SHAPE(rows, columns));
}

static double train(void)
{
    double loss = NAN;
    gpuarray *x = waves(1.7, POINTS, 2), *w = waves(2.3, 2, HIDDEN), *b = waves(0.9, 1, HIDDEN),
             *v = waves(3.1, HIDDEN, 1);
    gpuarray *y = ga_eval("where(x[:, :1] * x[:, 1:] > 0, 1.0, -1.0)", GA(x));
    for (int step = 0; step < STEPS; step++)
        GA_SCOPE {
            const double rate = 0.1;
            gpuarray *h = ga_eval("tanh(x @ w + b)", GA(x), GA(w), GA(b));
            gpuarray *error = ga_eval("h @ v - y", GA(h), GA(v), GA(y));
            gpuarray *back =
                ga_eval("error @ v.T * (1 - h * h)", GA(error), GA(v), GA(h)); /* through tanh */
            const double share = -rate * 2 / POINTS;
            loss = ga_item_double(ga_eval("mean(error * error)", GA(error)));
            ga_matmul(ga_transpose(h), error, .out = v, .alpha = share, .beta = 1);
            ga_matmul(ga_transpose(x), back, .out = w, .alpha = share, .beta = 1);
            ga_add_into(b, b, ga_multiply(ga_sum(back, GA_AXIS(0), .keepdims = true), share));
        }
    return loss;
}

int main(void)
{
    double loss = NAN;
    GA_SCOPE {
        loss = train();
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "perceptron: %s\n", ga_error_message());
        return 1;
    }
    const int right = fabs(loss - 0.184484775) < 1e-6;
    printf("perceptron: loss %.9f%s\n", loss, right ? ": OK" : "");
    return !right;
}
