/* Delays Ctrl-C while there are temporary files, and lets it act when they are removed. */
#include "cli.h"

#include <signal.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

#define SIGNALS (sizeof signals / sizeof *signals)

static struct sigaction before[SIGNALS];
static volatile sig_atomic_t noted, times;

/* timeout(1) sends each signal twice, so only the third one means impatience. */
enum { KILLING_SIGNAL = 3 };

static void note(int number)
{
    noted = number;
    times++;
    if (times >= KILLING_SIGNAL) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

void interrupts_hold(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART};

    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++) {
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN) /* as nohup wants it */
            sigaction(signals[i], &action, NULL);
    }
    signal(SIGXFSZ, SIG_IGN); /* exceeding the shell's file size limit is reported as an error,
                               * instead of ending the process */
}

bool interrupts_noted(void)
{
    return noted != 0;
}

void interrupts_release(void)
{
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    if (noted)
        raise(noted);
}
