/* Packs the code of a user's source with its symbols, and unpacks copies. */
#include "jit/packed.h"

#include <string.h>

#include "base/alloc.h"

ga__packed *ga__pack(const void *code, size_t nbytes, const char *symbols)
{
    const size_t symbol_bytes = strlen(symbols) + 1;
    const uint64_t length = nbytes;
    ga__packed *packed = ga__malloc(sizeof *packed + nbytes + symbol_bytes + sizeof length);
    if (!packed)
        return NULL;
    packed->nbytes = nbytes + symbol_bytes + sizeof length;
    memcpy(packed->bytes, code, nbytes);
    memcpy(packed->bytes + nbytes, symbols, symbol_bytes);
    memcpy(packed->bytes + nbytes + symbol_bytes, &length, sizeof length);
    return packed;
}

ga__packed *ga__repack(const void *bytes, size_t nbytes)
{
    ga__packed *packed = ga__malloc(sizeof *packed + nbytes);
    if (!packed)
        return NULL;
    packed->nbytes = nbytes;
    memcpy(packed->bytes, bytes, nbytes);
    return packed;
}

ga_status ga__unpack(const ga__packed *packed, ga__code *code)
{
    uint64_t length;
    memcpy(&length, packed->bytes + packed->nbytes - sizeof length, sizeof length);
    char *bytes = ga__malloc(length);
    char *symbols = ga__strdup(packed->bytes + length);
    if (!bytes || !symbols) {
        ga__free(bytes);
        ga__free(symbols);
        return GA_ERR_MEMORY;
    }
    memcpy(bytes, packed->bytes, length);
    *code = (ga__code){bytes, length, symbols};
    return GA_OK;
}

void ga__code_reset(ga__code *code)
{
    ga__free(code->bytes);
    ga__free(code->symbols);
    *code = (ga__code){NULL, 0, NULL};
}
