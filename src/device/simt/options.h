/* Turns NVRTC's options into those of the host's C++ compiler. */
#ifndef GA_DEVICE_SIMT_OPTIONS_H
#define GA_DEVICE_SIMT_OPTIONS_H

#include "base/strbuf.h"
#include "device/backend.h"

/* Appends the words for the compiler, each ended by a NUL, and the lines that go before the user's
 * text: what -D, -U and -include say must not meet the simulator's own. Options that concern a GPU
 * alone give nothing; GA_ERR_INVALID for those that NVRTC has not. */
ga_status ga__simt_options(const ga__cuda_source *source, ga__strbuf *words, ga__strbuf *lines);

#endif
