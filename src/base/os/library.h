/* Libraries that are loaded by name at first use: where they are looked for, and their symbols. */
#ifndef GA_BASE_OS_LIBRARY_H
#define GA_BASE_OS_LIBRARY_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* A function that Quarry calls. A library's table is a .def of rows GA_SYMBOL(member, "its name",
 * result, (parameters), the first version that has it; GA__OPTIONAL: may be missing). */
typedef struct ga__symbol {
    void *function; /* the address of a pointer to the function */
    const char *name, *since;
} ga__symbol;
#define GA__OPTIONAL ""

/* What a library puts before and behind the names of its functions. */
typedef struct ga__spelling {
    const char *prefix, *suffix;
} ga__spelling;

/* What a loaded library says of itself. */
typedef struct ga__version {
    const char *name;  /* "OpenBLAS" */
    const char *least; /* the oldest one that serves: "0.3.4" */
    char text[48];     /* "0.3.21"; empty if it does not say */
} ga__version;

typedef struct ga__library {
    const char *name;           /* "NVRTC", for messages */
    const char *variable;       /* of the environment: the one file to load */
    const char *const *files;   /* names to try, the best first; ends with NULL */
    const char *const *folders; /* to try with each name; patterns of glob(), which may start with
                                 * the variable that names a folder: "$CUDA_HOME/lib64" */
    const char *advice;         /* how to get the library */
    const ga__symbol *symbols;
    size_t count;
    const ga__spelling *spellings; /* to try in turn, up to a NULL prefix; NULL: the names alone */
    bool final;                    /* after a failure it is not looked for again */
    void (*version)(ga__version *its); /* asked after loading: an older one than the least is not
                                        * used. Or NULL */
    bool (*suits)(void); /* asked after loading: no other library that is found is better. If none
                          * suits, the first one serves. Or NULL */
    void (*ready)(void); /* called once after loading, before any other use; or NULL */

    pthread_mutex_t lock;
    atomic_int state;             /* ga__library_state */
    const ga__spelling *spelling; /* of the loaded library */
    char path[PATH_MAX];
    char problem[800]; /* why loading failed, with what to do about it */
} ga__library;

enum ga__library_state { GA__LIBRARY_UNKNOWN, GA__LIBRARY_LOADED, GA__LIBRARY_MISSING };

bool ga__library_search(ga__library *library);

/* Whether the library is loaded; at the first call it is looked for. If not, library->problem says
 * why. Any thread may call it. */
static inline bool ga__library_load(ga__library *library)
{
    return atomic_load_explicit(&library->state, memory_order_acquire) == GA__LIBRARY_LOADED ||
           ga__library_search(library);
}

/* The folder of the file that holds Quarry's code: the library, or a static program. */
bool ga__own_folder(char *folder, size_t size);

/* The folders of the CUDA toolkit, of Debian's packages and of PyPI's wheels. */
extern const char *const ga__cuda_folders[];

#endif
