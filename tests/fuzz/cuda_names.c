/* Fuzz target: any bytes as a user's CUDA source, in which kernels and variables are looked for. */
#include "fuzz.h"

#include "jit/includes.h"
#include "user/cuda_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ga__cuda_names names;
    char *text = fuzz_text(data, size);
    const ga__cuda_source source = {.name = "fuzz.cu", .text = text};
    FUZZ_CHECK(ga__cuda_names_find(&names, text) == GA_OK);
    for (size_t i = 0; i < names.kernels.count; i++)
        FUZZ_CHECK(*names.kernels.text[i] != '\0');
    ga__cuda_names_reset(&names);
    (void)ga__includes_files(&source);
    free(text);
    return 0;
}
