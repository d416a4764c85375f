/* Graphs: what a recording stream records, the memory it makes, and what it uses from outside. */
#ifndef GA_DEVICE_GRAPH_H
#define GA_DEVICE_GRAPH_H

#include <quarry/graph.h>

#include "device/stream.h"

/* Notes that the recorded work uses the buffer, and keeps it. */
ga_status ga__graph_use(ga_graph *graph, ga__buffer *buffer, bool writes);

/* Keeps the object, code that the recorded work runs: retains it now, unless the graph has it, and
 * releases it when the graph is freed. */
ga_status ga__graph_keep(ga_graph *graph, void *object, void *(*retain)(void *object),
                         void (*release)(void *object));

/* Memory of the graph for a new buffer, which has device and nbytes set: what was freed while
 * recording is used again by what is recorded later, and by nothing else. */
ga_status ga__graph_alloc(ga_graph *graph, ga__buffer *buffer);
void ga__graph_take_back(ga__buffer *buffer);

#endif
