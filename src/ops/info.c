/* Reports the compilers and the disk cache. */
#include <limits.h>
#include <string.h>

#include <quarry/info.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "device/context.h"
#include "jit/cache_disk.h"

#define COMPILER_SIZE (PATH_MAX + 64)

#define NO_CUDA "this Quarry was built without CUDA: build it where the CUDA toolkit is installed"

#ifdef QUARRY_CUDA
const char *ga_cuda_problem(void)
{
    return ga__cuda_problem();
}

static ga_status find_cuda_compiler(char *text, size_t size)
{
    return ga__cuda_backend.code.compiler_found(text, size);
}
#else
const char *ga_cuda_problem(void)
{
    return NO_CUDA;
}

static ga_status find_cuda_compiler(char *text, size_t size)
{
    (void)text;
    (void)size;
    return ga__fail(GA_ERR_UNSUPPORTED, NO_CUDA);
}
#endif

char *ga_compiler(const char *device)
{
    char found[COMPILER_SIZE];
    ga__strbuf text = GA__STRBUF_INIT;
    ga_status status;

    if (!device)
        return ga__fail_null(GA_ERR_INVALID, "compiler: the name of the device is NULL");
    if (strcmp(device, "cpu") == 0)
        status = ga__host_backend.code.compiler_found(found, sizeof found);
    else if (strncmp(device, "cuda", 4) == 0)
        status = find_cuda_compiler(found, sizeof found);
    else
        status = ga__fail(GA_ERR_DEVICE, "compiler: no device \"%s\"", device);
    if (status != GA_OK)
        return NULL;
    ga__strbuf_add(&text, found);
    return ga__strbuf_hand_out(&text);
}

#ifdef QUARRY_CUDA
static const ga__product_verbs *cuda_products(void)
{
    return &ga__cuda_backend.product;
}
#else
static const ga__product_verbs *cuda_products(void)
{
    return NULL;
}
#endif

char *ga_product_library(const char *device)
{
    char found[COMPILER_SIZE + 200];
    const ga__product_verbs *verbs = NULL;
    ga__strbuf text = GA__STRBUF_INIT;
    if (!device)
        return ga__fail_null(GA_ERR_INVALID, "product_library: the name of the device is NULL");
    const bool cuda = strncmp(device, "cuda", 4) == 0;
    if (!cuda && strcmp(device, "cpu") != 0)
        return ga__fail_null(GA_ERR_DEVICE, "product_library: no device \"%s\"", device);
    verbs = cuda ? cuda_products() : &ga__host_backend.product;
    if (!verbs)
        return ga__fail_null(GA_ERR_UNSUPPORTED, NO_CUDA);
    if (verbs->found(found, sizeof found) != GA_OK)
        return NULL;
    ga__strbuf_add(&text, found);
    return ga__strbuf_hand_out(&text);
}

char *ga_cache_directory(void)
{
    ga__strbuf text = GA__STRBUF_INIT;
    char *directory = ga__disk_cache_directory();

    if (!directory)
        return NULL;
    ga__strbuf_add(&text, directory);
    ga__free(directory);
    return ga__strbuf_hand_out(&text);
}

void ga_cache_usage(int64_t *files, int64_t *bytes)
{
    int64_t all_files = 0, all_bytes = 0;

    ga__disk_cache_usage(&all_files, &all_bytes);
    if (files)
        *files = all_files;
    if (bytes)
        *bytes = all_bytes;
}

typedef struct listener {
    void (*each)(const ga_cache_entry *entry, void *user);
    void *user;
} listener;

static void pass_on(const char *name, int64_t bytes, int64_t used, void *user)
{
    const listener *l = user;

    l->each(&(ga_cache_entry){name, bytes, used}, l->user);
}

void ga_cache_list(void (*each)(const ga_cache_entry *entry, void *user), void *user)
{
    if (each)
        ga__disk_cache_list(pass_on, &(listener){each, user});
}

int64_t ga_cache_clear(void)
{
    return ga__disk_cache_clear();
}
