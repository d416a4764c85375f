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

/* Complains on failure; then there is nothing to close. */
static bool input_open(input *in, const char *what)
{
    char *name = temporary_name();
    in->file = name ? fopen(name, "w+b") : NULL;
    if (name)
        remove(name);
    free(name);
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

/* Numbers of a table so far. */
typedef struct table {
    double *numbers;
    size_t count, room;
    int64_t rows, columns;
    bool named; /* a line of names has been skipped */
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

/* Reads a line of what is called `name`; one before the numbers may be names of columns. */
static bool read_row(table *t, char *line, const char *name, long long number)
{
    int64_t columns = 0;
    for (char *at = line, *end; at; at = end) {
        end = strchr(at, ',');
        if (end)
            *end++ = '\0';
        char *rest;
        const double value = strtod(at, &rest);
        if (rest == at || rest[strspn(rest, " \t\r\n")]) {
            if (t->rows == 0 && columns == 0 && !t->named)
                return t->named = true;
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

/* Reads all lines. Complains on failure. */
static bool read_table(table *t, FILE *file, const char *name)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* with which some programs begin UTF-8 */
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    ssize_t length;
    for (long long number = 1; good && (length = getline(&line, &room, file)) >= 0; number++) {
        char *text = line;
        if (number == 1 && strncmp(line, mark, sizeof mark - 1) == 0)
            text += sizeof mark - 1;
        if (strlen(line) < (size_t)length)
            good = (complain("%s:%lld: not a text", name, number), false);
        else if (text[strspn(text, " \t\r\n")] && *text != '#')
            good = read_row(t, text, name, number);
    }
    if (good && ferror(file))
        good = (complain("%s: %s", name, strerror(errno)), false);
    free(line);
    return good && (t->rows > 0 || (complain("%s: no numbers", name), false));
}

/* The numbers of a table, one row a line, as float64; lines that begin with # are skipped, and so
 * is a line of names above the numbers. One column is an array of one dimension. Messages call the
 * file `name`. NULL after a complaint. */
static gpuarray *csv_read(FILE *file, const char *name)
{
    table t = {.numbers = NULL};
    gpuarray *x = NULL;
    if (read_table(&t, file, name)) {
        const int64_t shape[] = {t.rows, t.columns};
        x = ga_from_host(t.numbers, GA_FLOAT64, t.columns == 1 ? 1 : 2, shape);
        if (!x)
            complain_error();
    }
    free(t.numbers);
    return x;
}

static gpuarray *csv_load(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return complain("%s: %s", path, strerror(errno)), NULL;
    gpuarray *x = csv_read(file, path);
    fclose(file);
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
        return has_suffix(path, ".csv") ? csv_load(path) : npy_load(path);
    if (!input_open(&in, what))
        return NULL;
    gpuarray *x = is_npy(in.file) ? npy_load(in.path) : csv_read(in.file, "standard input");
    fclose(in.file);
    return x;
}
