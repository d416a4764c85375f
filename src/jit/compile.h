/* From a filled template to a loaded kernel: memory, then disk, then the compiler; each once. */
#ifndef GA_JIT_COMPILE_H
#define GA_JIT_COMPILE_H

#include "device/context.h"
#include "jit/packed.h"
#include "jit/template.h"

/* A template's code, loaded for devices of one architecture and reference-counted. Each caller that
 * gets or retains a module releases it. The last release drops it from memory; it is unloaded once
 * no launch uses it. */
typedef struct ga__module ga__module;
ga__module *ga__module_retain(ga__module *module);
void ga__module_release(ga__module *module);

/* The kernel `entry` in the code that the recipe makes for the device. Looks in memory, then on
 * disk, else fills the template, compiles it and stores the code in both. Threads that ask for the
 * same code at the same time compile it once. A failure reaches all waiting threads and is not
 * kept: the next call tries again. The function lives as long as *module, which the caller
 * releases. QUARRY_LOG=info logs each compile with its milliseconds, debug each disk hit;
 * QUARRY_DUMP_DIR receives each text as NAME-HASH.cu or .cpp. NULL and an error on failure: a
 * compiler's log is followed by the numbered lines of the text, and lines between "#line"
 * directives keep the user's numbers. */
ga__function *ga__module_function(ga__device *device, const ga__recipe *recipe, const char *entry,
                                  ga__module **module);

/* Writes the source's code to *code (ga__code_reset it). Looks it up, compiles, stores and reports
 * it as ga__module_function() does. Memory keeps the most recently used codes, GA__SOURCE_BYTES
 * with their texts. A source that includes files whose content Quarry does not track is compiled at
 * each call. The log has the compiler's warnings at level info. */
#define GA__SOURCE_BYTES ((size_t)32 << 20)
ga_status ga__module_code(ga__device *device, const ga__cuda_source *source, ga__code *code);

/* Counters since the process began, for tests and `quarry info`. */
typedef struct ga__module_counts {
    int64_t compiled, disk_hits, memory_hits;
    int64_t loaded;      /* template codes in use now */
    size_t source_bytes; /* of user sources kept now */
} ga__module_counts;
ga__module_counts ga__module_count(void);

/* For tests: empties the table in memory, so that the next call asks the disk. Code in use stays
 * loaded. */
void ga__module_forget(void);

#endif
