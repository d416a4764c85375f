/* Reads options, and writes the messages that all subcommands share. */
#include "cli.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say(const char *format, va_list args)
{
    fflush(stdout); /* keeps the order of both outputs if they go to one terminal */
    fputs("quarry: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int complain(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    return STATUS_BAD;
}

int complain_error(void)
{
    complain("%s", ga_error_message());
    ga_clear_error();
    return STATUS_BAD;
}

int complain_usage(const command *c, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    fprintf(stderr, "Try \"quarry%s%s --help\".\n", c ? " " : "", c ? c->name : "");
    return STATUS_BAD;
}

/* Complains about what getopt_long() rejected: argv[optind - 1], or the letter optopt. */
static int complain_option(const command *c, int found, const char *word)
{
    if (found == ':')
        complain_usage(c, "%s: option %s needs a value", c->name, word);
    else if (strncmp(word, "--", 2) == 0)
        complain_usage(c, optopt ? "%s: option %s takes no value" : "%s: unknown option %s",
                       c->name, word);
    else
        complain_usage(c, "%s: unknown option -%c (arguments that start with - go after --)",
                       c->name, optopt);
    return OPTION_WRONG;
}

int next_option(const command *c, int argc, char **argv, const char *letters,
                const struct option *names)
{
    opterr = 0;
    const int before = optind;
    const int found = getopt_long(argc, argv, letters, names, NULL);

    if (found == 'h') {
        fputs(c->help, stdout);
        return finish_output() == 0 ? OPTION_DONE : OPTION_WRONG;
    }
    if (found != '?' && found != ':')
        return found;
    return complain_option(c, found, argv[optind > before ? optind - 1 : optind]);
}

int finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    return complain("output: standard output: %s", strerror(errno));
}

int64_t read_size(const char *text)
{
    static const char units[] = "KMG";
    char *end;

    if (*text < '0' || *text > '9')
        return 0;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (errno || (*end && (!unit || end[1])) || number > INT64_MAX >> shift)
        return 0;
    return (int64_t)number << shift;
}

int read_precision(const command *c, const char *text)
{
    char *end;
    const long digits = strtol(text, &end, 10);

    if (*text >= '0' && *text <= '9' && !*end && digits <= 40)
        return (int)digits;
    complain_usage(c, "%s: --precision takes digits from 0 to 40, not \"%s\"", c->name, text);
    return -1;
}

const char *size_text(double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    static _Thread_local char text[32];
    size_t unit = 0;

    for (; bytes >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++)
        bytes /= 1024;
    snprintf(text, sizeof text, unit && bytes < 100 ? "%.1f %s" : "%.0f %s", bytes, units[unit]);
    return text;
}
