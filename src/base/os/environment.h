/* The environment, as far as the library may trust it. */
#ifndef GA_BASE_OS_ENVIRONMENT_H
#define GA_BASE_OS_ENVIRONMENT_H

/* The value of a variable; NULL where it is not set, and always in a program that runs with more
 * rights than its caller has (set-user-id, set-group-id, file capabilities: AT_SECURE), whose
 * environment is the caller's. All of src/ and cli/ reads the environment here. */
const char *ga__environment(const char *name);

/* The folders to search for programs, as in PATH; where that is not set or not to be trusted, the
 * system's default. */
const char *ga__search_path(void);

/* The environment of a program that we start: ours, or where ours is not to be trusted, none of it;
 * with PATH set to the search path and TMPDIR to `temporary`, an absolute path, since compilers
 * take temporary files that begin with "-" for options. A list ended by NULL whose texts belong to
 * it or to ours; ga__free it. */
char **ga__child_environment(const char *temporary);

#endif
