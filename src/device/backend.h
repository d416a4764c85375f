/* The interface of a device: six small tables of functions per backend. */
#ifndef GA_DEVICE_BACKEND_H
#define GA_DEVICE_BACKEND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quarry/error.h>

#include "base/strbuf.h"
#include "device/product.h"

typedef struct ga__device ga__device;
typedef struct ga_stream ga__stream;
typedef struct ga__image ga__image;       /* loaded machine code */
typedef struct ga__function ga__function; /* one kernel in it */
typedef struct ga__replay ga__replay;     /* recorded work, ready to run again */
typedef struct ga__event ga__event;       /* a point in a stream's work */

/* A filled template to compile. Its texts are borrowed for the call. */
typedef struct ga__source {
    const char *name; /* for messages: "add" */
    const char *text;
    bool fast_math;
} ga__source;

/* A user's own CUDA C++ source, compiled unchanged. All texts are borrowed for the call; each list
 * ends with NULL, and NULL is an empty list. */
typedef struct ga__cuda_source {
    const char *name; /* for messages */
    const char *text;
    const char *const *options; /* "-DN=4", "-I...", "--use_fast_math" */
    const char *const *header_names, *const *header_texts;
    const char *const *kernels; /* names to look up later: "add", "ns::add", "add<float>" */
    int piece; /* of a module that is linked: its number, from 1, and the code is for link() */
} ga__cuda_source;

/* Relocatable code of one source. */
typedef struct ga__link_piece {
    const char *name; /* for messages */
    const void *bytes;
    size_t nbytes;
} ga__link_piece;

typedef struct ga__link_inputs {
    const char *name; /* of the module, for messages */
    const ga__link_piece *pieces;
    size_t count;
    const char *const *files; /* paths, ended by NULL; NULL: none */
} ga__link_inputs;

#define GA__MAX_PARAMS 256

/* The properties of a user's kernel that a launch needs. */
typedef struct ga__function_info {
    int nparams;
    size_t param_bytes[GA__MAX_PARAMS];
    int registers; /* per thread; 0 on the host */
    int max_threads;
    size_t shared_bytes, local_bytes, constant_bytes; /* static */
    size_t max_shared_bytes;                          /* per block, dynamic ones included */
} ga__function_info;

/* One launch of a user's kernel. */
typedef struct ga__grid_launch {
    uint64_t id;      /* of the kernel; never reused, never 0 */
    const char *name; /* of the kernel, for messages; valid as long as its code */
    int64_t grid[3], block[3];
    size_t shared; /* dynamic shared bytes */
    void **args;   /* the address of each argument's bytes, copied before the call returns */
} ga__grid_launch;

typedef enum ga__copy_kind {
    GA__HOST_TO_DEVICE,
    GA__DEVICE_TO_HOST,
    GA__DEVICE_TO_DEVICE
} ga__copy_kind;

/* The most blocks of a cluster. */
enum { GA__CLUSTER_BLOCKS = 16 };

/* One launch of `grid` blocks. On CUDA each block has `block` threads and `shared` bytes of dynamic
 * shared memory, at most the device's less the kernel's static part; on the host each block is one
 * call. The kernel's only parameter is a struct of `nwords` 64-bit words, copied before the call
 * returns. */
typedef struct ga__launch {
    int64_t grid;
    int block;
    bool together; /* CUDA: all blocks run at once, or the launch fails */
    int cluster;   /* CUDA: neighbouring blocks that share their shared memory; 0: none do */
    bool in_order; /* host: blocks are claimed in order, because they wait for earlier ones */
    size_t shared;
    size_t stack; /* host: bytes of the arrays that a block keeps on its thread's stack */
    const uint64_t *words;
    size_t nwords;
} ga__launch;

/* Memory on a device, and the backend's own handle for it. */
typedef struct ga__memory {
    void *address;
    void *block;
} ga__memory;

/* A device's memory use, in bytes. */
typedef struct ga__memory_state {
    size_t kept; /* unused, kept for later requests */
    size_t available, total;
} ga__memory_state;

/* All functions of these tables return GA_OK or raise with ga__fail, unless noted. Work given to
 * one stream runs in that order; only later work of the same stream reuses memory that was freed in
 * it. */

/* Device memory and copies. */
typedef struct ga__memory_verbs {
    /* 256-byte aligned; nbytes > 0. Returns GA_ERR_MEMORY without raising it: the caller knows what
     * the memory is for. */
    ga_status (*alloc)(ga__stream *stream, size_t nbytes, ga__memory *memory);
    void (*free)(ga__stream *stream, const ga__memory *memory);
    void (*trim)(ga__stream *stream);                           /* gives unused memory back */
    void (*state)(ga__device *device, ga__memory_state *state); /* never raises */
    bool (*reaches)(ga__device *device, const void *memory);    /* whether kernels can use it; never
                                                                 * raises */
    ga_status (*copy)(ga__stream *stream, void *to, const void *from, size_t nbytes,
                      ga__copy_kind kind); /* host memory may be reused on return; a copy to the
                                            * host is complete on return */
    ga_status (*copy_async)(ga__stream *stream, void *to, const void *from, size_t nbytes,
                            ga__copy_kind kind); /* host memory must not change until the copy is
                                                  * done */
    ga_status (*copy_peer)(ga__stream *stream, void *to, const void *from, size_t nbytes,
                           ga__device *target); /* from the stream's device to another of the same
                                                 * backend */
    ga_status (*zero)(ga__stream *stream, void *memory, size_t nbytes);
    /* Pinned host memory, which copies reach without the driver's staging. */
    ga_status (*pin)(ga__device *device, size_t nbytes, void **memory);
    void (*unpin)(ga__device *device, void *memory);
    ga_status (*pin_existing)(ga__device *device, void *memory, size_t nbytes);
    ga_status (*unpin_existing)(ga__device *device, void *memory);
} ga__memory_verbs;

/* Streams, and events in their work. */
typedef struct ga__stream_verbs {
    /* Sets the stream's handle and state. Keeps a handle that the caller supplied. */
    ga_status (*open)(ga__stream *stream);
    void (*close)(ga__stream *stream); /* requires that no work is left; memory kept goes to the
                                        * device's own stream */
    ga_status (*wait)(ga__stream *stream, ga__stream *other); /* for the other stream's work so
                                                               * far */
    ga_status (*synchronize)(ga__stream *stream);
    ga_status (*query)(ga__stream *stream, bool *done);
    ga_status (*event_new)(ga__device *device, ga__event **event);
    void (*event_free)(ga__device *device, ga__event *event);
    ga_status (*event_record)(ga__event *event, ga__stream *stream);
    ga_status (*event_wait)(ga__event *event, ga__stream *stream); /* makes the stream wait */
    ga_status (*event_synchronize)(ga__device *device, ga__event *event);
    ga_status (*event_query)(ga__device *device, ga__event *event, bool *done);
    ga_status (*event_elapsed)(ga__device *device, ga__event *from, ga__event *to, double *ms);
} ga__stream_verbs;

/* Recorded work. Between begin() and end(), work given to the stream is recorded, not run; end()
 * returns it. */
typedef struct ga__graph_verbs {
    ga_status (*begin)(ga__stream *stream);
    /* Whether the stream's work is recorded, perhaps by its user or with a stream that it waited
     * for. NULL where that cannot be. */
    bool (*captured)(const ga__stream *stream);
    ga_status (*end)(ga__stream *stream, ga__replay **replay);
    void (*cancel)(ga__stream *stream);
    ga_status (*replay)(ga__replay *replay, ga__stream *stream);
    void (*free)(ga__replay *replay);
} ga__graph_verbs;

/* Kernels of the templates. */
typedef struct ga__code_verbs {
    /* Which of the device's `processors` workers runs the caller, from 0 on; NULL if blocks are not
     * run by workers. */
    int (*worker)(void);
    /* Writes the compiler's location and version; GA_ERR_COMPILE if there is none. */
    ga_status (*compiler_found)(char *text, size_t size);
    /* Compiles to machine code (ga__free it). On GA_ERR_COMPILE the message contains the compiler's
     * log. */
    ga_status (*compile)(ga__device *device, const ga__source *source, void **code, size_t *nbytes);
    /* Appends everything besides the source that the code depends on: architecture, compiler,
     * options. Must not load or start the compiler. */
    void (*key)(ga__device *device, bool fast_math, ga__strbuf *key);
    /* Code that is text (PTX) is followed by a NUL. GA_ERR_FORMAT if the bytes are not code at
     * all. */
    ga_status (*load)(ga__device *device, const void *code, size_t nbytes, ga__image **image);
    /* Prepares an image that another device of the same architecture loaded for this device.
     * Harmless when repeated. NULL if the backend has one device. */
    ga_status (*attach)(ga__device *device, ga__image *image);
    void (*unload)(ga__image *image);
    /* The kernel of this symbol; GA_ERR_INVALID if there is none. */
    ga_status (*find)(ga__image *image, const char *name, ga__function **function);
    /* Limits shared memory to about `percent` of its maximum; the L1 cache has the rest of their
     * common memory. A hint, which never raises. NULL if the backend has no such memory. */
    void (*carve)(ga__device *device, ga__function *function, int percent);
    /* The number of blocks of `block` threads that run at once on the whole device; never
     * raises. */
    int (*resident_blocks)(ga__device *device, ga__function *function, int block);
    /* The number of clusters of such a launch that run at once, at least 1; never raises. NULL if
     * the backend has none. */
    int (*resident_clusters)(ga__device *device, ga__function *function, const ga__launch *launch);
    ga_status (*launch)(ga__stream *stream, ga__function *function, const ga__launch *launch);
} ga__code_verbs;

/* Products of matrices by a library, which is loaded at first use. A backend may have none. */
typedef struct ga__product_verbs {
    /* Writes the library's version and location; GA_ERR_UNSUPPORTED, saying what to install, if
     * there is none. */
    ga_status (*found)(char *text, size_t size);
    /* Whether multiply() can do it; never raises. Of the matrices, the memory may be unknown. */
    bool (*takes)(const ga__matrix_product *product);
    /* GA_ERR_UNSUPPORTED, without raising it, if the library has no way for these matrices. */
    ga_status (*multiply)(ga__stream *stream, const ga__matrix_product *product);
} ga__product_verbs;

/* Users' CUDA code. */
typedef struct ga__user_verbs {
    /* Compiles a user's source to machine code (ga__free it). *symbols (ga__free it) receives the
     * symbol of each of source->kernels, each followed by '
     * ', for code.find(). *log (ga__free it) receives the compiler's warnings, or NULL. On
     * GA_ERR_COMPILE the message contains the compiler's log. */
    ga_status (*compile)(ga__device *device, const ga__cuda_source *source, void **code,
                         size_t *nbytes, char **symbols, char **log);
    /* Like code.key, for this compile. */
    void (*key)(ga__device *device, ga__strbuf *key);
    /* Links pieces to code for load() (ga__free it). GA_ERR_COMPILE with the linker's log. */
    ga_status (*link)(ga__device *device, const ga__link_inputs *inputs, void **code,
                      size_t *nbytes);
    /* Writes the linker's version or name, and its path. GA_ERR_COMPILE, saying what to install, if
     * there is none. */
    ga_status (*linker_found)(char *text, size_t size);
    /* The kernel with this name in the source ("add" or "ns::add") or with this symbol. NULL if the
     * code has no names to look up. GA_ERR_INVALID if there is none; the message lists the
     * kernels. */
    ga_status (*find)(ga__image *image, const char *name, ga__function **function);
    /* The address and size of a __device__ or __constant__ variable. */
    ga_status (*global)(ga__device *device, ga__image *image, const char *symbol, void **memory,
                        size_t *nbytes);
    ga_status (*info)(ga__device *device, ga__function *function, ga__function_info *info);
    /* The launch has passed ga__check_grid. */
    ga_status (*launch)(ga__stream *stream, ga__function *function, const ga__grid_launch *launch);
} ga__user_verbs;

typedef struct ga__backend {
    const char *name;                      /* "cuda" or "cpu": the start of the device's name */
    const char *template_target;           /* "cuda" or "host": selects the prelude */
    int (*count)(void);                    /* the number of working devices; never raises */
    ga_status (*open)(ga__device *device); /* fills the device from its index */
    void (*close)(ga__device *device);
    ga_status (*synchronize)(ga__device *device);
    ga__memory_verbs memory;
    ga__stream_verbs stream;
    ga__graph_verbs graph;
    ga__code_verbs code;
    ga__product_verbs product;
    ga__user_verbs user;
} ga__backend;

struct ga__buffer;
struct ga_graph;

/* Replaces two operations of a stream that records: ordering work, and allocating from the pool. */
typedef struct ga__recorder {
    /* Notes that the recorded work uses the buffer, and retains it. */
    ga_status (*use)(struct ga_graph *graph, struct ga__buffer *buffer, bool writes);
    /* Allocates the graph's memory for a new buffer whose device and nbytes are set. */
    ga_status (*alloc)(struct ga_graph *graph, struct ga__buffer *buffer);
} ga__recorder;

/* A sequence of work on one device. */
struct ga_stream {
    ga__device *device;
    void *handle;        /* the backend's: a cudaStream_t; NULL is the device's own stream */
    void *event, *state; /* the backend's own */
    uint64_t bit, exclusive_use;            /* stream.c's: see ga__use */
    bool wrapped;                           /* the handle is the caller's */
    struct ga_graph *graph;                 /* the graph that records this stream's work, or NULL */
    const ga__recorder *recorder;           /* set together with `graph` */
    _Atomic(void *) tickets;                /* tickets.c's: see ga__stream_tickets */
    _Atomic(void *) states;                 /* tickets.c's: see ga__stream_states */
    _Atomic uint64_t tagged;                /* calls that have had the states */
    ga__memory ticket_memory, state_memory; /* tickets.c's */
    struct ga_stream *next;                 /* in the device's list */
};

struct ga__device {
    _Alignas(16) const ga__backend *backend; /* keys of kernels use the address's low bits */
    int index;
    char name[16];         /* "cpu", "cuda:0" */
    char description[256]; /* "NVIDIA H200" */
    int arch;              /* 90 for sm_90; 0 on the host */
    int processors;        /* multiprocessors, or worker threads */
    int threads_per_processor;
    size_t shared_bytes; /* the most shared memory of a block; 0: what every CUDA device has */
    bool meets;          /* blocks of a launch can run all at once, and wait for each other */
    int cluster_blocks;  /* that can share their shared memory: 0 if none can */
    size_t cache_bytes;  /* last-level cache */
    int64_t memory_rate; /* CUDA: bytes that memory delivers in a microsecond; 0: not known */
    void *state;         /* the backend's own */
    ga__stream stream;   /* its own stream: the default for all work */
    _Atomic size_t used, peak, limit; /* memory.c's: bytes in arrays; 0 means no limit */
    _Atomic(void *) readbacks;        /* readback.c's */
    _Atomic(void *) fault;            /* fault.c's */
    pthread_mutex_t lock;             /* of the list of streams */
    ga__stream *streams;              /* all except those that record */
};

/* Whether the device is the host, whose work is done when its call returns. */
static inline bool ga__on_host(const ga__device *device)
{
    return device->arch == 0;
}

extern const ga__backend ga__host_backend;
#ifdef QUARRY_CUDA
extern const ga__backend ga__cuda_backend;

/* Why ga__cuda_backend.count() is 0 and how to fix it; NULL if it is not 0. A static string. */
const char *ga__cuda_problem(void);
#endif

#endif
