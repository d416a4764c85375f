/* Text files: tables of numbers. */
#ifndef QUARRY_TEXT_H
#define QUARRY_TEXT_H

#include <quarry/array.h>
#include <quarry/each.h>

GA_BEGIN_DECLS

/* Arguments of ga_loadtxt(). In C: ga_loadtxt("table.csv", .delimiter = ",", .skiprows = 1). */
typedef struct ga_loadtxt_args {
    const char *path;
    GA_NAMED_OPTIONS_;
    ga_dtype dtype;        /* 0: float64 */
    const char *delimiter; /* one character between the numbers of a line; NULL: white space */
    const char *comments;  /* the text that begins a comment; NULL: "#"; "": there are none */
    int64_t skiprows;      /* lines to skip first, comments included */
    int64_t max_rows;      /* rows to read, neither comments nor empty lines; 0: all */
    int nusecols;          /* GA_USECOLS(0, -1); 0: all columns */
    const int *usecols;    /* columns from 0 on; negative ones count from the end of the line */
    int ndmin;             /* the least number of dimensions: 0, 1 or 2 */
    bool unpack;           /* transposes the result: its rows are the columns of the file */
    const char *quotechar; /* one character around cells that may contain others; NULL: none */
} ga_loadtxt_args;

/* The numbers of a text file, as numpy.loadtxt: one row for each line, on the current device.
 * Lines that are empty or only a comment are no rows. Axes of length 1 are left out, unless
 * `ndmin` keeps them; a file without numbers has shape (0,). Numbers are decimal, with a point
 * whatever the locale; "inf" and "nan" are floats, "1+2j" and "(1+2j)" are complex, and a bool is
 * an integer that is 0 or not. A mark of UTF-8 at the start is skipped. The result is a new array,
 * or a view of one. GA_ERR_IO if the file cannot be read; GA_ERR_FORMAT, with the line and the
 * column from 1 on, for a cell that is no number of the dtype, a line with another number of
 * columns than the first, or a byte 0; GA_ERR_INVALID for bad options, GA_ERR_DTYPE for an invalid
 * dtype. */
GA_API gpuarray *ga_loadtxt(size_t size, const ga_loadtxt_args *args);

/* Arguments of ga_savetxt(). In C: ga_savetxt(x, "table.csv", .delimiter = ",", .fmt = "%.3f"). */
typedef struct ga_savetxt_args {
    const gpuarray *x;
    const char *path;
    GA_NAMED_OPTIONS_;
    const char *fmt;             /* of a number, or of all numbers of a row; NULL: "%.18e" */
    const char *delimiter;       /* between numbers; NULL: " " */
    const char *newline;         /* behind rows; NULL: "\n" */
    const char *header, *footer; /* text before and after the rows, or NULL */
    const char *comments;        /* before each line of these two; NULL: "# " */
    /* NULL, or called from time to time with the bytes of elements written so far and the total.
     * Return false to stop; the call then fails with GA_ERR_CANCELLED. */
    bool (*progress)(int64_t done, int64_t total, void *user);
    void *user;
} ga_savetxt_args;

/* Writes the rows of x, or the elements of a 1-D array, as lines of text, as numpy.savetxt, with a
 * point whatever the locale. A format is that of printf for one number: %e, %f and %g for real
 * numbers, %d, %x and %o for integers, without a length; %d leaves out the fraction of a float. %s
 * writes as many digits as read back as the same number of its dtype, at least 6, or of float64
 * 15, without zeros at the end: 3, 0.1, 1e+22. The
 * format of a row has one for each column, and then `delimiter` is not used. A complex number is
 * " (1+2j)", each part in the format, or two numbers of the format of a row.
 *
 * As with ga_save(), the file is written beside `path` and renamed when it is complete. The call
 * waits for the elements. GA_ERR_SHAPE unless x has one or two dimensions; GA_ERR_DTYPE for %x
 * or %o of numbers that are not integers; GA_ERR_INVALID for another format, or for a number that
 * %d cannot write; GA_ERR_IO: an older file is as it was. */
GA_API ga_status ga_savetxt(size_t size, const ga_savetxt_args *args);

GA_END_DECLS

/* Columns of ga_loadtxt(). */
#define GA_USECOLS(...)                                                                            \
    .nusecols = GA_COUNT_(int, __VA_ARGS__), .usecols = GA_LIST_(int, __VA_ARGS__)

#ifdef __cplusplus
struct ga_loadtxt_rest_ {
    ga_dtype dtype = GA_NO_DTYPE;
    const char *delimiter = nullptr, *comments = nullptr;
    int64_t skiprows = 0, max_rows = 0;
    int nusecols = 0;
    const int *usecols = nullptr;
    int ndmin = 0;
    bool unpack = false;
    const char *quotechar = nullptr;
};
struct ga_savetxt_rest_ {
    const char *fmt = nullptr, *delimiter = nullptr, *newline = nullptr;
    const char *header = nullptr, *footer = nullptr, *comments = nullptr;
    bool (*progress)(int64_t done, int64_t total, void *user) = nullptr;
    void *user = nullptr;
};
inline gpuarray *ga_loadtxt_call_(const ga_loadtxt_args &args)
{
    return ga_loadtxt(sizeof args, &args);
}
inline gpuarray *ga_loadtxt_call_(const char *path, const ga_loadtxt_rest_ &rest = {})
{
    return ga_loadtxt_call_(ga_loadtxt_args{path, rest.dtype, rest.delimiter, rest.comments,
                                            rest.skiprows, rest.max_rows, rest.nusecols,
                                            rest.usecols, rest.ndmin, rest.unpack, rest.quotechar});
}
inline ga_status ga_savetxt_call_(const ga_savetxt_args &args)
{
    return ga_savetxt(sizeof args, &args);
}
inline ga_status ga_savetxt_call_(const gpuarray *x, const char *path,
                                  const ga_savetxt_rest_ &rest = {})
{
    return ga_savetxt_call_(ga_savetxt_args{x, path, rest.fmt, rest.delimiter, rest.newline,
                                            rest.header, rest.footer, rest.comments, rest.progress,
                                            rest.user});
}
#define ga_loadtxt(...) GA_HERE_(GA_JOIN_(GA_LOADTXT_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__))
#define GA_LOADTXT_ONE(path) ga_loadtxt_call_(path)
#define GA_LOADTXT_MANY(path, ...) ga_loadtxt_call_(path, {__VA_ARGS__})
#define ga_savetxt(...) GA_HERE_(GA_JOIN_(GA_SAVETXT_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_SAVETXT_1(args) ga_savetxt_call_(args)
#define GA_SAVETXT_2(x, path) ga_savetxt_call_(x, path)
#define GA_SAVETXT_3(x, path, ...) ga_savetxt_call_(x, path, {__VA_ARGS__})
#define GA_SAVETXT_4 GA_SAVETXT_3
#define GA_SAVETXT_5 GA_SAVETXT_3
#define GA_SAVETXT_6 GA_SAVETXT_3
#define GA_SAVETXT_MORE GA_SAVETXT_3
#else
#define ga_loadtxt(...)                                                                            \
    GA_AT_(ga_loadtxt, sizeof(ga_loadtxt_args), &(ga_loadtxt_args){.path = __VA_ARGS__})
#define ga_savetxt(array, ...)                                                                     \
    GA_AT_(ga_savetxt, sizeof(ga_savetxt_args), &(ga_savetxt_args){.x = array, .path = __VA_ARGS__})
#endif

#endif
