/* quarry eval: the value of an expression of .npy files and numbers, printed or saved. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct request {
    const char *expression, *output, *device;
    int64_t chunk; /* bytes; 0: the library's choice */
    bool explain;
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

static int show(const gpuarray *result)
{
    return ga_print(result) == GA_OK ? finish_output() : complain_error();
}

static bool go_on(int64_t done, int64_t total, void *user)
{
    progress_show(user, done, total);
    return !interrupts_noted();
}

static int compute(const request *r, const arguments *a)
{
    progress bar = {.shown = isatty(STDERR_FILENO)};
    const ga_chunks chunks = {r->chunk, go_on, &bar};
    gpuarray *result = NULL;

    interrupts_hold();
    if (r->output)
        (ga_eval_save)(r->output, sizeof chunks, &chunks, r->expression, a->count, a->named);
    else
        result = (ga_eval_chunked)(sizeof chunks, &chunks, r->expression, a->count, a->named);
    progress_clear(&bar);
    interrupts_release(); /* before any complaint, which an interrupt may have caused */
    int status = ga_error() == GA_OK ? 0 : complain_error();
    if (status == 0 && !r->output)
        status = show(result);
    ga_free(result);
    return status;
}

static int evaluate(const request *r, arguments *a)
{
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

/* Returns 0 if there is something to do, otherwise as next_option(). */
static int read_options(const command *c, int argc, char **argv, request *r)
{
    static const struct option names[] = {
        {"help", no_argument, NULL, 'h'},         {"output", required_argument, NULL, 'o'},
        {"device", required_argument, NULL, 'd'}, {"chunk", required_argument, NULL, 'c'},
        {"explain", no_argument, NULL, 'e'},      {NULL, 0, NULL, 0}};

    for (;;) {
        const int found = next_option(c, argc, argv, ":ho:d:c:e", names);
        if (found == 'o')
            r->output = optarg;
        else if (found == 'd')
            r->device = optarg;
        else if (found == 'c' && !read_chunk(c, optarg, r))
            return OPTION_WRONG;
        else if (found == 'e')
            r->explain = true;
        else if (found != 'c')
            return found == -1 ? 0 : found;
    }
}

static int run_eval(const command *c, int argc, char **argv)
{
    request r = {.expression = NULL};
    arguments a;
    const int found = read_options(c, argc, argv, &r);

    if (found != 0)
        return found == OPTION_DONE ? 0 : STATUS_BAD;
    if (optind == argc)
        return complain_usage(c, "eval: no expression is given");
    r.expression = argv[optind];
    if (!arguments_init(&a, argc - optind - 1, argv + optind + 1))
        return STATUS_BAD;
    const int status = evaluate(&r, &a);
    arguments_reset(&a);
    return status;
}

static const char help[] =
    "usage: quarry eval EXPRESSION [NAME=FILE.npy | NAME=NUMBER]... [OPTION]...\n"
    "\n"
    "Prints the value of the expression as NumPy does, or saves it. An argument defines each "
    "name:\n"
    "a value such as 3, 0x1f or -2.5e3 is a number, any other value is the path of a .npy file\n"
    "(a file named 3 is ./3).\n"
    "\n"
    "  -o, --output FILE.npy  saves the result in FILE.npy, which is replaced when it is complete\n"
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
