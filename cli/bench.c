/* quarry bench: becomes the benchmark program that is installed or built with this one. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where quarry-bench can be, relative to this program: installed, or in a build folder. */
static const char *const places[] = {"quarry-bench", "../bench/quarry-bench"};

/* This program's folder with a slash at its end; "" if the system does not provide it. */
static void find_folder(char folder[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", folder, PATH_MAX - 1);

    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    folder[slash ? slash + 1 - folder : 0] = '\0';
}

bool bench_is_installed(void)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];

    find_folder(folder);
    for (size_t i = 0; *folder && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%s", folder, places[i]);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

static int run_bench(const command *c, int argc, char **argv)
{
    char folder[PATH_MAX], path[PATH_MAX + 32];

    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(c->help, stdout);
        return finish_output();
    }
    find_folder(folder);
    for (size_t i = 0; *folder && i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s%s", folder, places[i]);
        if (access(path, X_OK) != 0)
            continue;
        argv[0] = path;
        execv(path, argv);
        return complain("bench: %s: %s", path, strerror(errno));
    }
    return complain("bench: no quarry-bench in %s: install Quarry configured with -Dbench=true",
                    *folder ? folder : "this program's folder");
}

static const char help[] =
    "usage: quarry bench [--json FILE] [--cases NAME,...] [--n LOG2] [--list]\n"
    "\n"
    "Times every operation against the machine's own limit. Runs quarry-bench, which is installed\n"
    "next to this program, with these options, and exits with its status.\n"
    "\n"
    "  --json FILE      writes the results as JSON too\n"
    "  --cases NAME,... runs only the cases whose names contain one of these\n"
    "  --n LOG2         2^LOG2 elements (default: 2^28 on CUDA, 10^7 on the host)\n"
    "  --list           prints the names of the cases over large arrays\n"
    "  -h, --help       prints this\n";

const command bench_command = {"bench", "time operations against the limits of this machine", help,
                               run_bench};
