/* Compiles users' CUDA modules for the host. */
#ifndef GA_DEVICE_SIMT_BUILD_H
#define GA_DEVICE_SIMT_BUILD_H

#include "base/strbuf.h"
#include "device/backend.h"

/* As ga__backend.compile_cuda: the code is a shared object, which exports a ga_simt_kernel for each
 * of the source's kernels. Options are NVRTC's; those that concern a GPU alone are ignored, unknown
 * ones are GA_ERR_INVALID. */
ga_status ga__simt_compile(const ga__cuda_source *source, void **code, size_t *nbytes,
                           char **symbols, char **log);

/* As ga__backend.cuda_key. */
void ga__simt_key(ga__strbuf *key);

#endif
