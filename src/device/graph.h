/* Graphs: recorded work, the memory that it allocates, and the buffers that it uses from
 * outside. */
#ifndef GA_DEVICE_GRAPH_H
#define GA_DEVICE_GRAPH_H

#include <quarry/graph.h>

#include "device/stream.h"

/* Keeps an object (code) that the recorded work runs: retains it now, unless the graph already has
 * it, and releases it when the graph is freed. */
ga_status ga__graph_keep(ga_graph *graph, void *object, void *(*retain)(void *object),
                         void (*release)(void *object));

/* A step that follows each launch of a graph, once its work is done. */
typedef struct ga__after_launch {
    ga_status (*run)(void *data);
    void (*drop)(void *data);
    void *data;
} ga__after_launch;

/* Adds a step to the graph that the calling thread records. The thread that launches runs the steps
 * in their order, until one fails. They are dropped with the graph. GA_ERR_MEMORY. */
ga_status ga__graph_after_launch(const ga__after_launch *step);

#endif
