/* Memory on a device that arrays share. */
#ifndef GA_DEVICE_BUFFER_H
#define GA_DEVICE_BUFFER_H

#include <stdatomic.h>

#include <quarry/dtype.h>
#include <quarry/error.h>

#include "device/backend.h"

typedef struct ga__buffer ga__buffer;

/* The array that memory is requested for. */
typedef struct ga__wanted {
    const char *call; /* the operation that makes it: a static text, and the prefix of messages */
    ga_dtype dtype;
    int ndim;
    const int64_t *shape;
} ga__wanted;

/* Memory on a device, shared by an array and its views. */
struct ga__buffer {
    ga__device *device;
    void *memory; /* NULL if nbytes is 0 */
    size_t nbytes;
    int references;          /* atomic */
    _Atomic uint64_t uses;   /* stream.h's: see ga__use */
    const void *readback_at; /* readback.h's: the address of the last result */
    size_t readback_bytes;   /* its size */
    _Atomic uint32_t tag;    /* its tag; 0 once other work writes the buffer */
    atomic_bool exposed;     /* unknown code may write the memory at any time */
    void *block;             /* the backend's handle, or the owner that give_back() needs */
    /* Gives the memory back; NULL: to the backend, in the stream that used it last. */
    void (*give_back)(ga__buffer *buffer);
    struct ga_graph *graph;      /* the owner of the memory, or NULL */
    ga__buffer *next, *previous; /* in the graph's list */
    ga__buffer *newer, *older;   /* in the list of live arrays */
    /* What it was made for, for messages and reports; `call` is NULL for memory that is not an
     * array of Quarry's own. */
    const char *call; /* "add": a static text */
    ga_site site;
    ga_dtype dtype;
    int ndim;
    int64_t shape[];
};

#endif
