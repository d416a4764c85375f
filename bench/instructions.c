/* quarry-instructions: makes each call once between marks that instructions.py counts at.
 */
#include <stdio.h>
#include <stdlib.h>

#include <quarry.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/context.h"
#include "fake_device.h"

enum { WARM_CALLS = 3 };

#define SOFTMAX                                                                                    \
    "exp(x - max(x, axis=1, keepdims=True)) / "                                                    \
    "sum(exp(x - max(x, axis=1, keepdims=True)), axis=1, keepdims=True)"

static gpuarray *x, *y, *out, *total, *number, *matrix, *shares, *wide, *wide_shares;
static ga_kernel *linear;
static ga_expr *hypotenuse;

/* Fills, hashes, loads and runs a kernel that nothing asked for before. */
static void run_another_kernel(void)
{
    static int constant = 1000;
    char operation[64];

    snprintf(operation, sizeof operation, "z[i] = x[i] + %d", constant++);
    ga_kernel *kernel = ga_elementwise_kernel("const float *x, float *z", operation, "new_kernel");
    ga_run(kernel, x, out);
    ga_kernel_free(kernel);
}

#define GA_BUDGET(id, instructions, call)                                                          \
    static void run_##id(void)                                                                     \
    {                                                                                              \
        call;                                                                                      \
    }
#include "instructions.def"
#undef GA_BUDGET

static const struct budget {
    const char *call;
    int instructions;
    void (*run)(void);
} budgets[] = {
#define GA_BUDGET(id, instructions, call) {#call, instructions, run_##id},
#include "instructions.def"
#undef GA_BUDGET
};

enum { BUDGETS = sizeof budgets / sizeof budgets[0] };

/* ---- A device whose memory, compiler and launches cost nothing: what is counted is Quarry's ----
 */

/* Never the same bytes twice: arrays do not overlap, and most of the pool is never touched. */
static ga_status give_bytes(ga__stream *stream, size_t nbytes, ga__memory *memory)
{
    static _Alignas(256) char pool[64 << 20];
    static size_t used;

    (void)stream;
    if (nbytes > sizeof pool - used)
        return ga__fail(GA_ERR_MEMORY, "the pool of %zu bytes is used up", sizeof pool);
    memory->address = pool + used;
    used += (nbytes + 255) / 256 * 256;
    return GA_OK;
}

static void take_back(ga__stream *stream, const ga__memory *memory)
{
    (void)stream, (void)memory;
}

static ga_status zero_nothing(ga__stream *stream, void *memory, size_t nbytes)
{
    (void)stream, (void)memory, (void)nbytes;
    return GA_OK;
}

static ga_status compile_nothing(ga__device *device, const ga__source *source, void **code,
                                 size_t *nbytes)
{
    (void)device, (void)source;
    *nbytes = 1;
    *code = ga__calloc(1, 1);
    return *code ? GA_OK : ga_error();
}

static bool use_device(void)
{
    static ga__backend backend;

    setenv("QUARRY_CACHE_DIR", "", 1);
    backend = fake_backend;
    backend.memory.alloc = give_bytes;
    backend.memory.free = take_back;
    backend.memory.zero = zero_nothing;
    backend.code.compile = compile_nothing;
    devices[2].backend = &backend;
    ga__use_device(&devices[2]);
    return open_fake_devices();
}

static bool make_operands(void)
{
    x = ga_empty(GA_FLOAT32, GA_SHAPE(1024));
    y = ga_empty(GA_FLOAT32, GA_SHAPE(1024));
    out = ga_empty(GA_FLOAT32, GA_SHAPE(1024));
    total = ga_empty(GA_FLOAT32, GA_SHAPE0);
    number = ga_zeros(GA_FLOAT32, GA_SHAPE0);
    matrix = ga_empty(GA_FLOAT32, GA_SHAPE(512, 1024));
    shares = ga_empty(GA_FLOAT32, GA_SHAPE(512, 1024));
    wide = ga_empty(GA_FLOAT32, GA_SHAPE(4, 1 << 18));
    wide_shares = ga_empty(GA_FLOAT32, GA_SHAPE(4, 1 << 18));
    linear = ga_elementwise_kernel("float a, const float *x, float b, const float *y, float *z",
                                   "z[i] = a*x[i] + b*y[i]", "linear_combination");
    hypotenuse = ga_compile_expr("sqrt(x*x + y*y)");
    return x && y && out && total && number && matrix && shares && wide && wide_shares && linear &&
           hypotenuse;
}

/* ---- The calls ---- */

/* instructions.py counts from its entry to its return. */
static __attribute__((noinline)) void counted(void (*run)(void))
{
    run();
    __asm__ volatile("" ::: "memory"); /* the call is no jump: it returns here */
}

int main(void)
{
    if (!use_device() || !make_operands())
        goto failed;
    for (int k = 0; k < BUDGETS; k++) {
        for (int i = 0; i < WARM_CALLS; i++)
            budgets[k].run();
        counted(budgets[k].run);
        printf("%d\t%s\n", budgets[k].instructions, budgets[k].call);
        if (ga_error() != GA_OK)
            goto failed;
    }
    return 0;
failed:
    fprintf(stderr, "quarry-instructions: %s\n", ga_error_message());
    return 1;
}
