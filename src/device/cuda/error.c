/* Errors of the CUDA runtime, and the runtime's current device for each thread. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "device/cuda/shared.h"

/* Errors after which the driver refuses all further work of the process on the device. */
static bool is_fault(cudaError_t error)
{
    static const cudaError_t faults[] = {
        cudaErrorIllegalAddress,      cudaErrorLaunchTimeout,      cudaErrorAssert,
        cudaErrorHardwareStackError,  cudaErrorIllegalInstruction, cudaErrorMisalignedAddress,
        cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,          cudaErrorLaunchFailure};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (error == faults[i])
            return true;
    return false;
}

/* Writes the names of the launched kernels: "a", "b". */
static void list_launched(cuda_state *state, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < GA__LAUNCHED && length < size; i++) {
        const ga__launched *launched = &state->launched[i];
        uint64_t name[GA__LAUNCHED_WORDS];
        if (atomic_load(&launched->id) == 0)
            continue;
        for (int k = 0; k < GA__LAUNCHED_WORDS; k++)
            name[k] = atomic_load(&launched->name[k]);
        length += (size_t)snprintf(text + length, size - length, "%s\"%s\"", length > 0 ? ", " : "",
                                   (const char *)name);
    }
}

/* The device reports a fault at the next wait, without the kernel that caused it. */
static ga_status fail_fault(const ga__device *device, cudaError_t error, const char *what)
{
    char launched[GA__LAUNCHED * 70];
    list_launched(device->state, launched, sizeof launched);
    return ga__fail(GA_ERR_DEVICE,
                    "%s: %s: a kernel faulted%s%s%s: %s (%s); the process must be restarted to use "
                    "the device again",
                    device->name, what,
                    launched[0] != '\0' ? " (launched since the last ga_synchronize: " : "",
                    launched, launched[0] != '\0' ? ")" : "", cudaGetErrorString(error),
                    cudaGetErrorName(error));
}

ga_status ga__cuda_fail(const ga__device *device, cudaError_t error, const char *what)
{
    (void)cudaGetLastError();
    if (is_fault(error) && device->state != NULL)
        return fail_fault(device, error, what);
    return ga__fail(error == cudaErrorMemoryAllocation ? GA_ERR_MEMORY : GA_ERR_DEVICE,
                    "%s: %s: %s (%s)", device->name, what, cudaGetErrorString(error),
                    cudaGetErrorName(error));
}

_Thread_local int ga__cuda_thread_device = -1;

ga_status ga__cuda_switch(const ga__device *device)
{
    cudaError_t error = cudaSetDevice(device->index);
    if (error != cudaSuccess)
        return ga__cuda_fail(device, error, "cannot be used");
    ga__cuda_thread_device = device->index;
    return GA_OK;
}

static void note_launched(ga__launched *launched, const ga__grid_launch *launch)
{
    uint64_t name[GA__LAUNCHED_WORDS] = {0};
    memcpy(name, launch->name, strnlen(launch->name, sizeof name - 1));
    for (int k = 0; k < GA__LAUNCHED_WORDS; k++)
        atomic_store_explicit(&launched->name[k], name[k], memory_order_relaxed);
    atomic_store_explicit(&launched->id, launch->id, memory_order_release);
}

void ga__cuda_launched(const ga__device *device, const ga__grid_launch *launch)
{
    cuda_state *state = device->state;
    for (int i = 0; i < GA__LAUNCHED; i++)
        if (atomic_load_explicit(&state->launched[i].id, memory_order_relaxed) == launch->id)
            return;
    const unsigned n = atomic_fetch_add_explicit(&state->nlaunched, 1, memory_order_relaxed);
    note_launched(&state->launched[n % GA__LAUNCHED], launch);
}
