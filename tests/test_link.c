/* Several sources linked to one module (ga_module_link), and nvJitLink without a GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "array_support.h"
#include "base/alloc.h"
#include "run.h"

#ifdef QUARRY_CUDA
#include "device/cuda/nvjitlink.h"
#include "device/cuda/nvrtc.h"
#endif

#define LIBRARY                                                                                    \
    "__device__ float offset = 100;\n"                                                             \
    "__device__ float twice(float x) { return 2 * x + offset; }\n"                                 \
    "__global__ void set_offset(float x) { offset = x; }\n"
#define PROGRAM                                                                                    \
    "extern __device__ float twice(float);\n"                                                      \
    "extern __device__ float offset;\n"                                                            \
    "__global__ void apply(float *x) { x[threadIdx.x] = twice(x[threadIdx.x]) + N * offset; }\n"

#ifdef QUARRY_CUDA
/* Skips the test where sources for a GPU cannot be linked: the library is not part of a build
 * with CUDA from wheels. */
static void need_nvjitlink(void)
{
    char found[4096];
    if (ga__nvjitlink_found(found, sizeof found) == GA_OK)
        return;
    printf("skipped: %s\n", ga_error_message());
    ga_clear_error();
    skip();
}

static void need_linker(void)
{
    if (!on_host())
        need_nvjitlink();
}
#else
static void need_linker(void)
{
}
#endif

static double sum_after(ga_kernel *k, gpuarray *x)
{
    assert_int_equal(ga_launch(k, GA_DIM(1), GA_DIM(4), x), GA_OK);
    return ga_item_double(ga_sum(x));
}

static void sources_share_functions_and_variables(void **state)
{
    (void)state;
    need_linker();
    GA_SCOPE {
        ga_module *m = ga_module_link(
            GA_SOURCES({.source = LIBRARY}, {.source = PROGRAM, .options = "-DN=10"}),
            .name = "both");
        if (!m)
            fail_msg("%s", ga_error_message());
        gpuarray *x = ga_arange(GA_FLOAT32, 0, 4, 1);
        assert_true(sum_after(ga_module_kernel(m, "apply"), x) == 12 + 4 * 100 + 4 * 1000);
        ga_launch(ga_module_kernel(m, "set_offset"), GA_DIM(1), GA_DIM(1), 1.0f);
        gpuarray *offset = ga_view(ga_module_global(m, "offset"), GA_FLOAT32);
        assert_true(ga_item_double(ga_sum(offset)) == 1);
        x = ga_zeros(GA_FLOAT32, 1, (const int64_t[]){4});
        assert_true(sum_after(ga_module_kernel(m, "apply"), x) == 4 * 11);
        assert_null(ga_module_kernel(m, "twice"));
        assert_error(GA_ERR_INVALID, "set_offset, apply");
        assert_null(ga_module_global(m, "nothing"));
        assert_error(GA_ERR_INVALID, "its variables: offset");
        ga_module_free(m);
    }
}

#define OTHER                                                                                      \
    "extern __device__ float twice(float);\n"                                                      \
    "__global__ void negate(float *x) { x[threadIdx.x] = -twice(x[threadIdx.x]); }\n"

/* The code of a source that was linked before is another one where it is another piece. */
static void sources_are_linked_in_any_order(void **state)
{
    (void)state;
    need_linker();
    const ga_module_args library = {.source = LIBRARY}, other = {.source = OTHER},
                         program = {.source = PROGRAM, .options = "-DN=10"};
    const ga_module_args orders[][3] = {
        {library, program}, {other, library, program}, {program, other, library}};
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++)
        GA_SCOPE {
            ga_module *m = ga_module_link(orders[k], k == 0 ? 2 : 3, sizeof **orders);
            if (!m)
                fail_msg("order %zu: %s", k, ga_error_message());
            gpuarray *x = ga_zeros(GA_FLOAT32, 1, (const int64_t[]){4});
            assert_true(sum_after(ga_module_kernel(m, "apply"), x) == 4 * 1100);
            if (k > 0)
                assert_true(sum_after(ga_module_kernel(m, "negate"), x) == -4 * 2300);
            ga_module_free(m);
        }
}

/* Both use dynamic shared memory; the second allocates on the device. */
static const char FILL[] = "template <class T> __global__ void fill(T *x, T v)\n"
                           "{ extern __shared__ char bytes[]; T *s = (T *)bytes;\n"
                           "s[threadIdx.x] = v; __syncthreads(); x[threadIdx.x] = s[0]; }\n";
static const char SUMS[] =
    "__global__ void sums(float *x) { extern __shared__ float s[]; int *p = new int(3);\n"
    "s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); if (threadIdx.x == 0)\n"
    "for (int i = 1; i < 4; i++) x[0] += s[i]; x[0] += *p - 3; delete p; }\n";

/* Pieces have their own templates, dynamic shared memory and allocations. */
static void pieces_may_need_the_same_parts(void **state)
{
    (void)state;
    need_linker();
    GA_SCOPE {
        ga_module *m = ga_module_link(
            GA_SOURCES({.source = FILL, .kernels = "fill<float>, fill<double>"}, {.source = SUMS}));
        if (!m)
            fail_msg("%s", ga_error_message());
        gpuarray *x = ga_zeros(GA_FLOAT32, 1, (const int64_t[]){4});
        ga_kernel *fill = ga_module_kernel(m, "fill<float>");
        assert_non_null(fill);
        ga_launch_with(fill, GA_DIM(1), GA_DIM(4), GA_WITH(.shared_bytes = 64), x, 2.5f);
        ga_launch_with(ga_module_kernel(m, "sums"), GA_DIM(1), GA_DIM(4),
                       GA_WITH(.shared_bytes = 64), x);
        assert_true(ga_item_double(ga_slice(x, "0")) == 10);
        assert_int_equal(ga_error(), GA_OK);
        ga_module_free(m);
    }
}

static void errors_say_what_is_wrong(void **state)
{
    (void)state;
    need_linker();
    assert_null(
        ga_module_link(GA_SOURCES({.source = PROGRAM, .options = "-DN=1"}), .name = "alone"));
    assert_error(GA_ERR_COMPILE, "twice");
    assert_null(ga_module_link(GA_SOURCES({.source = LIBRARY}, {.source = LIBRARY})));
    assert_error(GA_ERR_COMPILE, on_host() ? "twice" : "sources 1 and 2 both define");
    assert_null(
        ga_module_link(GA_SOURCES({.source = LIBRARY}, {.source = "int x = ;", .name = "bad"})));
    assert_error(GA_ERR_COMPILE, "bad");
    assert_null(ga_module_link(GA_SOURCES({.source = LIBRARY}, {.source = NULL})));
    assert_error(GA_ERR_INVALID, "source 2 is NULL");
    assert_null(ga_module_link(NULL, 0, sizeof(ga_module_args)));
    assert_error(GA_ERR_INVALID, "no source to link");
    if (!on_host())
        return;
    const char *const files[] = {"lib.fatbin", NULL};
    assert_null(ga_module_link(GA_SOURCES({.source = LIBRARY}), .files = files));
    assert_error(GA_ERR_UNSUPPORTED, "lib.fatbin does not link on the host");
}

static bool link_and_find(void)
{
    ga_module *m =
        ga_module_link(GA_SOURCES({.source = LIBRARY}, {.source = PROGRAM, .options = "-DN=10"}));
    const bool done = m && ga_module_kernel(m, "apply");
    ga_module_free(m);
    return done;
}

static void links_survive_failures(void **state)
{
    (void)state;
    need_linker();
    survive_failures(link_and_find);
}

/* ---- nvJitLink ---- */

#ifdef QUARRY_CUDA

enum { ARCH = 90, MOST_PIECES = 2 };

/* Compiles the pieces; the caller frees the codes. */
static void compile_pieces(size_t count, const char *const *texts, ga__link_piece *pieces)
{
    static const char *const options[] = {"-DN=3", NULL};
    for (size_t k = 0; k < count; k++) {
        char *symbols, *log;
        void *code;
        size_t nbytes;
        const ga__cuda_source source = {
            .name = "piece", .text = texts[k], .options = options, .piece = (int)k + 1};
        if (ga__nvrtc_compile_cuda(&source, ARCH, &code, &nbytes, &symbols, &log) != GA_OK)
            fail_msg("%s", ga_error_message());
        pieces[k] = (ga__link_piece){.name = "piece", .bytes = code, .nbytes = nbytes};
        ga__free(symbols);
        ga__free(log);
    }
}

static ga_status link_texts(size_t count, const char *const *texts, void **code, size_t *nbytes)
{
    ga__link_piece pieces[MOST_PIECES];
    compile_pieces(count, texts, pieces);
    const ga__link_inputs inputs = {.name = "linked", .pieces = pieces, .count = count};
    const ga_status status = ga__nvjitlink_link(&inputs, ARCH, code, nbytes);
    for (size_t k = 0; k < count; k++)
        ga__free((void *)(uintptr_t)pieces[k].bytes);
    return status;
}

static void nvjitlink_makes_a_cubin(void **state)
{
    (void)state;
    void *code = NULL;
    size_t nbytes = 0;
    need_nvjitlink();
    if (link_texts(2, (const char *const[]){LIBRARY, PROGRAM}, &code, &nbytes) != GA_OK)
        fail_msg("%s", ga_error_message());
    assert_true(nbytes > 64 && memcmp(code, "\177ELF", 4) == 0);
    assert_int_equal(((const unsigned char *)code)[16], 2); /* ET_EXEC: nothing is left to link */
    ga__free(code);
    if (link_texts(2, (const char *const[]){FILL, SUMS}, &code, &nbytes) != GA_OK)
        fail_msg("%s", ga_error_message());
    ga__free(code);
    assert_int_not_equal(link_texts(1, (const char *const[]){PROGRAM}, &code, &nbytes), GA_OK);
    assert_error(GA_ERR_COMPILE, "linked does not link");
    assert_int_not_equal(link_texts(2, (const char *const[]){LIBRARY, LIBRARY}, &code, &nbytes),
                         GA_OK);
    assert_error(GA_ERR_COMPILE, "sources 1 and 2 both define");
}

#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_share_functions_and_variables),
        cmocka_unit_test(sources_are_linked_in_any_order),
        cmocka_unit_test(pieces_may_need_the_same_parts),
        cmocka_unit_test(errors_say_what_is_wrong),
        cmocka_unit_test(links_survive_failures),
#ifdef QUARRY_CUDA
        cmocka_unit_test(nvjitlink_makes_a_cubin),
#endif
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
