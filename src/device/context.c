/* Opens each device once, and keeps each thread's current device. */
#include "device/context.h"
#include "device/fault.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <quarry/device.h>

#include "base/os/environment.h"
#include "base/range.h"
#include "base/setting.h"
#include "base/error.h"
#include "base/os/fork.h"
#include "base/log.h"
#include "device/stream.h"

/* A device and the context's data about it. Opened under the lock, read without it. */
typedef struct slot {
    ga__device device; /* first: a device is its slot */
    atomic_bool opened;
    ga__fork_guard guard; /* for the device's lock, once it is opened */
} slot;

bool ga__check_nan;

static slot cpu_slot;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local ga__device *current;

/* Opening CUDA takes long, and the driver may fork meanwhile; therefore forks do not wait for the
 * lock. A slot is either opened or not: the child opens again a slot that another thread was
 * opening. */
static void renew_lock(void)
{
    pthread_mutex_init(&lock, NULL);
}
GA__FORK_GUARD(NULL, GA__FORK_LEAF, renew_lock)

static void read_checks(void)
{
    ga__check_nan = ga__setting_is("QUARRY_CHECK", "nan");
    ga__ranges_read();
}

static ga_status open_locked(slot *s, const ga__backend *backend, int index)
{
    ga__device *device = &s->device;
    if (atomic_load_explicit(&s->opened, memory_order_relaxed))
        return GA_OK;
    read_checks();
    memset(device, 0, sizeof *device);
    device->backend = backend;
    device->index = index;
    ga_status status = backend->open(device);
    if (status != GA_OK)
        return status;
    pthread_mutex_init(&device->lock, NULL);
    status = ga__stream_init(&device->stream, device, false);
    if (status == GA_OK) {
        s->guard.lock = &device->lock;
        s->guard.rank = GA__FORK_DEVICE;
        ga__fork_guard_add(&s->guard);
        atomic_store_explicit(&s->opened, true, memory_order_release);
        return GA_OK;
    }
    pthread_mutex_destroy(&device->lock);
    backend->close(device);
    return status;
}

/* The slot's device, opened; NULL and the backend's error if it does not work. */
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
    return ga__fail_null(GA_ERR_DEVICE, "cuda:%d: Quarry was built without CUDA", index);
}
#endif

/* The N of "cuda" or "cuda:N"; -1 for any other text. */
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
        return ga__fail_null(GA_ERR_INVALID, "device: the name is NULL");
    if (strcmp(name, "cpu") == 0)
        return open_slot(&cpu_slot, &ga__host_backend, 0);
    long index = cuda_index(name);
    int count = cuda_count();
    if (index < 0)
        return ga__fail_null(
            GA_ERR_DEVICE,
            "device: no device \"%s\": the names are \"cpu\", \"cuda\" and \"cuda:N\" "
            "(%d CUDA devices work here)",
            name, count);
    if (index >= count)
        return ga__fail_null(GA_ERR_DEVICE, "device: no device \"%s\": %d CUDA devices work here",
                             name, count);
    return open_cuda((int)index);
}

/* cuda:0 if it works, otherwise NULL and no error: its failure only selects the host. */
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
    const char *name = ga__environment("QUARRY_DEVICE");
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

static void call_if_opened(slot *s, void (*each)(ga__device *device, void *user), void *user)
{
    if (atomic_load_explicit(&s->opened, memory_order_acquire))
        each(&s->device, user);
}

void ga__each_device(void (*each)(ga__device *device, void *user), void *user)
{
    call_if_opened(&cpu_slot, each, user);
#ifdef QUARRY_CUDA
    for (int k = 0; k < MAX_CUDA_DEVICES; k++)
        call_if_opened(&cuda_slots[k], each, user);
#endif
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
    if (device == NULL || !ga__not_recording("synchronize"))
        return ga_error();
    return ga__fault_check(device, device->backend->synchronize(device));
}
