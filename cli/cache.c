/* quarry cache: shows or empties the cache of compiled kernels. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void show_entry(const ga_cache_entry *entry, void *user)
{
    const time_t used = (time_t)entry->used;
    char when[32] = "?";
    struct tm date;

    (void)user;
    if (localtime_r(&used, &date))
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &date);
    printf("%s  %10" PRId64 "  %-4s  %s  %s\n", when, entry->bytes, entry->device, entry->name,
           entry->kernel);
}

static void show_total(const char *directory)
{
    int64_t files, bytes;

    ga_cache_usage(&files, &bytes);
    printf("%s: %" PRId64 " kernels, %s\n", directory, files, size_text((double)bytes));
}

static int act(const char *action)
{
    char *directory = ga_cache_directory();

    if (!directory)
        return complain(
            "cache: no folder: QUARRY_CACHE_DIR is empty, or there is no home directory");
    if (strcmp(action, "list") == 0)
        ga_cache_list(show_entry, NULL);
    if (strcmp(action, "clear") == 0)
        printf("%s: %" PRId64 " kernels removed\n", directory, ga_cache_clear());
    else
        show_total(directory);
    free(directory);
    return finish_output();
}

static int run_cache(const command *c, int argc, char **argv)
{
    static const struct option names[] = {{"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
    const int found = next_option(c, argc, argv, ":h", names);

    if (found != -1)
        return found == OPTION_DONE ? 0 : STATUS_BAD;
    const char *action = optind < argc ? argv[optind] : "show";
    if (optind < argc && strcmp(action, "list") != 0 && strcmp(action, "clear") != 0)
        return complain_usage(c, "cache: \"%s\" is neither list nor clear", action);
    if (optind + 1 < argc)
        return complain_usage(c, "cache: unexpected argument \"%s\"", argv[optind + 1]);
    return act(action);
}

static const char help[] =
    "usage: quarry cache [list | clear]\n"
    "\n"
    "Prints the location and size of the cache of compiled kernels.\n"
    "\n"
    "  list        also prints when each kernel was last used, its size in bytes, its device, its\n"
    "              file and its name, which says the formula\n"
    "  clear       removes all kernels\n"
    "  -h, --help  prints this\n"
    "\n"
    "QUARRY_CACHE_DIR sets the location, QUARRY_CACHE_SIZE the maximum size.\n";

const command cache_command = {"cache", "the cache of compiled kernels", help, run_cache};
