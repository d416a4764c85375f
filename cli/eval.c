/* quarry eval: the value of an expression of .npy files and numbers, printed or saved. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct request {
    const char *expression, *output, *device, *file;
    char *text;     /* of the file */
    int64_t chunk;  /* bytes; 0: the library's choice */
    ga_dtype dtype; /* of the result; GA_NO_DTYPE: the expression's */
    int precision;  /* -1: the default */
    bool explain, json;
} request;

static bool same_file(const char *a, const char *b)
{
    struct stat left, right;

    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev &&
           left.st_ino == right.st_ino;
}

/* Complains if the output is one of the inputs, under any name. */
static bool check_output(const request *r, const arguments *a)
{
    for (int k = 0; r->output && k < a->count; k++)
        if (a->paths[k] && same_file(r->output, a->paths[k]))
            return complain("eval: the output %s is the input %s=%s", r->output, a->names[k],
                            a->paths[k]),
                   false;
    return true;
}

static int explain(const request *r, const arguments *a)
{
    const ga_chunks chunks = {.bytes = r->chunk};
    char *plan = (ga_explain_chunked)(sizeof chunks, &chunks, r->expression, a->count, a->named);

    if (!plan)
        return complain_error();
    fputs(plan, stdout);
    free(plan);
    return finish_output();
}

/* Prints the one element of a result. The options of printing are for elements of lists, so it is
 * printed as a list of one, without the brackets. */
static int show_element(const gpuarray *result)
{
    gpuarray *list = ga_ravel(result);
    char *text = list ? ga_format(list) : NULL;
    ga_free(list);
    if (!text)
        return complain_error();
    printf("%.*s\n", (int)strlen(text) - 2, text + 1);
    free(text);
    return finish_output();
}

static int show(const request *r, const gpuarray *result)
{
    if (r->json)
        return json_array(result, r->precision) ? finish_output() : STATUS_BAD;
    if (r->precision >= 0 && ga_ndim(result) == 0)
        return show_element(result);
    return ga_print(result) == GA_OK ? finish_output() : complain_error();
}

static bool go_on(int64_t done, int64_t total, void *user)
{
    progress_show(user, done, total);
    return !interrupts_noted();
}

/* Whether the library writes the result in parts as it computes it. */
static bool streams(const request *r)
{
    return r->output && r->dtype == GA_NO_DTYPE && has_suffix(r->output, ".npy");
}

/* The bytes of a .npy file with the result. It has no name any more, so that nothing is left
 * whatever happens. NULL after a complaint. */
static FILE *npy_bytes(const gpuarray *result)
{
    FILE *file = NULL;
    interrupts_hold();
    char *path = temporary_name();
    if (!path)
        complain("eval: no temporary file: %s", strerror(errno));
    else if (ga_save(result, path) != GA_OK)
        complain_error();
    else if (!(file = fopen(path, "rb")))
        complain("eval: %s: %s", path, strerror(errno));
    if (path)
        remove(path);
    free(path);
    interrupts_release();
    return file;
}

/* Writes the result to standard output as a .npy file. */
static int write_output(const gpuarray *result)
{
    FILE *file = npy_bytes(result);
    const bool printed = file && print_file("eval", file);
    if (file)
        fclose(file);
    return printed ? finish_output() : STATUS_BAD;
}

/* Prints or saves a result in its dtype. */
static int deliver(const request *r, gpuarray *result)
{
    if (r->dtype != GA_NO_DTYPE)
        ga_replace(&result, ga_astype(result, r->dtype));
    int status = !result                       ? complain_error()
                 : !r->output                  ? show(r, result)
                 : strcmp(r->output, "-") == 0 ? write_output(result)
                 : has_suffix(r->output, ".csv")
                     ? csv_save(r->output, result, r->precision) ? 0 : STATUS_BAD
                 : ga_save(result, r->output) == GA_OK ? 0
                                                       : complain_error();
    ga_free(result);
    return status;
}

static int compute(const request *r, const arguments *a)
{
    progress bar = {.shown = isatty(STDERR_FILENO)};
    const ga_chunks chunks = {r->chunk, go_on, &bar};
    gpuarray *result = NULL;

    interrupts_hold();
    if (streams(r))
        (ga_eval_save)(r->output, sizeof chunks, &chunks, r->expression, a->count, a->named);
    else
        result = (ga_eval_chunked)(sizeof chunks, &chunks, r->expression, a->count, a->named);
    progress_clear(&bar);
    interrupts_release(); /* before any complaint, which an interrupt may have caused */
    int status = ga_error() == GA_OK ? 0 : complain_error();
    return status == 0 && result ? deliver(r, result) : status;
}

/* Whether the text has the word as a name: not of a function, an option as in axis=0, or a view. */
static bool names(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        const bool begins = at == text || !(isalnum((unsigned char)at[-1]) || strchr("_.", at[-1]));
        const bool ends = !isalnum((unsigned char)at[length]) && at[length] != '_';
        const char *next = at + length + strspn(at + length, " \t\r\n");
        if (begins && ends && *next != '(' && (*next != '=' || next[1] == '='))
            return true;
    }
    return false;
}

/* Complains if the expression does not name an argument. */
static bool check_used(const request *r, const arguments *a)
{
    for (int k = 0; k < a->count; k++)
        if (!isdigit((unsigned char)*a->names[k]) && !names(r->expression, a->names[k]))
            return complain_usage(&eval_command, "eval: the expression does not use %s",
                                  a->names[k]),
                   false;
    return true;
}

static int evaluate(const request *r, arguments *a)
{
    if (!check_used(r, a))
        return STATUS_BAD;
    if (r->precision >= 0)
        ga_set_print_options(.precision = r->precision > 0 ? r->precision : -1);
    if (r->device && ga_set_device(r->device) != GA_OK)
        return complain_error();
    if (!check_output(r, a) || !arguments_open(a))
        return STATUS_BAD;
    int status = r->explain ? explain(r, a) : 0;
    if (status == 0 && (r->output || !r->explain))
        status = compute(r, a);
    return status;
}

/* Complains and returns false if the text is not a size. */
static bool read_chunk(const command *c, const char *text, request *r)
{
    r->chunk = read_size(text);
    if (r->chunk == 0)
        complain_usage(c, "eval: --chunk takes bytes such as 65536, 64K, 64M or 1G, not \"%s\"",
                       text);
    return r->chunk > 0;
}

/* Complains and returns false if the text names no dtype. */
static bool read_dtype(const command *c, const char *text, request *r)
{
    for (int d = GA_NO_DTYPE + 1; d < GA_DTYPE_COUNT; d++)
        if (strcmp(text, ga_dtype_name((ga_dtype)d)) == 0)
            r->dtype = (ga_dtype)d;
    if (r->dtype == GA_NO_DTYPE)
        complain_usage(c, "eval: --dtype takes a dtype such as float32, not \"%s\"", text);
    return r->dtype != GA_NO_DTYPE;
}

/* Complains and returns false if the path's suffix is none that can be written. */
static bool read_output(const command *c, const char *path, request *r)
{
    r->output = path;
    if (strcmp(path, "-") == 0 || has_suffix(path, ".npy") || has_suffix(path, ".csv"))
        return true;
    complain_usage(c, "eval: --output takes FILE.npy, FILE.csv or -, not \"%s\"", path);
    return false;
}

/* Ends a statement with each line, as in Python: not inside brackets, nor beside an operator. */
static void end_statements(char *text)
{
    char last = ';';
    int depth = 0;
    for (char *at = text; *at; at++) {
        depth += strchr("([{", *at) ? 1 : strchr(")]}", *at) ? -1 : 0;
        const char next = at[strspn(at, " \t\r\n")];
        if (*at == '\n' && depth == 0 && next && !strchr("+-*/%@&|^<>=!,;)]", next) &&
            !strchr("+-*/%@&|^<>=~,;", last))
            *at = last = ';';
        else if (!strchr(" \t\r\n", *at))
            last = *at;
    }
}

/* The expression in a file; lines that begin with # are comments. */
static bool read_expression(request *r)
{
    bool whole = true;
    size_t room = 0, length = 0;
    char *line = NULL;
    FILE *file = strcmp(r->file, "-") == 0 ? stdin : fopen(r->file, "r");
    if (!file)
        return complain("eval: %s: %s", r->file, strerror(errno)), false;
    r->text = calloc(1, 1);
    for (ssize_t n; r->text && (n = getline(&line, &room, file)) >= 0;) {
        if (line[strspn(line, " \t")] == '#')
            continue;
        char *more =
            memchr(line, '\0', (size_t)n) ? NULL : realloc(r->text, length + (size_t)n + 1);
        whole = more != NULL;
        if (!whole)
            break;
        r->text = more;
        memcpy(r->text + length, line, (size_t)n + 1);
        length += (size_t)n;
    }
    while (r->text && length > 0 && strchr(" \t\r\n", r->text[length - 1]))
        r->text[--length] = '\0';
    free(line);
    if (file != stdin)
        fclose(file);
    r->expression = r->text;
    if (!r->text || !whole)
        return complain("eval: %s: not a text, or longer than the memory", r->file), false;
    end_statements(r->text);
    return length > 0 || (complain("eval: %s: no expression", r->file), false);
}

/* Returns 0 if there is something to do, otherwise as next_option(). */
static int read_options(const command *c, int argc, char **argv, request *r)
{
    static const struct option names[] = {
        {"help", no_argument, NULL, 'h'},         {"output", required_argument, NULL, 'o'},
        {"device", required_argument, NULL, 'd'}, {"chunk", required_argument, NULL, 'c'},
        {"explain", no_argument, NULL, 'e'},      {"file", required_argument, NULL, 'f'},
        {"dtype", required_argument, NULL, 't'},  {"precision", required_argument, NULL, 'p'},
        {"json", no_argument, NULL, 'j'},         {NULL, 0, NULL, 0}};

    for (;;) {
        const int found = next_option(c, argc, argv, ":ho:d:c:ef:t:p:j", names);
        if (found == 'o' && !read_output(c, optarg, r))
            return OPTION_WRONG;
        if (found == 't' && !read_dtype(c, optarg, r))
            return OPTION_WRONG;
        if (found == 'p' && (r->precision = read_precision(c, optarg)) < 0)
            return OPTION_WRONG;
        if (found == 'f')
            r->file = optarg;
        else if (found == 'd')
            r->device = optarg;
        else if (found == 'c' && !read_chunk(c, optarg, r))
            return OPTION_WRONG;
        else if (found == 'e')
            r->explain = true;
        else if (found == 'j')
            r->json = true;
        else if (found != 'c' && found != 'o' && found != 't' && found != 'p')
            return found == -1 ? 0 : found;
    }
}

/* Complains if an option has no effect beside the others. */
static bool check_options(const command *c, const request *r)
{
    if (r->json && (r->explain || r->output))
        return complain_usage(c, "eval: --json prints the value: leave out %s",
                              r->output ? "--output" : "--explain"),
               false;
    const bool digits = r->output ? has_suffix(r->output, ".csv") : !r->explain;
    if (r->precision >= 0 && !digits)
        return complain_usage(c, "eval: %s has no digits: leave out --precision",
                              r->output ? "a .npy file" : "a plan"),
               false;
    return true;
}

static int run_eval(const command *c, int argc, char **argv)
{
    request r = {.expression = NULL, .precision = -1};
    arguments a;
    const int found = read_options(c, argc, argv, &r);

    if (found != 0)
        return found == OPTION_DONE ? 0 : STATUS_BAD;
    if (!check_options(c, &r))
        return STATUS_BAD;
    if (!r.file && optind == argc)
        return complain_usage(c, "eval: no expression is given");
    if (r.file && !read_expression(&r)) {
        free(r.text);
        return STATUS_BAD;
    }
    if (!r.file)
        r.expression = argv[optind++];
    int status = STATUS_BAD;
    if (arguments_init(&a, argc - optind, argv + optind)) {
        status = evaluate(&r, &a);
        arguments_reset(&a);
    }
    free(r.text);
    return status;
}

static const char help[] =
    "usage: quarry eval EXPRESSION [NAME=FILE | NAME=NUMBER]... [OPTION]...\n"
    "\n"
    "Prints the value of the expression as NumPy does, or saves it. An argument defines each "
    "name:\n"
    "a value such as 3, 0x1f or -2.5e3 is a number, any other value is the path of a .npy or .csv\n"
    "file (a file named 3 is ./3); \"-\" is standard input, either kind.\n"
    "\n"
    "  -f, --file FILE        reads the expression from FILE, one statement per line; lines that\n"
    "                         begin with # are comments\n"
    "  -o, --output FILE      saves the result in FILE.npy or FILE.csv, which is replaced when it "
    "is\n"
    "                         complete; \"-\" writes a .npy file to standard output\n"
    "  -t, --dtype DTYPE      converts the result: float32, int8, ...\n"
    "  -p, --precision N      digits of printed numbers and of .csv files\n"
    "  -j, --json             prints dtype, shape and value as a line of JSON: NaN and infinities "
    "are\n"
    "                         null, complex numbers pairs\n"
    "  -d, --device DEVICE    computes on cpu, cuda or cuda:N\n"
    "  -c, --chunk BYTES      processes this much of the files at a time: 65536, 64K, 64M or 1G\n"
    "                         (default: 4M on the CPU, 256M on a GPU)\n"
    "  -e, --explain          prints the kernels, the bytes they move, and how files are split,\n"
    "                         instead of the value\n"
    "  -h, --help             prints this\n"
    "\n"
    "Exit status: 0, or 2 and no output file after any error.\n"
    "Example: quarry eval \"sqrt(x*x + y*y)\" x=x.npy y=y.npy -o r.npy\n"
    "After \"--\" an expression may begin with a minus: quarry eval -- \"-x\" x=x.npy\n";

const command eval_command = {"eval", "the value of an expression of .npy files and numbers", help,
                              run_eval};
