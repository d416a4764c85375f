/* quarry show: what a file holds: dtype, shape, extremes, mean, NaN, and a small picture. */
#include "cli.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 64, HIGH = 20 }; /* characters of a picture */

typedef struct facts {
    bool reals;           /* the elements are real numbers, which have extremes, */
    bool complex;         /* or complex ones; structs have only a size */
    bool floats;          /* may be NaN */
    elements least, most; /* of one cell each; cells is NULL if all are NaN */
    double low, high;     /* the same as numbers */
    elements mean;        /* of complex numbers: of two cells */
    int64_t nans;
} facts;

/* Whether there are numbers to describe. */
static bool has_values(const facts *f, const gpuarray *x)
{
    return (f->reals || f->complex) && ga_size(x) > 0;
}

static double number(gpuarray *x)
{
    const double value = x ? ga_item_double(x) : (double)NAN;
    ga_free(x);
    return value;
}

/* Keeps the one element of x, which it frees, with every digit. */
static bool keep(gpuarray *x, elements *e)
{
    if (!x)
        return complain_error(), false;
    const bool kept = elements_init(e, x);
    ga_free(x);
    return kept;
}

/* Keeps an extreme also as a number. */
static bool keep_extreme(gpuarray *x, elements *e, double *value)
{
    *value = x ? ga_item_double(x) : (double)NAN;
    return keep(x, e);
}

/* The facts of elements that are not all NaN. Complains on failure. */
static bool find_values(facts *f, const gpuarray *x)
{
    if (f->reals && (!keep_extreme(f->floats ? ga_nanmin(x) : ga_min(x), &f->least, &f->low) ||
                     !keep_extreme(f->floats ? ga_nanmax(x) : ga_max(x), &f->most, &f->high)))
        return false;
    return keep(f->complex  ? ga_nanmean(x, .dtype = GA_COMPLEX128)
                : f->floats ? ga_nanmean(x, .dtype = GA_FLOAT64)
                            : ga_mean(x),
                &f->mean);
}

/* Extremes and mean leave NaN out. Complains on failure. */
static bool find_facts(facts *f, const gpuarray *x)
{
    const ga_dtype dtype = ga_dtype_of(x);
    *f = (facts){
        .complex = ga_isdtype(dtype, "complex floating"), .low = (double)NAN, .high = (double)NAN};
    f->floats = f->complex || ga_isdtype(dtype, "real floating");
    f->reals =
        !f->complex && (f->floats || ga_isdtype(dtype, "bool") || ga_isdtype(dtype, "integral"));
    if (!has_values(f, x))
        return true;
    if (f->floats) {
        gpuarray *missing = ga_isnan(x);
        f->nans = missing ? (int64_t)number(ga_count_nonzero(missing)) : 0;
        ga_free(missing);
    }
    if (ga_error() != GA_OK)
        return complain_error(), false;
    return f->nans == ga_size(x) || find_values(f, x);
}

/* ---- The picture ---- */

/* The first plane of the last two axes, with a step along each so that few elements are left. */
static gpuarray *sample(const gpuarray *x)
{
    const int ndim = ga_ndim(x);
    gpuarray *plane = ga_slice(x, "...");
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

/* From dark to light; '?' is no finite number. Halves keep differences finite. */
static char shade(double value, double low, double high)
{
    static const char ramp[] = " .:-=+*#%@";
    const double part = high > low ? (value / 2 - low / 2) / (high / 2 - low / 2) : 0.5;
    if (!isfinite(value))
        return '?';
    const int step = (int)(part * (double)(sizeof ramp - 1));
    return ramp[step < 0 ? 0 : step > (int)sizeof ramp - 2 ? (int)sizeof ramp - 2 : step];
}

/* What the ramp spans: the extremes of the file, or of the finite numbers shown if those are not
 * finite. */
static void find_range(const facts *f, const double *values, int64_t count, double *low,
                       double *high)
{
    *low = f->low;
    *high = f->high;
    if (isfinite(*low) && isfinite(*high))
        return;
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t k = 0; k < count; k++)
        if (isfinite(values[k])) {
            *low = values[k] < *low ? values[k] : *low;
            *high = values[k] > *high ? values[k] : *high;
        }
}

static int draw(const gpuarray *x, const facts *f)
{
    double values[HIGH * WIDE], low, high;
    if (ga_ndim(x) == 0)
        return 0;
    gpuarray *plane = sample(x);
    if (!plane || ga_to_host(plane, values, ga_nbytes(plane)) != GA_OK) {
        ga_free(plane);
        return complain_error();
    }
    const int64_t rows = ga_length(plane, 0), columns = ga_length(plane, 1);
    find_range(f, values, rows * columns, &low, &high);
    for (int64_t i = 0; i < rows; i++) {
        fputs("  |", stdout);
        for (int64_t j = 0; j < columns; j++)
            putchar(shade(values[i * columns + j], low, high));
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

/* A number of a further member of an object. JSON lacks infinities and NaN, so they are texts. */
static void print_cell(const elements *e, int64_t k, int precision)
{
    const double value = e->kind == 'f' ? e->cells[k].f : 0;
    if (isfinite(value))
        elements_write(stdout, e, k, precision);
    else
        fputs(isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"", stdout);
}

/* A further member of an object: null if all elements are NaN. */
static void print_member(const char *name, const elements *e, bool pair, int precision)
{
    printf(", \"%s\": ", name);
    if (!e->cells) {
        fputs("null", stdout);
        return;
    }
    fputs(pair ? "[" : "", stdout);
    print_cell(e, 0, precision);
    if (pair) {
        fputs(", ", stdout);
        print_cell(e, 1, precision);
        putchar(']');
    }
}

static void print_json(const char *path, const gpuarray *x, const facts *f, int precision)
{
    fputs("{\"file\": ", stdout);
    json_text(path);
    printf(", \"dtype\": \"%s\", \"shape\": ", ga_dtype_name(ga_dtype_of(x)));
    json_shape(x);
    printf(", \"bytes\": %zu", ga_nbytes(x));
    if (has_values(f, x)) {
        if (f->reals) {
            print_member("min", &f->least, false, precision);
            print_member("max", &f->most, false, precision);
        }
        print_member("mean", &f->mean, f->complex, precision);
        printf(", \"nan\": %lld", (long long)f->nans);
    }
    fputs("}\n", stdout);
}

/* An integer has all its digits. */
static void print_value(const char *name, const elements *e, int precision)
{
    printf("  %s ", name);
    if (e->cells)
        elements_write(stdout, e, 0, precision);
    else
        fputs("nan", stdout);
}

static void print_imaginary(const elements *e, int precision)
{
    if (!e->cells)
        return;
    fputs(e->cells[1].f < 0 ? "" : "+", stdout);
    elements_write(stdout, e, 1, precision);
    putchar('j');
}

static int print_text(const char *path, const gpuarray *x, const facts *f, int precision)
{
    printf("%s: %s ", path, ga_dtype_name(ga_dtype_of(x)));
    print_shape(x);
    printf(", %s\n", size_text((double)ga_nbytes(x)));
    if (!has_values(f, x))
        return 0;
    if (f->reals) {
        print_value("min", &f->least, precision);
        print_value("max", &f->most, precision);
    }
    print_value("mean", &f->mean, precision);
    if (f->complex)
        print_imaginary(&f->mean, precision);
    if (f->floats)
        printf("  NaN %lld", (long long)f->nans);
    putchar('\n');
    return f->reals ? draw(x, f) : 0;
}

static int show_file(const char *path, bool json, int precision)
{
    facts f;
    int status = STATUS_BAD;
    gpuarray *x = file_load("show", path);
    if (!x)
        return STATUS_BAD;
    if (find_facts(&f, x))
        status = json ? (print_json(path, x, &f, precision), 0)
                      : print_text(path, x, &f, precision < 0 ? 6 : precision);
    elements_reset(&f.least);
    elements_reset(&f.most);
    elements_reset(&f.mean);
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
    int found, precision = -1, status = 0;
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
    "Prints what each .npy or .csv file holds: dtype, shape, minimum, maximum, mean, the number "
    "of\n"
    "NaNs, and a small picture of it, or of the first plane of its last two axes. Complex numbers "
    "have\n"
    "a mean and NaNs only, structs neither. \"-\" is standard input.\n"
    "\n"
    "  -j, --json           prints one line of JSON for each file instead; what is infinite is\n"
    "                       \"Infinity\" or \"-Infinity\", null if all elements are NaN\n"
    "  -p, --precision N    significant digits of floating-point numbers (default: 6; in JSON "
    "all)\n"
    "  -d, --device DEVICE  computes on cpu, cuda or cuda:N\n"
    "  -h, --help           prints this\n";

const command show_command = {"show", "dtype, shape, range and a picture of files", help, run_show};
