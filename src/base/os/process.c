/* Runs another program, with bounds on its output and time; learns of its end even if another
 * thread reaps it. */
#include "base/os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/environment.h"
#include "base/error.h"
#include "base/os/system.h"
#include "base/strbuf.h"

/* Keeps the first HEAD bytes of the output, and between TAIL / 2 and TAIL of the last bytes. */
enum { HEAD = 32768, TAIL = 32768, REASON_SIZE = 128 };

#define WATCH_SECONDS 0.05 /* between two calls of the watch */
#define POLL_SECONDS 0.005 /* between two checks of the child, on systems without pidfd */
#define GRACE_SECONDS 1.0  /* from SIGTERM, on which compilers remove their files, to SIGKILL */
#define LAST_SECONDS                                                                               \
    10.0 /* from SIGKILL until we give up on a child that the system cannot end                    \
          */

static _Thread_local ga__watch current_watch;

ga__watch ga__watch_set(ga__watch watch)
{
    const ga__watch before = current_watch;
    current_watch = watch;
    return before;
}

/* A running program and its output so far. */
typedef struct running {
    pid_t child;
    int output; /* the pipe's reading end; -1 if closed */
    int handle; /* a pidfd, readable once the child has ended; -1 if the system has none */
    char *bytes;
    size_t length;  /* at most HEAD + TAIL */
    size_t dropped; /* bytes omitted after the first HEAD */
} running;

/* ---- starting ---- */

static ga_status fail_run(const char *name, int error)
{
    char reason[REASON_SIZE];
    return ga__fail(error == ENOMEM ? GA_ERR_MEMORY : GA_ERR_IO, "process: cannot run %s: %s", name,
                    strerror_r(error, reason, sizeof reason));
}

/* Resets the child's signals to their defaults, whatever the calling thread blocks or ignores: a
 * child that inherits an ignored SIGCHLD cannot wait for its own children. Returns 0 or an
 * errno. */
static int set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGCHLD);
    sigaddset(&defaults, SIGPIPE);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (!error)
        error = posix_spawnattr_setsigdefault(attributes, &defaults);
    if (!error)
        error = posix_spawnattr_setpgroup(attributes, 0);
    if (!error)
        error = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return error;
}

/* Sends both outputs to `to`. Standard input comes last: in a program that closed its own, `to` may
 * itself be descriptor 0. Returns 0 or an errno. */
static int set_files(posix_spawn_file_actions_t *actions, int to)
{
    int error = posix_spawn_file_actions_adddup2(actions, to, STDOUT_FILENO);
    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, to, STDERR_FILENO);
    if (!error)
        error = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    return error;
}

/* Returns 0 or an errno. */
static int spawn(const char *const *argv, char **environment, int to, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        error = set_files(&actions, to);
        if (!error)
            error = set_attributes(&attributes);
        /* posix_spawn never writes to the strings; its prototype is older than const. */
        if (!error)
            error = posix_spawnp(child, argv[0], &actions, &attributes, (char *const *)argv,
                                 environment);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Returns 0 or an errno. */
static int start(running *r, const char *const *argv, char **environment)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    const int error = spawn(argv, environment, ends[1], &r->child);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return error;
    }
    r->output = ends[0];
    r->handle = (int)syscall(SYS_pidfd_open, r->child, 0); /* close-on-exec */
    return 0;
}

/* ---- reading its output ---- */

/* Reads at most `most` bytes of what is available; 0 at the end. An error counts as the end. */
static size_t read_some(running *r, size_t most)
{
    if (r->length == HEAD + TAIL) {
        memmove(r->bytes + HEAD, r->bytes + HEAD + TAIL / 2, TAIL / 2);
        r->length -= TAIL / 2;
        r->dropped += TAIL / 2;
    }
    const size_t room = HEAD + TAIL - r->length;
    ssize_t n;
    do
        n = read(r->output, r->bytes + r->length, most < room ? most : room);
    while (n < 0 && errno == EINTR);
    r->length += n > 0 ? (size_t)n : 0;
    return n > 0 ? (size_t)n : 0;
}

static void stop_reading(running *r)
{
    close(r->output);
    r->output = -1;
}

/* Reads what the pipe holds now, but nothing that a background process may add later. */
static void drain(running *r)
{
    int left = 0;
    if (r->output < 0 || ioctl(r->output, FIONREAD, &left) != 0)
        return;
    while (left > 0) {
        const size_t n = read_some(r, (size_t)left);
        left = n > 0 ? left - (int)n : 0;
    }
}

/* The output as one text; ga__free it. */
static char *take_output(const running *r)
{
    const size_t head = r->length < HEAD ? r->length : HEAD;
    ga__strbuf text = GA__STRBUF_INIT;
    ga__strbuf_add_bytes(&text, r->bytes, head);
    if (r->dropped > 0)
        ga__strbuf_addf(&text, "\n[... %zu bytes ...]\n", r->dropped);
    ga__strbuf_add_bytes(&text, r->bytes + head, r->length - head);
    return ga__strbuf_take(&text);
}

/* ---- waiting for its end ---- */

/* Whether the child has ended; if so, it is reaped. */
static bool has_ended(const running *r, ga__process_end *end)
{
    int status = 0;
    const pid_t got = waitpid(r->child, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    end->how = GA__PROCESS_UNSEEN;
    if (got > 0 && WIFEXITED(status)) {
        end->how = GA__PROCESS_EXITED;
        end->code = WEXITSTATUS(status);
    } else if (got > 0) {
        end->how = GA__PROCESS_SIGNALLED;
        end->code = WTERMSIG(status);
    }
    return true;
}

/* Waits until the child writes or ends, a signal arrives, or the time is over. */
static void await_event(running *r, double seconds)
{
    struct pollfd files[2] = {{.fd = r->output, .events = POLLIN},
                              {.fd = r->handle, .events = POLLIN}};
    if (r->handle < 0)
        seconds = fmin(seconds, POLL_SECONDS);
    if (poll(files, 2, (int)ceil(1e3 * fmin(fmax(seconds, 0), 1e3))) <= 0)
        return;
    if (files[0].revents != 0 && read_some(r, HEAD + TAIL) == 0)
        stop_reading(r);
}

static bool await_end(running *r, double seconds, ga__process_end *end)
{
    const double limit = ga__now() + seconds;
    while (!has_ended(r, end)) {
        if (ga__now() >= limit)
            return false;
        await_event(r, limit - ga__now());
    }
    return true;
}

/* Ends the child and its process group. */
static void stop(running *r)
{
    ga__process_end unused = {0};
    (void)kill(-r->child, SIGTERM);
    const bool ended = await_end(r, GRACE_SECONDS, &unused);
    (void)kill(-r->child, SIGKILL); /* the rest of the group */
    if (!ended)
        (void)await_end(r, LAST_SECONDS, &unused);
}

/* Follows the child to its end; GA_ERR_CANCELLED, without a message, if the watch returns false. */
static ga_status follow(running *r, double seconds, ga__process_end *end)
{
    const ga__watch *watch = &current_watch;
    const double limit = seconds > 0 ? ga__now() + seconds : (double)INFINITY;
    while (!has_ended(r, end)) {
        const double left = limit - ga__now();
        if (watch->go_on != NULL && !watch->go_on(watch->user)) {
            stop(r);
            return GA_ERR_CANCELLED;
        }
        if (left <= 0) {
            stop(r);
            end->how = GA__PROCESS_OVERDUE;
            return GA_OK;
        }
        await_event(r, watch->go_on != NULL ? fmin(left, WATCH_SECONDS) : left);
    }
    return GA_OK;
}

static ga_status run(running *r, const ga__process *process, char **environment,
                     ga__process_end *end)
{
    const int error = start(r, process->argv, environment);
    if (error)
        return fail_run(process->argv[0], error);
    const ga_status status = follow(r, process->seconds, end);
    drain(r);
    if (r->output >= 0)
        stop_reading(r);
    if (r->handle >= 0)
        close(r->handle);
    if (status != GA_OK)
        return ga__fail(status, "process: %s was stopped on request", process->argv[0]);
    end->output = take_output(r);
    return end->output != NULL ? GA_OK : GA_ERR_MEMORY;
}

/* ---- the environment of a program that we start ---- */

#define PATH "PATH="
#define TMPDIR "TMPDIR="

static bool is_replaced(const char *variable)
{
    return strncmp(variable, PATH, strlen(PATH)) == 0 ||
           strncmp(variable, TMPDIR, strlen(TMPDIR)) == 0;
}

/* Writes the absolute folders of `path`, since programs such as ccache search PATH themselves;
 * without any "/", as an empty PATH is the current folder. Returns the end. */
static char *write_folders(char *to, const char *path)
{
    const char *const start = to;

    while (*path) {
        const size_t length = strcspn(path, ":");
        if (*path == '/') {
            if (to > start)
                *to++ = ':';
            to = mempcpy(to, path, length);
        }
        path += length + (path[length] == ':');
    }
    return to > start ? to : stpcpy(to, "/");
}

/* Ours (empty if ours is not trusted), with PATH set to the search path and TMPDIR to `temporary`.
 * That is an absolute path, since compilers take a temporary file whose name begins with "-" for an
 * option. The texts belong to the list or to our environment; ga__free it. */
static char **child_environment(const char *temporary)
{
    char **ours = ga__own_environment();
    const char *path = ga__search_path();
    size_t n = 0, kept = 0;

    while (ours[n])
        n++;
    const size_t list_bytes = (n + 3) * sizeof *ours;
    char **list =
        ga__malloc(list_bytes + sizeof PATH + strlen(path) + 1 + sizeof TMPDIR + strlen(temporary));
    if (!list)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!is_replaced(ours[i]))
            list[kept++] = ours[i];
    list[kept] = (char *)list + list_bytes;
    char *end = write_folders(stpcpy(list[kept], PATH), path);
    *end = '\0';
    list[kept + 1] = end + 1;
    stpcpy(stpcpy(list[kept + 1], TMPDIR), temporary);
    list[kept + 2] = NULL;
    return list;
}

/* The program's environment; ga__free it. */
static char **environment_of(const ga__process *process)
{
    if (process->temporary != NULL)
        return child_environment(process->temporary);
    char *ours = ga__temporary_parent();
    char **environment = ours != NULL ? child_environment(ours) : NULL;
    ga__free(ours);
    return environment;
}

ga_status ga__process_run(const ga__process *process, ga__process_end *end)
{
    running r = {.output = -1, .handle = -1, .bytes = ga__malloc(HEAD + TAIL)};
    char **environment = r.bytes != NULL ? environment_of(process) : NULL;
    ga__process_end found = {0};
    ga_status status = GA_ERR_MEMORY;
    if (environment != NULL)
        status = run(&r, process, environment, &found);
    ga__free(environment);
    ga__free(r.bytes);
    if (status == GA_OK)
        *end = found;
    return status;
}
