/* Replaces the simulator in builds with -Dsimt=disabled: users' CUDA modules need a GPU there. */
#include <string.h>

#include "base/error.h"
#include "device/simt/simt.h"

static ga_status unsupported(const char *what)
{
    return ga__fail(
        GA_ERR_UNSUPPORTED,
        "%s: this Quarry runs users' CUDA code only on GPUs: it was built with -Dsimt=disabled",
        what);
}

ga_status ga__simt_compile(const ga__cuda_source *source, void **code, size_t *nbytes,
                           char **symbols, char **log)
{
    (void)code, (void)nbytes, (void)symbols, (void)log;
    return unsupported(source->name);
}

ga_status ga__simt_link(const ga__link_inputs *inputs, void **code, size_t *nbytes)
{
    (void)code, (void)nbytes;
    return unsupported(inputs->name);
}

void ga__simt_key(ga__strbuf *key)
{
    ga__strbuf_add(key, "no simulator");
}

ga_status ga__simt_launch(const ga_simt_kernel *kernel, const ga__grid_launch *launch)
{
    (void)kernel;
    return unsupported(launch->name);
}

void ga__simt_info(const ga_simt_kernel *kernel, ga__function_info *info)
{
    (void)kernel;
    memset(info, 0, sizeof *info);
}

void ga__simt_trim(void)
{
}
