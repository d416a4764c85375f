/* What the first call of a new kernel costs, compiled and from the disk cache, in fresh processes.
 */
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

int bench_first_calls_child(void)
{
    double samples[KERNELS];
    gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(1024)), *z = ga_empty(GA_FLOAT32, GA_SHAPE(1024));

    ga_synchronize();
    const double very_first = first_call_us(x, z, "bench_warm", 1000);
    for (int i = 0; i < KERNELS; i++)
        samples[i] = first_call_us(x, z, KERNEL_NAME, i);
    ga_free(x);
    ga_free(z);
    if (ga_error() != GA_OK) {
        fprintf(stderr, "quarry-bench: first calls: %s\n", ga_error_message());
        return 1;
    }
    printf("%.3f %.3f\n", very_first, median(samples, KERNELS));
    return 0;
}

/* Runs the child with this cache; false when it fails. With `dump` it writes its kernels' texts,
 * which takes time. */
static bool run_child(const char *program, const char *directory, bool dump, double *very_first,
                      double *us)
{
    char command[3 * PATH_BYTES];

    snprintf(command, sizeof command,
             "QUARRY_CACHE_DIR='%s/cache' QUARRY_DUMP_DIR='%s%s' QUARRY_DEVICE='%s' '%s' "
             "--first-calls",
             directory, dump ? directory : "", dump ? "/dump" : "", ga_current_device(), program);
    FILE *output = popen(command, "r");
    const bool read = output && fscanf(output, "%lf %lf", very_first, us) == 2;
    return output && pclose(output) == 0 && read;
}

/* The median of the compiler's own times for what the child compiled; 0 when it is not known. */
static double compiler_us(const machine *m, const char *directory)
{
    static char text[1 << 20];
    char path[2 * PATH_BYTES];
    double samples[KERNELS];
    int count = 0;

    snprintf(path, sizeof path, "%s/dump", directory);
    DIR *dump = m->compile_ms ? opendir(path) : NULL;
    for (struct dirent *entry; dump && count < KERNELS && (entry = readdir(dump));) {
        snprintf(path, sizeof path, "%s/dump/%s", directory, entry->d_name);
        FILE *file = strstr(entry->d_name, KERNEL_NAME) ? fopen(path, "r") : NULL;
        if (!file)
            continue;
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        const double ms = m->compile_ms(text);
        if (ms > 0)
            samples[count++] = ms * 1e3;
    }
    if (dump)
        closedir(dump);
    return count ? median(samples, count) : 0;
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

void bench_first_calls(report *r, const machine *m, wanted_case wanted, const char *program)
{
    char directory[PATH_BYTES];
    const char *temporary = getenv("TMPDIR");
    double first = 0, compiled = 0, hit = 0, unused;

    if (!wanted("first call, new kernel") && !wanted("first call, disk cache"))
        return;
    snprintf(directory, sizeof directory, "%.1000s/quarry-bench-XXXXXX",
             temporary ? temporary : "/tmp");
    if (!mkdtemp(directory) || !make_dump_directory(directory))
        return;
    const bool cold = run_child(program, directory, false, &first, &compiled);
    const bool warm = run_child(program, directory, false, &unused, &hit);
    const bool dumped = run_child(program, directory, true, &unused, &unused);
    const double limit_us = dumped ? compiler_us(m, directory) : 0;
    remove_directory(directory);

    report_add(r, (result){.name = "first call, fresh process", .us = first, .wrong = !cold});
    report_add(r, (result){.name = "first call, new kernel",
                           .us = compiled,
                           .limit_us = limit_us,
                           .wrong = !cold});
    report_add(r, (result){.name = "first call, disk cache", .us = hit, .wrong = !warm});
}
