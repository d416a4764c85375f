/* One code on one device, on its way from the disk or the compiler. */
#ifndef GA_JIT_ENTRY_H
#define GA_JIT_ENTRY_H

#include <pthread.h>

#include "device/unload.h"
#include "jit/packed.h"
#include "jit/template.h"

typedef enum ga__entry_state { GA__COMPILING, GA__READY, GA__FAILED } ga__entry_state;

/* What is wanted: one of two sorts of source. */
typedef struct ga__job {
    const ga__recipe *recipe;      /* of a template's text: the result is its loaded image */
    const ga__cuda_source *source; /* or a user's source: the result is its code */
    char *filled;                  /* the recipe's text, once it was asked for */
} ga__job;

/* A template's entry, to those who use its code. */
struct ga__module {
    ga__loaded *loaded;
};

/* One code on one device. GA__COMPILING, it belongs to the thread that made it. Its last user frees
 * it, and takes it out of the table before; but a user's source stays until there are too many. */
typedef struct ga__entry {
    struct ga__module module; /* first: an entry is its module */
    struct ga__entry *next;
    ga__device *device;
    bool is_source; /* of a user, its result `packed`; else a template, and loaded */
    bool kept;      /* in the table and on disk; else it is one thread's alone */
    bool listed;    /* in the table now */
    char *key;      /* all that the code depends on: options, versions, and a user's text or the
                       digests of a template's files and what fills them */
    size_t key_bytes;
    uint64_t hash;
    ga__entry_state state;
    pthread_t builder; /* while GA__COMPILING */
    int users;         /* threads that ask, and whoever retains its module */
    uint64_t used;     /* `modules.uses` when its last user left */
    ga__packed *packed;
    ga_status status; /* when GA__FAILED, the error every user gets */
    char *message;
} ga__entry;

/* The name of the kernel or source in messages. */
const char *ga__job_name(const ga__job *job);

/* Gets the code of a GA__COMPILING entry, from the disk or by the compiler: sets module.loaded or
 * packed, or else status and message. */
void ga__entry_build(ga__entry *entry, ga__job *job);

/* How many codes were compiled, and found on disk, since the process began. */
void ga__entry_count(int64_t *compiled, int64_t *disk_hits);

#endif
