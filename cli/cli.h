/* Shared by the parts of the quarry command: its subcommands, options and messages. */
#ifndef QUARRY_CLI_H
#define QUARRY_CLI_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

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

extern const command info_command, eval_command, cache_command, bench_command;

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

/* "12.3 MiB". A static string of the thread; usable once in each printf. */
const char *size_text(double bytes);

/* ---- arguments.c ---- */

/* A command line's name=value pairs; owns the sources. */
typedef struct arguments {
    int count;
    ga_named *named;
    char **names;        /* owned */
    const char **paths;  /* by argument: its file, or NULL for a number */
    ga_source **sources; /* by argument; NULL if an earlier one has the same path */
} arguments;

/* Reads the texts "name=2.5" and "name=file.npy", but no file yet. On failure it complains, and
 * there is nothing to reset. */
bool arguments_init(arguments *a, int count, char **texts);

/* Opens the files and reads their headers. Complains on failure. */
bool arguments_open(arguments *a);
void arguments_reset(arguments *a);

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
