/* Fuzz target: any bytes as the arguments and, after a NUL, the texts of a custom kernel. */
#include "fuzz.h"

#include "user/arguments.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ga__arguments arguments;
    char *declared = fuzz_cut(&data, &size), *operation = fuzz_cut(&data, &size);
    char *preamble = fuzz_cut(&data, &size), *other = fuzz_cut(&data, &size);
    if (ga__arguments_parse(&arguments, "fuzz", declared) == GA_OK) {
        FUZZ_CHECK(arguments.count >= 0 && arguments.count <= GA__MAX_ARGUMENTS);
        ga__arguments_use(&arguments, operation, preamble, (const char *const[]){other, NULL});
        (void)ga__text_uses_index(operation);
        ga__arguments_reset(&arguments);
    } else {
        FUZZ_CHECK(ga_error() == GA_ERR_INVALID || ga_error() == GA_ERR_DTYPE);
    }
    ga_clear_error();
    free(declared);
    free(operation);
    free(preamble);
    free(other);
    return 0;
}
