/* A folder of the test's own, for the files it writes. */
#ifndef GA_TESTS_SCRATCH_H
#define GA_TESTS_SCRATCH_H

#include <stdbool.h>

extern char *scratch; /* its path */

bool open_scratch(void);
int make_scratch(void **state); /* the same, before tests */

/* Removes these files (a list ended by NULL) if they exist, and then the folder; not 0 if other
 * files are left. */
int close_scratch(const char *const *names);

/* The path of a file there; valid for three more calls. */
const char *in_scratch(const char *name);

int files_in_scratch(void);

/* Removes a folder of files, whether or not it exists. */
void remove_folder(const char *path);

#endif
