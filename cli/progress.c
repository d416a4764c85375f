/* A progress bar with rate and time left, on a terminal. */
#include "cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

/* Seconds: a shorter run shows no bar; the interval between updates. */
static const double delay = 0.3, interval = 0.1;

enum { MOST_COLUMNS = 200, TEXT_COLUMNS = 80 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int columns(void)
{
    struct winsize size;

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20)
        return 79;
    return size.ws_col < MOST_COLUMNS ? size.ws_col - 1 : MOST_COLUMNS;
}

/* "0:05", "12:34", "2:03:04". */
static void add_time(char *text, size_t room, double seconds)
{
    const long long all = (long long)(seconds + 0.5);

    if (all >= 3600)
        snprintf(text, room, "%lld:%02lld:%02lld", all / 3600, all / 60 % 60, all % 60);
    else
        snprintf(text, room, "%lld:%02lld", all / 60, all % 60);
}

static void paint(progress *p, double share, double rate, double left)
{
    char line[MOST_COLUMNS + 1], text[TEXT_COLUMNS], time_left[TEXT_COLUMNS / 2];
    const int width = columns();

    add_time(time_left, sizeof time_left, left);
    const int length = snprintf(text, sizeof text, " %s/s, %s left", size_text(rate), time_left);
    const int bar = width - length - 7;
    snprintf(line, sizeof line, "%3.0f%%", 100 * share);
    if (bar >= 5) {
        const int full = (int)(share * bar);
        snprintf(line + 4, sizeof line - 4, " [%*s]", bar, "");
        memset(line + 6, '#', (size_t)full);
    }
    strncat(line, text, sizeof line - strlen(line) - 1);
    line[width] = '\0';
    fprintf(stderr, "\r%-*s", p->width, line);
    fflush(stderr);
    p->width = (int)strlen(line);
}

void progress_show(progress *p, int64_t done, int64_t total)
{
    const double time = now();

    if (!p->shown || done <= 0 || done > total)
        return;
    if (p->started == 0) /* the time before was compiling, which predicts nothing about the rest */
        p->started = time;
    if (time - p->started < delay || time - p->painted < interval)
        return;
    p->painted = time;
    const double rate = (double)done / (time - p->started);
    paint(p, (double)done / (double)total, rate, (double)(total - done) / rate);
}

void progress_clear(progress *p)
{
    if (p->width > 0)
        fprintf(stderr, "\r%*s\r", p->width, "");
    fflush(stderr);
    p->width = 0;
}
