/* A piece of a device's memory that arrays share. */
#ifndef GA_DEVICE_BUFFER_H
#define GA_DEVICE_BUFFER_H

#include <stdatomic.h>

#include "device/backend.h"

typedef struct ga__buffer ga__buffer;

/* Memory on a device, shared by an array and its views. */
struct ga__buffer {
    ga__device *device;
    void *memory; /* NULL when nbytes is 0 */
    size_t nbytes;
    int references;        /* atomic */
    _Atomic uint64_t uses; /* stream.h's: see ga__use */
    const void *posted;    /* readback.h's: what was posted last, */
    size_t posted_bytes;   /* its size, */
    _Atomic uint32_t tag;  /* its tag, 0 since others write, */
    atomic_bool exposed;   /* and whether others may at any time */
    void *block;           /* the backend's, or the owner's that give_back() serves */
    /* Gives the memory back; NULL: to the backend, in the stream that used it last. */
    void (*give_back)(ga__buffer *buffer);
    struct ga_graph *graph;      /* whose memory it is, or NULL */
    ga__buffer *next, *previous; /* among the graph's */
};

#endif
