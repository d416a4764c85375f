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

/* All variables, "NAME=value"; none if the environment is not trusted. The list ends with NULL and
 * belongs to the process. */
char **ga__own_environment(void);

#endif
