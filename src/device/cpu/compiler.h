/* Finds the C++ compiler that the environment selects for the host's kernels. */
#ifndef GA_DEVICE_CPU_COMPILER_H
#define GA_DEVICE_CPU_COMPILER_H

#include <quarry/error.h>

#include "base/texts.h"

/* The compiler and flags that the environment selects. */
typedef struct ga__compiler {
    ga__texts command; /* the program's path, then the other words of QUARRY_CXX */
    ga__texts flags;   /* the words of QUARRY_CXXFLAGS */
    char *key;         /* what code depends on besides the source and our options: the program's
                        * file (path, size, time), all words, the processor; ends with a blank */
} ga__compiler;

/* The compiler that the environment names now: QUARRY_CXX, or the first of c++, g++ and clang++ in
 * the absolute folders of the search path; NULL if there is none, which is not yet an error. Each
 * setting of the environment is looked up once, and the program found then is the one that runs.
 * Starts no process. The object lives as long as the process. GA_ERR_MEMORY. */
ga_status ga__compiler_find(const ga__compiler **compiler);

/* The same, but GA_ERR_COMPILE, saying what to install, if there is none. */
ga_status ga__compiler_get(const ga__compiler **compiler);

#endif
