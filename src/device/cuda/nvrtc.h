/* Compiles filled templates and users' sources with NVRTC, which is loaded at first use. */
#ifndef GA_DEVICE_CUDA_NVRTC_H
#define GA_DEVICE_CUDA_NVRTC_H

#include <stdbool.h>
#include <stddef.h>

#include "device/backend.h"

/* Compiles to a cubin for sm_`arch` (ga__free it). Needs no GPU and no driver. GA_ERR_COMPILE with
 * the compiler's log, or with what to install if there is no NVRTC. `name` is for messages. */
ga_status ga__nvrtc_compile(const char *name, const char *text, int arch, bool fast_math,
                            void **code, size_t *nbytes);

/* Compiles a user's source to a cubin, as ga__user_verbs.compile specifies. Angle-bracket includes
 * find the headers of the CUDA toolkit (CUDA_HOME, CUDA_PATH or /usr/local/cuda) if it is
 * installed. */
ga_status ga__nvrtc_compile_cuda(const ga__cuda_source *source, int arch, void **code,
                                 size_t *nbytes, char **symbols, char **log);

/* Writes everything besides source and architecture that the code depends on, without loading
 * NVRTC. */
void ga__nvrtc_describe(char *text, size_t size, bool fast_math);
void ga__nvrtc_describe_cuda(char *text, size_t size);

/* Loads NVRTC and writes its version and path: "NVRTC 13.0, /usr/lib/libnvrtc.so.13".
 * GA_ERR_COMPILE, saying what to install, if there is none. */
ga_status ga__nvrtc_found(char *text, size_t size);

#endif
