/* Users' CUDA modules on the CPU, an aid for testing and debugging: five functions. */
#ifndef GA_DEVICE_SIMT_SIMT_H
#define GA_DEVICE_SIMT_SIMT_H

#include "base/strbuf.h"
#include "device/backend.h"
#include "simt_abi.host"

/* As ga__user_verbs.compile: the code is a shared object, which exports a ga_simt_kernel for each
 * of the source's kernels. Options are NVRTC's; those that concern a GPU alone are ignored, unknown
 * ones are GA_ERR_INVALID. */
ga_status ga__simt_compile(const ga__cuda_source *source, void **code, size_t *nbytes,
                           char **symbols, char **log);

/* As ga__user_verbs.key. */
void ga__simt_key(ga__strbuf *key);

/* Runs all blocks and returns when they are done. GA_ERR_INVALID when the launch is beyond the
 * limits of compute capability 9.0; GA_ERR_DEVICE, naming block and threads, when threads of a
 * block wait for one another for ever, or the kernel does what has no meaning. */
ga_status ga__simt_launch(const ga_simt_kernel *kernel, const ga__grid_launch *launch);

/* Of static shared memory only the module's whole is known: shared_bytes is that, or the most that
 * a kernel may have. */
void ga__simt_info(const ga_simt_kernel *kernel, ga__function_info *info);

/* Gives back the stacks that nobody uses. */
void ga__simt_trim(void);

#endif
