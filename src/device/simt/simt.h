/* Runs users' CUDA modules on the CPU, for testing and debugging: six functions. */
#ifndef GA_DEVICE_SIMT_SIMT_H
#define GA_DEVICE_SIMT_SIMT_H

#include "base/strbuf.h"
#include "device/backend.h"
#include "simt_abi.host"

/* Like ga__user_verbs.compile: the code is a shared object that exports a ga_simt_kernel for each
 * of the source's kernels. The options are NVRTC's; those that concern only a GPU are ignored,
 * unknown ones give GA_ERR_INVALID. */
ga_status ga__simt_compile(const ga__cuda_source *source, void **code, size_t *nbytes,
                           char **symbols, char **log);

/* Like ga__user_verbs.link, by the system's linker. Files are GA_ERR_UNSUPPORTED. */
ga_status ga__simt_link(const ga__link_inputs *inputs, void **code, size_t *nbytes);

/* Like ga__user_verbs.key. */
void ga__simt_key(ga__strbuf *key);

/* Runs all blocks and returns when they are done. The launch has passed ga__check_grid.
 * GA_ERR_DEVICE, naming block and threads, if threads of a block wait for each other forever or the
 * kernel executes an undefined operation. */
ga_status ga__simt_launch(const ga_simt_kernel *kernel, const ga__grid_launch *launch);

/* Only the module's total static shared memory is known: shared_bytes is that total, limited to the
 * maximum for one kernel. */
void ga__simt_info(const ga_simt_kernel *kernel, ga__function_info *info);

/* Frees the unused stacks. */
void ga__simt_trim(void);

#endif
