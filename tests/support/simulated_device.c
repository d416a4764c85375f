/* A CUDA device without a GPU: the simulator of users' modules runs its kernels on the host.
 * Compiling for it is slow, so tests use few kernels of each kind. */
#include "run.h"
#include "simulated_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "device/cuda/cublaslt.h"
#include "device/grid.h"
#include "device/simt/simt.h"
#include "device/stream.h"
#include "device_support.h"

/* Within ga::float8_format: the code, of NaN 0x7f. */
#define SATURATED                                                                                  \
    "{ unsigned code = code_of(target::bits_of(a) & 0x7fffffffu); "                                \
    "pair = isnan(a) ? 0x7f : (code < top ? code : top - 1) | (target::bits_of(a) >> 24 & 0x80); " \
    "}"

/* Two numbers of 16 bits each. */
#define PACKED(type)                                                                               \
    "{ const " #type " x(a.low), y(a.high); word = x.bits | (unsigned)y.bits << 16; }"
#define BETTER(type, sign)                                                                         \
    "{ const two<" #type "> x = two_of<" #type ">(a), y = two_of<" #type ">(b); word = two<" #type \
    ">(isnan(x.low()) || x.low() " #sign " y.low() ? x.element(0) : y.element(0), "                \
    "isnan(x.high()) || x.high() " #sign " y.high() ? x.element(1) : y.element(1)).bits; }"
#define EXTREMES(type, sign)                                                                       \
    "{ unsigned short x[2], y[2]; __builtin_memcpy(x, &a, 4); __builtin_memcpy(y, &b, 4); "        \
    "for (int k = 0; k < 2; k++) x[k] = (" type ")x[k] " #sign " (" type ")y[k] ? x[k] : y[k]; "   \
    "__builtin_memcpy(&pair, x, 4); }"
/* Whether one of two floats of 16 bits is infinite or NaN, and whether they exceed two others. */
#define ODD(infinity)                                                                              \
    "{ for (int k = 0; k < 32; k += 16) "                                                          \
    "if ((x >> k & 0x7fff) >= " #infinity ") odd |= 0x7fffu << k; }"
#define EXCEEDS(type, sign)                                                                        \
    "{ mask = 0; for (int l = 0; l < 2; l++) "                                                     \
    "if (half_of<" #type ">(a, l) " #sign " half_of<" #type                                        \
    ">(b, l)) mask |= 0xffffu << 16 * l; }"
/* Two floats of 16 bits times 1 or -1, plus 0. */
#define ORDERED(infinity)                                                                          \
    "{ pair = 0; for (int k = 0; k < 32; k += 16) { unsigned size = word >> k & 0x7fff, "          \
    "sign = (word ^ one) >> k & 0x8000; "                                                          \
    "pair |= (size > " #infinity " ? 0x7fff : size ? size | sign : 0) << k; } }"
#define TWO(type, sign)                                                                            \
    "{ const two<" #type "> x = two_of<" #type ">(a), y = two_of<" #type ">(b); "                  \
    "word = two<" #type ">(" #type "(x.low() " #sign " y.low()), " #type "(x.high() " #sign        \
    " y.high())).bits; }"

/* A warp's product of 16 x 8 words by 8 x 8 words. Lane 4 r + k has words k and k + 4 of rows r and
 * r + 8 of a, and of column r of b. */
#define WARP_PRODUCT(product)                                                                      \
    "{ static thread_local unsigned all[128][6]; const int t = threadIdx.x, first = t & ~31; "     \
    "__builtin_memcpy(all[t], a, 16); __builtin_memcpy(all[t] + 4, b, 8); __syncwarp(); "          \
    "for (int e = 0; e < 4; e++) for (int k = 0; k < 8; k++) { "                                   \
    "const unsigned x = all[first + t % 32 / 4 * 4 + k % 4][e / 2 + k / 4 * 2], "                  \
    "y = all[first + (t % 4 * 2 + e % 2) * 4 + k % 4][4 + k / 4]; sum[e] += " product "; } "       \
    "__syncwarp(); }"
#define HALF(type, word, bits) "__builtin_bit_cast(ga::" #type ", (unsigned short)(" word #bits "))"
#define PAIRS(type)                                                                                \
    HALF(type, "x", )                                                                              \
    " * " HALF(type, "y", ) " + " HALF(type, "x", >> 16) " * " HALF(type, "y", >> 16)

/* The host's equivalent of PTX in the templates: for each instruction, C++ over its operands. */
static const struct {
    const char *instruction, *meaning;
} ptx[] = {
    {"cvt.f32.f16", "{ _Float16 half; __builtin_memcpy(&half, &bits, 2); value = (float)half; }"},
    {"cvt.rn.f16.f32", "{ _Float16 half = (_Float16)a; __builtin_memcpy(&bits, &half, 2); }"},
    {"cvt.rn.f16x2.e4m3x2", "{ _Float16 half = (_Float16)by_half(bits); unsigned short low; "
                            "__builtin_memcpy(&low, &half, 2); halves = low; }"},
    {"cvt.rn.satfinite.e4m3x2.f32", SATURATED},
    {"cvt.rn.satfinite.e5m2x2.f32", SATURATED},
    {"cvt.rn.bf16x2.f32 %0, 0f00000000", "near = from_float(a);"},
    {"cvt.rn.f16x2.f32", PACKED(float16)},
    {"cvt.rn.bf16x2.f32", PACKED(bfloat16)},
    {"add.rn.f16x2", TWO(float16, +)},
    {"sub.rn.f16x2", TWO(float16, -)},
    {"mul.rn.f16x2", TWO(float16, *)},
    {"add.rn.bf16x2", TWO(bfloat16, +)},
    {"sub.rn.bf16x2", TWO(bfloat16, -)},
    {"mul.rn.bf16x2", TWO(bfloat16, *)},
    {"fma.rn.f16x2 %0, %1, %2, %0", ODD(0x7c00)},
    {"fma.rn.bf16x2 %0, %1, %2, %0", ODD(0x7f80)},
    {"set.gt.u32.f16x2", EXCEEDS(float16, >)},
    {"set.lt.u32.f16x2", EXCEEDS(float16, <)},
    {"set.gt.u32.bf16x2", EXCEEDS(bfloat16, >)},
    {"set.lt.u32.bf16x2", EXCEEDS(bfloat16, <)},
    {"fma.rn.f16x2", ORDERED(0x7c00)},
    {"fma.rn.bf16x2", ORDERED(0x7f80)},
    {"prmt.b32", "signs = (pair >> 15 & 0x10001) * 0xffff;"},
    {"max.s16x2", EXTREMES("short", >)},
    {"min.s16x2", EXTREMES("short", <)},
    {"max.u16x2", EXTREMES("unsigned short", >)},
    {"min.u16x2", EXTREMES("unsigned short", <)},
    {"max.NaN.f16x2", BETTER(float16, >)},
    {"min.NaN.f16x2", BETTER(float16, <)},
    {"max.NaN.bf16x2", BETTER(bfloat16, >)},
    {"min.NaN.bf16x2", BETTER(bfloat16, <)},
    {"rcp.approx.ftz.f32", "r = 1 / a;"},
    {"rcp.approx.ftz.f64", "r = 1 / a;"},
    {"ex2.approx.ftz.f32", "r = __builtin_exp2f(a);"},
    {"rsqrt.approx.ftz.f32", "r = 1 / __builtin_sqrtf(a);"},
    {"red.relaxed.gpu.global.add", "atomicAdd(place, v);"},
    {"red.relaxed.gpu.global.max", "atomicMax(word, v);"},
    {"red.shared.add.u32", "atomicAdd((unsigned *)(counters + byte), 1u);"},
    {"atom.add.acq_rel.gpu.global.u32", "before = atomicAdd(ticket, 1u);"},
    {"dp4a.s32.s32", "for (int b = 0; b < 32; b += 8) "
                     "sum += (signed char)(word >> b) * (signed char)(factors >> b);"},
    {"dp4a.u32.u32", "for (int b = 0; b < 32; b += 8) "
                     "sum += (unsigned char)(word >> b) * (unsigned char)(factors >> b);"},
    {"cvt.rna.tf32.f32", "bits = isnan(ga::target::from_bits(word)) ? 0x7fffffff "
                         ": (word + 0x1000) & 0xffffe000;"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32",
     WARP_PRODUCT("ga::target::from_bits(x) * ga::target::from_bits(y)")},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16", WARP_PRODUCT(PAIRS(float16))},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16", WARP_PRODUCT(PAIRS(bfloat16))},
    {"cp.async.ca.shared.global", "__builtin_memcpy(to, from, BYTES);"},
    {"cp.async.wait_all", ""},
    {"cp.async.cg.shared.global", "*(uint4 *)to = *(const uint4 *)from;"},
    {"{ .reg .pred set", "lanes = __ballot_sync(0xffffffffu, (word & bit) != 0); "
                         "lanes = word & bit ? lanes : ~lanes;"},
    {"{ .reg .pred mark", "lanes = __ballot_sync(0xffffffffu, mark);"},
    {"ld.relaxed.gpu.global.u64", "word = *(const volatile unsigned long long *)from;"},
    {"st.relaxed.gpu.global.u64", "*(volatile unsigned long long *)to = word;"},
    {"ld.global.cg.v4.u32", "v = *from;"},
    {"cp.async.bulk.prefetch.L2", "(void)from, (void)bytes;"},
    {"mbarrier.init", "*barrier = 0;"},
    {"mbarrier.arrive.expect_tx", "(void)bytes; ++*(volatile unsigned long long *)barrier;"},
    {"{ .reg .pred passed", "passed = (*(volatile unsigned long long *)barrier & 1) != parity; "
                            "if (!passed) __nanosleep(20);"},
    {"cp.async.bulk.shared", "__builtin_memcpy(to, from, bytes);"},
    {"fence.mbarrier_init", ""},
    {"fence.proxy.async", ""},
    {"max.NaN.f32", "r = a > b || a != a ? a : b;"},
    {"min.NaN.f32", "r = a < b || a != a ? a : b;"},
    {"mul.wide.u32", "product = (unsigned long long)a * b;"},
};

static const char *meaning_of(const char *statement)
{
    const char *quoted = strchr(statement, '"');
    for (size_t k = 0; quoted && k < sizeof ptx / sizeof *ptx; k++)
        if (strncmp(quoted + 1, ptx[k].instruction, strlen(ptx[k].instruction)) == 0)
            return ptx[k].meaning;
    return "#error PTX that the test has no meaning for\n";
}

/* NVRTC accepts an attribute where C++ does not. */
static const char nvrtc_order[] = "__shared__ alignas(16)", cxx_order[] = "alignas(16) __shared__";

static const char *next_change(const char *text)
{
    const char *const ptx_at = strstr(text, "asm"), *const order_at = strstr(text, nvrtc_order);
    return !ptx_at || (order_at && order_at < ptx_at) ? order_at : ptx_at;
}

/* The text with C++ for its PTX; the template defines the macros that replace the simulator's own
 * words. */
static char *without_ptx(const char *text)
{
    ga__strbuf out = GA__STRBUF_INIT;
    ga__strbuf_add(&out, "#undef GA_FN\n#undef GA_LIBM1\n#undef GA_LIBM2\n");
    for (const char *at; (at = next_change(text)) != NULL;) {
        ga__strbuf_add_bytes(&out, text, (size_t)(at - text));
        if (*at == '_') {
            ga__strbuf_add(&out, cxx_order);
            text = at + sizeof nvrtc_order - 1;
        } else if (at[3] == '(' || at[3] == ' ') {
            ga__strbuf_add(&out, meaning_of(at));
            text = strstr(at, ");") + 2;
        } else {
            ga__strbuf_add(&out, "asm");
            text = at + 3;
        }
    }
    ga__strbuf_add(&out, text);
    return ga__strbuf_take(&out);
}

static ga_status simulated_compile(ga__device *on, const ga__source *source, void **code,
                                   size_t *nbytes)
{
    char entry[128], *symbols = NULL, *log = NULL, *text = without_ptx(source->text);
    const char *const kernels[] = {entry, NULL};
    (void)on;
    snprintf(entry, sizeof entry, "quarry_%s", source->name);
    const ga__cuda_source cuda = {.name = source->name, .text = text, .kernels = kernels};
    const ga_status status =
        text ? ga__simt_compile(&cuda, code, nbytes, &symbols, &log) : GA_ERR_MEMORY;
    simulated.rejected += status == GA_ERR_COMPILE;
    ga__free(symbols);
    ga__free(log);
    ga__free(text);
    return status;
}

static void simulated_key(ga__device *on, bool fast_math, ga__strbuf *key)
{
    (void)on;
    ga__strbuf_addf(key, "simulated%s ", fast_math ? " fast" : "");
    ga__simt_key(key);
}

/* Each module has one kernel. */
static ga_status simulated_find(ga__image *image, const char *name, ga__function **function)
{
    (void)name;
    return ga__host_backend.code.find(image, "ga_simt_kernel_0", function);
}

/* `__shared__` variables are thread-local ones of the kernel's library. glibc allocates their
 * block. If it lies 16 bytes into a page, the sanitizer's runtime takes the bytes before it for the
 * header of glibc 2.19 (DTLS_on_tls_get_addr) and dies when it looks for leaks there. */
const char *__lsan_default_options(void);
const char *__lsan_default_options(void)
{
    return "use_tls=0";
}

/* Without thread-local memory it does not find the loader's own memory. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:ld-linux\n";
}

struct simulated simulated;

static ga_status simulated_launch(ga__stream *stream, ga__function *function,
                                  const ga__launch *launch)
{
    void *args[] = {(void *)(uintptr_t)launch->words};
    const ga__grid_launch grid = {.name = "simulated",
                                  .grid = {launch->grid, 1, 1},
                                  .block = {launch->block, 1, 1},
                                  .shared = launch->shared,
                                  .args = args};
    const ga_simt_kernel *kernel = (const void *)function;
    ga__function_info info;
    simulated.launches++;
    simulated.last = *launch;
    ga__simt_info(kernel, &info);
    info.max_shared_bytes = stream->device->shared_bytes ? stream->device->shared_bytes : 48 << 10;
    const ga_status status = ga__check_grid(&grid, &info);
    return status == GA_OK ? ga__simt_launch(kernel, &grid) : status;
}

static void simulated_carve(ga__device *on, ga__function *function, int percent)
{
    (void)on, (void)function;
    simulated.carveout = percent;
}

static int simulated_resident_blocks(ga__device *on, ga__function *function, int block)
{
    (void)function;
    return on->processors * on->threads_per_processor / block;
}

static ga__backend simulated_backend;
ga__device simulated_device = {.backend = &simulated_backend,
                               .name = "simulated",
                               .arch = 90,
                               .threads_per_processor = 2048,
                               .shared_bytes = 227 << 10,
                               .lock = PTHREAD_MUTEX_INITIALIZER};

static bool simulated_captured(const ga__stream *stream)
{
    (void)stream;
    return simulated.captured;
}

/* Everything except code, captures and products is the host's. */
bool open_simulated_device(int processors)
{
    simulated_backend = ga__host_backend;
    simulated_backend.name = "simulated";
    simulated_backend.template_target = "cuda";
    simulated_backend.code.compile = simulated_compile;
    simulated_backend.graph.captured = simulated_captured;
    simulated_backend.code.key = simulated_key;
    simulated_backend.code.find = simulated_find;
    simulated_backend.code.launch = simulated_launch;
    simulated_backend.code.carve = simulated_carve;
    simulated_backend.code.resident_blocks = simulated_resident_blocks;
    simulated_backend.product = (ga__product_verbs){.multiply = NULL};
    simulated_device.processors = processors;
    return ga__stream_init(&simulated_device.stream, &simulated_device, false) == GA_OK;
}

void simulate_products(const ga__product_verbs *verbs)
{
    simulated_backend.product = *verbs;
}

#ifdef QUARRY_CUDA
const char *simulate_cublaslt(void)
{
    const char *path = getenv("FAKE_CUBLASLT");
    ga__use_device(NULL);
    need_host("its products need the real cuBLASLt");
    if (!path) {
        print_message("skipped: FAKE_CUBLASLT does not name the tests' library\n");
        skip();
    }
    setenv("QUARRY_CUBLASLT", path, 1);
    simulate_products(&(ga__product_verbs){.found = ga__cublaslt_found,
                                           .takes = ga__cublaslt_takes,
                                           .multiply = ga__cublaslt_multiply});
    ga__use_device(&simulated_device);
    return path;
}
#endif

void need_simulator(void)
{
    need_host("the simulator runs its kernels on the host");
}

__attribute__((constructor)) static void sample_simulated_tests(void)
{
    sample_tests(use_simulated_device);
}

int use_simulated_device(void **state)
{
    (void)state;
    if (simulated_device.processors == 0 && !open_simulated_device(2))
        return -1;
    ga__use_device(&simulated_device);
    return 0;
}

int use_default_device(void **state)
{
    (void)state;
    ga__use_device(NULL);
    return 0;
}
