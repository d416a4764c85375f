/* Shared by the parts of the quarry command: its subcommands, options and messages. */
#ifndef QUARRY_CLI_H
#define QUARRY_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <quarry.h>

/* The exit status of every failure. */
enum { STATUS_BAD = 2 };

/* A subcommand. argv[0] is its name; `run` returns the exit status. */
typedef struct command {
    const char *name;
    const char *summary; /* one line, for the list of commands */
    const char *help;    /* its usage and options, whole lines */
    int (*run)(const struct command *self, int argc, char **argv);
} command;

extern const command info_command, eval_command, show_command, cache_command, bench_command;

/* Whether there is a program that `quarry bench` can become. */
bool bench_is_installed(void);

/* ---- options.c ---- */

/* Writes "quarry: ", the message and a newline to standard error; returns STATUS_BAD. */
int complain(const char *format, ...) GA_PRINTF(1, 2);

/* The same with the library's message; clears the error. */
int complain_error(void);

/* The same with a reference to the command's help (NULL: quarry's own). */
int complain_usage(const command *c, const char *format, ...) GA_PRINTF(2, 3);

/* The next option, as from getopt_long(), or -1 at the end. For "-h" and "--help" it prints the
 * help and returns OPTION_DONE; for an unknown option, or one without its argument, it complains
 * and returns OPTION_WRONG. */
enum { OPTION_DONE = 1000, OPTION_WRONG = 1001 };
int next_option(const command *c, int argc, char **argv, const char *letters,
                const struct option *names);

/* The exit status after all output: a failed write to standard output is an error too. */
int finish_output(void);

/* The bytes of "65536", "64K", "64M" or "1G"; 0 for any other text. */
int64_t read_size(const char *text);

/* Digits from 0 to 40; complains and returns -1 for any other text. */
int read_precision(const command *c, const char *text);

/* "12.3 MiB". A static string of the thread; usable once in each printf. */
const char *size_text(double bytes);

/* ---- arguments.c ---- */

/* A command line's name=value pairs; owns the sources. */
typedef struct arguments {
    int count;
    ga_named *named;
    char **names;        /* owned */
    const char **paths;  /* by argument: its file, or NULL for a number */
    ga_source **sources; /* by argument; NULL if an earlier one has the same path, */
    gpuarray **arrays;   /* or if the file is no .npy file: its array */
} arguments;

/* Reads the texts "name=2.5" and "name=file.npy", but no file yet. On failure it complains, and
 * there is nothing to reset. */
bool arguments_init(arguments *a, int count, char **texts);

/* Opens the files and reads their headers. Complains on failure. */
bool arguments_open(arguments *a);
void arguments_reset(arguments *a);

/* ---- files.c ---- */

/* Whether the path ends in the suffix, and is more than it. */
bool has_suffix(const char *path, const char *suffix);

/* A new empty file in TMPDIR, "....npy"; the caller removes it and frees the name. NULL and errno
 * on failure. */
char *temporary_name(void);

/* Writes the rest of a file to standard output. Complains on failure. */
bool print_file(const char *what, FILE *file);

/* The elements of an array on the host. */
typedef struct elements {
    char kind;  /* 'i': signed or bool, 'u': unsigned, 'f': floating, or complex: two cells for each
                 */
    bool small; /* the floating numbers are no more than float32 */
    union cell {
        int64_t i;
        uint64_t u;
        double f;
    } * cells;
} elements;

/* Complains on failure; then there is nothing to reset. */
bool elements_init(elements *e, const gpuarray *x);
void elements_reset(elements *e);

/* Writes cell k; precision < 0: as many digits as tell the number from others of its dtype. */
void elements_write(FILE *file, const elements *e, int64_t k, int precision);

/* Writes real numbers of up to two dimensions, all of them or no file; precision < 0: all digits.
 * Complains on failure. */
bool csv_save(const char *path, const gpuarray *x, int precision);

/* The array in a .npy or .csv file or, for "-", in standard input, which may be either. Complains
 * and returns NULL on failure. */
gpuarray *file_load(const char *what, const char *path);

/* ---- json.c ---- */

/* A text in quotes, or null. */
void json_text(const char *text);

/* [2, 3]. */
void json_shape(const gpuarray *x);

/* An array's dtype, shape and value as a line; complex numbers are pairs. Complains on failure. */
bool json_array(const gpuarray *x, int precision);

/* ---- interrupt.c ---- */

/* Between hold and release an interrupt is only noted, so that no temporary file is left behind;
 * the third one kills at once. The release ends the process as the signal would have. */
void interrupts_hold(void);
bool interrupts_noted(void);
void interrupts_release(void);

/* ---- progress.c ---- */

/* A progress bar with rate and time left on standard error, if that is a terminal. */
typedef struct progress {
    bool shown;              /* to a terminal */
    int width;               /* of the current line; 0 if it is empty */
    double started, painted; /* seconds; 0: not yet */
} progress;

/* Shows from time to time that `done` of `total` bytes are done. */
void progress_show(progress *p, int64_t done, int64_t total);

/* Clears the line. */
void progress_clear(progress *p);

#endif
