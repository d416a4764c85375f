/* Tells the files of living processes from those that a killed process left, by a lock that ends
 * with the process. */
#ifndef GA_BASE_OS_CLAIM_H
#define GA_BASE_OS_CLAIM_H

#include <stdbool.h>

/* Claims a temporary file that the caller has just made. The claim lasts until every copy of the
 * descriptor is closed. False if a cleaner claimed it first: the caller makes another file. On a
 * file system without locks it returns true, and no cleaner touches the file. */
bool ga__claim(int fd);

/* For cleaners: whether the file is a regular file of this user that no process claims. The caller
 * then holds the claim, and may remove the file until it closes the descriptor. */
bool ga__claim_abandoned(int fd);

#endif
