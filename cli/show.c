/* quarry show: what a file holds: dtype, shape, extremes, mean, NaN, and a small picture. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 64, HIGH = 20 }; /* characters of a picture */

typedef struct facts {
    bool numbers; /* the elements are real numbers, */
    bool floats;  /* which may be NaN */
    double least, most, mean;
    int64_t nans;
} facts;

static double number(gpuarray *x)
{
    const double value = x ? ga_item_double(x) : (double)NAN;
    ga_free(x);
    return value;
}

/* Extremes and mean leave NaN out. */
static facts find_facts(const gpuarray *x)
{
    const ga_dtype dtype = ga_dtype_of(x);
    facts f = {.numbers = ga_isdtype(dtype, "bool") || ga_isdtype(dtype, "integral") ||
                          ga_isdtype(dtype, "real floating")};
    f.floats = ga_isdtype(dtype, "real floating");
    if (!f.numbers || ga_size(x) == 0)
        return f;
    if (f.floats) {
        gpuarray *nan = ga_isnan(x);
        f.nans = nan ? (int64_t)number(ga_count_nonzero(nan)) : 0;
        ga_free(nan);
    }
    const bool none = f.nans == ga_size(x);
    f.least = none ? (double)NAN : number(f.floats ? ga_nanmin(x) : ga_min(x));
    f.most = none ? (double)NAN : number(f.floats ? ga_nanmax(x) : ga_max(x));
    f.mean =
        none ? (double)NAN : number(f.floats ? ga_nanmean(x, .dtype = GA_FLOAT64) : ga_mean(x));
    return f;
}

/* ---- The picture ---- */

/* The first plane of the last two axes, with a step along each so that few elements are left. */
static gpuarray *sample(const gpuarray *x)
{
    const int ndim = ga_ndim(x);
    gpuarray *plane = ga_copy(x);
    for (int axis = 0; axis < ndim - 2; axis++)
        ga_replace(&plane, plane ? ga_slice(plane, "0") : NULL);
    if (ndim == 1)
        ga_replace(&plane, plane ? ga_expand_dims(plane, 0) : NULL);
    if (!plane)
        return NULL;
    const int64_t rows = (ga_length(plane, 0) + HIGH - 1) / HIGH,
                  columns = (ga_length(plane, 1) + WIDE - 1) / WIDE;
    ga_replace(&plane, ga_slice(plane, "::%lld, ::%lld", (long long)rows, (long long)columns));
    ga_replace(&plane, plane ? ga_astype(plane, GA_FLOAT64) : NULL);
    return plane;
}

/* From dark to light; '?' is no finite number. */
static char shade(double value, const facts *f)
{
    static const char ramp[] = " .:-=+*#%@";
    const double part = f->most > f->least ? (value - f->least) / (f->most - f->least) : 0.5;
    if (!isfinite(value) || !isfinite(part))
        return '?';
    const int step = (int)(part * (double)(sizeof ramp - 1));
    return ramp[step < 0 ? 0 : step > (int)sizeof ramp - 2 ? (int)sizeof ramp - 2 : step];
}

static int draw(const gpuarray *x, const facts *f)
{
    double values[HIGH * WIDE];
    if (!f->numbers || ga_ndim(x) == 0 || ga_size(x) == 0)
        return 0;
    gpuarray *plane = sample(x);
    if (!plane || ga_to_host(plane, values, ga_nbytes(plane)) != GA_OK) {
        ga_free(plane);
        return complain_error();
    }
    const int64_t rows = ga_length(plane, 0), columns = ga_length(plane, 1);
    for (int64_t i = 0; i < rows; i++) {
        fputs("  |", stdout);
        for (int64_t j = 0; j < columns; j++)
            putchar(shade(values[i * columns + j], f));
        fputs("|\n", stdout);
    }
    ga_free(plane);
    return 0;
}

/* ---- The words ---- */

static void print_shape(const gpuarray *x)
{
    putchar('(');
    for (int axis = 0; axis < ga_ndim(x); axis++)
        printf("%s%lld", axis > 0 ? ", " : "", (long long)ga_length(x, axis));
    printf("%s)", ga_ndim(x) == 1 ? "," : "");
}

static void print_json(const char *path, const gpuarray *x, const facts *f)
{
    fputs("{\"file\": ", stdout);
    json_text(path);
    printf(", \"dtype\": \"%s\", \"shape\": ", ga_dtype_name(ga_dtype_of(x)));
    json_shape(x);
    printf(", \"bytes\": %zu", ga_nbytes(x));
    if (f->numbers && ga_size(x) > 0) {
        json_number("min", f->least);
        json_number("max", f->most);
        json_number("mean", f->mean);
        printf(", \"nan\": %lld", (long long)f->nans);
    }
    fputs("}\n", stdout);
}

static int print_text(const char *path, const gpuarray *x, const facts *f, int precision)
{
    printf("%s: %s ", path, ga_dtype_name(ga_dtype_of(x)));
    print_shape(x);
    printf(", %s\n", size_text((double)ga_nbytes(x)));
    if (!f->numbers || ga_size(x) == 0)
        return 0;
    printf("  min %.*g  max %.*g  mean %.*g", precision, f->least, precision, f->most, precision,
           f->mean);
    if (f->floats)
        printf("  NaN %lld", (long long)f->nans);
    putchar('\n');
    return draw(x, f);
}

static int show_file(const char *path, bool json, int precision)
{
    gpuarray *x = file_load("show", path);
    if (!x)
        return STATUS_BAD;
    const facts f = find_facts(x);
    int status = ga_error() == GA_OK ? 0 : complain_error();
    if (status == 0 && json)
        print_json(path, x, &f);
    else if (status == 0)
        status = print_text(path, x, &f, precision);
    ga_free(x);
    return status;
}

static int run_show(const command *c, int argc, char **argv)
{
    static const struct option names[] = {{"help", no_argument, NULL, 'h'},
                                          {"json", no_argument, NULL, 'j'},
                                          {"device", required_argument, NULL, 'd'},
                                          {"precision", required_argument, NULL, 'p'},
                                          {NULL, 0, NULL, 0}};
    bool json = false;
    int found, precision = 6, status = 0;
    const char *device = NULL;

    while ((found = next_option(c, argc, argv, ":hjd:p:", names)) != -1) {
        if (found == OPTION_DONE || found == OPTION_WRONG)
            return found == OPTION_DONE ? 0 : STATUS_BAD;
        if (found == 'j')
            json = true;
        else if (found == 'd')
            device = optarg;
        else if ((precision = read_precision(c, optarg)) < 0)
            return STATUS_BAD;
    }
    if (optind == argc)
        return complain_usage(c, "show: no file is given");
    if (device && ga_set_device(device) != GA_OK)
        return complain_error();
    for (int k = optind; k < argc && status == 0; k++)
        status = show_file(argv[k], json, precision);
    return status == 0 ? finish_output() : status;
}

static const char help[] =
    "usage: quarry show FILE... [OPTION]...\n"
    "\n"
    "Prints what each .npy or .csv file holds: dtype, shape, minimum, maximum, mean, how many NaN, "
    "and\n"
    "a small picture of it, or of the first plane of its last two axes. \"-\" is standard input.\n"
    "\n"
    "  -j, --json           prints one line of JSON for each file instead\n"
    "  -p, --precision N    significant digits of the numbers (default: 6)\n"
    "  -d, --device DEVICE  computes on cpu, cuda or cuda:N\n"
    "  -h, --help           prints this\n";

const command show_command = {"show", "dtype, shape, range and a picture of files", help, run_show};
