/* Products by cuBLASLt: how to compute each shape is chosen once and kept. */
#include "device/cuda/cublaslt.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/os/library.h"
#include "device/memory.h"
#include "model/dtype.h"

/* ---- The library ---- */

typedef struct cublaslt_handle *handle;
typedef struct cublaslt_descriptor *descriptor;
typedef struct cublaslt_layout *layout;
typedef struct cublaslt_preference *preference;
typedef struct algorithm {
    uint64_t data[8];
} algorithm;
typedef struct choice {
    algorithm how;
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
} choice;

static struct {
#define GA_SYMBOL(member, name, result, parameters, since) result(*member) parameters;
#include "device/cuda/cublaslt.def"
#undef GA_SYMBOL
} lt;

static const ga__symbol needed[] = {
#define GA_SYMBOL(member, name, result, parameters, since) {&lt.member, name, since},
#include "device/cuda/cublaslt.def"
#undef GA_SYMBOL
};

static const char *const files[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so",
                                    NULL};

/* Before 12.0 the number was made otherwise: 11.7.4 is 11704. */
static void read_version(ga__version *its)
{
    const size_t version = lt.version();
    *its = (ga__version){.name = "cuBLASLt", .least = "12.0"};
    if (version < 100000)
        snprintf(its->text, sizeof its->text, "11 or older");
    else
        snprintf(its->text, sizeof its->text, "%zu.%zu.%zu", version / 10000, version / 100 % 100,
                 version % 100);
}

static ga__library library = {
    .name = "cuBLASLt",
    .variable = "QUARRY_CUBLASLT",
    .files = files,
    .folders = ga__cuda_folders,
    .advice = "products of floats are slower without; install the CUDA toolkit's cuBLAS "
              "(libcublas-13-0, or nvidia-cublas of PyPI) or set QUARRY_CUBLASLT to its "
              "libcublasLt.so",
    .symbols = needed,
    .count = sizeof needed / sizeof *needed,
    .final = true,
    .version = read_version,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

ga_status ga__cublaslt_found(char *text, size_t size)
{
    if (!ga__library_load(&library))
        return ga__fail(GA_ERR_UNSUPPORTED, "cublaslt: %s", library.problem);
    ga__version its;
    read_version(&its);
    snprintf(text, size, "%s %s, %s", its.name, its.text, library.path);
    return GA_OK;
}

/* Numbers of the documentation's enums. */
enum { NOT_SUPPORTED = 15 }; /* a status */
enum { F32 = 0, F64 = 1, F16 = 2, C32 = 4, C64 = 5, BF16 = 14 };
enum { COMPUTE_F32 = 68, COMPUTE_F64 = 70, COMPUTE_TF32 = 77 };
enum { TRANSPOSE_A = 3, TRANSPOSE_B = 4, EPILOGUE = 7, BIAS = 8 }; /* of a description */
enum { EPILOGUE_RELU = 2, EPILOGUE_BIAS = 4 };
enum { PLACES = 5, STACK_STEP = 6 };          /* of a layout */
enum { MOST_WORKSPACE = 1, SCHEMES = 3 };     /* of a preference, */
enum { ALIGNMENT_A = 5 };                     /* with those of b, c and the result after it */
enum { ANY_SCHEME = 7, IN_COMPUTE_TYPE = 2 }; /* how parts of k meet */

/* How cuBLASLt names the dtypes; the others have no `compute`. */
static const struct {
    int type, scale, compute;
} types[GA_DTYPE_COUNT] = {
    [GA_FLOAT16] = {F16, F32, COMPUTE_F32},   [GA_BFLOAT16] = {BF16, F32, COMPUTE_F32},
    [GA_FLOAT32] = {F32, F32, COMPUTE_F32},   [GA_FLOAT64] = {F64, F64, COMPUTE_F64},
    [GA_COMPLEX64] = {C32, C32, COMPUTE_F32}, [GA_COMPLEX128] = {C64, C64, COMPUTE_F64},
};

bool ga__cublaslt_takes(const ga__matrix_product *p)
{
    const bool finishes = p->bias || p->relu;
    return types[p->type].compute && types[p->c_type].compute && p->places <= INT32_MAX &&
           !(finishes && ga__dtype_kind(p->type) == 'c') && ga__library_load(&library);
}

/* ---- Ways to compute, one for each shape ---- */

/* All that the choice depends on. Compared as bytes: it has no gaps. */
typedef struct shape {
    int64_t m, n, k, places;
    int64_t a_pitch, b_pitch, c_pitch, a_stack, b_stack, c_stack;
    uint8_t type, c_type, compute;
    uint8_t a_turned : 1, b_turned : 1, bias : 1, relu : 1, zero : 4;
    uint8_t alignment[4]; /* of b, a, c, and of the result with the bias, in cuBLASLt's order */
} shape;
_Static_assert(sizeof(shape) == 88, "a shape has no gaps");

typedef struct way {
    shape shape;
    descriptor description; /* NULL: free */
    layout a, b, c;
    choice choice;
} way;

enum { WAYS = 256, PROBES = 8, MOST_DEVICES = 64, MOST_WORKSPACE_BYTES = 32 << 20 };

/* What a device's products share. Its lock is held while a product is given to the stream, so that
 * no way is replaced meanwhile. */
typedef struct shared {
    handle handle; /* NULL: the library does not start */
    way ways[WAYS];
} shared;

static shared *devices[MOST_DEVICES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* CUDA does not survive a fork */

/* Bytes, a power of two. */
static uint8_t alignment_of(const void *memory)
{
    const uintptr_t at = (uintptr_t)memory | 128; /* more is of no use */
    return (uint8_t)(at & -at);
}

/* Matrices are column-major in cuBLASLt, so it multiplies the transposes: c' = b' a'. */
static shape shape_of(const ga__matrix_product *p)
{
    const uint8_t a = alignment_of(p->a.memory), b = alignment_of(p->b.memory),
                  c = alignment_of(p->c.memory);
    const uint8_t bias = p->bias ? alignment_of(p->bias) : c;
    const bool tf32 = p->tf32 && p->type == GA_FLOAT32;
    return (shape){.m = p->m,
                   .n = p->n,
                   .k = p->k,
                   .places = p->places,
                   .a_pitch = p->a.pitch,
                   .b_pitch = p->b.pitch,
                   .c_pitch = p->c.pitch,
                   .a_stack = p->places > 1 ? p->a.stack : 0,
                   .b_stack = p->places > 1 ? p->b.stack : 0,
                   .c_stack = p->places > 1 ? p->c.stack : 0,
                   .type = (uint8_t)p->type,
                   .c_type = (uint8_t)p->c_type,
                   .compute = (uint8_t)(tf32 ? COMPUTE_TF32 : types[p->type].compute),
                   .a_turned = p->a.transposed,
                   .b_turned = p->b.transposed,
                   .bias = p->bias != NULL,
                   .relu = p->relu,
                   .alignment = {b, a, c, bias < c ? bias : c}};
}

static void free_way(way *w)
{
    if (w->description)
        lt.description_free(w->description);
    if (w->a)
        lt.layout_free(w->a);
    if (w->b)
        lt.layout_free(w->b);
    if (w->c)
        lt.layout_free(w->c);
    *w = (way){.description = NULL};
}

/* The layout of a row-major matrix, whose columns are rows for cuBLASLt. */
static int make_layout(layout *made, uint8_t type, int64_t rows, int64_t columns, bool turned,
                       int64_t pitch, int64_t places, int64_t step)
{
    const int32_t count = (int32_t)places;
    int status = lt.layout(made, types[type].type, (uint64_t)(turned ? rows : columns),
                           (uint64_t)(turned ? columns : rows), pitch);
    if (status == 0 && places > 1)
        status = lt.layout_set(*made, PLACES, &count, sizeof count);
    if (status == 0 && places > 1)
        status = lt.layout_set(*made, STACK_STEP, &step, sizeof step);
    return status;
}

static int describe(way *w)
{
    const shape *s = &w->shape;
    const int32_t first = s->b_turned, second = s->a_turned,
                  epilogue = s->bias * EPILOGUE_BIAS | s->relu * EPILOGUE_RELU;
    int status = lt.describe(&w->description, s->compute, types[s->type].scale);
    if (status == 0)
        status = lt.description_set(w->description, TRANSPOSE_A, &first, sizeof first);
    if (status == 0)
        status = lt.description_set(w->description, TRANSPOSE_B, &second, sizeof second);
    if (status == 0 && epilogue)
        status = lt.description_set(w->description, EPILOGUE, &epilogue, sizeof epilogue);
    if (status == 0)
        status =
            make_layout(&w->b, s->type, s->k, s->n, s->b_turned, s->b_pitch, s->places, s->b_stack);
    if (status == 0)
        status =
            make_layout(&w->a, s->type, s->m, s->k, s->a_turned, s->a_pitch, s->places, s->a_stack);
    if (status == 0)
        status =
            make_layout(&w->c, s->c_type, s->m, s->n, false, s->c_pitch, s->places, s->c_stack);
    return status;
}

static int choose(handle h, way *w)
{
    preference wanted = NULL;
    const size_t most = MOST_WORKSPACE_BYTES;
    /* Sums of parts of k would be rounded to 16 bits each; the result is rounded once. */
    const uint32_t schemes =
        ga__dtype_size((ga_dtype)w->shape.c_type) < 4 ? IN_COMPUTE_TYPE : ANY_SCHEME;
    int found = 0, status = lt.preference(&wanted);
    if (status == 0)
        status = lt.preference_set(wanted, MOST_WORKSPACE, &most, sizeof most);
    if (status == 0)
        status = lt.preference_set(wanted, SCHEMES, &schemes, sizeof schemes);
    for (int k = 0; k < 4 && status == 0; k++) {
        const uint32_t alignment = w->shape.alignment[k];
        status = lt.preference_set(wanted, ALIGNMENT_A + k, &alignment, sizeof alignment);
    }
    if (status == 0)
        status =
            lt.choose(h, w->description, w->b, w->a, w->c, w->c, wanted, 1, &w->choice, &found);
    if (wanted)
        lt.preference_free(wanted);
    if (status == 0 && found == 0)
        return NOT_SUPPORTED;
    return status == 0 ? w->choice.status : status;
}

static ga_status fail(const ga__device *device, int status, const shape *s)
{
    return ga__fail(GA_ERR_DEVICE,
                    "matmul: cuBLASLt on %s: status %d for (%lld, %lld) @ (%lld, %lld) of %s",
                    device->name, status, (long long)s->m, (long long)s->k, (long long)s->k,
                    (long long)s->n, ga_dtype_name((ga_dtype)s->type));
}

/* The choice needs one too. */
static int set_bias(way *w, const void *bias)
{
    return bias ? lt.description_set(w->description, BIAS, &bias, sizeof bias) : 0;
}

/* The shape's way, made at first use; another one of the same place in the table goes. */
static way *find_way(shared *its, const shape *s, const void *bias, int *status)
{
    const uint64_t hash = ga__hash64(s, sizeof *s, 0);
    way *goes = &its->ways[hash % WAYS];
    for (uint64_t k = 0; k < PROBES; k++) {
        way *w = &its->ways[(hash + k) % WAYS];
        if (w->description && memcmp(&w->shape, s, sizeof *s) == 0) {
            *status = set_bias(w, bias);
            return *status == 0 ? w : NULL;
        }
        if (!w->description && goes->description)
            goes = w;
    }
    free_way(goes);
    goes->shape = *s;
    *status = describe(goes);
    if (*status == 0)
        *status = set_bias(goes, bias);
    if (*status == 0)
        *status = choose(its->handle, goes);
    if (*status == 0)
        return goes;
    free_way(goes);
    return NULL;
}

static ga_status open_device(const ga__device *device, shared **its)
{
    if (device->index >= MOST_DEVICES)
        return ga__fail(GA_ERR_UNSUPPORTED, "matmul: cuBLASLt on more than %d devices",
                        MOST_DEVICES);
    shared **known = &devices[device->index];
    if (!*known) {
        shared *made = ga__calloc(1, sizeof *made);
        if (!made)
            return GA_ERR_MEMORY;
        const int status = lt.create(&made->handle);
        if (status != 0) {
            made->handle = NULL;
            ga__log(
                GA_LOG_INFO,
                "matmul: cuBLASLt does not start on %s (status %d; it may need a newer driver): "
                "products of floats are slower without",
                device->name, status);
        }
        *known = made;
    }
    *its = *known;
    return GA_OK;
}

void ga__cublaslt_close(const ga__device *device)
{
    pthread_mutex_lock(&lock);
    shared *its = device->index < MOST_DEVICES ? devices[device->index] : NULL;
    if (its) {
        for (int k = 0; k < WAYS; k++)
            free_way(&its->ways[k]);
        if (its->handle)
            lt.destroy(its->handle);
        ga__free(its);
        devices[device->index] = NULL;
    }
    pthread_mutex_unlock(&lock);
}

/* ---- One product ---- */

/* alpha or beta, as the computation's type has it. */
typedef union number {
    float f32[2];
    double f64[2];
} number;

static number number_of(const shape *s, ga__factor x)
{
    const int scale = types[s->type].scale;
    number made = {.f64 = {0}};
    if (scale == F64 || scale == C64) {
        made.f64[0] = x.re;
        made.f64[1] = x.im;
    } else {
        made.f32[0] = (float)x.re;
        made.f32[1] = (float)x.im;
    }
    return made;
}

static ga_status give(ga__stream *stream, shared *its, way *w, const ga__matrix_product *p)
{
    const number alpha = number_of(&w->shape, p->alpha), beta = number_of(&w->shape, p->beta);
    const size_t nbytes = w->choice.workspace_bytes;
    ga__buffer *room = nbytes > 0 ? ga__buffer_new(stream->device, nbytes) : NULL;
    if (nbytes > 0 && !room)
        return ga_error();
    const int status =
        lt.multiply(its->handle, w->description, &alpha, p->b.memory, w->b, p->a.memory, w->a,
                    &beta, p->c.memory, w->c, p->c.memory, w->c, &w->choice.how,
                    room ? room->memory : NULL, nbytes, stream->handle);
    if (room)
        ga__buffer_release(room);
    return status == 0 ? GA_OK : fail(stream->device, status, &w->shape);
}

ga_status ga__cublaslt_multiply(ga__stream *stream, const ga__matrix_product *p)
{
    const shape s = shape_of(p);
    shared *its = NULL;
    int status = 0;
    pthread_mutex_lock(&lock);
    ga_status result = open_device(stream->device, &its);
    if (result == GA_OK && !its->handle)
        result = GA_ERR_UNSUPPORTED;
    way *w = result == GA_OK ? find_way(its, &s, p->bias, &status) : NULL;
    if (w)
        result = give(stream, its, w, p);
    else if (result == GA_OK)
        result = status == NOT_SUPPORTED ? GA_ERR_UNSUPPORTED : fail(stream->device, status, &s);
    pthread_mutex_unlock(&lock);
    return result;
}
