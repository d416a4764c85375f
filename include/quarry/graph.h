/* Graphs: a sequence of operations recorded once and launched as one. */
#ifndef QUARRY_GRAPH_H
#define QUARRY_GRAPH_H

#include <quarry/error.h>

GA_BEGIN_DECLS

/* Recorded work of one device: a CUDA graph, or on "cpu" the list of launches. */
typedef struct ga_graph ga_graph;

/* From here to ga_graph_end(), what the calling thread does on the current device is recorded
 * instead of run: operations, custom kernels, ga_eval, copies, new arrays. Arrays made meanwhile
 * live in memory of the graph: their values are there after the first ga_graph_launch(), and change
 * with each. Arrays from before are used where they are, and kept alive by the graph. What cannot
 * be recorded is GA_ERR_UNSUPPORTED and named: all that waits for a value (ga_item_*, ga_to_host,
 * ga_print, ga_save, ga_synchronize) or takes one from host memory (ga_from_host, ga_load), and
 * work on other devices. GA_ERR_INVALID when the thread records already. */
GA_API ga_status ga_graph_begin(void);

/* Ends the recording. The caller frees the graph; NULL when the thread has an error: what failed
 * while recording, or before. */
GA_API ga_graph *ga_graph_end(void);

/* Runs the recorded work on the calling thread's current stream, once. Any thread may; launches of
 * one graph run one after another. */
GA_API ga_status ga_graph_launch(ga_graph *graph);

/* Waits for the graph's launches and frees it; NULL does nothing. Arrays made in it stay valid. */
GA_API void ga_graph_free(ga_graph *graph);

/* GA_GRAPH(g) { ... }: records the block and sets g, a ga_graph *, NULL when something failed. The
 * block must not be left by return, goto or break. */
#define GA_GRAPH(g) GA_GRAPH_ON_(g, __LINE__)
#define GA_GRAPH_ON_(g, line) GA_GRAPH_OF_(g, line)
#define GA_GRAPH_OF_(g, line) GA_GRAPH_NAMED_(g, ga_graph_##line##_)
#define GA_GRAPH_NAMED_(g, open)                                                                   \
    for (int open = ((g) = 0, ga_graph_begin() == GA_OK); open; open = 0, (g) = ga_graph_end())

GA_END_DECLS

#endif
