/* What stands for NVIDIA's profilers in tests: writes each range of NVTX, indented by its depth, to
 * $FAKE_NVTX. */
#include <stdio.h>
#include <stdlib.h>

#include <nvtx3/nvToolsExt.h>

static FILE *file;
static int depth;

static nvtxDomainHandle_t NVTX_API create(const char *name)
{
    fprintf(file, "domain %s\n", name);
    return (nvtxDomainHandle_t)file;
}

static int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    fprintf(file, "%*s%s%s\n", 2 * depth++, "", event->message.ascii,
            domain == (nvtxDomainHandle_t)file ? "" : " in no domain");
    return depth - 1;
}

static int NVTX_API pop(nvtxDomainHandle_t domain)
{
    (void)domain;
    fflush(file);
    return --depth;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get);

int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get)
{
    const NvtxExportTableCallbacks *callbacks = get(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table;
    unsigned count = 0;
    const char *path = getenv("FAKE_NVTX");
    file = fopen(path ? path : "/dev/stderr", "w");
    if (!file || !callbacks ||
        !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &count))
        return 0;
    *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)push;
    *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)pop;
    return 1;
}
