/* Links users' CUDA modules for the host: the system's C++ compiler calls its linker. */
#include "device/simt/link.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/system.h"
#include "base/os/temporary.h"
#include "base/texts.h"
#include "device/cpu/cxx.h"
#include "device/simt/simt.h"

/* A function that no piece defines is an error here, not when the code is loaded. */
static const char *const options[] = {"-shared", "-nostdlib", "-fPIC", "-Wl,-Bsymbolic",
                                      "-Wl,--no-undefined"};

/* Writes the pieces to the folder and adds their paths. */
static ga_status write_pieces(const ga__link_inputs *inputs, const char *folder, ga__texts *words)
{
    ga_status status = GA_OK;
    for (size_t k = 0; k < inputs->count && status == GA_OK; k++) {
        ga__strbuf path = GA__STRBUF_INIT;
        ga__strbuf_addf(&path, "%s/%zu.o", folder, k);
        status = path.failed
                     ? GA_ERR_MEMORY
                     : ga__write_file(path.text, inputs->pieces[k].bytes, inputs->pieces[k].nbytes);
        if (status == GA_OK)
            ga__texts_add(words, path.text);
        ga__strbuf_reset(&path);
    }
    return status;
}

static ga_status link_in(const char *folder, const ga__link_inputs *inputs, ga__texts *words,
                         void **code, size_t *nbytes)
{
    ga__process_end end = {.output = NULL};
    ga__strbuf output = GA__STRBUF_INIT;
    for (size_t k = 0; k < sizeof options / sizeof *options; k++)
        ga__texts_add(words, options[k]);
    ga_status status = write_pieces(inputs, folder, words);
    ga__texts_add(words, "-lm");
    ga__strbuf_addf(&output, "%s/linked.so", folder);
    if (status == GA_OK && (words->failed || output.failed))
        status = GA_ERR_MEMORY;
    if (status == GA_OK)
        status = ga__cxx_run(ga__texts_list(words), folder, "-lc", output.text, &end);
    if (status == GA_OK)
        status = ga__cxx_take(inputs->name, output.text, &end, code, nbytes);
    if (status == GA_OK)
        ga__simt_separate_statics(*code);
    ga__free(end.output);
    ga__strbuf_reset(&output);
    return status;
}

ga_status ga__simt_link(const ga__link_inputs *inputs, void **code, size_t *nbytes)
{
    ga__temporary folder;
    ga__texts words = {0};
    if (inputs->files && *inputs->files)
        return ga__fail(GA_ERR_UNSUPPORTED, "%s: GPU code such as %s does not link on the host",
                        inputs->name, *inputs->files);
    ga_status status = ga__temporary_init(&folder);
    if (status != GA_OK)
        return status;
    status = link_in(folder.path, inputs, &words, code, nbytes);
    ga__temporary_reset(&folder);
    ga__texts_reset(&words);
    return status;
}
