/* Runs a grid: its blocks on workers that have stacks of their own. */
#include "device/simt/simt.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/fork.h"
#include "base/os/loader.h"
#include "device/cpu/threads.h"
#include "device/simt/block.h"

#define MOST_STATIC_SHARED ((size_t)48 << 10) /* of one kernel */

/* ---- a module's static shared memory is its thread-local storage ---- */

static void find_statics(const ga_simt_kernel *kernel, size_t *module, size_t *nbytes)
{
    Dl_info where;
    struct link_map *map = NULL;
    *module = *nbytes = 0;
    if (dladdr1(kernel, &where, (void **)&map, RTLD_DL_LINKMAP) == 0)
        return;
    const char *base = where.dli_fbase;
    const ElfW(Ehdr) *header = (const void *)base;
    const ElfW(Phdr) *segments = (const void *)(base + header->e_phoff);
    for (int i = 0; i < header->e_phnum; i++) {
        if (segments[i].p_type == PT_TLS && dlinfo(map, RTLD_DI_TLS_MODID, module) == 0)
            *nbytes = segments[i].p_memsz;
    }
}

/* Tells the blocks of a grid where their threads find it. The function is looked up, because a
 * program linked with -static has none. */
static ga_status set_statics(ga__grid *grid)
{
    find_statics(grid->kernel, &grid->tls_module, &grid->tls_bytes);
    if (grid->tls_bytes == 0)
        return GA_OK;
    void *address = ga__is_static_program() ? NULL : dlsym(RTLD_DEFAULT, "__tls_get_addr");
    memcpy(&grid->tls_address, &address, sizeof address);
    return address != NULL
               ? GA_OK
               : ga__fail(GA_ERR_UNSUPPORTED, "module: a program linked with -static cannot run "
                                              "kernels that have __shared__ memory");
}

void ga__simt_info(const ga_simt_kernel *kernel, ga__function_info *info)
{
    size_t module, nbytes;
    find_statics(kernel, &module, &nbytes);
    if (kernel->dynamic != NULL)
        nbytes -= GA_SIMT_SHARED_BYTES + GA_SIMT_RED_ZONE;
    *info = (ga__function_info){
        .nparams = kernel->nparams,
        .max_threads = GA__BLOCK_THREADS,
        .shared_bytes = nbytes < MOST_STATIC_SHARED ? nbytes : MOST_STATIC_SHARED,
        .max_shared_bytes = GA_SIMT_SHARED_BYTES,
    };
    for (int i = 0; i < kernel->nparams; i++)
        info->param_bytes[i] = kernel->param_bytes[i];
}

/* ---- workers: a block's records and stacks, kept from launch to launch ---- */

/* The limit for one launch, and for the unused ones that are kept. Each stack costs the process two
 * mappings; Linux allows 65530. */
enum { MOST_STACKS = 12288 };

static struct {
    pthread_mutex_t lock;
    ga__block *blocks;
    int nstacks; /* the number of stacks that they have together */
} unused = {.lock = PTHREAD_MUTEX_INITIALIZER};
GA__FORK_GUARD(&unused.lock, GA__FORK_LEAF, NULL)

static void free_block(ga__block *block)
{
    ga__stacks_reset(&block->stacks);
    ga__free(block);
}

static ga__block *new_block(void)
{
    ga__block *block = ga__calloc(1, sizeof *block);
    if (block != NULL && ga__stacks_init(&block->stacks) != GA_OK) {
        ga__free(block);
        return NULL;
    }
    return block;
}

static ga__block *take_block(void)
{
    pthread_mutex_lock(&unused.lock);
    ga__block *block = unused.blocks;
    if (block != NULL) {
        unused.blocks = block->next_free;
        unused.nstacks -= block->stacks.usable;
    }
    pthread_mutex_unlock(&unused.lock);
    return block != NULL ? block : new_block();
}

static void give_block(ga__block *block)
{
    pthread_mutex_lock(&unused.lock);
    const bool kept = unused.nstacks + block->stacks.usable <= MOST_STACKS;
    if (kept) {
        block->next_free = unused.blocks;
        unused.blocks = block;
        unused.nstacks += block->stacks.usable;
    }
    pthread_mutex_unlock(&unused.lock);
    if (!kept)
        free_block(block);
}

void ga__simt_trim(void)
{
    pthread_mutex_lock(&unused.lock);
    ga__block *block = unused.blocks;
    unused.blocks = NULL;
    unused.nstacks = 0;
    pthread_mutex_unlock(&unused.lock);
    while (block != NULL) {
        ga__block *next = block->next_free;
        free_block(block);
        block = next;
    }
}

/* ---- launches ---- */

typedef struct crew {
    ga__grid *grid;
    ga__block **blocks;
} crew;

static void work(const void *context, int64_t index)
{
    const crew *c = context;
    ga__block_run(c->blocks[index], c->grid);
}

static int count_workers(const ga__grid_launch *l, int64_t nblocks)
{
    const int64_t nthreads = l->block[0] * l->block[1] * l->block[2];
    int64_t n = ga__pool_size();
    n = n < nblocks ? n : nblocks;
    return (int)(n < MOST_STACKS / nthreads ? n : MOST_STACKS / nthreads);
}

static ga_status run_grid(ga__grid *grid, int nworkers)
{
    ga_status status = GA_OK;
    int n = 0;
    ga__block **blocks = ga__calloc((size_t)nworkers, sizeof *blocks);
    if (blocks == NULL)
        return GA_ERR_MEMORY;
    while (n < nworkers && (blocks[n] = take_block()) != NULL)
        n++;
    if (n < nworkers) {
        status = GA_ERR_MEMORY;
    } else {
        const crew c = {grid, blocks};
        ga__pool_run(work, &c, nworkers, false);
        if (atomic_load(&grid->failed))
            status = ga__fail(grid->status, "%s", grid->message);
    }
    while (n > 0)
        give_block(blocks[--n]);
    ga__free(blocks);
    return status;
}

ga_status ga__simt_launch(const ga_simt_kernel *kernel, const ga__grid_launch *launch)
{
    if (!GA__HAVE_FIBERS)
        return ga__fail(GA_ERR_UNSUPPORTED,
                        "module: the host runs CUDA modules on x86-64 and AArch64");
    ga__grid grid = {.kernel = kernel, .launch = launch, .failing = ATOMIC_FLAG_INIT};
    grid.nblocks = launch->grid[0] * launch->grid[1] * launch->grid[2];
    const int nworkers = count_workers(launch, grid.nblocks);
    const int64_t share = grid.nblocks / (nworkers * 16); /* small enough that all workers finish at
                                                           * about the same time */
    grid.chunk = share < 1 ? 1 : share > 64 ? 64 : share;
    const ga_status status = set_statics(&grid);
    return status == GA_OK ? run_grid(&grid, nworkers) : status;
}
