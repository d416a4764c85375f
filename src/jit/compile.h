/* From a filled template to a loaded kernel: memory, then disk, then the compiler; each once. */
#ifndef GA_JIT_COMPILE_H
#define GA_JIT_COMPILE_H

#include "device/context.h"
#include "jit/packed.h"
#include "jit/template.h"

/* Code of a template that is loaded on one device, and counted: whoever asks for it and whoever
 * retains it releases it. With the last release it leaves memory, and is unloaded when no launch
 * uses it any more. */
typedef struct ga__module ga__module;
ga__module *ga__module_retain(ga__module *module);
void ga__module_release(ga__module *module);

/* The kernel named `entry` in the code compiled for the device from what the recipe gives. Looked
 * up in memory by the recipe, then on disk, else filled, compiled and stored in both. Threads that
 * ask for the same at the same time compile it once and all get the result (a failure is not kept:
 * it is reported to all who waited, and the next call tries again). The function lives as long as
 * *module, which the caller releases. QUARRY_LOG=info has a line for every compile (its
 * milliseconds), debug one for every disk hit; QUARRY_DUMP_DIR receives every text as NAME-HASH.cu
 * or .cpp. NULL and an error on failure: a compiler's log has the text's lines with their numbers,
 * and lines between "#line" directives keep the user's numbering. */
ga__function *ga__module_function(ga__device *device, const ga__recipe *recipe, const char *entry,
                                  ga__module **module);

/* Writes to *code (ga__code_reset it) the code of the source, which is looked up, compiled, stored
 * and reported as a template's is. Memory keeps the last used ones, GA__SOURCE_BYTES together with
 * their texts. A source that includes files nobody follows is compiled each time. The compiler's
 * warnings become lines of the log at level info. */
#define GA__SOURCE_BYTES ((size_t)32 << 20)
ga_status ga__module_code(ga__device *device, const ga__cuda_source *source, ga__code *code);

/* Counters since the process began, for tests and `quarry info`. */
typedef struct ga__module_counts {
    int64_t compiled, disk_hits, memory_hits;
    int64_t loaded;      /* templates' code that is in use now */
    size_t source_bytes; /* of users' sources, kept now */
} ga__module_counts;
ga__module_counts ga__module_count(void);

/* For tests: forgets what is in memory (code in use stays loaded), so that the disk is asked again.
 */
void ga__module_forget(void);

#endif
