/* Reports the compilers and the disk cache. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <quarry/info.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "device/context.h"
#include "jit/cache_disk.h"

#define COMPILER_SIZE (PATH_MAX + 64)

#define NO_CUDA "this Quarry was built without CUDA: build it with -Dcuda=enabled"

#ifdef QUARRY_CUDA
#define OF_CUDA(verb) ga__cuda_backend.verb
const char *ga_cuda_problem(void)
{
    return ga__cuda_problem();
}
#else
#define OF_CUDA(verb) NULL
const char *ga_cuda_problem(void)
{
    return NO_CUDA;
}
#endif

/* Writes what a library or program is and where; raises if there is none. */
typedef ga_status (*finder)(char *text, size_t size);

static char *found_on(const char *name, const char *device, finder host, finder cuda)
{
    char found[COMPILER_SIZE + 200];
    ga__strbuf text = GA__STRBUF_INIT;

    if (!device)
        return ga__fail_null(GA_ERR_INVALID, "%s: the name of the device is NULL", name);
    const bool is_cuda = strncmp(device, "cuda", 4) == 0;
    if (!is_cuda && strcmp(device, "cpu") != 0)
        return ga__fail_null(GA_ERR_DEVICE, "%s: no device \"%s\"", name, device);
    const finder find = is_cuda ? cuda : host;
    if (!find)
        return ga__fail_null(GA_ERR_UNSUPPORTED, NO_CUDA);
    if (find(found, sizeof found) != GA_OK)
        return NULL;
    ga__strbuf_add(&text, found);
    return ga__strbuf_hand_out(&text);
}

char *ga_compiler(const char *device)
{
    return found_on("compiler", device, ga__host_backend.code.compiler_found,
                    OF_CUDA(code.compiler_found));
}

char *ga_linker(const char *device)
{
    return found_on("linker", device, ga__host_backend.user.linker_found,
                    OF_CUDA(user.linker_found));
}

char *ga_product_library(const char *device)
{
    return found_on("product_library", device, ga__host_backend.product.found,
                    OF_CUDA(product.found));
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

/* Copies what follows `label` at the start of a line of the key, up to `end`; "" if there is none.
 */
static void copy_after(const char *start, const char *label, const char *end, char *text,
                       size_t size)
{
    const char *at = strstr(start, label);
    at = at ? at + strlen(label) : "";
    snprintf(text, size, "%.*s", (int)strcspn(at, end), at);
}

/* A key starts with "quarry VERSION\nDEVICE for TARGET\nkernel NAME\n", or "user's source\n". */
static void pass_on(const char *name, int64_t bytes, int64_t used, const char *start, void *user)
{
    const listener *l = user;
    char device[16], kernel[128];

    copy_after(start, "\n", " \n", device, sizeof device);
    copy_after(start, "\nkernel ", "\n", kernel, sizeof kernel);
    if (!*kernel && strstr(start, "\nuser's source\n"))
        snprintf(kernel, sizeof kernel, "a module");
    l->each(&(ga_cache_entry){name, bytes, used, kernel, device}, l->user);
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
