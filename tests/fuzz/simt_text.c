/* Fuzz target: any bytes as a user's CUDA source, rewritten for the host; its lines stay. */
#include "fuzz.h"

#include "base/alloc.h"
#include "device/simt/rewrite.h"

static size_t lines_in(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool dynamic = false;
    char *text = fuzz_text(data, size);
    char *rewritten = ga__simt_rewrite(text, &dynamic);
    FUZZ_CHECK(rewritten != NULL && lines_in(rewritten) == lines_in(text));
    ga__free(rewritten);
    free(text);
    return 0;
}
