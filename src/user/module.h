/* The kernels of users' modules, as launches see them. */
#ifndef GA_USER_MODULE_H
#define GA_USER_MODULE_H

#include <quarry/module.h>

#include <pthread.h>

#include "base/os/fork.h"
#include "base/texts.h"
#include "device/backend.h"
#include "jit/packed.h"
#include "user/cuda_names.h"
#include "user/kernel.h"

/* A kernel of kind MODULE; freed with its module. */
typedef struct ga__module_kernel {
    ga_kernel base;
    uint64_t id; /* unique; never reused */
    ga__device *device;
    ga__function *function;
    ga__function_info info;
    struct ga__module_kernel *next; /* in the module's list */
} ga__module_kernel;

/* ---- For linking ---- */

/* Loaded code. A module has one, plus one for each template instance that was not declared. */
typedef struct ga__loaded_code {
    ga__image *image;
    struct ga__loaded_code *next;
} ga__loaded_code;

struct ga_module {
    int references; /* atomic: the user's, and one of each array over a variable */
    ga__device *device;
    char *name;
    char *text; /* NULL if loaded from a file, or linked */
    int piece;  /* of a module that is linked: its number, from 1 */
    ga__texts options, header_names, header_texts;
    ga__cuda_names names;
    ga__texts compiled, symbols; /* names given to the compiler, and the resulting symbols */
    ga__image *image;            /* contains the variables */
    pthread_mutex_t lock;        /* of the two lists, which grow at their heads */
    ga__fork_guard guard;        /* for the lock */
    ga__loaded_code *code;
    ga__module_kernel *kernels;
};

/* An empty module of the current device with one reference; NULL and an error on failure. */
ga_module *ga__module_new(const char *name);

/* Copies a source with its options and headers, and finds the names in it. */
ga_status ga__module_copy_args(ga_module *m, const ga_module_args *args);

/* Compiles the source with the names found in it. The name reader may mistake a macro for a kernel,
 * or list a kernel that a macro removes. If the compile fails, the source is compiled without those
 * names, and kernels are looked up when they are requested. */
ga_status ga__module_compile_code(ga_module *m, const char *wanted, ga__code *code);

/* Adds the lines to the symbols. */
void ga__module_add_symbols(ga_module *m, const char *symbols);

/* Loads code and adds it to the module. */
ga_status ga__module_load_code(ga_module *m, const void *bytes, size_t nbytes, ga__image **image);

#endif
