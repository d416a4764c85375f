/* quarry info: shows what is available, and what is missing and how to get it. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

/* Shows a text that the caller frees, or why there is none. */
static void show_found(const char *title, char *text)
{
    if (text)
        printf("%-12s %s\n", title, text);
    else
        show_error(title);
    free(text);
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

static int run_info(const command *c, int argc, char **argv)
{
    static const struct option names[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    const int found = next_option(c, argc, argv, ":h", names);

    if (found != -1)
        return found == OPTION_DONE ? 0 : STATUS_BAD;
    if (optind < argc)
        return complain_usage(c, "info: unexpected argument \"%s\"", argv[optind]);
    printf("%-12s %s\n", "quarry", ga_version());
    show_devices();
    show_found("cpu kernels", ga_compiler("cpu"));
    show_found("cuda kernels", ga_compiler("cuda"));
    show_found("cuda linker", ga_linker("cuda"));
    show_found("cpu matmul", ga_product_library("cpu"));
    show_found("cuda matmul", ga_product_library("cuda"));
    printf("%-12s %s\n", "sorts", "Quarry's own templates, on every device; CUB is not linked");
    show_cache();
    return finish_output();
}

static const char help[] =
    "usage: quarry info\n"
    "\n"
    "Prints the version, the devices and their memory, the compilers and linkers of their "
    "kernels,\n"
    "the libraries of matrix products, whose sorts run, and the location and size of the cache of\n"
    "compiled kernels; also what is missing and how to get it.\n"
    "\n"
    "  -h, --help  prints this\n";

const command info_command = {"info", "devices, compilers and the cache; what is missing", help,
                              run_info};
