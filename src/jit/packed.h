/* Code of a user's source as one block, in memory and on disk. */
#ifndef GA_JIT_PACKED_H
#define GA_JIT_PACKED_H

#include <stddef.h>

#include <quarry/error.h>

/* The result of compiling a user's source. */
typedef struct ga__code {
    void *bytes; /* machine code, for the device's load() */
    size_t nbytes;
    char *symbols; /* of the source's `kernels`, in order, each ended by '\n' */
} ga__code;

/* Machine code, symbols and their '\0', and the length of the machine code. */
typedef struct ga__packed {
    size_t nbytes;
    char bytes[];
} ga__packed;

/* Both return one block (ga__free it); NULL and an error when memory is out. */
ga__packed *ga__pack(const void *code, size_t nbytes, const char *symbols);
ga__packed *ga__repack(const void *bytes, size_t nbytes); /* from the bytes of a packed code */

/* Copies the packed code to *code (ga__code_reset it). GA_ERR_MEMORY. */
ga_status ga__unpack(const ga__packed *packed, ga__code *code);
void ga__code_reset(ga__code *code);

#endif
