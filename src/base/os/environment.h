/* Reads the environment, as far as the library may trust it. */
#ifndef GA_BASE_OS_ENVIRONMENT_H
#define GA_BASE_OS_ENVIRONMENT_H

/* The value of a variable, or NULL if it is not set. Always NULL in a program that runs with more
 * rights than its caller (set-user-id, set-group-id, file capabilities: AT_SECURE), because the
 * caller controls its environment. All of src/ and cli/ reads the environment through this
 * function. */
const char *ga__environment(const char *name);

/* The folders to search for programs: PATH, or the system's default if PATH is not set or not
 * trusted. */
const char *ga__search_path(void);

/* The environment for a program that we start: ours (empty if ours is not trusted), with PATH set
 * to the search path and TMPDIR set to `temporary`. That is an absolute path, since compilers take
 * a temporary file whose name begins with "-" for an option. The list ends with NULL; its texts
 * belong to it or to our environment. ga__free it. */
char **ga__child_environment(const char *temporary);

#endif
