/* Runs the system's C++ compiler on filled templates and on users' CUDA modules. */
#ifndef GA_DEVICE_CPU_CXX_H
#define GA_DEVICE_CPU_CXX_H

#include "base/os/process.h"
#include "base/strbuf.h"
#include "device/backend.h"

/* Compiles to the bytes of a shared object (ga__free them). GA_ERR_COMPILE with the compiler's log,
 * or if there is no compiler. */
ga_status ga__cxx_compile(const ga__source *source, void **code, size_t *nbytes);

/* Runs the compiler on a file. Its arguments are the words of QUARRY_CXX, the options for the
 * processor, the given options (the list ends with NULL), the words of QUARRY_CXXFLAGS, the files,
 * and the libraries that every module needs. Its own temporary files go to `directory`. The time
 * limit is QUARRY_COMPILE_TIMEOUT seconds. GA_ERR_COMPILE if there is no compiler; the errors of
 * ga__process_run(). */
ga_status ga__cxx_run(const char *const *options, const char *directory, const char *input,
                      const char *output, ga__process_end *end);

/* Reads the shared object that such a run left at `path`, for the source of this name. If the
 * compiler's exit status is unknown, the file decides. GA_ERR_COMPILE with the compiler's output if
 * it failed or wrote no complete shared object; GA_ERR_IO if it took too long. */
ga_status ga__cxx_take(const char *name, const char *path, const ga__process_end *end, void **code,
                       size_t *nbytes);

/* Appends the part of the key that depends on the environment: the compiler (its file, all words)
 * and the processor. Starts no process. */
void ga__cxx_identify(ga__strbuf *key);

/* Appends the same and the options. Starts no process. */
void ga__cxx_key(bool fast_math, ga__strbuf *key);

/* Writes which compiler is used, "/usr/bin/c++"; starts no process. GA_ERR_COMPILE, saying what to
 * install, if there is none. */
ga_status ga__cxx_found(char *text, size_t size);

#endif
