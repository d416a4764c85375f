/* Launches modules' kernels: checks the launch, packs the arguments, and copies host memory. */
#include <stdio.h>
#include <string.h>

#include "array/array.h"
#include "base/error.h"
#include "base/options.h"
#include "base/range.h"
#include "device/grid.h"
#include "ops/check_nan.h"
#include "user/module.h"

/* An argument in host memory, and the device memory that the kernel gets instead. */
typedef struct host_memory {
    int argument;
    ga__buffer *buffer;
} host_memory;

/* The arguments of one launch. */
typedef struct packed {
    const ga__module_kernel *kernel;
    ga__stream *stream;
    void *addresses[GA__MAX_PARAMS];   /* of each argument's bytes */
    uint64_t bytes[GA__MAX_PARAMS][2]; /* of the arguments that are not in the user's memory */
    int nhost;
    host_memory host[GA__MAX_PARAMS];
} packed;

static ga_status fail_size(const packed *p, int k, const char *what, size_t nbytes)
{
    return ga__fail(GA_ERR_INVALID,
                    "%s: argument %d is %s of %zu bytes, the kernel's parameter has %zu",
                    p->kernel->base.name, k + 1, what, nbytes, p->kernel->info.param_bytes[k]);
}

/* ---- Packing ---- */

static ga_status pack_pointer(packed *p, int k, const char *what, const void *pointer)
{
    if (p->kernel->info.param_bytes[k] != sizeof pointer)
        return fail_size(p, k, what, sizeof pointer);
    memcpy(p->bytes[k], &pointer, sizeof pointer);
    p->addresses[k] = p->bytes[k];
    return GA_OK;
}

static ga_status pack_number(packed *p, int k, ga_value number)
{
    if (!ga__dtype_valid(number.dtype))
        return ga__fail(GA_ERR_DTYPE, "%s: argument %d: %d is not a dtype", p->kernel->base.name,
                        k + 1, (int)number.dtype);
    const size_t nbytes = ga__dtype_size(number.dtype);
    if (p->kernel->info.param_bytes[k] != nbytes)
        return fail_size(p, k, ga_dtype_name(number.dtype), nbytes);
    ga__dtype_store(number.dtype, number, p->bytes[k]);
    p->addresses[k] = p->bytes[k];
    return GA_OK;
}

static ga_status pack_array(packed *p, int k, const gpuarray *x)
{
    const ga__module_kernel *kernel = p->kernel;
    if (!x)
        return ga__fail(GA_ERR_INVALID, "%s: argument %d is NULL", kernel->base.name, k + 1);
    if (x->buffer->device != kernel->device)
        return ga__fail(GA_ERR_DEVICE, "%s: argument %d is on %s, the kernel on %s",
                        kernel->base.name, k + 1, x->buffer->device->name, kernel->device->name);
    const ga_status status = ga__use(p->stream, x->buffer, true); /* the kernel may write it */
    return status == GA_OK ? pack_pointer(p, k, "an array's address", x->data) : status;
}

static ga_status pack_struct(packed *p, int k, ga_value value)
{
    if (p->kernel->info.param_bytes[k] != value.as.host.nbytes)
        return fail_size(p, k, "a struct", value.as.host.nbytes);
    p->addresses[k] = value.as.host.memory.to; /* only read */
    return GA_OK;
}

/* Packs the address if there is one; see send(). */
static ga_status pack_host(packed *p, int k, ga_value value)
{
    if (!value.as.host.memory.from && value.as.host.nbytes > 0)
        return ga__fail(GA_ERR_INVALID, "%s: argument %d is NULL memory of %zu bytes",
                        p->kernel->base.name, k + 1, value.as.host.nbytes);
    p->host[p->nhost++] = (host_memory){k, NULL};
    return pack_pointer(p, k, "an address", NULL);
}

static ga_status pack_one(packed *p, int k, ga_value value)
{
    switch (value.kind) {
    case GA_VALUE_ARRAY: return pack_array(p, k, value.as.array);
    case GA_VALUE_NUMBER: return pack_number(p, k, value);
    case GA_VALUE_SOURCE:
        return ga__fail(GA_ERR_INVALID, "%s: argument %d is a source, not an array",
                        p->kernel->base.name, k + 1);
    case GA_VALUE_POINTER: return pack_pointer(p, k, "a pointer", value.as.host.memory.from);
    case GA_VALUE_STRUCT: return pack_struct(p, k, value);
    case GA_VALUE_IN:
    case GA_VALUE_OUT:
    case GA_VALUE_INOUT: return pack_host(p, k, value);
    }
    return ga__fail(GA_ERR_INVALID, "%s: argument %d has the unknown kind %d", p->kernel->base.name,
                    k + 1, (int)value.kind);
}

static ga_status pack(packed *p, const ga__module_kernel *kernel, int count, const ga_value *args)
{
    p->kernel = kernel;
    p->nhost = 0;
    p->stream = ga__current_stream(kernel->device);
    if (!p->stream)
        return ga_error();
    ga_status status = ga__kernel_check_list(&kernel->base, kernel->info.nparams, count, args);
    for (int k = 0; k < count && status == GA_OK; k++)
        status = pack_one(p, k, args[k]);
    return status;
}

/* ---- Host memory ---- */

/* Allocates device memory for each host argument, and copies the kernel's inputs there. */
static ga_status send(packed *p, const ga_value *args)
{
    ga__stream *stream = p->stream;
    ga_status status = GA_OK;
    if (p->nhost > 0 && !ga__not_recording(p->kernel->base.name))
        return GA_ERR_UNSUPPORTED;
    for (int i = 0; i < p->nhost && status == GA_OK; i++) {
        host_memory *h = &p->host[i];
        const ga_value *value = &args[h->argument];
        h->buffer = ga__buffer_new(stream->device, value->as.host.nbytes);
        if (!h->buffer)
            return GA_ERR_MEMORY;
        memcpy(p->bytes[h->argument], &h->buffer->memory, sizeof h->buffer->memory);
        if (value->kind != GA_VALUE_OUT)
            status = stream->device->backend->memory.copy(
                stream, h->buffer->memory, value->as.host.memory.from, value->as.host.nbytes,
                GA__HOST_TO_DEVICE);
    }
    return status;
}

/* Copies the kernel's results back and waits for them. */
static ga_status receive(const packed *p, const ga_value *args)
{
    ga__stream *stream = p->stream;
    ga_status status = GA_OK;
    for (int i = 0; i < p->nhost && status == GA_OK; i++) {
        const host_memory *h = &p->host[i];
        const ga_value *value = &args[h->argument];
        if (value->kind != GA_VALUE_IN)
            status = stream->device->backend->memory.copy(stream, value->as.host.memory.to,
                                                          h->buffer->memory, value->as.host.nbytes,
                                                          GA__DEVICE_TO_HOST);
    }
    return status;
}

static void free_host(const packed *p)
{
    for (int i = 0; i < p->nhost; i++)
        ga__buffer_release(p->host[i].buffer);
}

/* ---- The launch ---- */

/* Launches in the thread's current stream. */
static ga_status launch_here(const ga__module_kernel *kernel, const ga__grid_launch *shape,
                             int count, const ga_value *args)
{
    packed p;
    ga__grid_launch launch = *shape;
    launch.args = p.addresses;
    ga_status status = ga__check_grid(&launch, &kernel->info);
    if (status == GA_OK)
        status = pack(&p, kernel, count, args);
    if (status != GA_OK)
        return status;
    status = send(&p, args);
    if (status == GA_OK)
        status = kernel->device->backend->user.launch(p.stream, kernel->function, &launch);
    if (status == GA_OK)
        status = receive(&p, args);
    free_host(&p);
    return status;
}

/* ---- QUARRY_CHECK=nan ---- */

static bool all_finite(int count, const ga_value *args)
{
    bool finite = true;
    for (int k = 0; k < count && finite; k++)
        finite = args[k].kind != GA_VALUE_ARRAY || !args[k].as.array ||
                 ga__check_finite(args[k].as.array);
    return finite;
}

static ga_status check_arrays(const char *name, int count, const ga_value *args)
{
    char what[96];
    ga_status status = GA_OK;
    for (int k = 0; k < count && status == GA_OK; k++) {
        snprintf(what, sizeof(what), "%.64s: argument %d", name, k + 1);
        if (args[k].kind == GA_VALUE_ARRAY)
            status = ga__check_elements(what, args[k].as.array, 0, NULL, NULL);
    }
    return status;
}

/* With a check of the arrays, unless one has a NaN or infinity before. */
__attribute__((noinline, cold)) static ga_status launch_checked(const ga__module_kernel *kernel,
                                                                const ga__grid_launch *shape,
                                                                int count, const ga_value *args)
{
    ga__check_begin();
    const bool finite = all_finite(args ? count : 0, args);
    ga_status status = launch_here(kernel, shape, count, args);
    if (status == GA_OK && finite)
        status = check_arrays(kernel->base.name, count, args);
    ga__check_end();
    return status;
}

static ga_status launch_as_checked(const ga__module_kernel *kernel, const ga__grid_launch *shape,
                                   int count, const ga_value *args)
{
    return ga__checks_nan() ? launch_checked(kernel, shape, count, args)
                            : launch_here(kernel, shape, count, args);
}

static ga_status launch_on(ga_stream *stream, const ga__module_kernel *kernel,
                           const ga__grid_launch *shape, int count, const ga_value *args)
{
    if (stream->device != kernel->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the stream is on %s, the kernel on %s",
                        kernel->base.name, stream->device->name, kernel->device->name);
    if (ga__recording())
        return ga__fail(GA_ERR_UNSUPPORTED, "%s: a launch on another stream cannot be recorded",
                        kernel->base.name);
    ga__stream *before = ga__choose_stream(stream);
    const ga_status status = launch_as_checked(kernel, shape, count, args);
    ga__choose_stream(before);
    return status;
}

ga_status(ga_launch_with)(ga_kernel *handle, ga_dim grid, ga_dim block, size_t size,
                          const ga_launch_options *given, int count, const ga_value *args)
{
    ga_launch_options options;
    const ga__module_kernel *kernel = (const ga__module_kernel *)handle;
    ga_status status = ga__options_read("launch", &options, sizeof options, given, size);
    if (status == GA_OK)
        status = ga__kernel_check("launch", handle, GA__MODULE_KERNEL);
    if (status != GA_OK)
        return status;
    const ga__grid_launch shape = {.id = kernel->id,
                                   .name = kernel->base.name,
                                   .grid = {grid.x, grid.y, grid.z},
                                   .block = {block.x, block.y, block.z},
                                   .shared = options.shared_bytes};
    GA__RANGE(kernel->base.name);
    return options.stream ? launch_on(options.stream, kernel, &shape, count, args)
                          : launch_as_checked(kernel, &shape, count, args);
}

ga_status(ga_launch)(ga_kernel *kernel, ga_dim grid, ga_dim block, int count, const ga_value *args)
{
    const ga_launch_options none = {0};

    return (ga_launch_with)(kernel, grid, block, sizeof none, &none, count, args);
}

/* ---- Properties of a kernel ---- */

/* The largest block size among those that keep the most threads resident, and that number of
 * threads. */
static int64_t suggest_block(const ga__module_kernel *kernel, int *suggested)
{
    ga__device *device = kernel->device;
    int64_t most = 0;
    for (int threads = kernel->info.max_threads & ~31; threads >= 32; threads -= 32) {
        const int64_t resident = (int64_t)threads * device->backend->code.resident_blocks(
                                                        device, kernel->function, threads);
        if (resident > most) {
            most = resident;
            *suggested = threads;
        }
    }
    return most;
}

ga_status(ga_kernel_info)(const ga_kernel *handle, size_t size, ga_kernel_properties *properties)
{
    const ga__module_kernel *kernel = (const ga__module_kernel *)handle;
    ga_status status = ga__kernel_check("kernel info", handle, GA__MODULE_KERNEL);
    if (status != GA_OK)
        return status;
    if (!properties)
        return ga__fail(GA_ERR_INVALID, "%s: the result is NULL", kernel->base.name);
    const ga__device *device = kernel->device;
    const ga__function_info *info = &kernel->info;
    int suggested = info->max_threads;
    const double resident = (double)suggest_block(kernel, &suggested);
    const double room = (double)device->processors * device->threads_per_processor;
    const ga_kernel_properties all = {.parameters = info->nparams,
                                      .registers = info->registers,
                                      .shared_bytes = info->shared_bytes,
                                      .local_bytes = info->local_bytes,
                                      .constant_bytes = info->constant_bytes,
                                      .max_shared_bytes = info->max_shared_bytes,
                                      .max_threads = info->max_threads,
                                      .suggested_block = suggested,
                                      .occupancy = resident < room ? resident / room : 1.0};
    ga__options_write(properties, size, &all, sizeof all);
    return GA_OK;
}
