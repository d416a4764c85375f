/* Links device code with nvJitLink, which is loaded at first use. */
#ifndef GA_DEVICE_CUDA_NVJITLINK_H
#define GA_DEVICE_CUDA_NVJITLINK_H

#include "device/backend.h"

/* Links to a cubin for sm_`arch`, as ga__user_verbs.link specifies. Needs no GPU and no driver. */
ga_status ga__nvjitlink_link(const ga__link_inputs *inputs, int arch, void **code, size_t *nbytes);

/* Loads nvJitLink and writes its version and path. GA_ERR_COMPILE, saying what to install, if there
 * is none. */
ga_status ga__nvjitlink_found(char *text, size_t size);

#endif
