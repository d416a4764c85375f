/* The C++ compiler that the environment chooses for the host's kernels. */
#ifndef GA_DEVICE_CPU_COMPILER_H
#define GA_DEVICE_CPU_COMPILER_H

#include <quarry/error.h>

#include "base/texts.h"

/* What a look at the environment found. */
typedef struct ga__compiler {
    ga__texts command; /* the program's path, then the other words of QUARRY_CXX */
    ga__texts flags;   /* the words of QUARRY_CXXFLAGS */
    char *key;         /* the program's file (path, size, time), all words, the processor: what code
                          depends on besides the source and our options; ends with a blank */
} ga__compiler;

/* The compiler that the environment names now: QUARRY_CXX, or the first of c++, g++ and clang++ in
 * the absolute folders of the search path; NULL where there is none, which is no error yet. It is
 * looked up once for each setting of the environment: what was found is what is run. It starts no
 * process. The object stays as long as this process. GA_ERR_MEMORY. */
ga_status ga__compiler_find(const ga__compiler **compiler);

/* The same; where there is none, GA_ERR_COMPILE says what to install. */
ga_status ga__compiler_get(const ga__compiler **compiler);

#endif
