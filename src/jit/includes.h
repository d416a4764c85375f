/* Whether a user's source includes files whose content nobody follows. */
#ifndef GA_JIT_INCLUDES_H
#define GA_JIT_INCLUDES_H

#include <stdbool.h>

#include "device/backend.h"

/* True when the code may depend on files of the user's: an option names a directory or a file, or
 * an #include "name" is none of the headers given. Files in <angles> are then the compiler's own.
 */
bool ga__includes_files(const ga__cuda_source *source);

#endif
