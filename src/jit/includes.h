/* Finds whether a user's source includes files whose content Quarry does not track. */
#ifndef GA_JIT_INCLUDES_H
#define GA_JIT_INCLUDES_H

#include <stdbool.h>

#include "device/backend.h"

/* True when the code may depend on the user's files: an option names a directory or a file, or the
 * name of an #include "name" is not among the given headers. Otherwise files in <angles> are the
 * compiler's own. */
bool ga__includes_files(const ga__cuda_source *source);

#endif
