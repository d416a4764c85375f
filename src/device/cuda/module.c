/* Users' own modules on CUDA: finds kernels and variables in loaded code, and launches. */
#include "device/cuda/module.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "device/cuda/shared.h"

/* ---- Kernels by name ---- */

/* Appends one "3add" of a mangled name as "add", preceded by "::" unless it is the first; advances
 * *at. */
static bool add_component(ga__strbuf *name, const char **at)
{
    char *start;
    const unsigned long length = strtoul(*at, &start, 10);
    if (!isdigit((unsigned char)**at) || length > strlen(start))
        return false;
    if (name->length > 0)
        ga__strbuf_add(name, "::");
    ga__strbuf_add_bytes(name, start, length);
    *at = start + length;
    return true;
}

/* Appends the symbol's name in the source, without parameters: "_ZN2ns3addEPf" becomes "ns::add",
 * an instance of a template ends in "<...>", and a symbol that is not mangled is its own name.
 * Follows the Itanium C++ ABI, section 5.1. */
static void add_source_name(ga__strbuf *name, const char *symbol)
{
    const char *at = symbol + 2;
    ga__strbuf parsed = GA__STRBUF_INIT;
    const bool mangled = strncmp(symbol, "_Z", 2) == 0;
    const bool nested = mangled && *at == 'N';
    at += nested;
    bool right = mangled && add_component(&parsed, &at);
    while (right && nested && isdigit((unsigned char)*at))
        right = add_component(&parsed, &at);
    if (right && *at == 'I')
        ga__strbuf_add(&parsed, "<...>");
    ga__strbuf_add(name, right && parsed.text ? parsed.text : symbol);
    ga__strbuf_reset(&parsed);
}

static bool has_source_name(const char *symbol, const char *wanted)
{
    ga__strbuf name = GA__STRBUF_INIT;
    add_source_name(&name, symbol);
    const bool same = name.text && strcmp(name.text, wanted) == 0;
    ga__strbuf_reset(&name);
    return same;
}

/* The kernels of an image (ga__free) and their symbols (in the same block; the driver owns the
 * texts). */
typedef struct kernel_list {
    unsigned count;
    cudaKernel_t *kernels;
    const char **symbols;
} kernel_list;

static ga_status list_kernels(ga__image *image, kernel_list *list)
{
    unsigned count = 0;
    cudaError_t error = cudaLibraryGetKernelCount(&count, (cudaLibrary_t)image);
    char *block = ga__calloc(count, sizeof *list->kernels + sizeof *list->symbols);
    if (block == NULL)
        return GA_ERR_MEMORY;
    list->count = count;
    list->kernels = (cudaKernel_t *)(void *)block;
    list->symbols = (const char **)(void *)(list->kernels + count);
    if (error == cudaSuccess && count > 0)
        error = cudaLibraryEnumerateKernels(list->kernels, count, (cudaLibrary_t)image);
    for (unsigned i = 0; i < count && error == cudaSuccess; i++)
        error = cudaFuncGetName(&list->symbols[i], list->kernels[i]);
    if (error == cudaSuccess)
        return GA_OK;
    ga__free(block);
    (void)cudaGetLastError();
    return ga__fail(GA_ERR_DEVICE, "module: listing a module's kernels: %s",
                    cudaGetErrorString(error));
}

/* Raises that no kernel, or more than one, has this name. */
static ga_status fail_find(const kernel_list *list, const char *name, int matches)
{
    ga__strbuf names = GA__STRBUF_INIT;
    for (unsigned i = 0; i < list->count; i++) {
        if (matches > 1 && !has_source_name(list->symbols[i], name))
            continue;
        ga__strbuf_add(&names, names.length > 0 ? ", " : "");
        if (matches > 1)
            ga__strbuf_add(&names, list->symbols[i]);
        else
            add_source_name(&names, list->symbols[i]);
    }
    const char *listed = names.text ? names.text : "none";
    ga_status status =
        matches > 1 ? ga__fail(GA_ERR_INVALID,
                               "module: %d kernels are named \"%s\": take one by its symbol: %s",
                               matches, name, listed)
                    : ga__fail(GA_ERR_INVALID, "module: there is no kernel \"%s\"; its kernels: %s",
                               name, listed);
    ga__strbuf_reset(&names);
    return status;
}

/* Finds a kernel by its name in the source, which a C++ symbol encodes. */
static ga_status find_in_list(const kernel_list *list, const char *name, ga__function **function)
{
    int matches = 0;
    cudaKernel_t found = NULL;
    for (unsigned i = 0; i < list->count; i++) {
        if (!has_source_name(list->symbols[i], name))
            continue;
        matches++;
        found = list->kernels[i];
    }
    if (matches != 1)
        return fail_find(list, name, matches);
    *function = (ga__function *)found;
    return GA_OK;
}

static bool find_symbol(ga__image *image, const char *symbol, ga__function **function)
{
    cudaKernel_t kernel;
    if (cudaLibraryGetKernel(&kernel, (cudaLibrary_t)image, symbol) != cudaSuccess) {
        (void)cudaGetLastError();
        return false;
    }
    *function = (ga__function *)kernel;
    return true;
}

ga_status ga__cuda_find(ga__image *image, const char *symbol, ga__function **function)
{
    if (find_symbol(image, symbol, function))
        return GA_OK;
    return ga__fail(GA_ERR_INVALID, "module: there is no kernel \"%s\"", symbol);
}

ga_status ga__cuda_find_by_name(ga__image *image, const char *name, ga__function **function)
{
    kernel_list list;
    if (find_symbol(image, name, function))
        return GA_OK;
    ga_status status = list_kernels(image, &list);
    if (status != GA_OK)
        return status;
    status = find_in_list(&list, name, function);
    ga__free(list.kernels);
    return status;
}

/* ---- Variables ---- */

ga_status ga__cuda_global(ga__device *device, ga__image *image, const char *symbol, void **memory,
                          size_t *nbytes)
{
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    const cudaError_t error = cudaLibraryGetGlobal(memory, nbytes, (cudaLibrary_t)image, symbol);
    if (error == cudaErrorSymbolNotFound || error == cudaErrorInvalidValue) {
        (void)cudaGetLastError();
        return ga__fail(GA_ERR_INVALID, "module: there is no variable \"%s\"", symbol);
    }
    return error == cudaSuccess ? GA_OK : ga__cuda_fail(device, error, "finding a variable");
}

/* ---- Properties that a launch needs ---- */

/* The runtime reveals the number of parameters only by rejecting the index after the last one. */
static ga_status read_parameters(const ga__device *device, ga__function *function,
                                 ga__function_info *info)
{
    size_t offset;
    cudaError_t error = cudaSuccess;
    for (info->nparams = 0; info->nparams < GA__MAX_PARAMS; info->nparams++) {
        error = cudaFuncGetParamInfo(function, (size_t)info->nparams, &offset,
                                     &info->param_bytes[info->nparams]);
        if (error != cudaSuccess)
            break;
    }
    if (error == cudaSuccess)
        return ga__fail(GA_ERR_UNSUPPORTED, "module: a kernel has more than %d parameters",
                        GA__MAX_PARAMS);
    if (error != cudaErrorInvalidValue)
        return ga__cuda_fail(device, error, "reading a kernel's parameters");
    (void)cudaGetLastError();
    return GA_OK;
}

cudaError_t ga__cuda_allow_shared(const ga__device *device, cudaKernel_t kernel, size_t own)
{
    return cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                           (int)(device->shared_bytes - own), device->index);
}

ga_status ga__cuda_function_info(ga__device *device, ga__function *function,
                                 ga__function_info *info)
{
    struct cudaFuncAttributes attributes;
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    cudaError_t error = cudaFuncGetAttributes(&attributes, (const void *)function);
    if (error != cudaSuccess)
        return ga__cuda_fail(device, error, "reading a kernel's attributes");
    info->registers = attributes.numRegs;
    info->max_threads = attributes.maxThreadsPerBlock;
    info->shared_bytes = attributes.sharedSizeBytes;
    info->local_bytes = attributes.localSizeBytes;
    info->constant_bytes = attributes.constSizeBytes;
    info->max_shared_bytes = device->shared_bytes;
    error = ga__cuda_allow_shared(device, (cudaKernel_t)function, info->shared_bytes);
    if (error != cudaSuccess)
        return ga__cuda_fail(device, error, "allowing a kernel its shared memory");
    return read_parameters(device, function, info);
}

/* ---- Launches ---- */

static ga_status fail_launch(const ga__device *device, cudaError_t error,
                             const ga__grid_launch *launch)
{
    char what[256];
    snprintf(what, sizeof what,
             "launch of \"%.80s\" on a grid of (%lld, %lld, %lld) blocks of (%lld, %lld, %lld) "
             "threads, %zu bytes of dynamic shared memory",
             launch->name, (long long)launch->grid[0], (long long)launch->grid[1],
             (long long)launch->grid[2], (long long)launch->block[0], (long long)launch->block[1],
             (long long)launch->block[2], launch->shared);
    return ga__cuda_fail(device, error, what);
}

static dim3 dim3_of(const int64_t *n)
{
    return (dim3){(unsigned)n[0], (unsigned)n[1], (unsigned)n[2]};
}

ga_status ga__cuda_launch_grid(ga__stream *stream, ga__function *function,
                               const ga__grid_launch *launch)
{
    ga__device *device = stream->device;
    if (ga__cuda_use(device) != GA_OK)
        return GA_ERR_DEVICE;
    ga__cuda_launched(device, launch);
    const cudaError_t error =
        cudaLaunchKernel(function, dim3_of(launch->grid), dim3_of(launch->block), launch->args,
                         launch->shared, stream->handle);
    return error == cudaSuccess ? GA_OK : fail_launch(device, error, launch);
}
