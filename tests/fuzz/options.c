/* Fuzz target: any bytes as the compiler options of a user's module, each followed by a NUL. */
#include "fuzz.h"

#include "device/simt/options.h"

enum { MOST = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *options[MOST + 1] = {NULL};
    ga__strbuf words = GA__STRBUF_INIT, lines = GA__STRBUF_INIT;
    for (int i = 0; i < MOST && size > 0; i++)
        options[i] = fuzz_cut(&data, &size);
    const ga__cuda_source source = {
        .name = "fuzz.cu", .text = "", .options = (const char *const *)options};
    (void)ga__simt_options(&source, &words, &lines);
    ga__strbuf_reset(&words);
    ga__strbuf_reset(&lines);
    ga_clear_error();
    for (int i = 0; i < MOST; i++)
        free(options[i]);
    return 0;
}
