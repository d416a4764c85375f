/* Graphs: a sequence of operations that is recorded once and launched as one. */
#ifndef QUARRY_GRAPH_H
#define QUARRY_GRAPH_H

#include <quarry/error.h>

GA_BEGIN_DECLS

/* Recorded work of one device: a CUDA graph, or on "cpu" a list of launches. */
typedef struct ga_graph ga_graph;

/* Starts recording: until ga_graph_end(), the calling thread's work on the current device is
 * recorded instead of run, including operations, custom kernels, ga_eval, copies and new arrays.
 * Arrays created while recording live in the graph's memory: the first ga_graph_launch() sets their
 * values, and each launch changes them. Older arrays are used in place, and the graph keeps them
 * alive. Calls that cannot be recorded fail with GA_ERR_UNSUPPORTED and a message that names the
 * call: calls that wait for a value (ga_item_*, ga_to_host, ga_print, ga_save, ga_synchronize) or
 * read one from host memory (ga_from_host, ga_load), and work on other devices. GA_ERR_INVALID if
 * the thread is already recording. */
GA_API ga_status ga_graph_begin(void);

/* Ends the recording. The caller frees the graph with ga_graph_free(). NULL if the thread has an
 * error, raised while recording or before, or is not recording (GA_ERR_INVALID). */
GA_API ga_graph *ga_graph_end(void);

/* Runs the recorded work once, on the calling thread's current stream, and does not wait for it.
 * Any thread may call this; launches of the same graph run one after another. GA_ERR_INVALID for
 * NULL, GA_ERR_UNSUPPORTED while the thread records, GA_ERR_DEVICE. If the graph was recorded with
 * QUARRY_CHECK=nan, the call waits and fails with GA_ERR_INVALID if an operation made a NaN or
 * infinity of finite operands; the message has the operation and the place where it was recorded.
 */
GA_API ga_status ga_graph_launch(ga_graph *graph);

/* Waits for the graph's launches and frees it. NULL is a no-op. Arrays created in it stay valid. */
GA_API void ga_graph_free(ga_graph *graph);

/* GA_GRAPH(g) { ... }: records the block and sets g, a ga_graph *; NULL on failure. Do not leave
 * the block by return, goto or break. */
#define GA_GRAPH(g) GA_GRAPH_ON_(g, __LINE__)
#define GA_GRAPH_ON_(g, line) GA_GRAPH_OF_(g, line)
#define GA_GRAPH_OF_(g, line) GA_GRAPH_NAMED_(g, ga_graph_##line##_)
#define GA_GRAPH_NAMED_(g, open)                                                                   \
    for (int open = ((g) = 0, ga_graph_begin() == GA_OK); open; open = 0, (g) = ga_graph_end())

GA_END_DECLS

#endif
