/* Runs kernels of users' CUDA modules on the host: an aid for testing and debugging. */
#ifndef GA_DEVICE_SIMT_LAUNCH_H
#define GA_DEVICE_SIMT_LAUNCH_H

#include "device/backend.h"
#include "simt_abi.host"

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
