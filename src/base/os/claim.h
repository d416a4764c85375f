/* Tells the files of living processes from those that a killed process left, by a lock that ends
 * with the process. */
#ifndef GA_BASE_OS_CLAIM_H
#define GA_BASE_OS_CLAIM_H

#include <stdbool.h>

/* Claims the temporary file behind the descriptor, which its maker has just made, until every copy
 * of the descriptor is closed. False when a cleaner was there first: the maker makes another. Where
 * the file system has no locks it is true, and no cleaner touches the file. */
bool ga__claim(int fd);

/* For cleaners: whether the file is a regular one of ours that nobody claims. The caller has the
 * claim then, and may remove the file until it closes the descriptor. */
bool ga__claim_abandoned(int fd);

#endif
