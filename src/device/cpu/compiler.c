/* Finds the C++ compiler, and describes it for the keys of compiled code. */
#include "device/cpu/compiler.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os/environment.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "device/cpu/processor.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- programs ---- */

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
           faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0; /* with the rights that it will run
                                                              * with */
}

/* Prefixes the current folder, so that the path names the same file after the program changes its
 * folder; ga__free it. */
static char *absolute(const char *path)
{
    ga__strbuf text = GA__STRBUF_INIT;
    char *here = *path != '/' ? getcwd(NULL, 0) : NULL;
    if (here != NULL)
        ga__strbuf_addf(&text, "%s/", here);
    free(here);
    ga__strbuf_add(&text, path);
    return ga__strbuf_take(&text);
}

/* FOLDER/name if that is a program in an absolute folder, otherwise NULL; ga__free it. */
static char *program_in(const char *folder, size_t length, const char *name)
{
    ga__strbuf text = GA__STRBUF_INIT;
    if (length == 0 || *folder != '/')
        return NULL;
    ga__strbuf_add_bytes(&text, folder, length);
    ga__strbuf_addf(&text, "/%s", name);
    if (!text.failed && is_program(text.text))
        return ga__strbuf_take(&text);
    ga__strbuf_reset(&text);
    return NULL;
}

/* The program of this name or at this path; NULL if there is none. ga__free it. */
static char *find_program(const char *name)
{
    if (strchr(name, '/') != NULL)
        return is_program(name) ? absolute(name) : NULL;
    const char *rest = ga__search_path();
    char *found = NULL;
    while (*rest != '\0' && found == NULL) {
        const size_t length = strcspn(rest, ":");
        found = program_in(rest, length, name);
        rest += length + (rest[length] == ':');
    }
    return found;
}

/* ---- one compiler ---- */

/* The compiler, and the variables that selected it. */
typedef struct choice {
    ga__compiler compiler;
    char *wanted, *flags, *path; /* NULL: not set */
    struct choice *next;
} choice;

static const char *wanted_compiler(void)
{
    const char *wanted = ga__environment("QUARRY_CXX");
    return wanted != NULL && *wanted != '\0' ? wanted : NULL;
}

/* Replaces the first word, a program's name, by its path; false if there is no such program. */
static bool set_program(ga__texts *command, const char *words)
{
    ga__texts given = {NULL, 0, 0, false};
    ga__texts_split(&given, words);
    char *path = given.count > 0 && !given.failed ? find_program(given.text[0]) : NULL;
    if (path != NULL) {
        ga__texts_add(command, path);
        for (size_t i = 1; i < given.count; i++)
            ga__texts_add(command, given.text[i]);
    }
    ga__free(path);
    ga__texts_reset(&given);
    return path != NULL;
}

static bool find_command(ga__texts *command, const char *wanted)
{
    static const char *const usual[] = {"c++", "g++", "clang++"};
    bool found = wanted != NULL && set_program(command, wanted);
    for (size_t i = 0; wanted == NULL && !found && i < COUNT(usual); i++)
        found = set_program(command, usual[i]);
    return found;
}

static void add_word(ga__strbuf *key, const char *word)
{
    ga__strbuf_addf(key, "%zu:%s ", strlen(word), word);
}

/* The key identifies the compiler by its file, not by its --version, which would cost a warm
 * program a process. Both its names matter: links with many names may lead to one ccache. */
static char *make_key(const ga__compiler *c)
{
    const char *program = c->command.text[0];
    char *resolved = realpath(program, NULL);
    struct stat status = {.st_size = 0};
    ga__strbuf key = GA__STRBUF_INIT;
    (void)stat(program, &status);
    add_word(&key, resolved != NULL ? resolved : "");
    free(resolved);
    ga__strbuf_addf(&key, "%lld %lld.%09ld ", (long long)status.st_size,
                    (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    for (size_t i = 0; i < c->command.count; i++)
        add_word(&key, c->command.text[i]);
    ga__strbuf_add(&key, "flags ");
    for (size_t i = 0; i < c->flags.count; i++)
        add_word(&key, c->flags.text[i]);
    ga__strbuf_addf(&key, "processor %016llx ", (unsigned long long)ga__processor_hash());
    for (const char *const *option = ga__processor_options(); *option != NULL; option++)
        add_word(&key, *option);
    return ga__strbuf_take(&key);
}

/* ---- choices ---- */

static void choice_free(choice *c)
{
    ga__texts_reset(&c->compiler.command);
    ga__texts_reset(&c->compiler.flags);
    ga__free(c->compiler.key);
    ga__free(c->wanted);
    ga__free(c->flags);
    ga__free(c->path);
    ga__free(c);
}

/* Copies the text (NULL gives NULL); false if memory is out. */
static bool copy(char **to, const char *text)
{
    *to = text != NULL ? ga__strdup(text) : NULL;
    return text == NULL || *to != NULL;
}

/* *made is NULL if there is no compiler. GA_ERR_MEMORY. */
static ga_status choice_new(const char *wanted, const char *flags, const char *path, choice **made)
{
    choice *c = ga__calloc(1, sizeof *c);
    if (c == NULL)
        return GA_ERR_MEMORY;
    bool good = copy(&c->wanted, wanted) && copy(&c->flags, flags) && copy(&c->path, path);
    const bool found = good && find_command(&c->compiler.command, wanted);
    ga__texts_split(&c->compiler.flags, flags != NULL ? flags : "");
    good = good && !c->compiler.command.failed && !c->compiler.flags.failed;
    if (good && found)
        c->compiler.key = make_key(&c->compiler);
    if (!good || !found || c->compiler.key == NULL) {
        const bool is_error = !good || found;
        choice_free(c);
        *made = NULL;
        return is_error ? GA_ERR_MEMORY : GA_OK;
    }
    *made = c;
    return GA_OK;
}

static bool same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* Choices are few, never change and are never freed. Finding one takes no lock, which a fork could
 * leave locked. */
static _Atomic(choice *) choices;

static const choice *find_choice(const char *wanted, const char *flags, const char *path)
{
    const choice *c = atomic_load_explicit(&choices, memory_order_acquire);
    while (c != NULL && !(same(c->wanted, wanted) && same(c->flags, flags) && same(c->path, path)))
        c = c->next;
    return c;
}

static void publish(choice *c)
{
    c->next = atomic_load_explicit(&choices, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&choices, &c->next, c, memory_order_release,
                                                  memory_order_relaxed))
        ;
}

ga_status ga__compiler_find(const ga__compiler **compiler)
{
    const char *wanted = wanted_compiler(), *flags = ga__environment("QUARRY_CXXFLAGS");
    const char *path = ga__environment("PATH");
    const choice *known = find_choice(wanted, flags, path);
    choice *made = NULL;
    if (known == NULL) {
        const ga_status status = choice_new(wanted, flags, path, &made);
        if (status != GA_OK)
            return status;
        if (made != NULL)
            publish(made);
        known = made;
    }
    *compiler = known != NULL ? &known->compiler : NULL;
    return GA_OK;
}

ga_status ga__compiler_get(const ga__compiler **compiler)
{
    const ga__compiler *found = NULL;
    const ga_status status = ga__compiler_find(&found);
    if (status != GA_OK)
        return status;
    if (found == NULL)
        return ga__fail(GA_ERR_COMPILE,
                        "compile: no C++ compiler found (tried %s): install one or set QUARRY_CXX",
                        wanted_compiler() != NULL ? wanted_compiler() : "c++, g++, clang++");
    *compiler = found;
    return GA_OK;
}
