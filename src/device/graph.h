/* Graphs: what a recording stream records, the memory it makes, and what it uses from outside. */
#ifndef GA_DEVICE_GRAPH_H
#define GA_DEVICE_GRAPH_H

#include <quarry/graph.h>

#include "device/stream.h"

/* Keeps the object, code that the recorded work runs: retains it now, unless the graph has it, and
 * releases it when the graph is freed. */
ga_status ga__graph_keep(ga_graph *graph, void *object, void *(*retain)(void *object),
                         void (*release)(void *object));

#endif
