/* Translates NVRTC's options to those of the host's C++ compiler. */
#ifndef GA_DEVICE_SIMT_OPTIONS_H
#define GA_DEVICE_SIMT_OPTIONS_H

#include "base/strbuf.h"
#include "device/backend.h"

/* Appends the words for the compiler, each followed by a NUL, and the lines that go before the
 * user's text: -D, -U and -include must not affect the simulator's own text. Options that concern
 * only a GPU produce nothing; GA_ERR_INVALID for options that NVRTC does not have. */
ga_status ga__simt_options(const ga__cuda_source *source, ga__strbuf *words, ga__strbuf *lines);

#endif
