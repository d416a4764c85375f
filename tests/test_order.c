/* The waits between streams, graphs and engines, on a device that only records them. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "base/alloc.h"
#include "base/error.h"
#ifdef QUARRY_CUDA
#include "device/cuda/cublaslt.h"
#endif
#include "device/memory.h"
#include "device/stream.h"
#include "run.h"
#include "user/module.h"

enum { MANY = 70, N = 1000 };

/* The requests to the device, as a text: "b<ac" means that stream b waits for a and c, "b!" a
 * launch in b, "b@" a product by the library, "b=" a copy, "b*" a graph's launch, "b-" memory freed
 * in b's order, "b~" that the host waits for b. Streams are letters in the order of their creation;
 * '0' is the device's own. */
static struct {
    char text[2000];
    size_t length;
    char waiting, awaited[MANY]; /* a stream's waits that are not in the text yet */
    bool fails;                  /* for both waits and memory requests */
    bool multiplies;             /* has a library of products */
    int opened;
} seen;

static char letter_of(const ga__stream *stream)
{
    return (char)(uintptr_t)stream->handle;
}

static void put(char letter)
{
    assert_true(seen.length + 1 < sizeof seen.text);
    seen.text[seen.length++] = letter;
    seen.text[seen.length] = '\0';
}

static int compare_letters(const void *a, const void *b)
{
    return *(const unsigned char *)a - *(const unsigned char *)b;
}

/* Consecutive waits are sorted by letter: their order means nothing. */
static void put_waits(void)
{
    if (!seen.waiting)
        return;
    qsort(seen.awaited, strlen(seen.awaited), 1, compare_letters);
    put(seen.waiting);
    put('<');
    for (const char *at = seen.awaited; *at; at++)
        put(*at);
    put(' ');
    seen.waiting = '\0';
    memset(seen.awaited, 0, sizeof seen.awaited);
}

static ga_status note(const ga__stream *stream, char what)
{
    put_waits();
    put(letter_of(stream));
    put(what);
    put(' ');
    return GA_OK;
}

/* The text since the last time. */
static void expect(const char *text)
{
    char got[sizeof seen.text];
    put_waits();
    if (seen.length > 0)
        seen.text[--seen.length] = '\0'; /* the last blank */
    memcpy(got, seen.text, seen.length + 1);
    seen.length = 0;
    seen.text[0] = '\0';
    assert_int_equal(ga_error(), GA_OK);
    assert_string_equal(got, text);
}

/* Recorded work, and what a test does not check. */
static void forget(void)
{
    put_waits();
    seen.length = 0;
    seen.text[0] = '\0';
}

/* ---- The device ---- */

static ga_status stream_open(ga__stream *stream)
{
    const int number = seen.opened++;
    stream->handle = (void *)(uintptr_t)(number == 0 ? '0' : 'a' + number - 1);
    return GA_OK;
}

static void stream_close(ga__stream *stream)
{
    (void)stream;
}

static ga_status stream_wait(ga__stream *stream, ga__stream *other)
{
    if (seen.fails)
        return ga__fail(GA_ERR_DEVICE, "the device fails");
    if (seen.waiting != letter_of(stream))
        put_waits();
    seen.waiting = letter_of(stream);
    seen.awaited[strlen(seen.awaited)] = letter_of(other);
    return GA_OK;
}

static ga_status stream_synchronize(ga__stream *stream)
{
    return note(stream, '~');
}

static ga_status mark_new(ga__device *device, ga__event **mark)
{
    (void)device;
    *mark = calloc(1, sizeof(void *));
    return GA_OK;
}

static void mark_free(ga__device *device, ga__event *mark)
{
    (void)device;
    free(mark);
}

static ga_status mark_set(ga__event *mark, ga__stream *stream)
{
    *(ga__stream **)(void *)mark = stream;
    return GA_OK;
}

static ga_status mark_wait(ga__event *mark, ga__stream *stream)
{
    return stream_wait(stream, *(ga__stream **)(void *)mark);
}

static ga_status record_begin(ga__stream *stream)
{
    (void)stream;
    return GA_OK;
}

static ga_status record_end(ga__stream *stream, ga__replay **replay)
{
    *replay = (ga__replay *)stream;
    return GA_OK;
}

static ga_status replay(ga__replay *replay, ga__stream *stream)
{
    (void)replay;
    return note(stream, '*');
}

static void replay_free(ga__replay *replay)
{
    (void)replay;
}

static ga_status alloc(ga__stream *stream, size_t nbytes, ga__memory *memory)
{
    (void)stream;
    if (seen.fails)
        return ga__fail(GA_ERR_DEVICE, "the device fails");
    memory->address = memory->block = aligned_alloc(256, (nbytes + 255) / 256 * 256);
    return GA_OK;
}

static void give_back(ga__stream *stream, const ga__memory *memory)
{
    note(stream, '-');
    free(memory->address);
}

static ga_status copy(ga__stream *stream, void *to, const void *from, size_t nbytes,
                      ga__copy_kind kind)
{
    (void)to, (void)from, (void)nbytes, (void)kind;
    return note(stream, '=');
}

static ga_status copy_peer(ga__stream *stream, void *to, const void *from, size_t nbytes,
                           ga__device *target)
{
    (void)to, (void)from, (void)nbytes, (void)target;
    return note(stream, '=');
}

static ga_status zero(ga__stream *stream, void *memory, size_t nbytes)
{
    (void)stream, (void)memory, (void)nbytes;
    return GA_OK;
}

static ga_status synchronize(ga__device *device)
{
    (void)device;
    return GA_OK;
}

static ga_status pin(ga__device *device, size_t nbytes, void **memory)
{
    (void)device;
    *memory = malloc(nbytes);
    return GA_OK;
}

static ga_status compile(ga__device *device, const ga__source *source, void **code, size_t *nbytes)
{
    (void)device, (void)source;
    *nbytes = 4;
    *code = ga__malloc(*nbytes);
    memset(*code, 0, *nbytes);
    return GA_OK;
}

static void compiler_key(ga__device *device, bool fast_math, ga__strbuf *key)
{
    (void)device, (void)fast_math;
    ga__strbuf_add(key, "none");
}

static ga_status load(ga__device *device, const void *code, size_t nbytes, ga__image **image)
{
    (void)code, (void)nbytes;
    *image = (ga__image *)device;
    return GA_OK;
}

static ga_status find(ga__image *image, const char *name, ga__function **function)
{
    (void)name;
    *function = (ga__function *)image;
    return GA_OK;
}

static int resident_blocks(ga__device *device, ga__function *function, int block)
{
    (void)function;
    return device->processors * device->threads_per_processor / block;
}

static ga_status launch(ga__stream *stream, ga__function *function, const ga__launch *shape)
{
    (void)function, (void)shape;
    return note(stream, '!');
}

static ga_status launch_grid(ga__stream *stream, ga__function *function,
                             const ga__grid_launch *shape)
{
    (void)function, (void)shape;
    return note(stream, '!');
}

#ifdef QUARRY_CUDA
static bool takes(const ga__matrix_product *product)
{
    return seen.multiplies && ga__cublaslt_takes(product);
}

static ga_status multiply(ga__stream *stream, const ga__matrix_product *product)
{
    note(stream, '@');
    return ga__cublaslt_multiply(stream, product);
}
#endif

static const ga__backend noting = {.name = "noting",
                                   .template_target = "cuda",
                                   .stream.open = stream_open,
                                   .stream.close = stream_close,
                                   .stream.wait = stream_wait,
                                   .stream.synchronize = stream_synchronize,
                                   .stream.event_new = mark_new,
                                   .stream.event_free = mark_free,
                                   .stream.event_record = mark_set,
                                   .stream.event_wait = mark_wait,
                                   .graph.begin = record_begin,
                                   .graph.end = record_end,
                                   .graph.replay = replay,
                                   .graph.free = replay_free,
                                   .memory.alloc = alloc,
                                   .memory.free = give_back,
                                   .memory.copy = copy,
                                   .memory.copy_async = copy,
                                   .memory.copy_peer = copy_peer,
                                   .memory.zero = zero,
                                   .synchronize = synchronize,
                                   .memory.pin = pin,
                                   .code.compile = compile,
                                   .code.key = compiler_key,
                                   .code.load = load,
                                   .code.find = find,
                                   .code.resident_blocks = resident_blocks,
                                   .code.launch = launch,
#ifdef QUARRY_CUDA
                                   .product.takes = takes,
                                   .product.multiply = multiply,
#endif
                                   .user.launch = launch_grid};

#define NOTING(n)                                                                                  \
    {                                                                                              \
        .backend = &noting, .index = n, .name = "noting:" #n, .arch = 90, .processors = 132,       \
        .threads_per_processor = 2048, .lock = PTHREAD_MUTEX_INITIALIZER                           \
    }
static ga__device devices[2] = {NOTING(0), NOTING(1)};

/* ---- Shared by the tests: streams a to d of the first device ---- */

static ga_stream *a, *b, *c, *d;

static int open_device(void **state)
{
    (void)state;
    memset(&seen, 0, sizeof seen);
    ga__use_device(&devices[0]);
    devices[0].streams = NULL; /* of a test that failed */
    if (ga__stream_init(&devices[0].stream, &devices[0], false) != GA_OK)
        return -1;
    ga_stream **const all[] = {&a, &b, &c, &d};
    for (int k = 0; k < 4; k++)
        *all[k] = ga_stream_new();
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    ga_stream *const all[] = {a, b, c, d};
    ga_set_stream(NULL);
    for (int k = 0; k < 4; k++)
        ga_stream_free(all[k]);
    ga__stream_reset(&devices[0].stream);
    ga_clear_error();
    return 0;
}

/* Does the following work in a stream. */
static void in(ga_stream *stream)
{
    assert_int_equal(ga_set_stream(stream), GA_OK);
}

static void write_in(ga_stream *stream, gpuarray *x)
{
    in(stream);
    assert_int_equal(ga_assign(x, 1), GA_OK);
}

/* By a copy to host memory, which is one use and needs no array. */
static void read_in(ga_stream *stream, const gpuarray *x)
{
    static char bytes[1 << 20];
    in(stream);
    assert_int_equal(ga_to_host(x, bytes, ga_nbytes(x)), GA_OK);
}

static gpuarray *new_array(ga_stream *stream)
{
    in(stream);
    gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(N));
    assert_non_null(x);
    return x;
}

/* ---- One buffer ---- */

static void a_reader_waits_for_the_writer_alone(void **state)
{
    (void)state;
    gpuarray *x = new_array(a);
    write_in(a, x);
    expect("a!");
    read_in(a, x);
    expect("a=");
    read_in(b, x);
    expect("b<a b=");
    read_in(c, x);
    expect("c<a c=");
    read_in(b, x); /* it has waited */
    expect("b=");
    ga_free(x);
    expect("a<bc a-");
}

static void a_writer_waits_for_all_who_read(void **state)
{
    (void)state;
    gpuarray *x = new_array(a);
    write_in(a, x);
    read_in(b, x);
    read_in(c, x);
    expect("a! b<a b= c<a c=");
    write_in(d, x);
    expect("d<abc d!");
    write_in(d, x); /* no other stream since then */
    expect("d!");
    read_in(d, x);
    read_in(a, x); /* it wrote before, which implies nothing about d */
    expect("d= a<d a=");
    write_in(a, x);
    expect("a<d a!");
    write_in(NULL, x);
    expect("0<a 0!");
    read_in(a, x);
    expect("a<0 a=");
    ga_free(x);
    expect("0<a 0-");
}

static void a_use_that_cannot_wait_is_not_noted(void **state)
{
    (void)state;
    char bytes[N * 4];
    gpuarray *x = new_array(a);
    write_in(a, x);
    expect("a!");
    seen.fails = true;
    in(b);
    assert_int_equal(ga_to_host(x, bytes, sizeof bytes), GA_ERR_DEVICE);
    ga_clear_error();
    assert_int_equal(ga_assign(x, 2), GA_ERR_DEVICE);
    ga_clear_error();
    seen.fails = false;
    read_in(b, x); /* still waits */
    write_in(b, x);
    expect("b<a b= b<a b!");
    ga_free(x);
    expect("b-");
}

static void memory_that_is_refused_is_not_counted(void **state)
{
    (void)state;
    const size_t used = devices[0].used;
    in(a);
    seen.fails = true;
    assert_null(ga_empty(GA_FLOAT32, GA_SHAPE(N)));
    seen.fails = false;
    assert_error(GA_ERR_DEVICE, "the device fails");
    assert_int_equal(devices[0].used, used);
    ga_free(new_array(a));
    assert_int_equal(devices[0].used, used);
    expect("a-");
}

static void memory_is_freed_behind_all_who_use_it(void **state)
{
    (void)state;
    gpuarray *x = new_array(b), *y = new_array(b);
    in(NULL);
    ga_free(y);
    expect("b-");
    write_in(b, x);
    write_in(c, x);
    read_in(d, x);
    gpuarray *view = ga_slice(x, "1:");
    ga_free(x);
    expect("b! c<b c! d<c d=");
    in(a);
    ga_free(view);
    expect("c<d c-");
}

static int given_back;

static void give_back_wrapped(void *owner)
{
    assert_ptr_equal(owner, &given_back);
    put_waits();
    put('.');
    put(' ');
}

static void wrapped_memory_is_given_back_when_all_is_done(void **state)
{
    (void)state;
    static float memory[N];
    in(a);
    gpuarray *x = ga__array_over(
        ga__buffer_wrap(&devices[0], memory, sizeof memory, &given_back, give_back_wrapped),
        GA_FLOAT32, GA_SHAPE(N));
    assert_non_null(x);
    write_in(b, x);
    read_in(c, x);
    expect("b<a b! c<b c=");
    in(a);
    ga_free(x);
    expect("b<c b~ .");
}

/* A freed stream has no work left: users of its buffers then wait for no stream with its number. */
static void what_a_freed_stream_did_is_done(void **state)
{
    (void)state;
    gpuarray *x = new_array(d);
    write_in(d, x);
    read_in(a, x);
    expect("d! a<d a=");
    ga_stream_free(d);
    d = NULL;
    expect("d~");
    read_in(b, x);
    expect("b=");
    ga_free(x); /* in an existing order */
    expect("0<ab 0-");
    in(NULL);
    d = ga_stream_new();
}

/* ---- More streams than numbers ---- */

static void streams_that_share_a_number_wait_for_each_other(void **state)
{
    (void)state;
    ga_stream *streams[MANY];
    for (int k = 0; k < MANY; k++)
        assert_non_null(streams[k] = ga_stream_new());
    gpuarray *x = new_array(streams[MANY - 1]);
    const char late[] = {letter_of(streams[MANY - 1]), letter_of(streams[MANY - 2])};
    for (int round = 0; round < 2; round++) { /* the shared number proves nothing */
        write_in(streams[MANY - 1], x);
        seen.length = 0;
        read_in(streams[MANY - 2], x);
        assert_int_equal(seen.text[0], late[1]);
        assert_non_null(strchr(seen.text, late[0]));
        seen.length = 0;
        write_in(streams[MANY - 1], x);
        assert_int_equal(seen.text[0], late[0]);
        assert_non_null(strchr(seen.text, late[1]));
        seen.length = 0;
    }
    read_in(a, x); /* a stream with a number waits for all that share the writer's */
    assert_int_equal(seen.text[0], 'a');
    assert_non_null(strchr(seen.text, late[0]));
    seen.length = 0;
    ga_free(x);
    assert_non_null(strstr(seen.text, "0<a")); /* and the memory then belongs to the device's own
                                                * stream */
    assert_non_null(strchr(seen.text, late[0]));
    for (int k = 0; k < MANY; k++)
        ga_stream_free(streams[k]);
    seen.length = 0;
    seen.text[0] = '\0';
}

/* ---- Engines: each waits for all of its operands ---- */

/* x was written in a, y in b; z was read in c and written in a. */
static void scatter(gpuarray *x, gpuarray *y, gpuarray *z)
{
    write_in(a, x);
    write_in(b, y);
    write_in(a, z);
    read_in(c, z);
    put_waits();
    seen.length = 0;
    seen.text[0] = '\0';
}

/* b waits for what was written in d, and then frees it. */
static void leave(gpuarray *z)
{
    read_in(b, z);
    ga_free(z);
    expect("b<d b= d<b d-");
}

static void elementwise_kernels_wait(void **state)
{
    (void)state;
    gpuarray *x = new_array(a), *y = new_array(b), *z = new_array(a);
    scatter(x, y, z);
    in(d);
    assert_int_equal(ga_add_into(z, x, y), GA_OK);
    expect("d<aabc d!");
    leave(z);
    write_in(a, x);
    expect("a<d a!");
    ga_free(x);
    ga_free(y);
}

static void reductions_wait(void **state)
{
    (void)state;
    gpuarray *x = new_array(a), *y = new_array(b), *z = new_array(a), *t = new_array(a);
    gpuarray *first = ga_slice(t, ":1"), *total = ga_reshape(first, 0, NULL);
    ga_free(first);
    scatter(x, y, z);
    write_in(c, t);
    in(d);
    assert_non_null(ga_sum(x, .out = total));
    expect("c<a c! d<ac d!");
    assert_int_equal(ga_eval_into(total, "sum(y * z)", GA_NAMED("y", y), GA_NAMED("z", z)), GA_OK);
    expect("d<ab d!");
    write_in(c, z);
    expect("c<ad c!");
    ga_free(total);
    ga_free(x);
    ga_free(y);
    ga_free(z);
    seen.length = 0;
    leave(t);
}

/* The partial results of blocks that share a row are freed in the launch's order. */
static void long_reductions_free_their_parts_in_order(void **state)
{
    (void)state;
    in(a);
    gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(1 << 22));
    in(d);
    gpuarray *sum = ga_sum(x);
    expect("d<a d! d-");
    ga_free(sum);
    ga_free(x);
    expect("d- a<d a-");
}

static void draws_wait(void **state)
{
    (void)state;
    gpuarray *x = new_array(a), *y = new_array(b), *z = new_array(a);
    ga_rng *rng = ga_rng_new(1);
    scatter(x, y, z);
    in(d);
    assert_int_equal(ga_rng_random_into(z, rng), GA_OK);
    expect("d<ac d!");
    leave(z);
    ga_rng_free(rng);
    ga_free(x);
    ga_free(y);
}

static void custom_kernels_wait(void **state)
{
    (void)state;
    gpuarray *x = new_array(a), *y = new_array(b), *z = new_array(a);
    ga_kernel *kernel =
        ga_elementwise_kernel("float *x, float *y, float *z", "z[i] = x[i] + y[0]", "linear");
    assert_non_null(kernel);
    scatter(x, y, z);
    in(d);
    assert_int_equal(ga_run(kernel, x, y, z), GA_OK);
    expect("d<aabc d!");
    write_in(c, y); /* the kernel may write it: it is not const */
    expect("c<d c!");
    leave(z);
    ga_kernel_free(kernel);
    ga_free(x);
    ga_free(y);
}

static void copies_wait(void **state)
{
    (void)state;
    static float numbers[N];
    gpuarray *x = new_array(a), *y = new_array(b), *z = new_array(a);
    scatter(x, y, z);
    in(d);
    assert_int_equal(ga_set(z, numbers, sizeof numbers), GA_OK);
    expect("d<ac d=");
    assert_int_equal(ga_to_host_async(x, numbers, sizeof numbers), GA_OK);
    expect("d<a d=");
    assert_int_equal(ga_set_async(y, numbers, sizeof numbers), GA_OK);
    expect("d<b d=");
    leave(z);
    ga_free(x);
    ga_free(y);
}

/* ---- Products ---- */

enum { SIDE = 40 };

static gpuarray *new_matrix(ga_stream *stream)
{
    in(stream);
    gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(SIDE, SIDE));
    assert_non_null(x);
    return x;
}

static void free_all(gpuarray *x, gpuarray *y)
{
    ga_free(x);
    ga_free(y);
}

/* By the own kernel. */
static void products_wait(void **state)
{
    (void)state;
    gpuarray *x = new_matrix(a), *y = new_matrix(b), *z = new_matrix(a);
    scatter(x, y, z);
    in(d);
    assert_ptr_equal(ga_matmul(x, y, .out = z), z);
    expect("d<aabc d!");
    assert_ptr_equal(ga_matmul(x, z, .out = z), z); /* the result apart, and its copy */
    expect("d! d! d-");
    leave(z);
    write_in(a, x);
    expect("a<d a!");
    free_all(x, y);
}

/* A row of a matrix and a matrix: the reduction engine's. */
static void products_of_rows_wait(void **state)
{
    (void)state;
    gpuarray *x = new_matrix(a), *y = new_matrix(b), *z = new_matrix(a);
    gpuarray *row = ga_slice(x, "0"), *out = ga_slice(z, "0");
    scatter(x, y, z);
    in(d);
    assert_ptr_equal(ga_matmul(row, y, .out = out), out);
    expect("d<aabc d!");
    free_all(row, out);
    leave(z);
    free_all(x, y);
}

#ifdef QUARRY_CUDA
/* The tests' cuBLASLt, which multiplies in host memory, and needs a workspace of 4096 bytes. */
static void use_library(void)
{
    const char *path = getenv("FAKE_CUBLASLT");
    if (!path) {
        print_message("skipped: FAKE_CUBLASLT does not name the tests' library\n");
        skip();
    }
    setenv("QUARRY_CUBLASLT", path, 1);
    seen.multiplies = true;
}

static int close_library(void **state)
{
    seen.multiplies = false;
    for (int k = 0; k < 2; k++)
        ga__cublaslt_close(&devices[k]);
    return close_device(state);
}

/* The workspace is freed behind the product. */
static void products_by_a_library_wait(void **state)
{
    (void)state;
    use_library();
    gpuarray *x = new_matrix(a), *y = new_matrix(b), *z = new_matrix(a);
    scatter(x, y, z);
    in(d);
    assert_ptr_equal(ga_matmul(x, y, .out = z), z);
    expect("d<aabc d@ d-");
    assert_ptr_equal(ga_matmul(x, y, .out = z, .beta = 1), z);
    expect("d@ d-");
    leave(z);
    write_in(a, x);
    expect("a<d a!");
    free_all(x, y);
}

/* The library reads the bias, too. */
static void products_with_a_bias_wait(void **state)
{
    (void)state;
    use_library();
    gpuarray *x = new_matrix(a), *y = new_matrix(a), *z = new_matrix(a), *bias = new_matrix(b);
    gpuarray *row = ga_slice(bias, "0");
    write_in(a, x), write_in(a, y), write_in(a, z), write_in(b, bias);
    expect("a! a! a! b!");
    in(d);
    assert_int_equal(
        ga_eval_into(z, "relu(x @ y + r)", GA_NAMED("x", x), GA_NAMED("y", y), GA_NAMED("r", row)),
        GA_OK);
    expect("d<aaab d@ d-");
    write_in(b, bias);
    expect("b<d b!");
    leave(z);
    free_all(row, bias);
    free_all(x, y);
}

/* Memory that the recorded product uses stays the graph's; a second product shares it. */
static void a_graph_keeps_the_workspace_of_its_products(void **state)
{
    (void)state;
    use_library();
    gpuarray *x = new_matrix(a), *y = new_matrix(a), *z = new_matrix(a);
    write_in(a, x), write_in(b, y);
    const size_t before = devices[0].used;
    size_t used[3] = {0};
    ga_graph *graph;
    in(a);
    GA_GRAPH(graph)
    {
        used[0] = devices[0].used;
        ga_matmul(x, y, .out = z);
        used[1] = devices[0].used;
        ga_matmul(y, x, .out = z, .beta = 1);
        used[2] = devices[0].used;
    }
    assert_non_null(graph);
    assert_int_equal(used[1], used[0] + 4096);
    assert_int_equal(used[2], used[1]);
    put_waits();
    assert_null(strchr(seen.text, '-'));
    forget();
    in(c);
    assert_int_equal(ga_graph_launch(graph), GA_OK);
    expect("c<aab c*");
    read_in(d, z);
    expect("d<c d=");
    in(d);
    assert_int_equal(ga_graph_launch(graph), GA_OK);
    expect("d<abc d*");
    assert_int_equal(devices[0].used, used[2]);
    ga_graph_free(graph);
    forget();
    assert_int_equal(devices[0].used, before);
    ga_free(z);
    free_all(x, y);
}

/* Each device has its own order, and the library a handle for each. */
static void products_on_another_device_wait_there(void **state)
{
    (void)state;
    use_library();
    gpuarray *x = new_matrix(a);
    write_in(a, x);
    in(b);
    assert_non_null(ga_matmul(x, x, .out = x));
    forget();
    ga__use_device(&devices[1]);
    seen.opened = 'y' - 'a' + 1;
    assert_int_equal(ga__stream_init(&devices[1].stream, &devices[1], false), GA_OK);
    ga_stream *other = ga_stream_new();
    gpuarray *there = ga_to_device(x, NULL);
    assert_non_null(there);
    forget();
    assert_int_equal(ga_set_stream(other), GA_OK);
    gpuarray *product = ga_matmul(there, there);
    assert_non_null(product);
    expect("z<y z@ z-");
    assert_null(ga_matmul(there, x));
    assert_int_equal(ga_error(), GA_ERR_DEVICE);
    ga_clear_error();
    free_all(product, there);
    assert_int_equal(ga_set_stream(NULL), GA_OK);
    ga_stream_free(other);
    ga__use_device(&devices[0]);
    ga_free(x);
    ga__stream_reset(&devices[1].stream);
}

#define LIBRARY_TEST(name) cmocka_unit_test_setup_teardown(name, open_device, close_library)
#endif

/* ---- Launches of users' kernels: any array may be written ---- */

static void launches_wait_as_writers(void **state)
{
    (void)state;
    ga__module_kernel kernel = {.base = {GA__MODULE_KERNEL, (char *)"user's"},
                                .device = &devices[0],
                                .info = {.nparams = 1, .param_bytes = {8}, .max_threads = 1024}};
    gpuarray *x = new_array(a);
    write_in(a, x);
    read_in(c, x);
    expect("a! c<a c=");
    in(d);
    assert_int_equal(ga_launch(&kernel.base, GA_DIM(1), GA_DIM(1), x), GA_OK);
    expect("d<ac d!");
    read_in(b, x);
    expect("b<d b=");
    in(a);
    assert_int_equal((ga_launch_with)(&kernel.base, GA_DIM(1), GA_DIM(1), sizeof(ga_launch_options),
                                      &(ga_launch_options){.stream = c}, 1,
                                      (ga_value[]){ga_value_array(x)}),
                     GA_OK);
    assert_ptr_equal(ga_current_stream(), a); /* only for that launch */
    expect("c<bd c!");
    ga_free(x);
    expect("c-");
}

/* ---- Graphs ---- */

/* The texts below omit the letters of streams that only record, and of graphs' memory: recorded
 * work is not checked. */
static void a_graph_is_a_reader_and_a_writer(void **state)
{
    (void)state;
    gpuarray *x = new_array(a), *y = new_array(b);
    ga_graph *graph;
    in(a);
    GA_GRAPH(graph)
    {
        assert_int_equal(ga_add_into(y, x, 1), GA_OK); /* x is read, */
        assert_int_equal(ga_add_into(x, x, 1), GA_OK); /* then written, */
        assert_int_equal(ga_add_into(y, x, y), GA_OK); /* and read again */
    }
    assert_non_null(graph);
    forget();
    in(c);
    assert_int_equal(ga_graph_launch(graph), GA_OK);
    expect("c<ab c*");
    read_in(b, x);
    read_in(d, y);
    expect("b<c b= d<c d=");
    in(a);
    assert_int_equal(ga_graph_launch(graph), GA_OK);
    expect("a<bccd a*");
    ga_graph_free(graph);
    ga_free(x);
    ga_free(y);
}

static void a_graph_only_reads_what_it_only_reads(void **state)
{
    (void)state;
    gpuarray *x = new_array(a), *y = new_array(b);
    ga_graph *graph;
    in(a);
    GA_GRAPH(graph)
    {
        assert_int_equal(ga_add_into(y, x, 1), GA_OK);
    }
    assert_non_null(graph);
    read_in(d, x);
    forget();
    in(c);
    assert_int_equal(ga_graph_launch(graph), GA_OK);
    expect("c<ab c*"); /* but not for d, which reads */
    read_in(b, x);
    expect("b<a b=");
    write_in(a, x);
    expect("a<bcd a!");
    ga_graph_free(graph);
    ga_free(x);
    ga_free(y);
}

static void arrays_of_a_graph_are_written_by_each_launch(void **state)
{
    (void)state;
    gpuarray *x = new_array(a), *made = NULL;
    ga_graph *graph;
    in(a);
    GA_GRAPH(graph)
    {
        made = ga_add(x, 1);
    }
    assert_non_null(graph);
    forget();
    in(c);
    assert_int_equal(ga_graph_launch(graph), GA_OK);
    read_in(b, made);
    forget();
    in(d);
    assert_int_equal(ga_graph_launch(graph), GA_OK);
    expect("d<abc d*");
    read_in(b, made);
    expect("b<d b=");
    ga_free(made); /* its memory stays the graph's */
    expect("");
    ga_graph_free(graph);
    forget();
    ga_free(x);
}

/* ---- Events, and two devices ---- */

static void streams_wait_for_events(void **state)
{
    (void)state;
    ga_event *event = ga_event_new();
    in(a);
    assert_int_equal(ga_event_record(event, NULL), GA_OK);
    assert_int_equal(ga_stream_wait_event(b, event), GA_OK);
    expect("b<a");
    assert_int_equal(ga_event_record(event, c), GA_OK);
    assert_int_equal(ga_stream_wait_event(NULL, event), GA_OK);
    expect("a<c");
    ga_event_free(event);
}

static void copies_between_devices_wait_on_both(void **state)
{
    (void)state;
    gpuarray *x = new_array(a);
    write_in(a, x);
    in(b);
    ga__use_device(&devices[1]);
    seen.opened = 'z' - 'a' + 1;
    assert_int_equal(ga__stream_init(&devices[1].stream, &devices[1], false), GA_OK);
    expect("a!");
    gpuarray *there = ga_to_device(x, NULL);
    assert_non_null(there);
    expect("b<az b= z<b");
    ga__use_device(&devices[0]);
    ga_free(there);
    ga_free(x);
    expect("z- a<b a-");
    ga__stream_reset(&devices[1].stream);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_device, close_device)

int main(int argc, char **argv)
{
    setenv("QUARRY_CACHE_DIR", "", 1); /* this device's code is used by no other device */
    const struct CMUnitTest tests[] = {
        TEST(a_reader_waits_for_the_writer_alone),
        TEST(a_writer_waits_for_all_who_read),
        TEST(a_use_that_cannot_wait_is_not_noted),
        TEST(memory_that_is_refused_is_not_counted),
        TEST(memory_is_freed_behind_all_who_use_it),
        TEST(wrapped_memory_is_given_back_when_all_is_done),
        TEST(what_a_freed_stream_did_is_done),
        TEST(streams_that_share_a_number_wait_for_each_other),
        TEST(elementwise_kernels_wait),
        TEST(reductions_wait),
        TEST(long_reductions_free_their_parts_in_order),
        TEST(draws_wait),
        TEST(custom_kernels_wait),
        TEST(copies_wait),
        TEST(products_wait),
        TEST(products_of_rows_wait),
#ifdef QUARRY_CUDA
        LIBRARY_TEST(products_by_a_library_wait),
        LIBRARY_TEST(products_with_a_bias_wait),
        LIBRARY_TEST(a_graph_keeps_the_workspace_of_its_products),
        LIBRARY_TEST(products_on_another_device_wait_there),
#endif
        TEST(launches_wait_as_writers),
        TEST(a_graph_is_a_reader_and_a_writer),
        TEST(a_graph_only_reads_what_it_only_reads),
        TEST(arrays_of_a_graph_are_written_by_each_launch),
        TEST(streams_wait_for_events),
        TEST(copies_between_devices_wait_on_both),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
