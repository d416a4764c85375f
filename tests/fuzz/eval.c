/* Fuzz target: any bytes as an expression are parsed, typed and planned; nothing is run. */
#include "fuzz.h"

#include "array/array.h"
#include "expr/plan.h"
#include "expr/text/parse.h"

/* An array for its dtype and shape alone. */
static gpuarray *shell(ga_dtype dtype, int ndim, const int64_t *shape)
{
    gpuarray *x = calloc(1, sizeof(*x) + 2 * sizeof(int64_t) * GA_MAX_NDIM);
    FUZZ_CHECK(x != NULL);
    x->dtype = dtype;
    x->ndim = ndim;
    x->shape = x->dims;
    x->strides = x->dims + ndim;
    if (ndim > 0)
        memcpy(x->shape, shape, sizeof(*shape) * (size_t)ndim);
    return x;
}

/* `most` reductions may share a kernel. */
static void digest(const char *text, const ga_named *args, int count, int most)
{
    ga__ast ast;
    ga__graph graph;
    if (ga__ast_parse(&ast, text) == GA_OK) {
        if (ga__graph_make(&graph, &ast, count, args) == GA_OK)
            ga__plan_free(ga__plan_new(&graph, most));
        ga__ast_reset(&ast);
    }
    ga_clear_error();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gpuarray *x, *i, *c;
    if (!x) {
        x = shell(GA_FLOAT32, GA_SHAPE(3, 4));
        i = shell(GA_INT8, GA_SHAPE(4));
        c = shell(GA_COMPLEX64, GA_SHAPE0);
    }
    const ga_named args[] = {GA(x), GA(i), GA(c), GA_NAMED("n", 3), GA_NAMED("a", 2.5)};
    char *text = fuzz_text(data, size);
    digest(text, args, 5, 1);
    digest(text, args, 5, GA__MAX_PARTS);
    free(text);
    return 0;
}
