/* quarry info: shows what is available, and what is missing and how to get it. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What is found by a function that returns a text to free, or NULL and an error. */
static const struct {
    const char *title, *key;
    char *(*find)(const char *device);
    const char *device;
} parts[] = {
    {"cpu kernels", "cpu_kernels", ga_compiler, "cpu"},
    {"cuda kernels", "cuda_kernels", ga_compiler, "cuda"},
    {"cuda linker", "cuda_linker", ga_linker, "cuda"},
    {"cpu matmul", "cpu_matmul", ga_product_library, "cpu"},
    {"cuda matmul", "cuda_matmul", ga_product_library, "cuda"},
};

enum { PARTS = sizeof parts / sizeof *parts };

/* ---- As text ---- */

static void show_error(const char *title)
{
    printf("%-12s %s\n", title, ga_error_message());
    ga_clear_error();
}

static void show_device(const char *device)
{
    ga_memory_stats memory;
    const char *description = ga_device_name(device);

    if (!description || ga_memory_info(device, &memory) != GA_OK) {
        show_error(device);
        return;
    }
    printf("%-12s %s, %s", device, description, size_text((double)memory.total));
    printf(" of memory, %s free\n", size_text((double)memory.available));
}

static void show_devices(void)
{
    char name[32];
    const char *problem = ga_cuda_problem();

    for (int i = 0; i < ga_device_count(); i++) {
        snprintf(name, sizeof name, "cuda:%d", i);
        show_device(name);
    }
    if (problem)
        printf("%-12s none: %s\n", "cuda", problem);
    show_device("cpu");
    const char *current = ga_current_device();
    if (current)
        printf("%-12s %s\n", "in use", current);
    else
        show_error("in use");
}

static void show_cache(void)
{
    int64_t files, bytes;
    char *directory = ga_cache_directory();

    if (directory) {
        ga_cache_usage(&files, &bytes);
        printf("%-12s %s, %" PRId64 " kernels, %s\n", "cache", directory, files,
               size_text((double)bytes));
    } else {
        printf("%-12s none: every process compiles its kernels anew; set QUARRY_CACHE_DIR\n",
               "cache");
    }
    free(directory);
}

static void show_all(void)
{
    printf("%-12s %s\n", "quarry", ga_version());
    show_devices();
    for (int k = 0; k < PARTS; k++) {
        char *text = parts[k].find(parts[k].device);
        if (text)
            printf("%-12s %s\n", parts[k].title, text);
        else
            show_error(parts[k].title);
        free(text);
    }
    printf("%-12s %s\n", "sorts", "Quarry's own templates, on every device; CUB is not linked");
    show_cache();
}

/* ---- As JSON ---- */

/* A text, or for NULL what the problem is. */
static void json_found(const char *text)
{
    if (text) {
        json_text(text);
        return;
    }
    fputs("{\"problem\": ", stdout);
    json_text(ga_error_message());
    putchar('}');
    ga_clear_error();
}

static void json_device(const char *device)
{
    ga_memory_stats memory;
    const char *description = ga_device_name(device);

    printf("{\"name\": \"%s\", \"description\": ", device);
    json_found(description);
    if (description && ga_memory_info(device, &memory) == GA_OK)
        printf(", \"memory\": %zu, \"free\": %zu", memory.total, memory.available);
    ga_clear_error();
    putchar('}');
}

static void json_cache(void)
{
    int64_t files, bytes;
    char *directory = ga_cache_directory();

    fputs(", \"cache\": ", stdout);
    if (directory) {
        ga_cache_usage(&files, &bytes);
        fputs("{\"folder\": ", stdout);
        json_text(directory);
        printf(", \"kernels\": %" PRId64 ", \"bytes\": %" PRId64 "}", files, bytes);
    } else
        fputs("null", stdout);
    free(directory);
}

static void json_all(void)
{
    char name[32];

    fputs("{\"version\": ", stdout);
    json_text(ga_version());
    fputs(", \"devices\": [", stdout);
    for (int i = 0; i < ga_device_count(); i++) {
        snprintf(name, sizeof name, "cuda:%d", i);
        json_device(name);
        fputs(", ", stdout);
    }
    json_device("cpu");
    fputs("], \"cuda_problem\": ", stdout);
    json_text(ga_cuda_problem());
    fputs(", \"in_use\": ", stdout);
    json_found(ga_current_device());
    for (int k = 0; k < PARTS; k++) {
        char *text = parts[k].find(parts[k].device);
        printf(", \"%s\": ", parts[k].key);
        json_found(text);
        free(text);
    }
    json_cache();
    fputs("}\n", stdout);
}

static int run_info(const command *c, int argc, char **argv)
{
    static const struct option names[] = {
        {"help", no_argument, NULL, 'h'}, {"json", no_argument, NULL, 'j'}, {NULL, 0, NULL, 0}};
    bool json = false;
    int found;

    while ((found = next_option(c, argc, argv, ":hj", names)) != -1) {
        if (found != 'j')
            return found == OPTION_DONE ? 0 : STATUS_BAD;
        json = true;
    }
    if (optind < argc)
        return complain_usage(c, "info: unexpected argument \"%s\"", argv[optind]);
    if (json)
        json_all();
    else
        show_all();
    return finish_output();
}

static const char help[] =
    "usage: quarry info [OPTION]\n"
    "\n"
    "Prints the version, the devices and their memory, the compilers and linkers of their\n"
    "kernels, the libraries of matrix products, whose sorts run, and the location and size of the\n"
    "cache of compiled kernels; also what is missing and how to get it.\n"
    "\n"
    "  -j, --json  prints a line of JSON: what is missing is {\"problem\": \"...\"}\n"
    "  -h, --help  prints this\n";

const command info_command = {"info", "devices, compilers and the cache; what is missing", help,
                              run_info};
