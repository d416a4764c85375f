/* Files that are not plain .npy files: .csv, and "-", standard input and output. */
#include "cli.h"

#include <errno.h>
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
    char *path = strdup(P_tmpdir "/.quarry-XXXXXX.npy");
    if (!path)
        return NULL;
    const int fd = mkstemps(path, 4);
    if (fd >= 0)
        close(fd);
    else
        free(path);
    return fd >= 0 ? path : NULL;
}

/* A temporary copy of standard input, which the caller removes and frees; NULL after a complaint.
 */
static char *standard_input_file(const char *what)
{
    char *path = temporary_name();
    FILE *file = path ? fopen(path, "wb") : NULL;
    const bool copied = file && copy_stream(stdin, file);
    const int error = errno;
    if (file)
        fclose(file);
    if (copied)
        return path;
    complain("%s: standard input: %s", what, strerror(error));
    if (path)
        remove(path);
    free(path);
    return NULL;
}

bool print_file(const char *what, const char *path)
{
    FILE *file = fopen(path, "rb");
    const bool copied = file && copy_stream(file, stdout);
    const int error = errno;
    if (file)
        fclose(file);
    if (!copied)
        complain("%s: standard output: %s", what, strerror(error));
    return copied;
}

/* ---- .csv ---- */

/* Numbers of a table so far. */
typedef struct table {
    double *numbers;
    size_t count, room;
    int64_t rows, columns;
} table;

static bool add_number(table *t, double number)
{
    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 1024;
        double *more = realloc(t->numbers, t->room * sizeof *more);
        if (!more)
            return false;
        t->numbers = more;
    }
    t->numbers[t->count++] = number;
    return true;
}

/* Reads one line of what is called `name`; the first one may be names of columns. */
static bool read_row(table *t, char *line, const char *name, long long number)
{
    int64_t columns = 0;
    for (char *at = line, *end; at; at = end) {
        end = strchr(at, ',');
        if (end)
            *end++ = '\0';
        char *rest;
        const double value = strtod(at, &rest);
        rest += strspn(rest, " \t\r\n");
        if (rest == at || *rest) {
            if (t->rows == 0 && columns == 0 && number == 1)
                return true;
            return complain("%s:%lld: \"%.*s\" is not a number", name, number,
                            (int)strcspn(at, "\r\n"), at),
                   false;
        }
        if (!add_number(t, value))
            return complain("%s: out of memory", name), false;
        columns++;
    }
    if (t->rows > 0 && columns != t->columns)
        return complain("%s:%lld: %lld numbers, not %lld", name, number, (long long)columns,
                        (long long)t->columns),
               false;
    t->columns = columns;
    t->rows++;
    return true;
}

/* The numbers of a table, one row a line, as float64; a first line of names and lines that begin
 * with # are skipped. One column is an array of one dimension. Messages call the file `name`. NULL
 * after a complaint. */
static gpuarray *csv_load(const char *path, const char *name)
{
    table t = {NULL, 0, 0, 0, 0};
    char *line = NULL;
    size_t room = 0;
    long long number = 0;
    gpuarray *x = NULL;
    FILE *file = fopen(path, "r");
    if (!file)
        return complain("%s: %s", name, strerror(errno)), NULL;
    bool good = true;
    while (good && getline(&line, &room, file) >= 0) {
        number++;
        if (line[strspn(line, " \t\r\n")] && line[0] != '#')
            good = read_row(&t, line, name, number);
    }
    if (good && t.rows == 0)
        good = (complain("%s: no numbers", name), false);
    const int64_t shape[] = {t.rows, t.columns};
    if (good && !(x = ga_from_host(t.numbers, GA_FLOAT64, t.columns == 1 ? 1 : 2, shape)))
        complain_error();
    free(t.numbers);
    free(line);
    fclose(file);
    return x;
}

/* Without `precision`, the fewest digits that reading gives the same number for. */
static void write_float(FILE *file, double value, const elements *e, int precision)
{
    char text[64];
    int digits = precision >= 0 ? precision : e->small ? 6 : 15;
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

bool csv_save(const char *path, const gpuarray *x, int precision)
{
    elements e;
    if (ga_ndim(x) > 2 || ga_isdtype(ga_dtype_of(x), "complex floating"))
        return complain("%s: a .csv file holds real numbers of up to 2 dimensions", path), false;
    if (!elements_init(&e, x))
        return false;
    const int64_t columns = ga_ndim(x) == 2 ? ga_length(x, 1) : 1;
    replacement r;
    interrupts_hold();
    bool good = replacement_open(&r, path);
    if (good) {
        for (int64_t k = 0; k < ga_size(x) && !ferror(r.file) && !interrupts_noted(); k++) {
            elements_write(r.file, &e, k, precision);
            fputc((k + 1) % columns == 0 ? '\n' : ',', r.file);
        }
        good = replacement_close(&r, !interrupts_noted());
    }
    elements_reset(&e);
    interrupts_release();
    return good;
}

/* ---- Any file ---- */

/* Whether the file begins as .npy files do. */
static bool is_npy(const char *path)
{
    char bytes[6];
    FILE *file = fopen(path, "rb");
    const bool found = file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes &&
                       memcmp(bytes, "\x93NUMPY", sizeof bytes) == 0;
    if (file)
        fclose(file);
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
    if (strcmp(path, "-") != 0)
        return has_suffix(path, ".csv") ? csv_load(path, path) : npy_load(path);
    char *copy = standard_input_file(what);
    if (!copy)
        return NULL;
    gpuarray *x = is_npy(copy) ? npy_load(copy) : csv_load(copy, "standard input");
    remove(copy);
    free(copy);
    return x;
}
