/* Claims temporary files with flock(2); the system releases the lock when the process ends. */
#include "base/os/claim.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns 0 or an errno. It never waits: anyone who can open the file could block us forever. */
static int lock(int fd)
{
    while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EINTR)
            return errno;
    }
    return 0;
}

static bool has_name(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && status.st_nlink > 0;
}

bool ga__claim(int fd)
{
    return lock(fd) != EWOULDBLOCK && has_name(fd);
}

bool ga__claim_abandoned(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
           lock(fd) == 0 && has_name(fd);
}
