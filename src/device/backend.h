/* What a device can do: five small tables of functions per backend. */
#ifndef GA_DEVICE_BACKEND_H
#define GA_DEVICE_BACKEND_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quarry/error.h>

#include "base/strbuf.h"

typedef struct ga__device ga__device;
typedef struct ga_stream ga__stream;
typedef struct ga__image ga__image;       /* loaded machine code */
typedef struct ga__function ga__function; /* one kernel in it */
typedef struct ga__replay ga__replay;     /* recorded work, ready to run again */
typedef struct ga__event ga__event;       /* a point in a stream's work */

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
    uint64_t id;      /* of the kernel, never given to another, not 0 */
    const char *name; /* of the kernel, for messages; lives as long as its code */
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

/* Memory on a device, and the backend's own name for it. */
typedef struct ga__memory {
    void *address;
    void *block;
} ga__memory;

/* What a device holds, in bytes. */
typedef struct ga__memory_state {
    size_t kept; /* unused, kept for the next request */
    size_t available, total;
} ga__memory_state;

/* All functions of these tables return GA_OK or raise with ga__fail, unless it says otherwise. Work
 * given to one stream happens in the order it was given; memory freed in a stream is reused only by
 * later work of that stream. */

/* Memory of a device, and copies. */
typedef struct ga__memory_verbs {
    ga_status (*alloc)(ga__stream *stream, size_t nbytes,
                       ga__memory *memory); /* 256-byte aligned; nbytes > 0 */
    void (*free)(ga__stream *stream, const ga__memory *memory);
    void (*trim)(ga__stream *stream); /* gives the memory that it keeps unused back */
    void (*state)(ga__device *device, ga__memory_state *state); /* never raises */
    bool (*reaches)(ga__device *device, const void *memory); /* kernels can use it; never raises */
    ga_status (*copy)(ga__stream *stream, void *to, const void *from, size_t nbytes,
                      ga__copy_kind kind); /* host memory may be reused on return; a copy to the
                                              host is complete on return */
    ga_status (*copy_async)(ga__stream *stream, void *to, const void *from, size_t nbytes,
                            ga__copy_kind kind); /* host memory stays as it is until the copy is
                                                    done */
    ga_status (*copy_peer)(ga__stream *stream, void *to, const void *from, size_t nbytes,
                           ga__device *target); /* from the stream's device to another of the same
                                                   backend */
    ga_status (*zero)(ga__stream *stream, void *memory, size_t nbytes);
    /* Host memory that copies reach without the driver's staging. */
    ga_status (*pin)(ga__device *device, size_t nbytes, void **memory);
    void (*unpin)(ga__device *device, void *memory);
    ga_status (*pin_existing)(ga__device *device, void *memory, size_t nbytes);
    ga_status (*unpin_existing)(ga__device *device, void *memory);
} ga__memory_verbs;

/* Streams, and events in their work. */
typedef struct ga__stream_verbs {
    /* Sets the stream's handle and state, unless the handle is the caller's own already. */
    ga_status (*open)(ga__stream *stream);
    void (*close)(ga__stream *stream); /* no work is left; memory kept goes to the device's own
                                          stream */
    ga_status (*wait)(ga__stream *stream, ga__stream *other); /* for other's work so far */
    ga_status (*synchronize)(ga__stream *stream);
    ga_status (*query)(ga__stream *stream, bool *done);
    ga_status (*event_new)(ga__device *device, ga__event **event);
    void (*event_free)(ga__device *device, ga__event *event);
    ga_status (*event_record)(ga__event *event, ga__stream *stream);
    ga_status (*event_wait)(ga__event *event, ga__stream *stream); /* the stream waits */
    ga_status (*event_synchronize)(ga__device *device, ga__event *event);
    ga_status (*event_query)(ga__device *device, ga__event *event, bool *done);
    ga_status (*event_elapsed)(ga__device *device, ga__event *from, ga__event *to, double *ms);
} ga__stream_verbs;

/* Recorded work. From begin() until end() hands it out, work given to the stream is not run. */
typedef struct ga__graph_verbs {
    ga_status (*begin)(ga__stream *stream);
    ga_status (*end)(ga__stream *stream, ga__replay **replay);
    void (*cancel)(ga__stream *stream);
    ga_status (*replay)(ga__replay *replay, ga__stream *stream);
    void (*free)(ga__replay *replay);
} ga__graph_verbs;

/* Templates' kernels. */
typedef struct ga__code_verbs {
    /* Which of the device's `processors` workers runs this, from 0 on; NULL where blocks are not
     * run by workers. */
    int (*worker)(void);
    /* Writes where the compiler is, and its version; GA_ERR_COMPILE when there is none. */
    ga_status (*compiler_found)(char *text, size_t size);
    /* Compiles to machine code (ga__free it). On GA_ERR_COMPILE the message holds the compiler's
     * log. */
    ga_status (*compile)(ga__device *device, const ga__source *source, void **code, size_t *nbytes);
    /* Appends everything the code depends on besides the source: architecture, compiler, options.
     * Must not load or start the compiler. */
    void (*key)(ga__device *device, bool fast_math, ga__strbuf *key);
    /* A NUL follows code that is text (PTX). Bytes that are no code at all: GA_ERR_FORMAT. */
    ga_status (*load)(ga__device *device, const void *code, size_t nbytes, ga__image **image);
    /* Makes an image that another device of the same architecture loaded ready on this one.
     * Harmless when repeated. NULL where the backend has one device. */
    ga_status (*attach)(ga__device *device, ga__image *image);
    void (*unload)(ga__image *image);
    /* The kernel of this symbol; GA_ERR_INVALID when there is none. */
    ga_status (*find)(ga__image *image, const char *name, ga__function **function);
    /* How many blocks of `block` threads run at once on the whole device; never raises. */
    int (*resident_blocks)(ga__device *device, ga__function *function, int block);
    ga_status (*launch)(ga__stream *stream, ga__function *function, const ga__launch *launch);
} ga__code_verbs;

/* Users' CUDA code. */
typedef struct ga__user_verbs {
    /* A user's source to machine code (ga__free it) and, in *symbols (ga__free it), the symbol of
     * each of source->kernels, each ended by '\n', for the code's find(). *log (ga__free it): the
     * compiler's warnings, or NULL. On GA_ERR_COMPILE the message holds the compiler's log. */
    ga_status (*compile)(ga__device *device, const ga__cuda_source *source, void **code,
                         size_t *nbytes, char **symbols, char **log);
    /* As the code's key, for this compile. */
    void (*key)(ga__device *device, ga__strbuf *key);
    /* The kernel that has this name in the source, "add" or "ns::add", or this symbol. NULL where
     * code does not tell. GA_ERR_INVALID when there is none; the message lists those there are. */
    ga_status (*find)(ga__image *image, const char *name, ga__function **function);
    /* A __device__ or __constant__ variable. */
    ga_status (*global)(ga__device *device, ga__image *image, const char *symbol, void **memory,
                        size_t *nbytes);
    ga_status (*info)(ga__device *device, ga__function *function, ga__function_info *info);
    ga_status (*launch)(ga__stream *stream, ga__function *function, const ga__grid_launch *launch);
} ga__user_verbs;

typedef struct ga__backend {
    const char *name;                      /* "cuda", "cpu": what the device's name starts with */
    const char *template_target;           /* "cuda" or "host": picks the prelude */
    int (*count)(void);                    /* working devices; never raises */
    ga_status (*open)(ga__device *device); /* fills the device from its index */
    void (*close)(ga__device *device);
    ga_status (*synchronize)(ga__device *device);
    ga__memory_verbs memory;
    ga__stream_verbs stream;
    ga__graph_verbs graph;
    ga__code_verbs code;
    ga__user_verbs user;
} ga__backend;

struct ga__buffer;
struct ga_graph;

/* What a stream that records does in place of ordering work and asking the pool for memory. */
typedef struct ga__recorder {
    /* Notes that the recorded work uses the buffer, and keeps it. */
    ga_status (*use)(struct ga_graph *graph, struct ga__buffer *buffer, bool writes);
    /* Memory of the graph for a new buffer, which has device and nbytes set. */
    ga_status (*alloc)(struct ga_graph *graph, struct ga__buffer *buffer);
} ga__recorder;

/* An order of work on one device. */
struct ga_stream {
    ga__device *device;
    void *handle;        /* the backend's: a cudaStream_t; NULL is the device's own stream */
    void *event, *state; /* the backend's own */
    uint64_t bit, exclusive_use;  /* stream.c's: see ga__use */
    bool wrapped;                 /* the handle is the caller's */
    struct ga_graph *graph;       /* that records this stream's work, or NULL, */
    const ga__recorder *recorder; /* and how */
    _Atomic(void *) tickets;      /* tickets.c's: see ga__stream_tickets */
    ga__memory ticket_memory;     /* likewise */
    struct ga_stream *next;       /* among the streams of the device */
};

struct ga__device {
    const ga__backend *backend;
    int index;
    char name[16];         /* "cpu", "cuda:0" */
    char description[256]; /* "NVIDIA H200" */
    int arch;              /* 90 for sm_90; 0 on the host */
    int processors;        /* multiprocessors, or worker threads */
    int threads_per_processor;
    size_t cache_bytes;               /* last-level cache */
    void *state;                      /* the backend's own */
    ga__stream stream;                /* its own: where work goes that nobody sends elsewhere */
    _Atomic size_t used, peak, limit; /* memory.c's: bytes in arrays; 0 is no limit */
    _Atomic(void *) readbacks;        /* readback.c's */
    pthread_mutex_t lock;             /* of the list of streams */
    ga__stream *streams;              /* all but those that record */
};

extern const ga__backend ga__host_backend;
#ifdef QUARRY_CUDA
extern const ga__backend ga__cuda_backend;

/* Why ga__cuda_backend.count() is 0 and what would mend it; NULL when it is not. A static string.
 */
const char *ga__cuda_problem(void);
#endif

#endif
