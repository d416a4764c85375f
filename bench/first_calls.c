/* What the first call of a new kernel costs, compiled and from the disk cache, in fresh processes,
 * and what the compiler alone takes for such a kernel. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <quarry.h>

#include "overheads.h"

enum { KERNELS = 9, PATH_BYTES = 1200 };
#define KERNEL_NAME "bench_first"

/* One call of a kernel that this process has not seen; its text differs in a constant. */
static double first_call_us(gpuarray *x, gpuarray *z, const char *name, int number)
{
    char operation[100];

    snprintf(operation, sizeof operation, "z[i] = x[i] * %d.5f + 1.0f", number);
    const double start = now_us();
    ga_kernel *kernel = ga_elementwise_kernel("const float *x, float *z", operation, name);
    ga_run(kernel, x, z);
    const double us = now_us() - start;
    ga_synchronize();
    ga_kernel_free(kernel);
    return us;
}

/* Texts of such kernels, up to KERNELS of them, from a dump; how many. They live on. */
static int read_texts(const char *directory, char *texts[KERNELS])
{
    enum { MOST = 1 << 20 };
    char path[2 * PATH_BYTES];
    int count = 0;

    DIR *dump = *directory ? opendir(directory) : NULL;
    for (struct dirent *entry; dump && count < KERNELS && (entry = readdir(dump));) {
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        FILE *file = strstr(entry->d_name, KERNEL_NAME) ? fopen(path, "r") : NULL;
        char *text = file ? calloc(1, MOST) : NULL;
        if (text && fread(text, 1, MOST - 1, file) > 0)
            texts[count++] = text;
        if (file)
            fclose(file);
    }
    if (dump)
        closedir(dump);
    return count;
}

int bench_first_calls_child(const machine *m, const char *directory)
{
    double samples[KERNELS], compiler[KERNELS];
    char *texts[KERNELS];
    gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(1024)), *z = ga_empty(GA_FLOAT32, GA_SHAPE(1024));

    ga_synchronize();
    const double very_first = first_call_us(x, z, "bench_warm", 1000);
    const int count = m->compile_ms && m->open() ? read_texts(directory, texts) : 0;
    if (count)
        m->compile_ms(texts[0]); /* loads the compiler */
    int compiled = 0;
    for (int i = 0; i < KERNELS; i++) {
        samples[i] = first_call_us(x, z, KERNEL_NAME, i);
        const double ms = i < count ? m->compile_ms(texts[i]) : 0;
        if (ms > 0)
            compiler[compiled++] = ms * 1e3;
    }
    ga_free(x);
    ga_free(z);
    if (ga_error() != GA_OK) {
        fprintf(stderr, "quarry-bench: first calls: %s\n", ga_error_message());
        return 1;
    }
    printf("%.3f %.3f %.3f\n", very_first, median(samples, KERNELS),
           compiled ? median(compiler, compiled) : 0);
    return 0;
}

/* What a child prints, in microseconds. */
typedef struct timings {
    double very_first, call, compiler;
} timings;

/* Runs the child with a cache in the directory; false when it fails. With `dump` it writes its
 * kernels' texts there, which takes time; else it has the compiler's own time for those that are
 * there taken in turn with its calls, where `compiles`. */
static bool run_child(const char *program, const char *directory, const char *cache, bool dump,
                      bool compiles, timings *us)
{
    char command[4 * PATH_BYTES];

    snprintf(command, sizeof command,
             "QUARRY_CACHE_DIR='%s/%s' QUARRY_DUMP_DIR='%s%s' QUARRY_DEVICE='%s' '%s' "
             "--first-calls '%s%s'",
             directory, cache, dump ? directory : "", dump ? "/dump" : "", ga_current_device(),
             program, compiles ? directory : "", compiles ? "/dump" : "");
    FILE *output = popen(command, "r");
    const bool read =
        output && fscanf(output, "%lf %lf %lf", &us->very_first, &us->call, &us->compiler) == 3;
    return output && pclose(output) == 0 && read;
}

static bool make_dump_directory(const char *directory)
{
    char path[PATH_BYTES + 20];

    snprintf(path, sizeof path, "%s/dump", directory);
    return mkdir(path, 0700) == 0;
}

static void remove_directory(const char *directory)
{
    char command[PATH_BYTES + 20];

    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    if (system(command) != 0)
        fprintf(stderr, "quarry-bench: cannot remove %s\n", directory);
}

void bench_first_calls(report *r, wanted_case wanted, const char *program)
{
    char directory[PATH_BYTES];
    const char *temporary = getenv("TMPDIR");
    timings dumped, cold = {0}, warm = {0};

    if (!wanted("first call, new kernel") && !wanted("first call, disk cache"))
        return;
    snprintf(directory, sizeof directory, "%.1000s/quarry-bench-XXXXXX",
             temporary ? temporary : "/tmp");
    if (!mkdtemp(directory) || !make_dump_directory(directory))
        return;
    const bool has_texts = run_child(program, directory, "dumped", true, false, &dumped);
    const bool has_cold = run_child(program, directory, "cache", false, has_texts, &cold);
    const bool has_warm = run_child(program, directory, "cache", false, false, &warm);
    remove_directory(directory);

    report_add(
        r,
        (result){.name = "first call, fresh process", .us = cold.very_first, .wrong = !has_cold});
    report_add(r, (result){.name = "first call, new kernel",
                           .us = cold.call,
                           .limit_us = cold.compiler,
                           .wrong = !has_cold});
    report_add(r, (result){.name = "first call, disk cache", .us = warm.call, .wrong = !has_warm});
}
