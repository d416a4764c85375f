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

#endif
