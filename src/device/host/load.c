/* The host's code: compiles it, loads it from memory, and runs its blocks on all workers. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/os/loader.h"
#include "base/os/stack.h"
#include "base/os/system.h"
#include "base/os/temporary.h"
#include "device/cpu/cxx.h"
#include "device/cpu/threads.h"
#include "device/host/shared.h"

#define KERNEL_STACK (24 << 10) /* what a kernel takes beside its arrays, and libm below it */
#define USUAL_STACK (32 << 10)  /* of arrays: every thread of 128 KiB has room for these */

typedef void (*kernel)(const uint64_t *words, int64_t block);

ga_status ga__host_compile(ga__device *device, const ga__source *source, void **code,
                           size_t *nbytes)
{
    (void)device;
    return ga__cxx_compile(source, code, nbytes);
}

void ga__host_compiler_key(ga__device *device, bool fast_math, ga__strbuf *key)
{
    (void)device;
    ga__cxx_key(fast_math, key);
}

/* Names a descriptor for dlopen. A debugger opens the file of each library by the same name, from a
 * process of its own, where /proc/self would lead it to descriptors of its own: it may wait there
 * for a pipe forever. Therefore the name says the process.
 * dlopen treats two files of the same name as one library, and descriptor numbers recur. Therefore
 * each name encodes a count in runs of slashes, which the system reads as single slashes. */
static void name_descriptor(char *name, size_t size, int fd)
{
    static _Atomic uint32_t loads;
    uint32_t count = atomic_fetch_add(&loads, 1);
    char unique[2 * 32 + 1], *end = unique;
    char process[16] = "self"; /* not getpid(): /proc may be of another namespace */
    const ssize_t length = readlink("/proc/self", process, sizeof process - 1);
    if (length > 0)
        process[length] = '\0';
    for (int bit = 0; bit < 32; bit++) {
        if (count >> bit & 1)
            *end++ = '.';
        *end++ = '/';
    }
    *end = '\0';
    snprintf(name, size, "/proc/%s/fd/%s%d", process, unique, fd);
}

/* Opens a file in memory; if that is forbidden, an unnamed file in the temporary directory. The
 * descriptor is a high one, if there is room: a debugger that attaches later finds nothing by the
 * library's name, instead of a file of the program. */
static int open_nameless(void)
{
    enum { HIGH = 960 }; /* below 1024, which most processes may open */
    int fd = memfd_create("quarry-kernel", MFD_CLOEXEC);
    if (fd < 0)
        fd = ga__open_nameless();
    const int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, HIGH);
    if (high < 0)
        return fd;
    close(fd);
    return high;
}

/* Whether memory and mappings suffice to map a file's code: dlerror() reports that loading failed,
 * not why. */
static bool has_room(int fd, size_t nbytes)
{
    void *memory = mmap(NULL, nbytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED)
        return errno != ENOMEM;
    munmap(memory, nbytes);
    return true;
}

static void *open_library(const void *code, size_t nbytes)
{
    char name[128];
    int fd = open_nameless();
    if (fd < 0)
        return ga__fail_null(GA_ERR_IO, "compile: cannot make a file for a kernel of %zu bytes",
                             nbytes);
    void *library = NULL;
    if (ga__write_all(fd, code, nbytes) != 0) {
        ga__fail(GA_ERR_IO, "compile: cannot write a kernel of %zu bytes", nbytes);
    } else {
        name_descriptor(name, sizeof name, fd);
        library = ga__library_open(name, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            ga__fail(has_room(fd, nbytes) ? GA_ERR_COMPILE : GA_ERR_MEMORY,
                     "compile: cannot load a kernel of %zu bytes: %s", nbytes, dlerror());
    }
    close(fd);
    return library;
}

ga_status ga__host_load(ga__device *device, const void *code, size_t nbytes, ga__image **image)
{
    (void)device;
    void *library = open_library(code, nbytes);
    if (library == NULL)
        return ga_error();
    *image = library;
    return GA_OK;
}

void ga__host_unload(ga__image *image)
{
    ga__library_close(image);
}

ga_status ga__host_find(ga__image *image, const char *name, ga__function **function)
{
    void *address = dlsym(image, name);
    if (address == NULL)
        return ga__fail(GA_ERR_INVALID, "module: there is no kernel \"%s\"", name);
    *function = address;
    return GA_OK;
}

typedef struct call {
    kernel function;
    const ga__launch *launch;
} call;

static void run_block(const void *context, int64_t index)
{
    const call *c = context;
    c->function(c->launch->words, index);
}

int ga__host_resident_blocks(ga__device *device, ga__function *function, int threads)
{
    (void)function, (void)threads;
    return device->processors;
}

static inline void run_all(const call *c)
{
    if (c->launch->grid == 1)
        c->function(c->launch->words, 0);
    else
        ga__pool_run(run_block, c, c->launch->grid, c->launch->in_order);
}

static void run_call(void *context)
{
    run_all(context);
}

static ga_status run_with_stack(call *c, size_t need)
{
    if (ga__with_stack(need, run_call, c))
        return GA_OK;
    return ga__fail(GA_ERR_MEMORY,
                    "launch: the thread has %zu bytes of stack left; the kernel needs %zu",
                    ga__stack_left(), need);
}

ga_status ga__host_run(ga__function *function, const ga__launch *launch)
{
    call c = {.launch = launch};
    memcpy(&c.function, &function, sizeof c.function); /* ISO C has no cast from an object pointer
                                                        * to a function pointer */
    if (launch->stack > USUAL_STACK)
        return run_with_stack(&c, launch->stack + KERNEL_STACK);
    run_all(&c);
    return GA_OK;
}

ga_status ga__host_global(ga__device *device, ga__image *image, const char *symbol, void **memory,
                          size_t *nbytes)
{
    (void)device;
    Dl_info where;
    ElfW(Sym) *entry = NULL;
    struct link_map *map = NULL;
    void *address = dlsym(image, symbol);
    if (address == NULL || dlinfo(image, RTLD_DI_LINKMAP, &map) != 0 ||
        dladdr1(address, &where, (void **)&entry, RTLD_DL_SYMENT) == 0 ||
        (ElfW(Addr))where.dli_fbase != map->l_addr || entry == NULL ||
        ELF64_ST_TYPE(entry->st_info) != STT_OBJECT)
        return ga__fail(GA_ERR_INVALID, "module: there is no variable \"%s\"", symbol);
    *memory = address;
    *nbytes = entry->st_size;
    return GA_OK;
}
