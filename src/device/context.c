/* Opens each device once, remembers every thread's current one, and counts references to memory. */
#include "device/context.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <quarry/device.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"

/* A device and what the context keeps beside it. Opened under the lock, read without it. */
typedef struct slot {
    ga__device device; /* first: a device is its slot */
    atomic_bool opened;
} slot;

static slot cpu_slot;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local ga__device *current;

static ga_status open_locked(slot *s, const ga__backend *backend, int index)
{
    if (atomic_load_explicit(&s->opened, memory_order_relaxed))
        return GA_OK;
    memset(&s->device, 0, sizeof s->device);
    s->device.backend = backend;
    s->device.index = index;
    ga_status status = backend->open(&s->device);
    if (status == GA_OK)
        atomic_store_explicit(&s->opened, true, memory_order_release);
    return status;
}

/* The device of the slot, opened; NULL and the backend's error when it does not work. */
static ga__device *open_slot(slot *s, const ga__backend *backend, int index)
{
    if (atomic_load_explicit(&s->opened, memory_order_acquire))
        return &s->device;
    pthread_mutex_lock(&lock);
    ga_status status = open_locked(s, backend, index);
    pthread_mutex_unlock(&lock);
    return status == GA_OK ? &s->device : NULL;
}

#ifdef QUARRY_CUDA
#define MAX_CUDA_DEVICES 64
static slot cuda_slots[MAX_CUDA_DEVICES];

/* The number of CUDA devices that have a slot. */
static int cuda_count(void)
{
    int count = ga__cuda_backend.count();
    return count < MAX_CUDA_DEVICES ? count : MAX_CUDA_DEVICES;
}

static ga__device *open_cuda(int index)
{
    return open_slot(&cuda_slots[index], &ga__cuda_backend, index);
}
#else
static int cuda_count(void)
{
    return 0;
}

static ga__device *open_cuda(int index)
{
    return ga__fail_null(GA_ERR_DEVICE, "cuda:%d: built without CUDA", index);
}
#endif

/* The N of "cuda" or "cuda:N"; -1 when the text is neither. */
static long cuda_index(const char *name)
{
    if (strcmp(name, "cuda") == 0)
        return 0;
    if (strncmp(name, "cuda:", 5) != 0 || name[5] < '0' || name[5] > '9')
        return -1;
    char *end;
    long index = strtol(name + 5, &end, 10);
    return *end == '\0' ? index : -1;
}

ga__device *ga__find_device(const char *name)
{
    if (name == NULL)
        return ga__fail_null(GA_ERR_INVALID, "the name of a device is NULL");
    if (strcmp(name, "cpu") == 0)
        return open_slot(&cpu_slot, &ga__host_backend, 0);
    long index = cuda_index(name);
    int count = cuda_count();
    if (index < 0)
        return ga__fail_null(GA_ERR_DEVICE,
                             "no device \"%s\": the names are \"cpu\", \"cuda\" and \"cuda:N\" "
                             "(%d CUDA devices work here)",
                             name, count);
    if (index >= count)
        return ga__fail_null(GA_ERR_DEVICE, "no device \"%s\": %d CUDA devices work here", name,
                             count);
    return open_cuda((int)index);
}

/* cuda:0 when it works, else NULL and no error: its failure only means that the host is used. */
static ga__device *first_cuda_device(void)
{
    if (cuda_count() == 0)
        return NULL;
    ga__saved_error saved = ga__error_save();
    ga__device *device = open_cuda(0);
    if (device == NULL)
        ga__log(GA_LOG_INFO, "cuda:0 does not work, cpu is used: %s", ga_error_message());
    ga_clear_error();
    ga__error_restore(saved);
    return device;
}

static ga__device *default_device(void)
{
    const char *name = getenv("QUARRY_DEVICE");
    if (name != NULL && *name != '\0')
        return ga__find_device(name);
    ga__device *device = first_cuda_device();
    return device != NULL ? device : ga__find_device("cpu");
}

ga__device *ga__current_device(void)
{
    if (current == NULL)
        current = default_device();
    return current;
}

void ga__use_device(ga__device *device)
{
    current = device;
}

static ga__buffer *out_of_memory(ga__device *device, size_t nbytes)
{
    size_t available = 0, total = 0;
    device->backend->memory_info(device, &available, &total);
    return ga__fail_null(GA_ERR_MEMORY, "out of memory: asked %zu bytes on %s (%zu of %zu free)",
                         nbytes, device->name, available, total);
}

/* The second try, after the pool gave back what nobody uses. An error that the first try raised is
 * taken back (`raised`: the thread had none before), so that the final one names the device. */
static ga_status alloc_again(ga__device *device, size_t nbytes, void **memory, bool raised)
{
    if (raised)
        ga_clear_error();
    device->backend->trim(device);
    ga_status status = device->backend->alloc(device, nbytes, memory);
    if (status == GA_ERR_MEMORY && raised)
        ga_clear_error();
    return status;
}

static ga_status alloc_memory(ga__device *device, size_t nbytes, void **memory)
{
    bool clean = ga_error() == GA_OK;
    ga_status status = GA_ERR_MEMORY;
    if (!ga__alloc_fails()) {
        status = device->backend->alloc(device, nbytes, memory);
        if (status == GA_ERR_MEMORY)
            status = alloc_again(device, nbytes, memory, clean);
    }
    if (status == GA_ERR_MEMORY)
        out_of_memory(device, nbytes);
    return status;
}

ga__buffer *ga__buffer_new(ga__device *device, size_t nbytes)
{
    ga__buffer *buffer = ga__malloc(sizeof *buffer);
    if (buffer == NULL)
        return NULL;
    *buffer = (ga__buffer){device, NULL, nbytes, 1};
    if (nbytes > 0 && alloc_memory(device, nbytes, &buffer->memory) != GA_OK) {
        ga__free(buffer);
        return NULL;
    }
    return buffer;
}

ga__buffer *ga__buffer_retain(ga__buffer *buffer)
{
    if (buffer != NULL)
        __atomic_add_fetch(&buffer->references, 1, __ATOMIC_RELAXED);
    return buffer;
}

void ga__buffer_release(ga__buffer *buffer)
{
    if (buffer == NULL || __atomic_sub_fetch(&buffer->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    if (buffer->memory != NULL)
        buffer->device->backend->free(buffer->device, buffer->memory);
    ga__free(buffer);
}

static void *make_tickets(ga__device *device)
{
    const size_t nbytes = GA__TICKETS * sizeof(uint32_t);
    void *tickets = NULL;
    if (alloc_memory(device, nbytes, &tickets) != GA_OK)
        return NULL;
    if (device->backend->zero(device, tickets, nbytes) != GA_OK) {
        device->backend->free(device, tickets);
        return NULL;
    }
    return tickets;
}

void *ga__device_tickets(ga__device *device)
{
    static _Thread_local uint32_t of_this_thread[GA__TICKETS];
    if (device->arch == 0)
        return of_this_thread;
    void *tickets = atomic_load_explicit(&device->tickets, memory_order_acquire);
    if (tickets != NULL)
        return tickets;
    pthread_mutex_lock(&lock);
    tickets = atomic_load_explicit(&device->tickets, memory_order_relaxed);
    if (tickets == NULL) {
        tickets = make_tickets(device);
        atomic_store_explicit(&device->tickets, tickets, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return tickets;
}

int ga_device_count(void)
{
    return cuda_count();
}

ga_status ga_set_device(const char *name)
{
    ga__device *device = ga__find_device(name);
    if (device == NULL)
        return name == NULL ? GA_ERR_INVALID : GA_ERR_DEVICE;
    ga__use_device(device);
    return GA_OK;
}

const char *ga_current_device(void)
{
    ga__device *device = ga__current_device();
    return device == NULL ? NULL : device->name;
}

const char *ga_device_name(const char *name)
{
    ga__device *device = name == NULL ? ga__current_device() : ga__find_device(name);
    return device == NULL ? NULL : device->description;
}

ga_status ga_synchronize(void)
{
    ga__device *device = ga__current_device();
    return device == NULL ? GA_ERR_DEVICE : device->backend->synchronize(device);
}
