/* Writes complete files before they replace existing ones. */
#ifndef GA_BASE_OS_REPLACEMENT_H
#define GA_BASE_OS_REPLACEMENT_H

#include <stddef.h>

#include <quarry/error.h>

/* A new file beside the one that it will replace. */
typedef struct ga__replacement {
    int fd;           /* open for writing */
    const char *what; /* the caller's; begins messages: "save: " */
    const char *path; /* the caller's, as given; for messages */
    char *target; /* the path with links followed: links stay, and their final target is replaced */
    char *name;   /* of the new file, until it is committed */
} ga__replacement;

/* Makes the new file. It gets the mode and, where we have the right to set them, the owner and the
 * group of the file that it will replace; otherwise those of any new file. First it removes what
 * killed processes of the same user have left in the folder. GA_ERR_IO, also if the path exists and
 * is not a regular file; after an error there is nothing to discard. */
ga_status ga__replacement_open(ga__replacement *r, const char *what, const char *path);

/* Puts the file in place. Its bytes reach the disk before its name does; when this returns, the
 * name has reached the disk too. Ends the replacement whatever the result; after a failure the
 * target is unchanged. */
ga_status ga__replacement_commit(ga__replacement *r);

/* Removes the new file. Does nothing if it is already committed or discarded. */
void ga__replacement_discard(ga__replacement *r);

/* All of the above, for bytes in memory. */
ga_status ga__write_file_atomic(const char *path, const void *bytes, size_t nbytes);

#endif
