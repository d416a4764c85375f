/* Compiles a filled template with the system's C++ compiler. */
#ifndef GA_DEVICE_CXX_H
#define GA_DEVICE_CXX_H

#include "device/backend.h"

/* A shared object's bytes (ga__free them). GA_ERR_COMPILE with the compiler's log, or when there is
 * no compiler. */
ga_status ga__cxx_compile(const ga__source *source, void **code, size_t *nbytes);

/* The compiler's file (path, size, time), the options, and the processor that -march=native means
 * here. A static string, made once; starts no process. */
const char *ga__cxx_key(bool fast_math);

/* Writes which compiler is used, "/usr/bin/c++"; starts no process. GA_ERR_COMPILE, saying what to
 * install, when there is none. */
ga_status ga__cxx_found(char *text, size_t size);

#endif
