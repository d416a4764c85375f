/* Tests of jit/compile.c on a simulated backend: which thread compiles, waits and gets the
 * error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quarry/error.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/system.h"
#include "device/unload.h"
#include "jit/cache_disk.h"
#include "jit/compile.h"
#include "run.h"
#include "scratch.h"

enum { THREADS = 8, PATH_SIZE = 512, FUNCTIONS = 4096 };

/* ---- a backend whose machine code is the text itself ---- */

static _Atomic int compiles, loads, attaches, unloads;
static _Atomic bool fail_compile, fail_next_load, fail_attach, slow;
static const char *compiler_version = "fake 1";

/* Never freed, so that a test can look at what was unloaded. */
static struct ga__function {
    char name[32];
    char code[64];
} functions[FUNCTIONS];
static _Atomic int function_count;

struct ga__image {
    char code[64];
};
static struct ga__image images[FUNCTIONS];
static _Atomic int image_count;

static ga_status fake_compile(ga__device *device, const ga__source *source, void **code,
                              size_t *nbytes)
{
    (void)device;
    atomic_fetch_add(&compiles, 1);
    if (slow)
        usleep(50000);
    if (fail_compile)
        return ga__fail(GA_ERR_COMPILE, "%s does not compile:\noperation(1): error: no",
                        source->name);
    char *text = ga__strdup(source->text);
    if (!text)
        return GA_ERR_MEMORY;
    *code = text;
    *nbytes = strlen(text);
    return GA_OK;
}

static void fake_key(ga__device *device, bool fast_math, ga__strbuf *key)
{
    (void)device;
    ga__strbuf_add(key, fast_math ? "fast" : compiler_version);
}

static ga_status fake_load(ga__device *device, const void *code, size_t nbytes, ga__image **image)
{
    (void)device;
    if (ga__alloc_fails())
        return ga__fail(GA_ERR_MEMORY, "no memory for an image");
    if (atomic_exchange(&fail_next_load, false))
        return ga__fail(GA_ERR_DEVICE, "no kernel image for this device");
    atomic_fetch_add(&loads, 1);
    struct ga__image *fresh = &images[atomic_fetch_add(&image_count, 1)];
    snprintf(fresh->code, sizeof fresh->code, "%.*s", (int)nbytes, (const char *)code);
    *image = fresh;
    return GA_OK;
}

static ga_status fake_attach(ga__device *on, ga__image *image)
{
    assert_string_not_equal(on->name, "fake:0"); /* which loaded it */
    assert_int_not_equal(image->code[0], '\0');
    attaches++;
    return fail_attach ? ga__fail(GA_ERR_DEVICE, "no room on %s", on->name) : GA_OK;
}

static ga_status fake_find(ga__image *image, const char *name, ga__function **function)
{
    if (strcmp(name, "missing") == 0)
        return ga__fail(GA_ERR_INVALID, "the module has no kernel \"missing\"");
    struct ga__function *fresh = &functions[atomic_fetch_add(&function_count, 1)];
    snprintf(fresh->name, sizeof fresh->name, "%s", name);
    memcpy(fresh->code, image->code, sizeof fresh->code);
    *function = fresh;
    return GA_OK;
}

static void fake_unload(ga__image *image)
{
    memset(image, 0, sizeof *image);
    unloads++;
}

/* A megabyte that starts with the text. */
static ga_status fake_compile_cuda(ga__device *device, const ga__cuda_source *source, void **code,
                                   size_t *nbytes, char **symbols, char **log)
{
    (void)device;
    compiles++;
    *nbytes = 1 << 20;
    *code = ga__calloc(1, *nbytes);
    *symbols = ga__strdup("");
    *log = NULL;
    strcpy(*code, source->text);
    return GA_OK;
}

static void fake_cuda_key(ga__device *device, ga__strbuf *key)
{
    ga__strbuf_add(key, device->name);
}

static const ga__backend fake = {.name = "fake",
                                 .template_target = "cuda",
                                 .code.compile = fake_compile,
                                 .code.key = fake_key,
                                 .user.compile = fake_compile_cuda,
                                 .user.key = fake_cuda_key,
                                 .code.load = fake_load,
                                 .code.attach = fake_attach,
                                 .code.unload = fake_unload,
                                 .code.find = fake_find};
static const ga__backend fake_host = {.name = "fake",
                                      .template_target = "host",
                                      .code.compile = fake_compile,
                                      .code.key = fake_key,
                                      .code.load = fake_load,
                                      .code.unload = fake_unload,
                                      .code.find = fake_find};
static ga__device device = {.backend = &fake, .name = "fake:0"};
static ga__device second = {.backend = &fake, .index = 1, .name = "fake:1"};
static ga__device host = {.backend = &fake_host, .name = "fakehost"};

/* ---- around each test ---- */

static char *cache, *dumps;
static _Atomic int info_lines, debug_lines;

static void count_line(int level, const char *text, void *user)
{
    (void)user;
    (void)text;
    atomic_fetch_add(level == GA_LOG_INFO ? &info_lines : &debug_lines, 1);
}

static int set_up(void **state)
{
    (void)state;
    cache = ga__make_temporary_directory();
    dumps = ga__make_temporary_directory();
    setenv("QUARRY_CACHE_DIR", cache, 1);
    unsetenv("QUARRY_DUMP_DIR");
    compiles = loads = attaches = unloads = info_lines = debug_lines = 0;
    fail_compile = fail_next_load = slow = false;
    compiler_version = "fake 1";
    ga__module_forget();
    ga_set_log(count_line, NULL);
    return cache && dumps ? 0 : -1;
}

/* The requests of the test so far. */
static ga__module *asked[FUNCTIONS];
static _Atomic int nasked;

static void release_asked(void)
{
    while (nasked > 0)
        ga__module_release(asked[--nasked]);
    ga__unload_sweep();
}

static int tear_down(void **state)
{
    (void)state;
    release_asked();
    ga_set_log(NULL, NULL);
    remove_folder(cache);
    ga__free(cache);
    remove_folder(dumps);
    ga__free(dumps);
    ga_clear_error();
    return 0;
}

/* The template is the text's hole: the record holds all differences. */
static ga__embedded used = {.name = "used.tmpl", .digest = "used"};
static ga__embedded left_out = {.name = "left_out.tmpl", .digest = "left_out"};
static const ga__include included[] = {{"text", &used}, {"!text", &left_out}, {NULL, NULL}};
static ga__embedded template = {"test.tmpl", "@text@", "digest", included};

static ga__function *get_named(ga__device *on, const char *name, const char *text, bool fast_math,
                               const char *entry)
{
    ga__record *record = ga__record_new();
    ga__record_set(record, "text", text);
    const ga__recipe recipe = {name, &template, record, fast_math};
    ga__module *module = NULL;
    ga__function *function = ga__module_function(on, &recipe, entry, &module);
    ga__record_free(record);
    if (function)
        asked[atomic_fetch_add(&nasked, 1)] = module;
    return function;
}

static ga__function *get_on(ga__device *on, const char *text, bool fast_math)
{
    return get_named(on, "test kernel", text, fast_math, "entry");
}

static void assert_gets(const char *text)
{
    ga__function *function = get_on(&device, text, false);
    assert_non_null(function);
    assert_string_equal(function->name, "entry");
    assert_string_equal(function->code, text);
    assert_int_equal(ga_error(), GA_OK);
}

/* ---- the tests ---- */

static void memory_comes_before_disk_before_compiler(void **state)
{
    ga__module_counts before = ga__module_count();
    (void)state;
    assert_gets("text");
    assert_int_equal(compiles, 1);
    assert_int_equal(info_lines, 1);
    assert_gets("text");
    assert_gets("text");
    assert_int_equal(compiles, 1);
    assert_int_equal(loads, 1);
    assert_gets("other text");
    assert_int_equal(compiles, 2);
    ga__module_forget();
    assert_int_equal(debug_lines, 0);
    assert_gets("text");
    assert_int_equal(compiles, 2);
    assert_int_equal(loads, 3);
    assert_int_equal(debug_lines, 1);
    ga__module_counts after = ga__module_count();
    assert_int_equal(after.compiled - before.compiled, 2);
    assert_int_equal(after.disk_hits - before.disk_hits, 1);
    assert_int_equal(after.memory_hits - before.memory_hits, 2);
}

static void everything_is_in_the_key(void **state)
{
    (void)state;
    assert_gets("keyed");
    assert_non_null(get_on(&device, "keyed", true));
    assert_int_equal(compiles, 2);
    compiler_version = "fake 2";
    assert_gets("keyed");
    assert_int_equal(compiles, 3);
    assert_non_null(get_on(&host, "keyed", false));
    assert_int_equal(compiles, 4);
    /* Another device of the same architecture shares the image. */
    assert_int_equal(loads, 4);
    assert_non_null(get_on(&second, "keyed", false));
    assert_non_null(get_on(&second, "keyed", false));
    assert_int_equal(compiles, 4);
    assert_int_equal(loads, 4);
    assert_int_equal(attaches, 1);
}

static void a_device_that_takes_no_image_gets_none(void **state)
{
    (void)state;
    assert_gets("shared");
    fail_attach = true;
    assert_null(get_on(&second, "shared", false));
    assert_string_equal(ga_error_message(), "no room on fake:1");
    fail_attach = false;
    ga_clear_error();
    assert_non_null(get_on(&second, "shared", false));
    assert_int_equal(compiles, 1);
    assert_int_equal(loads, 1);
    assert_int_equal(attaches, 2);
}

/* After the edit of a template's file, only those kernels compile again that include it. */
static void the_files_included_are_in_the_key(void **state)
{
    (void)state;
    assert_gets("edited");
    template.digest = "another";
    assert_gets("edited");
    assert_int_equal(compiles, 2);
    template.digest = "digest";
    used.digest = "another";
    assert_gets("edited");
    assert_int_equal(compiles, 3);
    used.digest = "used";
    left_out.digest = "another";
    ga__module_forget(); /* the key on disk is the same, too */
    assert_gets("edited");
    assert_int_equal(compiles, 3);
    left_out.digest = "left_out";
}

static void a_template_that_cannot_be_filled_is_an_error(void **state)
{
    (void)state;
    template.text = "@text@ and @more@";
    assert_null(get_on(&device, "unfilled", false));
    template.text = "@text@";
    assert_int_equal(ga_error(), GA_ERR_INVALID);
    assert_string_equal(ga_error_message(), "test.tmpl:1: no value for the hole @more@");
    ga_clear_error();
    assert_int_equal(compiles, 0);
    assert_gets("unfilled");
}

static void without_a_disk_memory_still_serves(void **state)
{
    (void)state;
    setenv("QUARRY_CACHE_DIR", "", 1);
    assert_gets("no disk");
    assert_gets("no disk");
    assert_int_equal(compiles, 1);
    ga__module_forget();
    assert_gets("no disk");
    assert_int_equal(compiles, 2);
}

static void a_missing_kernel_is_an_error(void **state)
{
    (void)state;
    assert_null(get_named(&device, "test kernel", "text", false, "missing"));
    assert_int_equal(ga_error(), GA_ERR_INVALID);
    ga_clear_error();
    assert_gets("text");
    assert_int_equal(compiles, 1);
}

struct asker {
    pthread_t thread;
    const char *text;
    ga__function *function;
    ga_status status;
    char message[256];
};

static void *ask(void *argument)
{
    struct asker *asker = argument;
    asker->function = get_on(&device, asker->text, false);
    asker->status = ga_error();
    snprintf(asker->message, sizeof asker->message, "%s", ga_error_message());
    return NULL;
}

static void ask_together(struct asker *askers, const char *const *texts, int ntexts)
{
    slow = true;
    for (int i = 0; i < THREADS; i++) {
        askers[i].text = texts[i % ntexts];
        assert_int_equal(pthread_create(&askers[i].thread, NULL, ask, &askers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(askers[i].thread, NULL);
    slow = false;
}

static void threads_compile_once(void **state)
{
    struct asker askers[THREADS];
    (void)state;
    ask_together(askers, (const char *const[]){"shared", "shared 2"}, 2);
    assert_int_equal(compiles, 2);
    assert_int_equal(loads, 2);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(askers[i].status, GA_OK);
        assert_string_equal(askers[i].function->code, askers[i].text);
    }
}

static void a_failure_is_told_to_all_and_not_kept(void **state)
{
    struct asker askers[THREADS];
    int64_t live = ga__alloc_live();
    (void)state;
    fail_compile = true;
    ask_together(askers, (const char *const[]){"broken\ncode"}, 1);
    /* A thread that came after the first attempt made one of its own. */
    assert_in_range(compiles, 1, THREADS);
    assert_int_equal(loads, 0);
    for (int i = 0; i < THREADS; i++) {
        assert_null(askers[i].function);
        assert_int_equal(askers[i].status, GA_ERR_COMPILE);
        assert_string_equal(askers[i].message,
                            "test kernel does not compile:\noperation(1): error: no\n"
                            "     1 | broken\n     2 | code\n");
    }
    assert_int_equal(ga__alloc_live(), live);
    fail_compile = false;
    assert_gets("broken\ncode");
}

static void the_users_text_is_marked(void **state)
{
    (void)state;
    fail_compile = true;
    assert_null(get_on(&device,
                       "int a;\n#line 1 \"operation\"\nz[i] = x[i]\n+ y[i]\n"
                       "#line 1 \"kernel\"\nint b;\n",
                       false));
    assert_string_equal(ga_error_message(), "test kernel does not compile:\n"
                                            "operation(1): error: no\n"
                                            "#line 1 \"operation\"\n"
                                            ">    1 | z[i] = x[i]\n>    2 | + y[i]\n");
}

/* The calling thread keeps its first error; waiting threads still get the compile's error. */
static void an_older_error_stays(void **state)
{
    (void)state;
    ga__fail(GA_ERR_SHAPE, "older");
    fail_compile = true;
    assert_null(get_on(&device, "older error", false));
    assert_int_equal(ga_error(), GA_ERR_SHAPE);
    assert_string_equal(ga_error_message(), "older");
    fail_compile = false;
    assert_non_null(get_on(&device, "older error", false));
    assert_string_equal(ga_error_message(), "older");
}

static void disk_code_that_does_not_load_is_compiled_again(void **state)
{
    (void)state;
    assert_gets("stale");
    ga__module_forget();
    fail_next_load = true;
    assert_gets("stale");
    assert_int_equal(compiles, 2);
    fail_next_load = true;
    assert_null(get_on(&device, "does not load at all", false));
    assert_int_equal(ga_error(), GA_ERR_DEVICE);
    assert_string_equal(ga_error_message(), "no kernel image for this device");
    ga_clear_error();
    int64_t files, bytes;
    ga__disk_cache_usage(&files, &bytes);
    assert_int_equal(files, 1);
}

/* The name and the content of the only file in the directory. */
static void only_dump(char name[PATH_SIZE], const char *text)
{
    char path[2 * PATH_SIZE];
    size_t nbytes;
    int found = 0;
    DIR *stream = opendir(dumps);
    for (struct dirent *item; (item = readdir(stream)) != NULL;)
        if (item->d_name[0] != '.') {
            snprintf(name, PATH_SIZE, "%s", item->d_name);
            found++;
        }
    closedir(stream);
    assert_int_equal(found, 1);
    snprintf(path, sizeof path, "%s/%s", dumps, name);
    char *content = ga__read_file(path, &nbytes);
    assert_string_equal(content, text);
    ga__free(content);
    unlink(path);
}

static void filled_templates_are_dumped(void **state)
{
    char name[PATH_SIZE];
    (void)state;
    setenv("QUARRY_DUMP_DIR", dumps, 1);
    assert_gets("to be dumped");
    only_dump(name, "to be dumped");
    assert_memory_equal(name, "test_kernel-", 12);
    assert_int_equal(strspn(name + 12, "0123456789abcdef"), 16);
    assert_string_equal(name + 28, ".cu");
    assert_non_null(get_on(&host, "to be dumped", false));
    only_dump(name, "to be dumped");
    assert_string_equal(name + 28, ".cpp");
    assert_non_null(get_named(&device, "../a b", "odd", false, "entry"));
    only_dump(name, "odd");
    assert_memory_equal(name, "___a_b-", 7);
    ga__module_forget();
    assert_gets("to be dumped"); /* found on disk, and dumped anyway */
    only_dump(name, "to be dumped");
    fail_compile = true;
    assert_null(get_on(&device, "bad", false));
    only_dump(name, "bad");
    fail_compile = false;
    ga_clear_error();
    setenv("QUARRY_DUMP_DIR", "/proc/self/dumps", 1); /* cannot be made: no error */
    assert_gets("not dumped");
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    setenv("QUARRY_DUMP_DIR", dumps, 1);
    for (int64_t n = 1; n < 60; n++) {
        int64_t live = ga__alloc_live();
        ga__alloc_fail_at(n);
        ga__function *function = get_on(&device, "text", n % 2);
        ga__alloc_fail_at(0);
        assert_int_equal(ga_error() == GA_OK, function != NULL);
        assert_true(function || ga__alloc_live() == live);
        assert_true(n < 50 || function);
        ga_clear_error();
        release_asked();
        ga__module_forget();
        if (n % 3 == 0)
            ga__disk_cache_clear();
    }
}

/* The same if the compile fails: the message may be lost, but not the error. */
static void every_failed_allocation_of_a_failure_is_survived(void **state)
{
    int64_t live = ga__alloc_live();
    (void)state;
    fail_compile = true;
    for (int64_t n = 1; n < 40; n++) {
        ga__alloc_fail_at(n);
        assert_null(get_on(&device, "fails", false));
        ga__alloc_fail_at(0);
        assert_true(ga_error() == GA_ERR_COMPILE || ga_error() == GA_ERR_MEMORY);
        assert_true(ga_error_message()[0] != '\0');
        assert_true(n < 30 || ga_error() == GA_ERR_COMPILE);
        assert_int_equal(ga__alloc_live(), live);
        ga_clear_error();
    }
}

/* The code leaves memory with its last user, and is loaded from disk again. */
static void the_last_release_unloads(void **state)
{
    const int64_t loaded = ga__module_count().loaded, live = ga__alloc_live();
    (void)state;
    assert_gets("released");
    assert_gets("released"); /* both users, */
    ga__module_retain(asked[0]);
    assert_int_equal(ga__module_count().loaded, loaded + 1);
    ga__module *third = asked[0]; /* and a third */
    release_asked();
    assert_int_equal(unloads, 0);
    assert_int_equal(ga__module_count().loaded, loaded + 1);
    ga__module_release(third);
    ga__unload_sweep();
    assert_int_equal(unloads, 1);
    assert_int_equal(ga__module_count().loaded, loaded);
    assert_int_equal(ga__alloc_live(), live);
    assert_gets("released");
    assert_int_equal(compiles, 1);
    assert_int_equal(loads, 2);
}

/* Many threads request a few texts and release them at once: every thread that gets code gets it
 * loaded. */
static void *ask_and_release(void *unused)
{
    for (int i = 0; i < 200; i++) {
        char text[16];
        snprintf(text, sizeof text, "churn %d", i % 3);
        ga__record *record = ga__record_new();
        ga__record_set(record, "text", text);
        const ga__recipe recipe = {"churn", &template, record, false};
        ga__module *module = NULL;
        const ga__function *function = ga__module_function(&device, &recipe, "entry", &module);
        ga__record_free(record);
        if (!function || strcmp(function->code, text) != 0)
            return (void *)"the code of a kernel that is in use was unloaded";
        ga__module_release(module);
        ga__unload_sweep();
    }
    return unused;
}

static void threads_ask_and_release(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, ask_and_release, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        void *trouble;
        pthread_join(threads[i], &trouble);
        assert_null(trouble);
    }
    ga__unload_sweep();
    assert_int_equal(unloads, loads);
}

enum { SOURCES = 40, SOURCE_CODE = 1 << 20 };

static bool source_is_in_memory(int number)
{
    char text[32];
    ga__code code;
    snprintf(text, sizeof text, "source %d", number);
    const ga__cuda_source source = {.name = "source", .text = text};
    const int64_t hits = ga__module_count().memory_hits;
    assert_int_equal(ga__module_code(&device, &source, &code), GA_OK);
    assert_int_equal(code.nbytes, SOURCE_CODE);
    assert_string_equal(code.bytes, text);
    ga__code_reset(&code);
    return ga__module_count().memory_hits > hits;
}

/* Memory keeps the most recently used of the users' sources. */
static void sources_are_bounded(void **state)
{
    (void)state;
    for (int i = 0; i < SOURCES; i++) {
        assert_false(source_is_in_memory(i));
        assert_true(source_is_in_memory(0) || i == 0);
        assert_in_range(ga__module_count().source_bytes, 1, GA__SOURCE_BYTES);
    }
    assert_true(ga__module_count().source_bytes > GA__SOURCE_BYTES - 2 * SOURCE_CODE);
    assert_true(source_is_in_memory(SOURCES - 1));
    assert_false(source_is_in_memory(1));
    assert_int_equal(compiles, SOURCES); /* it came from the disk */
    ga__module_forget();
    assert_int_equal(ga__module_count().source_bytes, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(memory_comes_before_disk_before_compiler),
        TEST(everything_is_in_the_key),
        TEST(a_device_that_takes_no_image_gets_none),
        TEST(the_files_included_are_in_the_key),
        TEST(a_template_that_cannot_be_filled_is_an_error),
        TEST(without_a_disk_memory_still_serves),
        TEST(a_missing_kernel_is_an_error),
        TEST(the_last_release_unloads),
        TEST(threads_ask_and_release),
        TEST(sources_are_bounded),
        TEST(threads_compile_once),
        TEST(a_failure_is_told_to_all_and_not_kept),
        TEST(the_users_text_is_marked),
        TEST(an_older_error_stays),
        TEST(disk_code_that_does_not_load_is_compiled_again),
        TEST(filled_templates_are_dumped),
        TEST(every_failed_allocation_is_survived),
        TEST(every_failed_allocation_of_a_failure_is_survived),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
