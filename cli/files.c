/* Files that are not plain .npy files: .csv, and "-", standard input and output. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool has_suffix(const char *path, const char *suffix)
{
    const size_t length = strlen(path), end = strlen(suffix);
    return length > end && strcmp(path + length - end, suffix) == 0;
}

/* ---- Temporary copies ---- */

/* Copies the rest of one stream to another. */
static bool copy_stream(FILE *from, FILE *to)
{
    char bytes[1 << 16];
    size_t n;
    while ((n = fread(bytes, 1, sizeof bytes, from)) > 0)
        if (fwrite(bytes, 1, n, to) != n)
            return false;
    return !ferror(from) && fflush(to) == 0;
}

char *temporary_name(void)
{
    const char *folder = secure_getenv("TMPDIR");
    char *path;
    if (asprintf(&path, "%s/.quarry-XXXXXX.npy", folder && *folder ? folder : P_tmpdir) < 0)
        return NULL;
    const int fd = mkstemps(path, 4);
    if (fd >= 0)
        close(fd);
    else
        free(path);
    return fd >= 0 ? path : NULL;
}

bool print_file(const char *what, FILE *file)
{
    const bool copied = copy_stream(file, stdout);
    if (!copied)
        complain("%s: standard output: %s", what, strerror(errno));
    return copied;
}

/* A copy of standard input, which may be read again. */
typedef struct input {
    FILE *file;
    char path[32]; /* by /proc; the file has no name, so that nothing is left whatever happens */
} input;

/* A temporary file without a name, or NULL with errno. It has a name for a moment only, which no
 * interrupt cuts short. */
static FILE *open_nameless(void)
{
    FILE *file = NULL;
    interrupts_hold();
    char *name = temporary_name();
    if (name) {
        file = fopen(name, "w+b");
        const int error = errno;
        remove(name);
        errno = error;
    }
    free(name);
    interrupts_release();
    return file;
}

/* Complains on failure; then there is nothing to close. */
static bool input_open(input *in, const char *what)
{
    in->file = open_nameless();
    if (!in->file)
        return complain("%s: no temporary file: %s", what, strerror(errno)), false;
    if (copy_stream(stdin, in->file)) {
        snprintf(in->path, sizeof in->path, "/proc/self/fd/%d", fileno(in->file));
        rewind(in->file);
        return true;
    }
    complain("%s: standard input: %s", what, strerror(errno));
    fclose(in->file);
    return false;
}

/* ---- .csv ---- */

/* Whether the line begins with a number. */
static bool begins_with_number(const char *line)
{
    const char *cell = line + strspn(line, " \t\"");
    char *rest;
    strtod(cell, &rest);
    rest += strspn(rest, " \t\r\n\"");
    return rest != cell && (!*rest || *rest == ',' || *rest == '#');
}

/* The lines up to the names of columns, which may stand above the numbers; 0 if there are none. */
static int64_t lines_of_names(const char *path)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* with which some programs begin UTF-8 */
    char *line = NULL;
    size_t room = 0;
    int64_t count = 0;
    bool found = false, named = false;
    FILE *file = fopen(path, "r");
    while (file && !found && getline(&line, &room, file) >= 0) {
        const bool marked = count++ == 0 && strncmp(line, mark, sizeof mark - 1) == 0;
        const char *text = line + (marked ? sizeof mark - 1 : 0);
        text += strspn(text, " \t\r\n");
        found = *text && *text != '#';
        named = found && !begins_with_number(text);
    }
    if (file)
        fclose(file);
    free(line);
    return named ? count : 0;
}

/* Complains with the library's message, in which the path becomes the name. */
static void complain_of(const char *path, const char *name)
{
    const char *message = ga_error_message(), *found = strstr(message, path);
    if (found)
        complain("%.*s%s%s", (int)(found - message), message, name, found + strlen(path));
    else
        complain("%s", message);
    ga_clear_error();
}

/* The numbers of a table, one row a line, as float64; comments after # are skipped, and so is a
 * line of names above the numbers. One column is an array of one dimension. Messages call the file
 * `name`. NULL after a complaint. */
static gpuarray *csv_load(const char *path, const char *name)
{
    gpuarray *x = ga_loadtxt(path, .delimiter = ",", .skiprows = lines_of_names(path), .ndmin = 2,
                             .quotechar = "\"");
    if (!x) {
        complain_of(path, name);
        return NULL;
    }
    if (ga_size(x) == 0) {
        complain("%s: no numbers", name);
        ga_free(x);
        return NULL;
    }
    if (ga_length(x, 1) == 1)
        ga_replace(&x, ga_ravel(x));
    return x;
}

/* Without `precision`, the fewest digits that reading gives the same number for. */
static void write_float(FILE *file, double value, const elements *e, int precision)
{
    char text[64];
    int digits = precision >= 0 ? precision : e->small ? 6 : 15;
    value = isnan(value) ? (double)NAN : value; /* without a sign */
    snprintf(text, sizeof text, "%.*g", digits, value);
    for (const int most = e->small ? 9 : 17; precision < 0 && digits < most;) {
        const double read = strtod(text, NULL);
        if (e->small ? (float)read == (float)value : read == value)
            break;
        snprintf(text, sizeof text, "%.*g", ++digits, value);
    }
    fputs(text, file);
}

void elements_write(FILE *file, const elements *e, int64_t k, int precision)
{
    if (e->kind == 'f')
        write_float(file, e->cells[k].f, e, precision);
    else if (e->kind == 'u')
        fprintf(file, "%llu", (unsigned long long)e->cells[k].u);
    else
        fprintf(file, "%lld", (long long)e->cells[k].i);
}

bool elements_init(elements *e, const gpuarray *x)
{
    const ga_dtype dtype = ga_dtype_of(x);
    const bool complex = ga_isdtype(dtype, "complex floating");
    const char kind = complex || ga_isdtype(dtype, "real floating") ? 'f'
                      : ga_isdtype(dtype, "unsigned integer")       ? 'u'
                                                                    : 'i';
    const ga_dtype wide = complex       ? GA_COMPLEX128
                          : kind == 'f' ? GA_FLOAT64
                          : kind == 'u' ? GA_UINT64
                                        : GA_INT64;
    gpuarray *copy = ga_astype(x, wide);
    *e = (elements){kind, ga_dtype_size(dtype) < (complex ? 16 : 8), NULL};
    e->cells = malloc((size_t)ga_size(x) * ga_dtype_size(wide) + 1);
    const bool good = copy && e->cells && ga_to_host(copy, e->cells, ga_nbytes(copy)) == GA_OK;
    ga_free(copy);
    if (good)
        return true;
    if (ga_error() != GA_OK)
        complain_error();
    else
        complain("eval: out of memory");
    elements_reset(e);
    return false;
}

void elements_reset(elements *e)
{
    free(e->cells);
    e->cells = NULL;
}

static bool goes_on(int64_t done, int64_t total, void *user)
{
    (void)done, (void)total, (void)user;
    return !interrupts_noted();
}

bool csv_save(const char *path, const gpuarray *x, int precision)
{
    char fmt[16] = "%s";
    if (ga_ndim(x) > 2 || ga_isdtype(ga_dtype_of(x), "complex floating"))
        return complain("%s: a .csv file holds real numbers of up to 2 dimensions", path), false;
    if (precision >= 0 && ga_isdtype(ga_dtype_of(x), "real floating"))
        snprintf(fmt, sizeof fmt, "%%.%dg", precision);
    gpuarray *rows = ga_ndim(x) == 0 ? ga_ravel(x) : ga_retain((gpuarray *)x);
    interrupts_hold();
    ga_savetxt(rows, path, .fmt = fmt, .delimiter = ",", .progress = goes_on);
    interrupts_release(); /* before any complaint, which an interrupt may have caused */
    ga_free(rows);
    return ga_error() == GA_OK || (complain_error(), false);
}

/* ---- Any file ---- */

/* Whether the file begins as .npy files do. */
static bool is_npy(FILE *file)
{
    char bytes[6];
    const bool found = fread(bytes, 1, sizeof bytes, file) == sizeof bytes &&
                       memcmp(bytes, "\x93NUMPY", sizeof bytes) == 0;
    rewind(file);
    return found;
}

static gpuarray *npy_load(const char *path)
{
    gpuarray *x = ga_load(path);
    if (!x)
        complain_error();
    return x;
}

gpuarray *file_load(const char *what, const char *path)
{
    input in;
    if (strcmp(path, "-") != 0)
        return has_suffix(path, ".csv") ? csv_load(path, path) : npy_load(path);
    if (!input_open(&in, what))
        return NULL;
    gpuarray *x = is_npy(in.file) ? npy_load(in.path) : csv_load(in.path, "standard input");
    fclose(in.file);
    return x;
}
