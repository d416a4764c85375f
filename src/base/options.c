/* Copies options and results between a program and a library that know structs of different size.
 */
#include "base/options.h"

#include <string.h>

#include "base/error.h"

/* Copies the bytes that both know and clears the rest of the target. */
static void copy_known(void *to, size_t to_size, const void *from, size_t from_size)
{
    const size_t shared = to_size < from_size ? to_size : from_size;

    memcpy(to, from, shared);
    memset((char *)to + shared, 0, to_size - shared);
}

ga_status ga__options_read(const char *name, void *to, size_t known, const void *from, size_t size)
{
    if (!from)
        return ga__fail(GA_ERR_INVALID, "%s: the options are NULL", name);
    for (size_t k = known; k < size; k++)
        if (((const char *)from)[k])
            return ga__fail(GA_ERR_UNSUPPORTED,
                            "%s: the program sets an option at byte %zu, Quarry " QUARRY_VERSION
                            " knows %zu bytes of options",
                            name, k, known);
    copy_known(to, known, from, size);
    return GA_OK;
}

void ga__options_write(void *to, size_t size, const void *from, size_t known)
{
    copy_known(to, size, from, known);
}
