/* Holds Ctrl-C back while there are temporary files, and lets it act when they are gone. */
#include "cli.h"

#include <signal.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

#define SIGNALS (sizeof signals / sizeof *signals)

static struct sigaction before[SIGNALS];
static volatile sig_atomic_t noted, times;

/* timeout(1) sends each signal twice, so that only a third one is impatience. */
enum { SPIN_SECONDS = 3 };

static void note(int number)
{
    noted = number;
    times++;
    if (times >= SPIN_SECONDS) {
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
    signal(SIGXFSZ, SIG_IGN); /* a file past the shell's limit is an error to tell, not the end */
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
