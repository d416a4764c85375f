/* Compiles filled templates and users' sources with NVRTC, which is loaded when first needed. */
#ifndef GA_DEVICE_CUDA_NVRTC_H
#define GA_DEVICE_CUDA_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

#include "device/backend.h"

/* A cubin for sm_`arch` (ga__free it). Needs no GPU and no driver. GA_ERR_COMPILE with the
 * compiler's log, or saying what to install when there is no NVRTC. `name` stands in messages. */
ga_status ga__nvrtc_compile(const char *name, const char *text, int arch, bool fast_math,
                            void **code, size_t *nbytes);

/* A cubin of a user's source, as ga__backend.compile_cuda gives it. Angle-bracket includes find the
 * headers of the CUDA toolkit (CUDA_HOME, CUDA_PATH or /usr/local/cuda) where it is installed. */
ga_status ga__nvrtc_compile_cuda(const ga__cuda_source *source, int arch, void **code,
                                 size_t *nbytes, char **symbols, char **log);

/* Writes all that the code depends on besides source and architecture, without loading NVRTC. */
void ga__nvrtc_describe(char *text, size_t size, bool fast_math);
void ga__nvrtc_describe_cuda(char *text, size_t size);

/* Loads NVRTC and writes which one: "NVRTC 13.0, /usr/lib/libnvrtc.so.13". GA_ERR_COMPILE, saying
 * what to install, when there is none. */
ga_status ga__nvrtc_found(char *text, size_t size);

#endif
