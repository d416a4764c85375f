/* Finds an embedded file by name. */
#include "base/embedded.h"

#include <string.h>

const ga__embedded *ga__embedded_file(const char *name, size_t length)
{
    for (const ga__embedded *file = ga__templates; file->name; file++) {
        if (strlen(file->name) == length && memcmp(file->name, name, length) == 0)
            return file;
    }
    return NULL;
}
