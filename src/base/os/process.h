/* Runs another program: bounds its output and its time, and sees its end whoever reaps it. */
#ifndef GA_BASE_OS_PROCESS_H
#define GA_BASE_OS_PROCESS_H

#include <stdbool.h>

#include <quarry/error.h>

typedef struct ga__process {
    const char *const *argv; /* argv[0] is searched in PATH; no shell is involved */
    const char *temporary;   /* the program's TMPDIR; NULL: ours */
    double seconds;          /* the time limit; 0: none */
} ga__process;

typedef struct ga__process_end {
    enum {
        GA__PROCESS_EXITED,
        GA__PROCESS_SIGNALLED,
        GA__PROCESS_UNSEEN, /* the host program ignores SIGCHLD or reaped the child: no status */
        GA__PROCESS_OVERDUE /* it was stopped at the time limit */
    } how;
    int code;     /* the exit status, or the signal; else 0 */
    char *output; /* standard output and error together, without the middle when long; ga__free */
} ga__process_end;

/* Runs the program to its end with an empty standard input. It runs in a process group of its own;
 * a program that is stopped takes the group with it, and nothing waits for processes that it leaves
 * in the background. GA_ERR_IO when it cannot be started, GA_ERR_MEMORY, GA_ERR_CANCELLED when the
 * thread's watch says no. */
ga_status ga__process_run(const ga__process *process, ga__process_end *end);

/* What the calling thread asks now and then while it waits for a program: false stops the program.
 */
typedef struct ga__watch {
    bool (*go_on)(void *user); /* NULL: nothing is asked */
    void *user;
} ga__watch;

/* Sets the calling thread's watch; the one before. */
ga__watch ga__watch_set(ga__watch watch);

#endif
