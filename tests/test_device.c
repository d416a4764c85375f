/* The device floor end to end, on the current device: memory, copies, compiling, loading,
 * launching. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <quarry.h>

#include "base/alloc.h"
#include "children.h"
#include "device/memory.h"
#include "device/stream.h"
#include "device/tickets.h"
#include "device_support.h"
#include "run.h"

/* out[i] = in[i] + bias, CHUNK elements per block: the words are out, in, n, bias. */
enum { CHUNK = 256 };

static const char *const host_text =
    "struct words { int *out; const int *in; long n; long bias; };\n"
    "extern \"C\" void add_bias(const unsigned long *raw, long block) {\n"
    "    const words &w = *(const words *)raw;\n"
    "    long end = (block + 1) * 256 < w.n ? (block + 1) * 256 : w.n;\n"
    "    for (long i = block * 256; i < end; i++) w.out[i] = w.in[i] + (int)w.bias;\n"
    "}\n";
static const char *const cuda_text =
    "struct words { int *out; const int *in; long n; long bias; };\n"
    "extern \"C\" __global__ void add_bias(words w) {\n"
    "    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < w.n) w.out[i] = w.in[i] + (int)w.bias;\n"
    "}\n";

static bool on_host(void)
{
    return strcmp(backend->template_target, "host") == 0;
}

static int clear(void **state)
{
    (void)state;
    ga__alloc_fail_at(0);
    ga_clear_error();
    return 0;
}

static ga__image *load_text(const char *text)
{
    ga__source source = {"add_bias", text, false};
    void *code = NULL;
    size_t nbytes = 0;
    ga__image *image = NULL;
    if (backend->code.compile(device, &source, &code, &nbytes) != GA_OK)
        return NULL;
    if (backend->code.load(device, code, nbytes, &image) != GA_OK)
        image = NULL;
    ga__free(code);
    return image;
}

static ga__function *find_add_bias(ga__image *image)
{
    ga__function *function = NULL;
    assert_non_null(image);
    assert_int_equal(backend->code.find(image, "add_bias", &function), GA_OK);
    return function;
}

static ga__image *load_add_bias(void)
{
    return load_text(on_host() ? host_text : cuda_text);
}

static int *numbers(int64_t n)
{
    int *values = malloc((size_t)n * sizeof *values);
    for (int64_t i = 0; i < n; i++)
        values[i] = (int)(i * 7 + 3);
    return values;
}

/* Adds `bias` to n numbers on the device; returns the number of wrong results. */
static int64_t add_bias_errors(ga__function *function, int64_t n, int64_t bias)
{
    size_t nbytes = (size_t)n * sizeof(int);
    int *values = numbers(n), *results = malloc(nbytes);
    ga__buffer *in = ga__buffer_new(device, nbytes), *out = ga__buffer_new(device, nbytes);
    int64_t errors = n;
    uint64_t words[4] = {(uint64_t)(uintptr_t)out->memory, (uint64_t)(uintptr_t)in->memory,
                         (uint64_t)n, (uint64_t)bias};
    ga__launch launch = {
        .grid = (n + CHUNK - 1) / CHUNK, .block = CHUNK, .words = words, .nwords = 4};
    if (backend->memory.copy(&device->stream, in->memory, values, nbytes, GA__HOST_TO_DEVICE) ==
            GA_OK &&
        backend->code.launch(&device->stream, function, &launch) == GA_OK &&
        backend->memory.copy(&device->stream, results, out->memory, nbytes, GA__DEVICE_TO_HOST) ==
            GA_OK) {
        errors = 0;
        for (int64_t i = 0; i < n; i++)
            errors += results[i] != values[i] + bias;
    }
    ga__buffer_release(in);
    ga__buffer_release(out);
    free(values);
    free(results);
    return errors;
}

/* ---- names ---- */

static void current_device_has_a_name_and_a_description(void **state)
{
    (void)state;
    assert_string_equal(ga_current_device(), device->name);
    assert_ptr_equal(ga_device_name(NULL), device->description);
    assert_true(strlen(ga_device_name(device->name)) > 0);
    assert_true(strlen(ga_device_name("cpu")) > 0);
    assert_true(device->processors >= 1);
    assert_true(device->cache_bytes > 0);
    assert_true(ga_device_count() >= 0);
}

static void unknown_devices_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"",        "CPU",     "cpu:0",  "cuda:",  "cuda:-1",
                                        "cuda:1x", "cuda:99", "opencl", "cuda: 0"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(ga_set_device(names[i]), GA_ERR_DEVICE);
        assert_int_equal(ga_error(), GA_ERR_DEVICE);
        assert_non_null(strstr(ga_error_message(), names[i]));
        assert_string_equal(ga_current_device(), device->name);
        ga_clear_error();
    }
    assert_int_equal(ga_set_device(NULL), GA_ERR_INVALID);
}

static void the_message_says_how_many_devices_work(void **state)
{
    (void)state;
    char expected[64];
    snprintf(expected, sizeof expected, "\"cuda:99\": %d CUDA devices", ga_device_count());
    assert_int_equal(ga_set_device("cuda:99"), GA_ERR_DEVICE);
    assert_non_null(strstr(ga_error_message(), expected));
    ga_clear_error();
    assert_null(ga_device_name("cuda:99"));
    assert_int_equal(ga_error(), GA_ERR_DEVICE);
}

static void *use_cpu(void *name)
{
    assert_int_equal(ga_set_device("cpu"), GA_OK);
    *(const char **)name = ga_current_device();
    return NULL;
}

static void each_thread_has_its_own_device(void **state)
{
    (void)state;
    pthread_t thread;
    const char *name = NULL;
    assert_int_equal(pthread_create(&thread, NULL, use_cpu, &name), 0);
    pthread_join(thread, NULL);
    assert_string_equal(name, "cpu");
    assert_string_equal(ga_current_device(), device->name);
}

static void *ask_current(void *name)
{
    *(const char **)name = ga_current_device();
    return ga_error() == GA_ERR_DEVICE ? name : NULL;
}

static void a_bad_environment_is_an_error_not_a_fallback(void **state)
{
    (void)state;
    const char *before = getenv("QUARRY_DEVICE");
    char *kept = before == NULL ? NULL : strdup(before);
    pthread_t thread;
    const char *name = "none";
    void *raised = NULL;
    setenv("QUARRY_DEVICE", "cuda:99", 1);
    assert_int_equal(pthread_create(&thread, NULL, ask_current, &name), 0);
    pthread_join(thread, &raised);
    assert_null(name);
    assert_non_null(raised);
    if (kept != NULL)
        setenv("QUARRY_DEVICE", kept, 1);
    else
        unsetenv("QUARRY_DEVICE");
    free(kept);
}

/* ---- memory ---- */

static void buffers_are_aligned_counted_and_freed(void **state)
{
    (void)state;
    int64_t live = ga__alloc_live();
    ga__buffer *buffer = ga__buffer_new(device, 1000);
    assert_non_null(buffer);
    assert_int_equal((uintptr_t)buffer->memory % 256, 0);
    assert_int_equal(buffer->references, 1);
    assert_ptr_equal(ga__buffer_retain(buffer), buffer);
    ga__buffer_release(buffer);
    assert_int_equal(buffer->references, 1);
    ga__buffer_release(buffer);
    ga__buffer_release(NULL);
    assert_null(ga__buffer_retain(NULL));
    ga__memory_trim(device);
    assert_int_equal(ga__alloc_live(), live);
}

static void an_empty_buffer_has_no_memory(void **state)
{
    (void)state;
    ga__buffer *buffer = ga__buffer_new(device, 0);
    assert_non_null(buffer);
    assert_null(buffer->memory);
    ga__buffer_release(buffer);
}

static void freed_blocks_are_used_again(void **state)
{
    (void)state;
    static const size_t sizes[] = {600, 1 << 20, (5 << 20) + 2};
    for (size_t i = on_host() ? 1 : 0; i < sizeof sizes / sizeof *sizes; i++) {
        ga__buffer *buffer = ga__buffer_new(device, sizes[i]);
        void *memory = buffer->memory;
        assert_int_equal((uintptr_t)memory % 256, 0);
        ga__buffer_release(buffer);
        buffer = ga__buffer_new(device, sizes[i] - 1);
        assert_ptr_equal(buffer->memory, memory);
        ga__buffer_release(buffer);
    }
    ga__memory_trim(device);
}

static void many_sizes_do_not_overlap(void **state)
{
    (void)state;
    enum { COUNT = 60 };
    ga__buffer *buffers[COUNT];
    for (int round = 0; round < 2; round++) {
        size_t nbytes = 1;
        for (int i = 0; i < COUNT; i++, nbytes += nbytes / 4 + 1) {
            buffers[i] = ga__buffer_new(device, nbytes);
            assert_non_null(buffers[i]);
            for (int j = 0; j < i; j++) {
                uintptr_t a = (uintptr_t)buffers[i]->memory, b = (uintptr_t)buffers[j]->memory;
                assert_true(a + nbytes <= b || b + buffers[j]->nbytes <= a);
            }
        }
        for (int i = 0; i < COUNT; i++)
            ga__buffer_release(buffers[i]);
    }
    ga__memory_trim(device);
}

static void too_much_memory_is_an_error_with_the_numbers(void **state)
{
    (void)state;
    static const size_t sizes[] = {(size_t)1 << 47, (size_t)1 << 60, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char expected[128];
        snprintf(expected, sizeof expected,
                 "memory: out of memory: working memory takes %.1f MiB on %s (",
                 (double)sizes[i] / (1 << 20), device->name);
        assert_null(ga__buffer_new(device, sizes[i]));
        assert_int_equal(ga_error(), GA_ERR_MEMORY);
        assert_non_null(strstr(ga_error_message(), expected));
        ga_clear_error();
    }
}

static void the_first_error_of_the_thread_stays(void **state)
{
    (void)state;
    ga_set_device("cuda:99");
    assert_null(ga__buffer_new(device, (size_t)1 << 60));
    assert_int_equal(ga_error(), GA_ERR_DEVICE);
    ga__buffer *buffer = ga__buffer_new(device, 64);
    assert_non_null(buffer);
    ga__buffer_release(buffer);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    ga__memory_trim(device);
    int64_t live = ga__alloc_live();
    int failures = 0;
    for (int n = 1;; n++) {
        ga__alloc_fail_at(n);
        ga__buffer *buffer = ga__buffer_new(device, 100000);
        ga__alloc_fail_at(0);
        if (buffer == NULL) {
            assert_int_equal(ga_error(), GA_ERR_MEMORY);
            failures++;
        } else {
            assert_int_equal(ga_error(), GA_OK); /* recovered by the second attempt, or not
                                                  * reached */
        }
        ga__buffer_release(buffer);
        ga__memory_trim(device);
        ga_clear_error();
        assert_int_equal(ga__alloc_live(), live);
        if (n > 6)
            break;
    }
    assert_true(failures >= 2); /* the buffer, and its memory */
}

static void tickets_are_zero_and_stay(void **state)
{
    (void)state;
    uint32_t *tickets = malloc(GA__TICKETS * sizeof *tickets);
    void *memory = ga__stream_tickets(&device->stream);
    assert_non_null(memory);
    assert_ptr_equal(ga__stream_tickets(&device->stream), memory);
    assert_int_equal(backend->memory.copy(&device->stream, tickets, memory,
                                          GA__TICKETS * sizeof *tickets, GA__DEVICE_TO_HOST),
                     GA_OK);
    for (int i = 0; i < GA__TICKETS; i++)
        assert_int_equal(tickets[i], 0);
    free(tickets);
}

static void copies_and_zeros_reach_every_byte(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 255, 16 << 10, (16 << 10) + 1, 1 << 20, (9 << 20) + 5};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        size_t n = sizes[k];
        unsigned char *in = malloc(n), *out = calloc(n, 1);
        ga__buffer *a = ga__buffer_new(device, n), *b = ga__buffer_new(device, n);
        for (size_t i = 0; i < n; i++)
            in[i] = (unsigned char)(i * 31 + 1);
        assert_int_equal(
            backend->memory.copy(&device->stream, a->memory, in, n, GA__HOST_TO_DEVICE), GA_OK);
        assert_int_equal(
            backend->memory.copy(&device->stream, b->memory, a->memory, n, GA__DEVICE_TO_DEVICE),
            GA_OK);
        assert_int_equal(
            backend->memory.copy(&device->stream, out, b->memory, n, GA__DEVICE_TO_HOST), GA_OK);
        assert_memory_equal(in, out, n);
        assert_int_equal(backend->memory.zero(&device->stream, b->memory, n), GA_OK);
        assert_int_equal(
            backend->memory.copy(&device->stream, out, b->memory, n, GA__DEVICE_TO_HOST), GA_OK);
        memset(in, 0, n);
        assert_memory_equal(in, out, n);
        ga__buffer_release(a);
        ga__buffer_release(b);
        free(in);
        free(out);
    }
    assert_int_equal(ga_synchronize(), GA_OK);
}

/* ---- code ---- */

static void kernels_run_over_any_number_of_blocks(void **state)
{
    (void)state;
    ga__image *image = load_add_bias();
    ga__function *function = find_add_bias(image);
    assert_int_equal(add_bias_errors(function, 1, 5), 0);
    assert_int_equal(add_bias_errors(function, CHUNK, -5), 0);
    assert_int_equal(add_bias_errors(function, CHUNK + 1, 5), 0);
    assert_int_equal(add_bias_errors(function, 1000003, 12), 0);
    ga__launch nothing = {.grid = 0, .block = CHUNK, .words = (uint64_t[4]){0}, .nwords = 4};
    assert_int_equal(backend->code.launch(&device->stream, function, &nothing), GA_OK);
    backend->code.unload(image);
}

static void many_short_launches_lose_no_block(void **state)
{
    (void)state;
    ga__image *image = load_add_bias();
    ga__function *function = find_add_bias(image);
    for (int i = 0; i < 2000; i++)
        assert_int_equal(add_bias_errors(function, 3 * CHUNK, i), 0);
    backend->code.unload(image);
}

static void images_loaded_after_others_are_their_own(void **state)
{
    (void)state;
    need_host("descriptors' numbers matter only to dlopen");
    ga__image *images[4];
    for (int i = 0; i < 4; i++) {
        char text[128];
        snprintf(text, sizeof text,
                 "extern \"C\" void add_bias(unsigned long *w, long) { w[0] = %d; }", i + 1);
        images[i] = load_text(text);
    }
    for (int i = 0; i < 4; i++) {
        uint64_t words[1] = {0};
        ga__launch launch = {.grid = 1, .block = 1, .words = words, .nwords = 1};
        assert_int_equal(backend->code.launch(&device->stream, find_add_bias(images[i]), &launch),
                         GA_OK);
        assert_int_equal(words[0], i + 1);
        backend->code.unload(images[i]);
    }
}

static void a_kernel_finds_libm_by_itself(void **state)
{
    (void)state;
    need_host("libm is the host's");
    ga__image *image =
        load_text("extern \"C\" double cbrt(double);\n"
                  "extern \"C\" void add_bias(double *w, long) { w[0] = cbrt(w[0]); }");
    double word = 27;
    uint64_t words[1];
    memcpy(words, &word, sizeof word);
    ga__launch launch = {.grid = 1, .block = 1, .words = words, .nwords = 1};
    assert_int_equal(backend->code.launch(&device->stream, find_add_bias(image), &launch), GA_OK);
    memcpy(&word, words, sizeof word);
    assert_true(word > 2.999999 && word < 3.000001);
    backend->code.unload(image);
}

static void a_missing_kernel_is_named(void **state)
{
    (void)state;
    ga__image *image = load_add_bias();
    ga__function *function = NULL;
    assert_int_equal(backend->code.find(image, "add_bios", &function), GA_ERR_INVALID);
    assert_null(function);
    assert_non_null(strstr(ga_error_message(), "\"add_bios\""));
    backend->code.unload(image);
}

static void a_compile_error_shows_the_users_line(void **state)
{
    (void)state;
    assert_null(load_text("\n\n#line 7 \"user text\"\nint broken = undeclared_name;\n"));
    assert_int_equal(ga_error(), GA_ERR_COMPILE);
    assert_non_null(strstr(ga_error_message(), "add_bias does not compile"));
    assert_non_null(strstr(ga_error_message(), "user text"));
    assert_non_null(strstr(ga_error_message(), "7"));
    assert_non_null(strstr(ga_error_message(), "undeclared_name"));
}

static void bytes_that_are_no_code_are_refused(void **state)
{
    (void)state;
    char bytes[256] = "no code at all";
    ga__image *image = NULL;
    assert_int_not_equal(backend->code.load(device, bytes, sizeof bytes, &image), GA_OK);
    assert_null(image);
    assert_int_not_equal(ga_error(), GA_OK);
}

static void the_compiler_key_is_stable_and_tells_fast_math(void **state)
{
    (void)state;
    ga__strbuf key = GA__STRBUF_INIT, again = GA__STRBUF_INIT, fast = GA__STRBUF_INIT;
    backend->code.key(device, false, &key);
    backend->code.key(device, false, &again);
    backend->code.key(device, true, &fast);
    assert_true(key.length > 10);
    assert_string_equal(again.text, key.text);
    assert_string_not_equal(fast.text, key.text);
    ga__strbuf_reset(&key);
    ga__strbuf_reset(&again);
    ga__strbuf_reset(&fast);
}

static void compiling_survives_every_failed_allocation(void **state)
{
    (void)state;
    ga__image *image = load_add_bias(); /* resources that are made once exist now */
    backend->code.unload(image);
    int64_t live = ga__alloc_live();
    for (int n = 1; n < 40; n++) {
        ga__alloc_fail_at(n);
        image = load_add_bias();
        ga__alloc_fail_at(0);
        if (image == NULL)
            assert_int_equal(ga_error(), GA_ERR_MEMORY);
        else
            backend->code.unload(image);
        ga_clear_error();
        assert_int_equal(ga__alloc_live(), live);
        if (image != NULL)
            return;
    }
    fail_msg("40 allocations were not enough for one kernel");
}

static int compile_without_compiler(void)
{
    setenv("QUARRY_CXX", "/nonexistent/c++ -O0", 1);
    ga_clear_error();
    if (load_add_bias() != NULL || ga_error() != GA_ERR_COMPILE)
        return 1;
    return strstr(ga_error_message(), "no C++ compiler found (tried /nonexistent/c++") == NULL;
}

static int compile_with_words(void)
{
    setenv("QUARRY_CXX", "  c++  -DNEVER_USED -O1 ", 1);
    ga__image *image = load_add_bias();
    return image == NULL;
}

static void the_compiler_is_chosen_by_the_environment(void **state)
{
    (void)state;
    need_host("it uses NVRTC");
    assert_int_equal(in_child(compile_without_compiler), 0);
    assert_int_equal(in_child(compile_with_words), 0);
}

/* The address space is used up: a request for more fails for want of memory, which is not the
 * kernel's fault. */
static int load_without_addresses(void)
{
    const ga__source source = {"add_bias", host_text, false};
    struct rlimit all, none;
    void *code = NULL;
    size_t nbytes = 0;
    ga__image *image = NULL;
    if (backend->code.compile(device, &source, &code, &nbytes) != GA_OK ||
        getrlimit(RLIMIT_AS, &all) != 0)
        return 1;
    none = all;
    none.rlim_cur = 1 << 20;
    setrlimit(RLIMIT_AS, &none);
    const ga_status status = backend->code.load(device, code, nbytes, &image);
    setrlimit(RLIMIT_AS, &all);
    ga_clear_error();
    return status != GA_ERR_MEMORY || backend->code.load(device, code, nbytes, &image) != GA_OK;
}

static void a_kernel_without_room_is_out_of_memory(void **state)
{
    (void)state;
    need_host("the driver loads the others");
    assert_int_equal(in_child(load_without_addresses), 0);
}

/* ---- threads and processes ---- */

static void *launch_many(void *function)
{
    int64_t errors = 0;
    ga__use_device(device);
    for (int i = 0; i < 50; i++)
        errors += add_bias_errors(function, 20 * CHUNK + i, i);
    return errors == 0 ? NULL : function;
}

static void eight_threads_launch_at_once(void **state)
{
    (void)state;
    pthread_t threads[8];
    ga__image *image = load_add_bias();
    ga__function *function = find_add_bias(image);
    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, launch_many, function), 0);
    for (int i = 0; i < 8; i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    backend->code.unload(image);
}

static ga__function *forked_function;

static int launch_in_child(void)
{
    alarm(HANG_SECONDS);
    return add_bias_errors(forked_function, 1000 * CHUNK, 4) != 0;
}

static void the_pool_works_in_a_forked_child(void **state)
{
    (void)state;
    need_host("CUDA does not survive a fork");
    ga__image *image = load_add_bias();
    forked_function = find_add_bias(image);
    assert_int_equal(add_bias_errors(forked_function, 1000 * CHUNK, 3), 0);
    assert_int_equal(in_child(launch_in_child), 0);
    assert_int_equal(add_bias_errors(forked_function, 1000 * CHUNK, 5), 0);
    backend->code.unload(image);
}

#define TEST(name) cmocka_unit_test_teardown(name, clear)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(current_device_has_a_name_and_a_description),
        TEST(unknown_devices_are_refused),
        TEST(the_message_says_how_many_devices_work),
        TEST(each_thread_has_its_own_device),
        TEST(a_bad_environment_is_an_error_not_a_fallback),
        TEST(buffers_are_aligned_counted_and_freed),
        TEST(an_empty_buffer_has_no_memory),
        TEST(freed_blocks_are_used_again),
        TEST(many_sizes_do_not_overlap),
        TEST(too_much_memory_is_an_error_with_the_numbers),
        TEST(the_first_error_of_the_thread_stays),
        TEST(every_failed_allocation_is_survived),
        TEST(tickets_are_zero_and_stay),
        TEST(copies_and_zeros_reach_every_byte),
        TEST(kernels_run_over_any_number_of_blocks),
        TEST(many_short_launches_lose_no_block),
        TEST(images_loaded_after_others_are_their_own),
        TEST(a_kernel_finds_libm_by_itself),
        TEST(a_missing_kernel_is_named),
        TEST(a_compile_error_shows_the_users_line),
        TEST(bytes_that_are_no_code_are_refused),
        TEST(the_compiler_key_is_stable_and_tells_fast_math),
        TEST(compiling_survives_every_failed_allocation),
        TEST(the_compiler_is_chosen_by_the_environment),
        TEST(a_kernel_without_room_is_out_of_memory),
        TEST(eight_threads_launch_at_once),
        TEST(the_pool_works_in_a_forked_child),
    };
    return run_named_tests(argc, argv, tests, choose_device, NULL);
}
