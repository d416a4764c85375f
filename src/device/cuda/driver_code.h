/* Loaded code through the driver, for toolkits before 12.8, whose runtime has no cudaLibrary_t. */
#ifndef GA_DEVICE_CUDA_DRIVER_CODE_H
#define GA_DEVICE_CUDA_DRIVER_CODE_H

#include <cuda.h>
#include <cuda_runtime_api.h>

/* Each function does what the runtime's of that name does with a kernel of a library. Before 12.8
 * the runtime's own functions promise to take only kernels of the program itself, so these stand
 * for the launch and the attributes too. The driver's functions are looked up at the first call. */
cudaError_t ga__driver_load(CUlibrary *library, const void *code);
cudaError_t ga__driver_unload(CUlibrary library);
cudaError_t ga__driver_kernel(CUkernel *kernel, CUlibrary library, const char *name);
cudaError_t ga__driver_count(unsigned *count, CUlibrary library);
cudaError_t ga__driver_enumerate(CUkernel *kernels, unsigned count, CUlibrary library);
cudaError_t ga__driver_global(void **memory, size_t *nbytes, CUlibrary library, const char *name);
cudaError_t ga__driver_set_attribute(const void *kernel, enum cudaFuncAttribute attribute,
                                     int value, int device);
cudaError_t ga__driver_attributes(struct cudaFuncAttributes *attributes, const void *kernel);
cudaError_t ga__driver_name(const char **name, const void *kernel);
cudaError_t ga__driver_parameter(const void *kernel, size_t index, size_t *offset, size_t *nbytes);
cudaError_t ga__driver_occupancy(int *blocks, const void *kernel, int threads, size_t shared);
cudaError_t ga__driver_launch(const void *kernel, dim3 grid, dim3 block, void **args, size_t shared,
                              cudaStream_t stream);
/* Of the configuration's attributes they know the shape of clusters, which is the only one. */
cudaError_t ga__driver_clusters(int *clusters, const void *kernel,
                                const cudaLaunchConfig_t *config);
cudaError_t ga__driver_launch_clusters(const cudaLaunchConfig_t *config, const void *kernel,
                                       void **args);

/* For the sources of the backend, which use the names of 12.8. */
#ifdef QUARRY_DRIVER_CODE
#define cudaLibrary_t CUlibrary
#define cudaKernel_t CUkernel
#define cudaLibraryLoadData(library, code, ...) ga__driver_load(library, code)
#define cudaLibraryUnload ga__driver_unload
#define cudaLibraryGetKernel ga__driver_kernel
#define cudaLibraryGetKernelCount ga__driver_count
#define cudaLibraryEnumerateKernels ga__driver_enumerate
#define cudaLibraryGetGlobal ga__driver_global
#define cudaKernelSetAttributeForDevice ga__driver_set_attribute
#define cudaFuncGetAttributes ga__driver_attributes
#define cudaFuncGetName ga__driver_name
#define cudaFuncGetParamInfo ga__driver_parameter
#define cudaOccupancyMaxActiveBlocksPerMultiprocessor ga__driver_occupancy
#define cudaLaunchKernel ga__driver_launch
#define cudaOccupancyMaxActiveClusters ga__driver_clusters
#define cudaLaunchKernelExC ga__driver_launch_clusters
#endif

#endif
