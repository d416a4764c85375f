/* The host as a device: memory that is kept for reuse, and kernels run by a pool of threads. */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/fork.h"
#include "base/os/loader.h"
#include "base/os/system.h"
#include "base/os/temporary.h"
#include "device/backend.h"
#include "device/cpu/cxx.h"
#include "device/cpu/threads.h"
#include "device/simt/launch.h"
#include "device/simt/build.h"

/* ---- memory ---- */

#define ALIGNMENT ((size_t)256)
#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_FROM ((size_t)4 << 20) /* blocks of this size ask for huge pages */
#define KEPT_FROM                                                                                  \
    ((size_t)64 << 10) /* larger freed blocks are kept; malloc is quick for the others */
#define MOST_KEPT ((size_t)1 << 30) /* bytes kept, unless an eighth of the memory is less */
#define FIRST_EXPONENT 16           /* of KEPT_FROM */
#define STEPS 8                     /* size classes between two powers of two: at most 1/8 wasted */
#define NCLASSES (32 * STEPS)

/* What stands before each block's memory. */
typedef struct block {
    void *allocation;   /* what ga__free takes */
    size_t capacity;    /* of a block that is kept when freed, else 0 */
    struct block *next; /* among the kept ones of its class */
} block;

static struct {
    pthread_mutex_t lock;
    block *classes[NCLASSES];
    size_t nbytes, most;
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};
GA__FORK_GUARD(&kept.lock, GA__FORK_LEAF, NULL)

static int exponent_of(size_t n)
{
    return 63 - __builtin_clzll((unsigned long long)n);
}

/* n rounded up to its size class; 0 when blocks of this size are not kept. */
static size_t class_capacity(size_t n)
{
    if (n <= KEPT_FROM)
        return 0;
    size_t step = (size_t)1 << (exponent_of(n) - 3);
    return (n + step - 1) & ~(step - 1);
}

static size_t class_index(size_t capacity)
{
    int exponent = exponent_of(capacity);
    return (size_t)(exponent - FIRST_EXPONENT) * STEPS +
           ((capacity >> (exponent - 3)) & (STEPS - 1));
}

static block *take_kept(size_t capacity)
{
    pthread_mutex_lock(&kept.lock);
    block **list = &kept.classes[class_index(capacity)];
    block *b = *list;
    if (b != NULL) {
        *list = b->next;
        kept.nbytes -= capacity;
    }
    pthread_mutex_unlock(&kept.lock);
    return b;
}

static void advise_huge_pages(char *memory, size_t nbytes)
{
    nbytes &= ~(HUGE_PAGE - 1);
    (void)madvise(memory, nbytes, MADV_HUGEPAGE); /* only a hint: kernels without them refuse */
}

/* A new block; `capacity` as in its header. */
static block *new_block(size_t nbytes, size_t capacity)
{
    size_t alignment = nbytes >= HUGE_FROM ? HUGE_PAGE : ALIGNMENT;
    char *allocation = ga__malloc(nbytes + sizeof(block) + alignment);
    if (allocation == NULL)
        return NULL;
    uintptr_t start = (uintptr_t)allocation + sizeof(block);
    size_t skipped = (size_t)(-start & (alignment - 1)) + sizeof(block);
    block *b = (block *)(void *)(allocation + skipped - sizeof(block));
    *b = (block){allocation, capacity, NULL};
    if (nbytes >= HUGE_FROM)
        advise_huge_pages(allocation + skipped, nbytes);
    return b;
}

static ga_status host_alloc(ga__stream *stream, size_t nbytes, ga__memory *memory)
{
    (void)stream;
    if (nbytes > (size_t)1 << 46) /* past any address space, and before sums overflow */
        return ga__fail(GA_ERR_MEMORY, "out of host memory: %zu bytes", nbytes);
    size_t capacity = class_capacity(nbytes);
    block *b = capacity > 0 ? take_kept(capacity) : NULL;
    if (b == NULL)
        b = new_block(capacity > 0 ? capacity : nbytes, capacity);
    if (b == NULL)
        return GA_ERR_MEMORY;
    *memory = (ga__memory){b + 1, b};
    return GA_OK;
}

static void free_list(block *b)
{
    while (b != NULL) {
        block *next = b->next;
        ga__free(b->allocation);
        b = next;
    }
}

/* Takes all kept blocks out, as one list. */
static block *empty_kept(void)
{
    block *all = NULL;
    for (int i = 0; i < NCLASSES; i++) {
        while (kept.classes[i] != NULL) {
            block *b = kept.classes[i];
            kept.classes[i] = b->next;
            b->next = all;
            all = b;
        }
    }
    kept.nbytes = 0;
    return all;
}

static void host_trim(ga__stream *stream)
{
    (void)stream;
    pthread_mutex_lock(&kept.lock);
    block *all = empty_kept();
    pthread_mutex_unlock(&kept.lock);
    free_list(all);
    ga__simt_trim();
}

/* Keeps b. When that is too much, what was kept goes first: b's size is the one in use now. */
static void keep(block *b)
{
    block *all = NULL;
    pthread_mutex_lock(&kept.lock);
    if (kept.nbytes + b->capacity > kept.most)
        all = empty_kept();
    block **list = &kept.classes[class_index(b->capacity)];
    b->next = *list;
    *list = b;
    kept.nbytes += b->capacity;
    pthread_mutex_unlock(&kept.lock);
    free_list(all);
}

static void host_free(ga__stream *stream, const ga__memory *memory)
{
    (void)stream;
    block *b = memory->block;
    if (b->capacity > 0 && b->capacity <= kept.most)
        keep(b);
    else
        ga__free(b->allocation);
}

static void host_memory_state(ga__device *device, ga__memory_state *state)
{
    (void)device;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    state->available = (size_t)sysconf(_SC_AVPHYS_PAGES) * page;
    state->total = (size_t)sysconf(_SC_PHYS_PAGES) * page;
    pthread_mutex_lock(&kept.lock);
    state->kept = kept.nbytes;
    pthread_mutex_unlock(&kept.lock);
}

static bool host_reaches(ga__device *device, const void *memory)
{
    (void)device, (void)memory;
    return true;
}

static ga_status host_pin(ga__device *device, size_t nbytes, void **memory)
{
    ga__memory found;
    const ga_status status = host_alloc(&device->stream, nbytes, &found);
    if (status == GA_OK)
        *memory = found.address;
    return status;
}

static void host_unpin(ga__device *device, void *memory)
{
    host_free(&device->stream, &(ga__memory){memory, (block *)memory - 1});
}

/* All host memory is near enough. */
static ga_status host_pin_existing(ga__device *device, void *memory, size_t nbytes)
{
    (void)device, (void)memory, (void)nbytes;
    return GA_OK;
}

static ga_status host_unpin_existing(ga__device *device, void *memory)
{
    (void)device, (void)memory;
    return GA_OK;
}

/* ---- copies: by the pool when one thread would not fill the memory bus ---- */

#define PARALLEL_FROM ((size_t)8 << 20)
#define PIECE ((size_t)1 << 20)

typedef struct span {
    char *to;
    const char *from; /* NULL: zeros */
    size_t nbytes;
} span;

static void move_all(const span *s)
{
    if (s->from == NULL)
        memset(s->to, 0, s->nbytes);
    else
        memcpy(s->to, s->from, s->nbytes);
}

static void move_piece(const void *context, int64_t index)
{
    const span *s = context;
    size_t begin = (size_t)index * PIECE;
    size_t nbytes = s->nbytes - begin < PIECE ? s->nbytes - begin : PIECE;
    move_all(&(span){s->to + begin, s->from == NULL ? NULL : s->from + begin, nbytes});
}

static void move_now(void *to, const void *from, size_t nbytes)
{
    if (nbytes >= PARALLEL_FROM) {
        span s = {to, from, nbytes};
        ga__pool_run(move_piece, &s, (int64_t)((nbytes + PIECE - 1) / PIECE));
    } else if (nbytes > 0) {
        move_all(&(span){to, from, nbytes});
    }
}

static ga_status host_synchronize(ga__device *device)
{
    (void)device; /* launches return when they are done */
    return GA_OK;
}

/* ---- code ---- */

typedef void (*kernel)(const uint64_t *words, int64_t block);

static ga_status host_compile(ga__device *device, const ga__source *source, void **code,
                              size_t *nbytes)
{
    (void)device;
    return ga__cxx_compile(source, code, nbytes);
}

static void host_compiler_key(ga__device *device, bool fast_math, ga__strbuf *key)
{
    (void)device;
    ga__cxx_key(fast_math, key);
}

/* dlopen takes two files of one name for one library, and descriptors' numbers come again: so each
 * name writes a count into its slashes, which the system reads as one slash. */
static void name_descriptor(char *name, size_t size, int fd)
{
    static _Atomic uint32_t loads;
    uint32_t count = atomic_fetch_add(&loads, 1);
    char unique[2 * 32 + 1], *end = unique;
    for (int bit = 0; bit < 32; bit++) {
        if (count >> bit & 1)
            *end++ = '.';
        *end++ = '/';
    }
    *end = '\0';
    snprintf(name, size, "/proc/self/fd/%s%d", unique, fd);
}

/* A file in memory, or where that is forbidden, one without a name in the temporary directory. */
static int open_nameless(void)
{
    int fd = memfd_create("quarry-kernel", MFD_CLOEXEC);
    return fd >= 0 ? fd : ga__open_nameless();
}

/* Whether code of a file can be mapped, for all the memory and mappings there are: dlerror() says
 * that loading failed, not why. */
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
        return ga__fail_null(GA_ERR_IO, "cannot make a file for a kernel of %zu bytes", nbytes);
    void *library = NULL;
    if (ga__write_all(fd, code, nbytes) != 0) {
        ga__fail(GA_ERR_IO, "cannot write a kernel of %zu bytes", nbytes);
    } else {
        name_descriptor(name, sizeof name, fd);
        library = ga__library_open(name, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            ga__fail(has_room(fd, nbytes) ? GA_ERR_COMPILE : GA_ERR_MEMORY,
                     "cannot load a kernel of %zu bytes: %s", nbytes, dlerror());
    }
    close(fd);
    return library;
}

static ga_status host_load(ga__device *device, const void *code, size_t nbytes, ga__image **image)
{
    (void)device;
    void *library = open_library(code, nbytes);
    if (library == NULL)
        return ga_error();
    *image = library;
    return GA_OK;
}

static void host_unload(ga__image *image)
{
    ga__library_close(image);
}

static ga_status host_find(ga__image *image, const char *name, ga__function **function)
{
    void *address = dlsym(image, name);
    if (address == NULL)
        return ga__fail(GA_ERR_INVALID, "the module has no kernel \"%s\"", name);
    *function = address;
    return GA_OK;
}

typedef struct call {
    kernel function;
    const uint64_t *words;
} call;

static void run_block(const void *context, int64_t index)
{
    const call *c = context;
    c->function(c->words, index);
}

static int host_resident_blocks(ga__device *device, ga__function *function, int threads)
{
    (void)function, (void)threads;
    return device->processors;
}

static void launch_now(ga__function *function, int64_t grid, const uint64_t *words)
{
    call c = {.words = words};
    memcpy(&c.function, &function, sizeof c.function); /* ISO C casts no object to a function */
    if (grid == 1)
        c.function(c.words, 0);
    else
        ga__pool_run(run_block, &c, grid);
}

/* ---- recording: a list of launches and copies, in a recording stream's handle ---- */

typedef struct command {
    struct command *next;
    ga__function *function; /* NULL: a copy */
    bool users;             /* the kernel is, launched by `shape` with the words for arguments */
    int64_t grid;
    ga__grid_launch shape;
    span moved;
    size_t nwords;
    uint64_t words[];
} command;

struct ga__replay {
    command *first, **end;
};

/* Appends a copy of the command, whose words the caller fills; NULL when memory is out. */
static command *record(ga__stream *stream, const command *given)
{
    ga__replay *list = stream->handle;
    command *c = ga__malloc(sizeof *c + given->nwords * sizeof *c->words);
    if (c == NULL)
        return NULL;
    *c = *given;
    *list->end = c;
    list->end = &c->next;
    return c;
}

static ga_status host_copy_async(ga__stream *stream, void *to, const void *from, size_t nbytes,
                                 ga__copy_kind kind)
{
    (void)kind;
    const command c = {.moved = {to, from, nbytes}};
    if (stream->handle != NULL)
        return record(stream, &c) != NULL ? GA_OK : GA_ERR_MEMORY;
    move_now(to, from, nbytes);
    return GA_OK;
}

static ga_status host_zero(ga__stream *stream, void *memory, size_t nbytes)
{
    return host_copy_async(stream, memory, NULL, nbytes, GA__DEVICE_TO_DEVICE);
}

static ga_status host_launch(ga__stream *stream, ga__function *function, const ga__launch *launch)
{
    if (stream->handle == NULL) {
        launch_now(function, launch->grid, launch->words);
        return GA_OK;
    }
    const command given = {.function = function, .grid = launch->grid, .nwords = launch->nwords};
    command *c = record(stream, &given);
    if (c == NULL)
        return GA_ERR_MEMORY;
    memcpy(c->words, launch->words, launch->nwords * sizeof *c->words);
    return GA_OK;
}

/* A user's kernel is one of these. */
static const ga_simt_kernel *users_kernel(ga__function *function)
{
    return (const ga_simt_kernel *)(const void *)function;
}

static size_t words_of(unsigned long nbytes)
{
    return (nbytes + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

static ga_status record_grid(ga__stream *stream, ga__function *function,
                             const ga__grid_launch *launch)
{
    const ga_simt_kernel *its = users_kernel(function);
    command given = {.function = function, .users = true, .shape = *launch};
    for (int i = 0; i < its->nparams; i++)
        given.nwords += words_of(its->param_bytes[i]);
    command *c = record(stream, &given);
    if (c == NULL)
        return GA_ERR_MEMORY;
    uint64_t *words = c->words;
    for (int i = 0; i < its->nparams; i++) {
        memcpy(words, launch->args[i], its->param_bytes[i]);
        words += words_of(its->param_bytes[i]);
    }
    return GA_OK;
}

static ga_status host_launch_grid(ga__stream *stream, ga__function *function,
                                  const ga__grid_launch *launch)
{
    return stream->handle != NULL ? record_grid(stream, function, launch)
                                  : ga__simt_launch(users_kernel(function), launch);
}

static ga_status replay_grid(command *c)
{
    const ga_simt_kernel *its = users_kernel(c->function);
    void *args[GA__MAX_PARAMS];
    ga__grid_launch launch = c->shape;
    uint64_t *words = c->words;
    for (int i = 0; i < its->nparams; i++) {
        args[i] = words;
        words += words_of(its->param_bytes[i]);
    }
    launch.args = args;
    return ga__simt_launch(its, &launch);
}

static ga_status host_record_begin(ga__stream *stream)
{
    ga__replay *list = ga__malloc(sizeof *list);
    if (list == NULL)
        return GA_ERR_MEMORY;
    *list = (ga__replay){NULL, &list->first};
    stream->handle = list;
    return GA_OK;
}

static ga_status host_record_end(ga__stream *stream, ga__replay **replay)
{
    *replay = stream->handle;
    stream->handle = NULL;
    return GA_OK;
}

static void host_replay_free(ga__replay *replay)
{
    command *c = replay->first;
    while (c != NULL) {
        command *next = c->next;
        ga__free(c);
        c = next;
    }
    ga__free(replay);
}

static void host_record_cancel(ga__stream *stream)
{
    host_replay_free(stream->handle);
    stream->handle = NULL;
}

static ga_status host_replay(ga__replay *replay, ga__stream *stream)
{
    (void)stream;
    ga_status status = GA_OK;
    for (command *c = replay->first; c != NULL && status == GA_OK; c = c->next) {
        if (c->function == NULL)
            move_now(c->moved.to, c->moved.from, c->moved.nbytes);
        else if (c->users)
            status = replay_grid(c);
        else
            launch_now(c->function, c->grid, c->words);
    }
    return status;
}

/* ---- streams and marks: work is done when its call returns ---- */

static ga_status host_stream_open(ga__stream *stream)
{
    stream->handle = NULL;
    return GA_OK;
}

static void host_stream_close(ga__stream *stream)
{
    (void)stream;
}

static ga_status host_stream_wait(ga__stream *stream, ga__stream *other)
{
    (void)stream, (void)other;
    return GA_OK;
}

static ga_status host_stream_synchronize(ga__stream *stream)
{
    (void)stream;
    return GA_OK;
}

static ga_status host_stream_query(ga__stream *stream, bool *done)
{
    (void)stream;
    *done = true;
    return GA_OK;
}

struct ga__event {
    struct timespec time;
};

static ga_status host_mark_new(ga__device *device, ga__event **mark)
{
    (void)device;
    *mark = ga__calloc(1, sizeof **mark);
    return *mark == NULL ? GA_ERR_MEMORY : GA_OK;
}

static void host_mark_free(ga__device *device, ga__event *mark)
{
    (void)device;
    ga__free(mark);
}

static ga_status host_mark_set(ga__event *mark, ga__stream *stream)
{
    (void)stream;
    clock_gettime(CLOCK_MONOTONIC, &mark->time);
    return GA_OK;
}

static ga_status host_mark_wait(ga__event *mark, ga__stream *stream)
{
    (void)mark, (void)stream;
    return GA_OK;
}

static ga_status host_mark_synchronize(ga__device *device, ga__event *mark)
{
    (void)device, (void)mark;
    return GA_OK;
}

static ga_status host_mark_query(ga__device *device, ga__event *mark, bool *done)
{
    (void)device, (void)mark;
    *done = true;
    return GA_OK;
}

static ga_status host_mark_elapsed(ga__device *device, ga__event *from, ga__event *to, double *ms)
{
    (void)device;
    *ms = 1e3 * (double)(to->time.tv_sec - from->time.tv_sec) +
          1e-6 * (double)(to->time.tv_nsec - from->time.tv_nsec);
    return GA_OK;
}

/* ---- users' modules ---- */

static ga_status host_compile_cuda(ga__device *device, const ga__cuda_source *source, void **code,
                                   size_t *nbytes, char **symbols, char **log)
{
    (void)device;
    return ga__simt_compile(source, code, nbytes, symbols, log);
}

static void host_cuda_key(ga__device *device, ga__strbuf *key)
{
    (void)device;
    ga__simt_key(key);
}

static ga_status host_global(ga__device *device, ga__image *image, const char *symbol,
                             void **memory, size_t *nbytes)
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
        return ga__fail(GA_ERR_INVALID, "the module has no variable \"%s\"", symbol);
    *memory = address;
    *nbytes = entry->st_size;
    return GA_OK;
}

static ga_status host_function_info(ga__device *device, ga__function *function,
                                    ga__function_info *info)
{
    (void)device;
    ga__simt_info(users_kernel(function), info);
    return GA_OK;
}

/* ---- the device ---- */

/* "model name : X" of /proc/cpuinfo; "CPU" where there is none. */
static void describe(char *description, size_t size)
{
    char text[4096] = "", *end = NULL;
    FILE *file = fopen("/proc/cpuinfo", "re");
    size_t length = file == NULL ? 0 : fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    if (file != NULL)
        fclose(file);
    char *model = strstr(text, "model name");
    model = model == NULL ? NULL : strstr(model, ": ");
    end = model == NULL ? NULL : strchr(model, '\n');
    if (end != NULL)
        *end = '\0';
    int n = ga__pool_size();
    snprintf(description, size, "%.200s, %d thread%s", end != NULL ? model + 2 : "CPU", n,
             n == 1 ? "" : "s");
}

static size_t last_level_cache(void)
{
    long nbytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (nbytes <= 0)
        nbytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return nbytes > 0 ? (size_t)nbytes : (size_t)8 << 20;
}

static ga_status host_open(ga__device *device)
{
    /* For kernels, which name no library: a program that loads us by dlopen may have no libm of its
     * own in the global scope. It is loaded already, so this cannot fail for want of it. */
    (void)ga__library_open(LIBM_SO, RTLD_NOW | RTLD_GLOBAL);
    ga__memory_state memory;
    host_memory_state(device, &memory);
    kept.most = memory.total / 8 < MOST_KEPT ? memory.total / 8 : MOST_KEPT;
    snprintf(device->name, sizeof device->name, "cpu");
    describe(device->description, sizeof device->description);
    device->processors = ga__pool_size();
    device->threads_per_processor = 1;
    device->cache_bytes = last_level_cache();
    return GA_OK;
}

static void host_close(ga__device *device)
{
    host_trim(&device->stream);
}

static int host_count(void)
{
    return 1;
}

const ga__backend ga__host_backend = {
    .name = "cpu",
    .template_target = "host",
    .count = host_count,
    .open = host_open,
    .close = host_close,
    .stream.open = host_stream_open,
    .stream.close = host_stream_close,
    .stream.wait = host_stream_wait,
    .stream.synchronize = host_stream_synchronize,
    .stream.query = host_stream_query,
    .stream.event_new = host_mark_new,
    .stream.event_free = host_mark_free,
    .stream.event_record = host_mark_set,
    .stream.event_wait = host_mark_wait,
    .stream.event_synchronize = host_mark_synchronize,
    .stream.event_query = host_mark_query,
    .stream.event_elapsed = host_mark_elapsed,
    .graph.begin = host_record_begin,
    .graph.end = host_record_end,
    .graph.cancel = host_record_cancel,
    .graph.replay = host_replay,
    .graph.free = host_replay_free,
    .memory.alloc = host_alloc,
    .memory.free = host_free,
    .memory.trim = host_trim,
    .memory.state = host_memory_state,
    .memory.reaches = host_reaches,
    .memory.copy = host_copy_async,
    .memory.copy_async = host_copy_async,
    .memory.zero = host_zero,
    .memory.pin = host_pin,
    .memory.unpin = host_unpin,
    .memory.pin_existing = host_pin_existing,
    .memory.unpin_existing = host_unpin_existing,
    .synchronize = host_synchronize,
    .code.worker = ga__pool_member,
    .code.compiler_found = ga__cxx_found,
    .code.compile = host_compile,
    .code.key = host_compiler_key,
    .code.load = host_load,
    .code.unload = host_unload,
    .code.find = host_find,
    .code.resident_blocks = host_resident_blocks,
    .code.launch = host_launch,
    .user.compile = host_compile_cuda,
    .user.key = host_cuda_key,
    .user.global = host_global,
    .user.info = host_function_info,
    .user.launch = host_launch_grid,
};
