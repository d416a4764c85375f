/* Temporary folders and files. */
#ifndef GA_BASE_OS_TEMPORARY_H
#define GA_BASE_OS_TEMPORARY_H

#include <quarry/error.h>

/* A private folder of this process. */
typedef struct ga__temporary {
    char *path; /* absolute: it never begins with "-", which programs take for an option */
    int claim;  /* keeps cleaners away while this process lives */
} ga__temporary;

/* Makes a folder with mode 0700 under TMPDIR or /tmp. The first call in a process also removes what
 * killed processes of the same user have left there. */
ga_status ga__temporary_init(ga__temporary *t);

/* Removes the folder and its contents. */
void ga__temporary_reset(ga__temporary *t);

/* Opens a new unnamed file under TMPDIR or /tmp; -1 and errno on failure. */
int ga__open_nameless(void);

#endif
