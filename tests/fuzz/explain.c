/* Fuzz target: any bytes as a compiler's message and, after a NUL, the text that it refers to. */
#include "fuzz.h"

#include "base/alloc.h"
#include "jit/explain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *message = fuzz_cut(&data, &size), *text = fuzz_cut(&data, &size);
    char *of_template = ga__explain_template(message, text);
    char *of_source = ga__explain_source(message, text, "x.cu");
    FUZZ_CHECK(of_template != NULL && of_source != NULL);
    ga__free(of_template);
    ga__free(of_source);
    free(message);
    free(text);
    return 0;
}
