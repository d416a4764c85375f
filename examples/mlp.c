/* A small neural network learns XOR: products of matrices by broadcasting, gradients by hand. */
#include <math.h>
#include <stdio.h>

#include <quarry.h>

enum { HIDDEN = 8, ROUNDS = 2000 };

typedef struct network {
    gpuarray *w1, *b1, *w2, *b2;
} network;

static network make_network(void)
{
    ga_rng *rng = ga_rng_new(5);
    const network n = {ga_rng_standard_normal(rng, GA_FLOAT64, GA_SHAPE(2, HIDDEN)),
                       ga_zeros(GA_FLOAT64, GA_SHAPE(HIDDEN)),
                       ga_rng_standard_normal(rng, GA_FLOAT64, GA_SHAPE(HIDDEN)),
                       ga_zeros(GA_FLOAT64, GA_SHAPE0)};
    ga_rng_free(rng);
    return n;
}

static gpuarray *hidden_layer(const network *n, const gpuarray *x)
{
    return ga_eval("tanh(sum(x[:, :, None] * w, axis=1) + b)", GA(x), GA_NAMED("w", n->w1),
                   GA_NAMED("b", n->b1));
}

static gpuarray *output(const network *n, const gpuarray *h)
{
    return ga_eval("1 / (1 + exp(-(sum(h * w, axis=1) + b)))", GA(h), GA_NAMED("w", n->w2),
                   GA_NAMED("b", n->b2));
}

/* One step of gradient descent; returns the mean squared error before it. */
static double learn(const network *n, const gpuarray *x, const gpuarray *wanted)
{
    GA_SCOPED;
    gpuarray *h = hidden_layer(n, x), *y = output(n, h);
    gpuarray *slope = ga_eval("(y - wanted) * y * (1 - y)", GA(y), GA(wanted));
    gpuarray *back =
        ga_eval("slope[:, None] * w * (1 - h * h)", GA(slope), GA(h), GA_NAMED("w", n->w2));
    ga_eval_into(n->w2, "w - 2 * sum(h * slope[:, None], axis=0)", GA_NAMED("w", n->w2), GA(h),
                 GA(slope));
    ga_eval_into(n->b2, "b - 2 * sum(slope)", GA_NAMED("b", n->b2), GA(slope));
    ga_eval_into(n->w1, "w - 2 * sum(x[:, :, None] * back[:, None], axis=0)", GA_NAMED("w", n->w1),
                 GA(x), GA(back));
    ga_eval_into(n->b1, "b - 2 * sum(back, axis=0)", GA_NAMED("b", n->b1), GA(back));
    return ga_item_double(ga_eval("mean((y - wanted)**2)", GA(y), GA(wanted)));
}

int main(void)
{
    static const double inputs[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}}, outputs[4] = {0, 1, 1, 0};
    double first = 0, last = 0;

    GA_SCOPE {
        gpuarray *x = ga_from_host(inputs, GA_FLOAT64, GA_SHAPE(4, 2));
        gpuarray *wanted = ga_from_host(outputs, GA_FLOAT64, GA_SHAPE(4));
        const network n = make_network();
        first = learn(&n, x, wanted);
        for (int i = 1; i < ROUNDS && ga_error() == GA_OK; i++)
            last = learn(&n, x, wanted);
    }
    if (ga_error() != GA_OK) {
        fprintf(stderr, "mlp: %s\n", ga_error_message());
        return 1;
    }
    const bool right = first > 0.1 && last < 0.01;
    printf("mlp: error %.3f, then %.5f%s\n", first, last, right ? ": OK" : "");
    return !right;
}
