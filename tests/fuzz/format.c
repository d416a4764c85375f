/* Fuzz target: any bytes as an array to print; the first ones are its dtype and shape. */
#include "fuzz.h"

enum { HEAD = 4, DTYPES = GA_DTYPE_COUNT - 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char elements[65536];
    static bool ready;
    if (!ready)
        ready = ga_set_device("cpu") == GA_OK;
    if (size < HEAD)
        return 0;
    const ga_dtype dtype = (ga_dtype)(1 + data[0] % DTYPES);
    const int ndim = data[0] / DTYPES % 4;
    const int64_t shape[3] = {data[1] % 16, data[2] % 16, data[3] % 16};
    const size_t given = size - HEAD < sizeof elements ? size - HEAD : sizeof elements;
    memset(elements, 0, sizeof elements);
    memcpy(elements, data + HEAD, given);
    gpuarray *x = ga_from_host(elements, dtype, ndim, shape);
    FUZZ_CHECK(x != NULL);
    char *text = ga_format(x);
    FUZZ_CHECK(text != NULL);
    free(text);
    ga_free(x);
    return 0;
}
