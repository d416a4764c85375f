/* Fuzz target: the bytes choose the options of ga_loadtxt(), and are its file and a format of
 * ga_savetxt(). */
#include "fuzz.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include <quarry/text.h>

#include "ops/text/text_format.h"

static void load(const char *path, const uint8_t choice[4])
{
    static const ga_dtype dtypes[] = {GA_FLOAT64, GA_INT8,     GA_UINT64,    GA_BOOL,
                                      GA_FLOAT16, GA_BFLOAT16, GA_COMPLEX64, GA_FLOAT32};
    static const char *const delimiters[] = {NULL, ",", "\t", ";"}, *const comments[] = {NULL,
                                                                                         "//"};
    const int columns[] = {choice[3] % 8 - 4, 0};
    const ga_loadtxt_args args = {.path = path,
                                  .dtype = dtypes[choice[0] % 8],
                                  .delimiter = delimiters[choice[1] % 4],
                                  .comments = comments[choice[1] / 4 % 2],
                                  .quotechar = choice[1] / 8 % 2 ? "\"" : NULL,
                                  .skiprows = choice[2] % 4,
                                  .max_rows = choice[2] / 4 % 4,
                                  .ndmin = choice[2] / 16 % 3,
                                  .nusecols = choice[3] / 8 % 3,
                                  .usecols = columns};
    gpuarray *x = (ga_loadtxt)(sizeof args, &args);
    FUZZ_CHECK((x != NULL) == (ga_error() == GA_OK));
    ga_free(x);
    ga_clear_error();
}

static void format(const char *text)
{
    static const ga_dtype dtypes[] = {GA_INT64, GA_FLOAT64};
    ga__text_format f;
    if (ga__text_format_read(&f, text) == GA_OK) {
        ga__strbuf out = GA__STRBUF_INIT;
        for (int k = 0; k < f.count; k++)
            for (int n = 0; n < 2; n++) {
                ga__text_add_plain(&out, f.pieces[k].text, f.pieces[k].length);
                ga__text_add_number(&out, &f.pieces[k],
                                    n ? ga_value_floating(dtypes[n], -1.5e300, 0)
                                      : ga_value_signed(dtypes[n], INT64_MIN));
            }
        FUZZ_CHECK(!out.failed);
        ga__strbuf_reset(&out);
        ga__text_format_reset(&f);
    }
    ga_clear_error();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[64];
    char text[256];
    if (size < 4)
        return 0;
    if (fd < 0) {
        FUZZ_CHECK(ga_set_device("cpu") == GA_OK);
        fd = memfd_create("fuzz", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    }
    FUZZ_CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, data + 4, size - 4, 0) == (ssize_t)(size - 4));
    load(path, data);
    snprintf(text, sizeof text, "%.*s", (int)(size - 4 < 255 ? size - 4 : 255),
             (const char *)data + 4);
    format(text);
    return 0;
}
