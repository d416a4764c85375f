/* What a device can do: one small table of functions per backend. */
#ifndef GA_DEVICE_BACKEND_H
#define GA_DEVICE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quarry/error.h>

typedef struct ga__device ga__device;
typedef struct ga__image ga__image;       /* loaded machine code */
typedef struct ga__function ga__function; /* one kernel in it */

/* A filled template to compile. Texts are borrowed for the call. */
typedef struct ga__source {
    const char *name; /* for messages: "add" */
    const char *text;
    bool fast_math;
} ga__source;

/* A user's own CUDA C++ source, compiled as it stands. All texts are borrowed for the call; lists
 * end with NULL, and NULL is an empty list. */
typedef struct ga__cuda_source {
    const char *name; /* for messages */
    const char *text;
    const char *const *options; /* "-DN=4", "-I...", "--use_fast_math" */
    const char *const *header_names, *const *header_texts;
    const char *const *kernels; /* names to be found later: "add", "ns::add", "add<float>" */
} ga__cuda_source;

#define GA__MAX_PARAMS 256

/* What a launch needs to know of a user's kernel. */
typedef struct ga__function_info {
    int nparams;
    size_t param_bytes[GA__MAX_PARAMS];
    int registers; /* of a thread; 0 on the host */
    int max_threads;
    size_t shared_bytes, local_bytes, constant_bytes; /* static */
    size_t max_shared_bytes;                          /* of a block, dynamic ones included */
} ga__function_info;

/* One launch of a user's kernel. */
typedef struct ga__grid_launch {
    const char *name; /* of the kernel, for messages; lives until the process ends */
    int64_t grid[3], block[3];
    size_t shared; /* dynamic shared bytes */
    void **args;   /* the address of each argument's bytes, copied before the call returns */
} ga__grid_launch;

typedef enum ga__copy_kind {
    GA__HOST_TO_DEVICE,
    GA__DEVICE_TO_HOST,
    GA__DEVICE_TO_DEVICE
} ga__copy_kind;

/* One launch: `grid` blocks. On CUDA each has `block` threads and `shared` bytes of dynamic shared
 * memory; on the host each is one call. The kernel's single parameter is a struct of `nwords`
 * 64-bit words, copied before the call returns. */
typedef struct ga__launch {
    int64_t grid;
    int block;
    size_t shared;
    const uint64_t *words;
    size_t nwords;
} ga__launch;

/* All functions return GA_OK or raise with ga__fail. Work is ordered: copies and launches of one
 * device happen in the order they were given; memory freed is reused only by later work. */
typedef struct ga__backend {
    const char *name;            /* "cuda", "cpu": what the device's name starts with */
    const char *template_target; /* "cuda" or "host": picks the prelude */

    int (*count)(void);                    /* working devices; never raises */
    ga_status (*open)(ga__device *device); /* fills the device from its index */
    void (*close)(ga__device *device);

    ga_status (*alloc)(ga__device *device, size_t nbytes,
                       void **memory); /* 256-byte aligned; nbytes > 0 */
    void (*free)(ga__device *device, void *memory);
    void (*trim)(ga__device *device); /* gives unused pool memory back */
    void (*memory_info)(ga__device *device, size_t *available,
                        size_t *total); /* bytes; never raises */
    ga_status (*copy)(ga__device *device, void *to, const void *from, size_t nbytes,
                      ga__copy_kind kind); /* host memory may be reused on return; a copy to the
                                              host is complete on return */
    ga_status (*zero)(ga__device *device, void *memory, size_t nbytes);
    ga_status (*synchronize)(ga__device *device);

    /* Compiles to machine code (ga__free it). On GA_ERR_COMPILE the message holds the compiler's
     * log. */
    ga_status (*compile)(ga__device *device, const ga__source *source, void **code, size_t *nbytes);
    /* Everything the code depends on besides the source: architecture, compiler, options. A static
     * or device-owned string. Must not load or start the compiler. */
    const char *(*compiler_key)(ga__device *device, bool fast_math);
    ga_status (*load)(ga__device *device, const void *code, size_t nbytes, ga__image **image);
    void (*unload)(ga__image *image);
    /* The kernel of this symbol; GA_ERR_INVALID when there is none. */
    ga_status (*find)(ga__image *image, const char *name, ga__function **function);
    /* How many blocks of `block` threads run at once on the whole device; never raises. */
    int (*resident_blocks)(ga__device *device, ga__function *function, int block);
    ga_status (*launch)(ga__device *device, ga__function *function, const ga__launch *launch);

    /* A user's source to machine code (ga__free it) and, in *symbols (ga__free it), the symbol of
     * each of source->kernels, each ended by '\n', for find(). *log (ga__free it): the compiler's
     * warnings, or NULL. On GA_ERR_COMPILE the message holds the compiler's log. */
    ga_status (*compile_cuda)(ga__device *device, const ga__cuda_source *source, void **code,
                              size_t *nbytes, char **symbols, char **log);
    /* As compiler_key, for compile_cuda. */
    const char *(*cuda_key)(ga__device *device);
    /* A __device__ or __constant__ variable. */
    ga_status (*global)(ga__device *device, ga__image *image, const char *symbol, void **memory,
                        size_t *nbytes);
    ga_status (*function_info)(ga__device *device, ga__function *function, ga__function_info *info);
    ga_status (*launch_grid)(ga__device *device, ga__function *function,
                             const ga__grid_launch *launch);
} ga__backend;

struct ga__device {
    const ga__backend *backend;
    int index;
    char name[16];         /* "cpu", "cuda:0" */
    char description[256]; /* "NVIDIA H200" */
    int arch;              /* 90 for sm_90; 0 on the host */
    int processors;        /* multiprocessors, or worker threads */
    int threads_per_processor;
    size_t cache_bytes;      /* last-level cache */
    void *state;             /* the backend's own */
    _Atomic(void *) tickets; /* context.c's: see ga__device_tickets */
};

extern const ga__backend ga__host_backend;
#ifdef QUARRY_CUDA
extern const ga__backend ga__cuda_backend;

/* Why ga__cuda_backend.count() is 0 and what would mend it; NULL when it is not. A static string.
 */
const char *ga__cuda_problem(void);
#endif

#endif
