/* Whether a text uses CUDA's vocabulary, which takes the host's compiler long to read. */
#ifndef GA_USER_CUDA_WORDS_H
#define GA_USER_CUDA_WORDS_H

#include <stdbool.h>

/* Whether the text has a word of templates/simt/cuda_words.host or cuda_vectors.host, or an index
 * such as threadIdx. Words that only look so count too. */
bool ga__uses_cuda_words(const char *text);

#endif
