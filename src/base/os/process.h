/* Runs another program, with bounds on its output and time; learns of its end even if another
 * thread reaps it. */
#ifndef GA_BASE_OS_PROCESS_H
#define GA_BASE_OS_PROCESS_H

#include <stdbool.h>

#include <quarry/error.h>

typedef struct ga__process {
    const char *const *argv; /* argv[0] is searched in PATH; no shell is involved */
    const char *temporary;   /* the program's TMPDIR; NULL for ours */
    double seconds;          /* the time limit; 0 for none */
} ga__process;

typedef struct ga__process_end {
    enum {
        GA__PROCESS_EXITED,
        GA__PROCESS_SIGNALLED,
        GA__PROCESS_UNSEEN, /* the host program ignores SIGCHLD or reaped the child: no status */
        GA__PROCESS_OVERDUE /* stopped at the time limit */
    } how;
    int code;     /* the exit status or the signal; otherwise 0 */
    char *output; /* standard output and error together, the middle omitted if too long; ga__free */
} ga__process_end;

/* Runs the program to its end with an empty standard input, in a process group of its own. Stopping
 * the program stops the group; processes that it leaves in the background are not waited for.
 * GA_ERR_IO if it cannot be started, GA_ERR_MEMORY, GA_ERR_CANCELLED if the thread's watch returns
 * false. */
ga_status ga__process_run(const ga__process *process, ga__process_end *end);

/* A function that the calling thread polls while it waits for a program; if it returns false, the
 * program is stopped. */
typedef struct ga__watch {
    bool (*go_on)(void *user); /* NULL: no polling */
    void *user;
} ga__watch;

/* Sets the calling thread's watch; returns the previous one. */
ga__watch ga__watch_set(ga__watch watch);

#endif
