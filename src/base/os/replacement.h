/* Files that take the place of others when they are complete. */
#ifndef GA_BASE_OS_REPLACEMENT_H
#define GA_BASE_OS_REPLACEMENT_H

#include <stddef.h>

#include <quarry/error.h>

/* A new file beside the one that it is to replace. */
typedef struct ga__replacement {
    int fd;           /* to write to */
    const char *what; /* the caller's: begins messages, "save: " */
    const char *path; /* the caller's, as given: for messages */
    char *target; /* the path with links followed: the links stay, the last target is replaced */
    char *name;   /* of the new file until it is committed */
} ga__replacement;

/* Makes the new file. It has the mode, and as far as we may set them the owner and the group, of
 * the file it is to replace, else those of any new file. First, what killed processes of the same
 * user have left in the folder is removed. GA_ERR_IO, also for a path that is there and no regular
 * file; nothing is to be discarded then. */
ga_status ga__replacement_open(ga__replacement *r, const char *what, const char *path);

/* Puts the file in place: its bytes reach the disk before its name does, and the name has reached
 * it when this returns. The replacement is done with, whatever the result; after a failure the
 * target is as it was. */
ga_status ga__replacement_commit(ga__replacement *r);

/* Removes the new file. Committed or discarded already: does nothing. */
void ga__replacement_discard(ga__replacement *r);

/* All of the above for bytes in memory. */
ga_status ga__write_file_atomic(const char *path, const void *bytes, size_t nbytes);

#endif
