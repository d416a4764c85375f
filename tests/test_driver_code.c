/* The functions that stand for those of CUDA 12.8's runtime, over a driver that only notes its
 * calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "run.h"

/* What the driver was told last, and what it answers. */
static char called[256];
static CUresult answer;
static const char *absent; /* the function that this driver lacks */

static CUresult note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(called, sizeof called, format, arguments);
    va_end(arguments);
    return answer;
}

static CUresult fake_load(CUlibrary *library, const void *code, CUjit_option *options,
                          void **values, unsigned count, CUlibraryOption *others, void **more,
                          unsigned nothers)
{
    *library = (CUlibrary)(uintptr_t)0x100;
    return options || values || count || others || more || nothers ? CUDA_ERROR_INVALID_VALUE
                                                                   : note("load %s", (char *)code);
}

static CUresult fake_unload(CUlibrary library)
{
    return note("unload %p", (void *)library);
}

static CUresult fake_kernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    *kernel = (CUkernel)(uintptr_t)0x200;
    return note("kernel %p %s", (void *)library, name);
}

static CUresult fake_count(unsigned *count, CUlibrary library)
{
    *count = 3;
    return note("count %p", (void *)library);
}

static CUresult fake_enumerate(CUkernel *kernels, unsigned count, CUlibrary library)
{
    kernels[0] = (CUkernel)(uintptr_t)0x300;
    return note("enumerate %u %p", count, (void *)library);
}

static CUresult fake_global(CUdeviceptr *address, size_t *nbytes, CUlibrary library,
                            const char *name)
{
    *address = 0x7000000000, *nbytes = 12;
    return note("global %p %s", (void *)library, name);
}

static CUresult fake_get(int *value, CUfunction_attribute attribute, CUkernel kernel,
                         CUdevice device)
{
    *value = 10 * (int)attribute;
    return note("get %p on %d", (void *)kernel, device);
}

static CUresult fake_set(CUfunction_attribute attribute, int value, CUkernel kernel,
                         CUdevice device)
{
    return note("set %d %d %p on %d", (int)attribute, value, (void *)kernel, device);
}

static CUresult fake_name(const char **name, CUkernel kernel)
{
    *name = "_Z3addPf";
    return note("name %p", (void *)kernel);
}

static CUresult fake_parameter(CUkernel kernel, size_t index, size_t *offset, size_t *nbytes)
{
    *offset = 8, *nbytes = 4;
    return note("parameter %p %zu", (void *)kernel, index);
}

static CUresult fake_function(CUfunction *function, CUkernel kernel)
{
    *function = (CUfunction)(uintptr_t)0x400;
    return note("function %p", (void *)kernel);
}

static CUresult fake_occupancy(int *blocks, CUfunction function, int threads, size_t shared)
{
    *blocks = 5;
    return note("occupancy %p %d %zu", (void *)function, threads, shared);
}

static CUresult fake_launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, CUstream stream, void **args,
                            void **extra)
{
    return extra ? CUDA_ERROR_INVALID_VALUE
                 : note("launch %p (%u, %u, %u) (%u, %u, %u) %u %p %d", (void *)f, gx, gy, gz, bx,
                        by, bz, shared, (void *)stream, *(int *)args[0]);
}

/* Of a configuration: the grid, the block, the shared memory and the blocks of a cluster. */
static CUresult note_config(const char *what, const CUlaunchConfig *config, CUfunction f)
{
    const CUlaunchAttribute *cluster = config->attrs;
    if (config->numAttrs != 1 || cluster->id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
        return CUDA_ERROR_INVALID_VALUE;
    return note("%s %p (%u, %u, %u) (%u, %u, %u) %u %p by %u, %u, %u", what, (void *)f,
                config->gridDimX, config->gridDimY, config->gridDimZ, config->blockDimX,
                config->blockDimY, config->blockDimZ, config->sharedMemBytes,
                (void *)config->hStream, cluster->value.clusterDim.x, cluster->value.clusterDim.y,
                cluster->value.clusterDim.z);
}

static CUresult fake_clusters(int *clusters, CUfunction function, const CUlaunchConfig *config)
{
    *clusters = 9;
    return note_config("clusters", config, function);
}

static CUresult fake_launch_clusters(const CUlaunchConfig *config, CUfunction f, void **args,
                                     void **extra)
{
    return extra || *(int *)args[0] != 7 ? CUDA_ERROR_INVALID_VALUE
                                         : note_config("launch", config, f);
}

static CUresult fake_context(CUdevice *device)
{
    *device = 21;
    return CUDA_SUCCESS;
}

static CUresult fake_device(CUdevice *device, int ordinal)
{
    *device = 20 + ordinal;
    return CUDA_SUCCESS;
}

static const struct {
    const char *name;
    void (*function)(void);
} fakes[] = {
    {"cuLibraryLoadData", (void (*)(void))fake_load},
    {"cuLibraryUnload", (void (*)(void))fake_unload},
    {"cuLibraryGetKernel", (void (*)(void))fake_kernel},
    {"cuLibraryGetKernelCount", (void (*)(void))fake_count},
    {"cuLibraryEnumerateKernels", (void (*)(void))fake_enumerate},
    {"cuLibraryGetGlobal", (void (*)(void))fake_global},
    {"cuKernelGetAttribute", (void (*)(void))fake_get},
    {"cuKernelSetAttribute", (void (*)(void))fake_set},
    {"cuKernelGetName", (void (*)(void))fake_name},
    {"cuKernelGetParamInfo", (void (*)(void))fake_parameter},
    {"cuKernelGetFunction", (void (*)(void))fake_function},
    {"cuOccupancyMaxActiveBlocksPerMultiprocessor", (void (*)(void))fake_occupancy},
    {"cuLaunchKernel", (void (*)(void))fake_launch},
    {"cuOccupancyMaxActiveClusters", (void (*)(void))fake_clusters},
    {"cuLaunchKernelEx", (void (*)(void))fake_launch_clusters},
    {"cuCtxGetDevice", (void (*)(void))fake_context},
    {"cuDeviceGet", (void (*)(void))fake_device},
};

static cudaError_t fake_entry(const char *name, void **found)
{
    *found = NULL;
    for (size_t k = 0; k < sizeof fakes / sizeof *fakes; k++)
        if (strcmp(fakes[k].name, name) == 0 && (!absent || strcmp(absent, name) != 0))
            memcpy(found, &fakes[k].function, sizeof *found);
    return cudaSuccess;
}

/* The file under test, with this driver behind it. */
#undef cudaGetDriverEntryPoint
#undef cudaGetDriverEntryPointByVersion
#define cudaGetDriverEntryPoint(name, found, flags, status) fake_entry(name, found)
#define cudaGetDriverEntryPointByVersion(name, found, version, flags, status)                      \
    ((void)(version), fake_entry(name, found))
#define QUARRY_DRIVER_CODE
#include "device/cuda/driver_code.c"

static void start(CUresult result, const char *without)
{
    answer = result;
    absent = without;
    missing = cudaSuccess;
    memset(&driver, 0, sizeof driver);
    find_all();
    pthread_once(&once, find_all);
}

static void code_is_loaded_found_and_unloaded(void **state)
{
    CUlibrary library;
    CUkernel kernel, kernels[3];
    unsigned count;
    void *memory;
    size_t nbytes;
    (void)state;
    start(CUDA_SUCCESS, NULL);
    assert_int_equal(cudaLibraryLoadData(&library, "cubin", NULL, NULL, 0, NULL, NULL, 0), 0);
    assert_string_equal(called, "load cubin");
    assert_int_equal(cudaLibraryGetKernel(&kernel, library, "add"), 0);
    assert_string_equal(called, "kernel 0x100 add");
    assert_int_equal(cudaLibraryGetKernelCount(&count, library), 0);
    assert_int_equal(count, 3);
    assert_int_equal(cudaLibraryEnumerateKernels(kernels, count, library), 0);
    assert_string_equal(called, "enumerate 3 0x100");
    assert_int_equal(cudaLibraryGetGlobal(&memory, &nbytes, library, "table"), 0);
    assert_string_equal(called, "global 0x100 table");
    assert_int_equal((uintptr_t)memory, 0x7000000000);
    assert_int_equal(nbytes, 12);
    assert_int_equal(cudaLibraryUnload(library), 0);
    assert_string_equal(called, "unload 0x100");
}

static void kernels_have_attributes_names_and_parameters(void **state)
{
    void *kernel = (void *)(uintptr_t)0x200;
    struct cudaFuncAttributes found;
    const char *name;
    size_t offset, nbytes;
    int blocks;
    (void)state;
    start(CUDA_SUCCESS, NULL);
    assert_int_equal(cudaFuncGetAttributes(&found, kernel), 0);
    assert_string_equal(called, "get 0x200 on 21");
    assert_int_equal(found.maxThreadsPerBlock, 10 * CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    assert_int_equal(found.sharedSizeBytes, 10 * CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    assert_int_equal(found.constSizeBytes, 10 * CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
    assert_int_equal(found.localSizeBytes, 10 * CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    assert_int_equal(found.numRegs, 10 * CU_FUNC_ATTRIBUTE_NUM_REGS);
    assert_int_equal(cudaKernelSetAttributeForDevice(
                         kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 4096, 3),
                     0);
    assert_string_equal(called, "set 8 4096 0x200 on 23");
    assert_int_equal(cudaFuncGetName(&name, kernel), 0);
    assert_string_equal(name, "_Z3addPf");
    assert_int_equal(cudaFuncGetParamInfo(kernel, 2, &offset, &nbytes), 0);
    assert_string_equal(called, "parameter 0x200 2");
    assert_int_equal(10 * offset + nbytes, 84);
    assert_int_equal(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 256, 64), 0);
    assert_string_equal(called, "occupancy 0x400 256 64");
    assert_int_equal(blocks, 5);
}

static void launches_pass_all_numbers(void **state)
{
    int number = 7;
    void *args[] = {&number};
    (void)state;
    start(CUDA_SUCCESS, NULL);
    assert_int_equal(cudaLaunchKernel((void *)(uintptr_t)0x200, (dim3){1, 2, 3}, (dim3){4, 5, 6},
                                      args, 99, (cudaStream_t)(uintptr_t)0x500),
                     0);
    assert_string_equal(called, "launch 0x200 (1, 2, 3) (4, 5, 6) 99 0x500 7");
}

static void clusters_are_counted_and_launched(void **state)
{
    int number = 7, clusters;
    void *args[] = {&number}, *kernel = (void *)(uintptr_t)0x200;
    cudaLaunchAttribute shape = {.id = cudaLaunchAttributeClusterDimension};
    const cudaLaunchConfig_t config = {.gridDim = {24, 1, 1},
                                       .blockDim = {256, 1, 1},
                                       .dynamicSmemBytes = 99,
                                       .stream = (cudaStream_t)(uintptr_t)0x500,
                                       .attrs = &shape,
                                       .numAttrs = 1};
    (void)state;
    shape.val.clusterDim.x = 6;
    shape.val.clusterDim.y = shape.val.clusterDim.z = 1;
    start(CUDA_SUCCESS, NULL);
    assert_int_equal(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config), 0);
    assert_string_equal(called, "clusters 0x400 (24, 1, 1) (256, 1, 1) 99 0x500 by 6, 1, 1");
    assert_int_equal(clusters, 9);
    assert_int_equal(cudaLaunchKernelExC(&config, kernel, args), 0);
    assert_string_equal(called, "launch 0x200 (24, 1, 1) (256, 1, 1) 99 0x500 by 6, 1, 1");
}

static void errors_are_those_of_the_runtime(void **state)
{
    CUkernel kernel;
    void *memory;
    size_t nbytes;
    (void)state;
    start(CUDA_ERROR_NOT_FOUND, NULL);
    assert_int_equal(cudaLibraryGetGlobal(&memory, &nbytes, NULL, "x"), cudaErrorSymbolNotFound);
    start(CUDA_ERROR_INVALID_VALUE, NULL);
    assert_int_equal(cudaFuncGetParamInfo(NULL, 0, &nbytes, &nbytes), cudaErrorInvalidValue);
    start(CUDA_SUCCESS, "cuKernelGetParamInfo"); /* a driver before 12.4 */
    assert_int_equal(cudaLibraryGetKernel(&kernel, NULL, "x"), cudaErrorInsufficientDriver);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_is_loaded_found_and_unloaded),
        cmocka_unit_test(kernels_have_attributes_names_and_parameters),
        cmocka_unit_test(launches_pass_all_numbers),
        cmocka_unit_test(clusters_are_counted_and_launched),
        cmocka_unit_test(errors_are_those_of_the_runtime),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
