/* Loads code, finds its kernels and launches them by the driver's functions. */
#include "device/cuda/driver_code.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static struct {
#define GA_DRIVER(name, version, parameters) CUresult(*name) parameters;
#include "device/cuda/driver_code.def"
#undef GA_DRIVER
} driver;

/* The names and types above are those of the header. */
#define GA_DRIVER(name, version, parameters)                                                       \
    _Static_assert(_Generic(&name, CUresult(*) parameters : 1, default : 0), #name);
#include "device/cuda/driver_code.def"
#undef GA_DRIVER

/* Errors of the driver are errors of the runtime with the same number. */
_Static_assert((int)CUDA_ERROR_INVALID_VALUE == (int)cudaErrorInvalidValue &&
                   (int)CUDA_ERROR_OUT_OF_MEMORY == (int)cudaErrorMemoryAllocation &&
                   (int)CUDA_ERROR_NO_BINARY_FOR_GPU == (int)cudaErrorNoKernelImageForDevice &&
                   (int)CUDA_ERROR_NOT_FOUND == (int)cudaErrorSymbolNotFound &&
                   (int)CUDA_ERROR_ILLEGAL_ADDRESS == (int)cudaErrorIllegalAddress &&
                   (int)CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES == (int)cudaErrorLaunchOutOfResources,
               "errors of the driver and of the runtime have the same numbers");

static cudaError_t missing;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static cudaError_t find(const char *name, unsigned version, void *function)
{
    void *found = NULL;
    cudaError_t error;
#if CUDART_VERSION >= 12050
    error = cudaGetDriverEntryPointByVersion(name, &found, version, cudaEnableDefault, NULL);
#else
    (void)version;
    error = cudaGetDriverEntryPoint(name, &found, cudaEnableDefault, NULL);
#endif
    memcpy(function, &found, sizeof found);
    return error == cudaSuccess && found == NULL ? cudaErrorInsufficientDriver : error;
}

static void find_all(void)
{
#define GA_DRIVER(name, version, parameters)                                                       \
    if (missing == cudaSuccess)                                                                    \
        missing = find(#name, version, &driver.name);
#include "device/cuda/driver_code.def"
#undef GA_DRIVER
}

/* Whether all functions are there; `missing` otherwise says why not. */
static bool found(void)
{
    pthread_once(&once, find_all);
    return missing == cudaSuccess;
}

#define CALL(name, ...) (found() ? (cudaError_t)driver.name(__VA_ARGS__) : missing)

cudaError_t ga__driver_load(CUlibrary *library, const void *code)
{
    return CALL(cuLibraryLoadData, library, code, NULL, NULL, 0, NULL, NULL, 0);
}

cudaError_t ga__driver_unload(CUlibrary library)
{
    return CALL(cuLibraryUnload, library);
}

cudaError_t ga__driver_kernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    return CALL(cuLibraryGetKernel, kernel, library, name);
}

cudaError_t ga__driver_count(unsigned *count, CUlibrary library)
{
    return CALL(cuLibraryGetKernelCount, count, library);
}

cudaError_t ga__driver_enumerate(CUkernel *kernels, unsigned count, CUlibrary library)
{
    return CALL(cuLibraryEnumerateKernels, kernels, count, library);
}

cudaError_t ga__driver_global(void **memory, size_t *nbytes, CUlibrary library, const char *name)
{
    CUdeviceptr address = 0;
    const cudaError_t error = CALL(cuLibraryGetGlobal, &address, nbytes, library, name);
    if (error == cudaSuccess)
        *memory = (void *)(uintptr_t)address;
    return error;
}

cudaError_t ga__driver_set_attribute(const void *kernel, enum cudaFuncAttribute attribute,
                                     int value, int device)
{
    CUdevice handle = 0;
    const cudaError_t error = CALL(cuDeviceGet, &handle, device);
    return error == cudaSuccess ? CALL(cuKernelSetAttribute, (CUfunction_attribute)attribute, value,
                                       (CUkernel)(uintptr_t)kernel, handle)
                                : error;
}

_Static_assert((int)cudaFuncAttributeMaxDynamicSharedMemorySize ==
                       (int)CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
                   (int)cudaFuncAttributePreferredSharedMemoryCarveout ==
                       (int)CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT &&
                   (int)cudaFuncAttributeNonPortableClusterSizeAllowed ==
                       (int)CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
               "attributes of the runtime and of the driver have the same numbers");

cudaError_t ga__driver_attributes(struct cudaFuncAttributes *attributes, const void *kernel)
{
    static const CUfunction_attribute wanted[] = {
        CU_FUNC_ATTRIBUTE_NUM_REGS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
        CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
        CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES};
    enum { COUNT = sizeof wanted / sizeof *wanted };
    int value[COUNT] = {0};
    CUdevice device = 0;
    cudaError_t error = CALL(cuCtxGetDevice, &device);
    for (int k = 0; k < COUNT && error == cudaSuccess; k++)
        error =
            CALL(cuKernelGetAttribute, &value[k], wanted[k], (CUkernel)(uintptr_t)kernel, device);
    if (error != cudaSuccess)
        return error;
    *attributes = (struct cudaFuncAttributes){.numRegs = value[0],
                                              .maxThreadsPerBlock = value[1],
                                              .sharedSizeBytes = (size_t)value[2],
                                              .localSizeBytes = (size_t)value[3],
                                              .constSizeBytes = (size_t)value[4]};
    return cudaSuccess;
}

cudaError_t ga__driver_name(const char **name, const void *kernel)
{
    return CALL(cuKernelGetName, name, (CUkernel)(uintptr_t)kernel);
}

cudaError_t ga__driver_parameter(const void *kernel, size_t index, size_t *offset, size_t *nbytes)
{
    return CALL(cuKernelGetParamInfo, (CUkernel)(uintptr_t)kernel, index, offset, nbytes);
}

cudaError_t ga__driver_occupancy(int *blocks, const void *kernel, int threads, size_t shared)
{
    CUfunction function = NULL;
    const cudaError_t error = CALL(cuKernelGetFunction, &function, (CUkernel)(uintptr_t)kernel);
    return error == cudaSuccess ? CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, blocks,
                                       function, threads, shared)
                                : error;
}

/* The driver takes a kernel of a library in place of a function. */
cudaError_t ga__driver_launch(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
                              cudaStream_t stream)
{
    return CALL(cuLaunchKernel, (CUfunction)(uintptr_t)kernel, grid.x, grid.y, grid.z, block.x,
                block.y, block.z, (unsigned)shared, stream, args, NULL);
}

static CUlaunchConfig config_of(const cudaLaunchConfig_t *config, CUlaunchAttribute *cluster)
{
    *cluster = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    cluster->value.clusterDim.x = config->attrs[0].val.clusterDim.x;
    cluster->value.clusterDim.y = cluster->value.clusterDim.z = 1;
    return (CUlaunchConfig){.gridDimX = config->gridDim.x,
                            .gridDimY = config->gridDim.y,
                            .gridDimZ = config->gridDim.z,
                            .blockDimX = config->blockDim.x,
                            .blockDimY = config->blockDim.y,
                            .blockDimZ = config->blockDim.z,
                            .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
                            .hStream = config->stream,
                            .attrs = cluster,
                            .numAttrs = 1};
}

cudaError_t ga__driver_clusters(int *clusters, const void *kernel, const cudaLaunchConfig_t *config)
{
    CUlaunchAttribute cluster;
    const CUlaunchConfig own = config_of(config, &cluster);
    CUfunction function = NULL;
    const cudaError_t error = CALL(cuKernelGetFunction, &function, (CUkernel)(uintptr_t)kernel);
    return error == cudaSuccess ? CALL(cuOccupancyMaxActiveClusters, clusters, function, &own)
                                : error;
}

cudaError_t ga__driver_launch_clusters(const cudaLaunchConfig_t *config, const void *kernel,
                                       void **args)
{
    CUlaunchAttribute cluster;
    const CUlaunchConfig own = config_of(config, &cluster);
    return CALL(cuLaunchKernelEx, &own, (CUfunction)(uintptr_t)kernel, args, NULL);
}
