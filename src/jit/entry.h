/* One compiled code, and how it is obtained: from the disk or the compiler. */
#ifndef GA_JIT_ENTRY_H
#define GA_JIT_ENTRY_H

#include <pthread.h>

#include "device/unload.h"
#include "jit/packed.h"
#include "jit/template.h"

typedef enum ga__entry_state { GA__COMPILING, GA__READY, GA__FAILED } ga__entry_state;

/* A request for code, from a template or from a user's source. */
typedef struct ga__job {
    const ga__recipe *recipe;      /* a template: the result is a loaded image */
    const ga__cuda_source *source; /* or a user's source: the result is packed code */
    char *filled;                  /* the recipe's text, once filled */
} ga__job;

/* The public part of a template's entry. */
struct ga__module {
    ga__loaded *loaded;
};

/* One code for all devices of one architecture. While GA__COMPILING it belongs to the thread that
 * made it. The last user removes it from the table and frees it; user sources stay until they take
 * too much memory. */
typedef struct ga__entry {
    struct ga__module module; /* first: an entry is its module */
    struct ga__entry *next;
    ga__device *device; /* whose thread asked first */
    bool is_source;     /* a user's source, with `packed` set; else a template, loaded */
    bool kept;          /* in the table and on disk; else private to one thread */
    bool listed;        /* in the table now */
    char *key;          /* all that the code depends on: options, versions, and a user's text or the
                           digests of a template's files and what fills them */
    size_t key_bytes;
    uint64_t hash;
    ga__entry_state state;
    pthread_t builder; /* while GA__COMPILING */
    int users;         /* waiting threads and references to the module */
    uint64_t used;     /* `modules.uses` when the last user left */
    ga__packed *packed;
    ga_status status; /* when GA__FAILED: the error that every user gets */
    char *message;
} ga__entry;

/* The name of the kernel or source in messages. */
const char *ga__job_name(const ga__job *job);

/* Gets the code of a GA__COMPILING entry from the disk or the compiler. Sets module.loaded or
 * packed on success, status and message on failure. */
void ga__entry_build(ga__entry *entry, ga__job *job);

/* Counts the codes compiled and found on disk since the process began. */
void ga__entry_count(int64_t *compiled, int64_t *disk_hits);

#endif
