/* Work in forked children, and a program that waits for every child of its own. */
#ifndef GA_TESTS_CHILDREN_H
#define GA_TESTS_CHILDREN_H

/* After this time a child counts as hanging: no load of the machine slows its work that much. */
enum { HANG_SECONDS = 300 };

/* The exit status of a child that runs `body` and exits with its result; -1 if a signal ended it,
 * such as the alarm after HANG_SECONDS. */
int in_child(int (*body)(void));

/* From now on this process waits for every child as soon as it ends, whatever started it. */
void reap_children(void);

#endif
