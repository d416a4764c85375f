/* Links device code with nvJitLink, which is loaded at first use. */
#include "device/cuda/nvjitlink.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/library.h"
#include "base/os/stack.h"

#define LOG_LIMIT 4000 /* bytes of the linker's log in a message */
#define STACK_NEED ((size_t)2 << 20)

typedef struct nvjitlink_handle *linker;
enum { NVJITLINK_SUCCESS = 0, INPUT_CUBIN = 1, INPUT_ANY = 10 };

static struct {
#define GA_SYMBOL(member, name, result, parameters, since) result(*member) parameters;
#include "device/cuda/nvjitlink.def"
#undef GA_SYMBOL
} nvjitlink;

static const ga__symbol needed[] = {
#define GA_SYMBOL(member, name, result, parameters, since) {&nvjitlink.member, name, since},
#include "device/cuda/nvjitlink.def"
#undef GA_SYMBOL
};

static const char *const files[] = {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so",
                                    NULL};

/* The first versions do not say which they are. */
static void read_version(ga__version *its)
{
    unsigned major = 0, minor = 0;
    *its = (ga__version){.name = "nvJitLink", .least = "12.0"};
    if (nvjitlink.version && nvjitlink.version(&major, &minor) == NVJITLINK_SUCCESS)
        snprintf(its->text, sizeof its->text, "%u.%u", major, minor);
}

/* Needs no fork guard: only CUDA devices use it, and they do not work in a forked child. */
static ga__library library = {
    .name = "nvJitLink",
    .variable = "QUARRY_NVJITLINK",
    .files = files,
    .folders = ga__cuda_folders,
    .advice = "modules of several sources need it; install the CUDA toolkit's nvJitLink or set "
              "QUARRY_NVJITLINK to its libnvJitLink.so",
    .symbols = needed,
    .count = sizeof needed / sizeof *needed,
    .version = read_version,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

static ga_status load_library(void)
{
    return ga__library_load(&library) ? GA_OK
                                      : ga__fail(GA_ERR_COMPILE, "link: %s", library.problem);
}

ga_status ga__nvjitlink_found(char *text, size_t size)
{
    ga__version its;
    const ga_status status = load_library();
    if (status != GA_OK)
        return status;
    read_version(&its);
    snprintf(text, size, "%s%s%s, %s", its.name, *its.text ? " " : "", its.text, library.path);
    return GA_OK;
}

/* Raises with the linker's log. */
static ga_status fail_link(linker l, const char *name, int result)
{
    size_t nbytes = 0;
    char *log = NULL;
    if (l && nvjitlink.log_size(l, &nbytes) == NVJITLINK_SUCCESS && nbytes > 0)
        log = ga__calloc(nbytes + 1, 1);
    if (log)
        (void)nvjitlink.log(l, log);
    const ga_status status =
        ga__fail(GA_ERR_COMPILE, "link: %s does not link (nvJitLink: error %d):\n%.*s", name,
                 result, LOG_LIMIT, log ? log : "");
    ga__free(log);
    return status;
}

/* ---- Symbols of pieces ---- */

/* The symbols of a piece; none if it has no table. */
typedef struct symbols {
    const Elf64_Sym *table;
    size_t count;
    const char *names;
} symbols;

static bool is_inside(const ga__link_piece *piece, uint64_t offset, uint64_t nbytes)
{
    return offset <= piece->nbytes && nbytes <= piece->nbytes - offset;
}

static symbols symbols_of(const ga__link_piece *piece)
{
    const char *const bytes = piece->bytes;
    const Elf64_Ehdr *const head = piece->bytes;
    if (piece->nbytes < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        !is_inside(piece, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr)))
        return (symbols){0};
    const Elf64_Shdr *const sections = (const Elf64_Shdr *)(bytes + head->e_shoff);
    for (size_t k = 0; k < head->e_shnum; k++) {
        const Elf64_Shdr *const s = &sections[k];
        if (s->sh_type == SHT_SYMTAB && s->sh_link < head->e_shnum &&
            is_inside(piece, s->sh_offset, s->sh_size) &&
            is_inside(piece, sections[s->sh_link].sh_offset, sections[s->sh_link].sh_size))
            return (symbols){(const Elf64_Sym *)(bytes + s->sh_offset),
                             s->sh_size / sizeof(Elf64_Sym),
                             bytes + sections[s->sh_link].sh_offset};
    }
    return (symbols){0};
}

/* Templates and inline functions are weak: several pieces may define them. */
static bool is_definition(const Elf64_Sym *s)
{
    return ELF64_ST_BIND(s->st_info) == STB_GLOBAL && s->st_shndx != SHN_UNDEF;
}

/* The name of a symbol that both define, or NULL. */
static const char *common_definition(const symbols *a, const symbols *b)
{
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; is_definition(&a->table[i]) && k < b->count; k++)
            if (is_definition(&b->table[k]) &&
                strcmp(a->names + a->table[i].st_name, b->names + b->table[k].st_name) == 0)
                return a->names + a->table[i].st_name;
    return NULL;
}

/* nvJitLink 13.0 reports success where two pieces define a symbol, and the driver then rejects the
 * code. */
static ga_status check_definitions(const ga__link_inputs *inputs)
{
    for (size_t k = 1; k < inputs->count; k++)
        for (size_t i = 0; i < k; i++) {
            const symbols a = symbols_of(&inputs->pieces[i]), b = symbols_of(&inputs->pieces[k]);
            const char *const name = common_definition(&a, &b);
            if (name)
                return ga__fail(GA_ERR_COMPILE,
                                "link: %s does not link: sources %zu and %zu both define %s",
                                inputs->name, i + 1, k + 1, name);
        }
    return GA_OK;
}

/* ---- Links ---- */

static int add_inputs(linker l, const ga__link_inputs *inputs)
{
    int result = NVJITLINK_SUCCESS;
    for (size_t k = 0; k < inputs->count && result == NVJITLINK_SUCCESS; k++)
        result = nvjitlink.add_data(l, INPUT_CUBIN, inputs->pieces[k].bytes,
                                    inputs->pieces[k].nbytes, inputs->pieces[k].name);
    for (const char *const *file = inputs->files; file && *file && result == NVJITLINK_SUCCESS;
         file++)
        result = nvjitlink.add_file(l, INPUT_ANY, *file);
    return result;
}

typedef struct link_call {
    const ga__link_inputs *inputs;
    linker l;
    int result;
} link_call;

static void call_link(void *context)
{
    link_call *call = context;
    call->result = add_inputs(call->l, call->inputs);
    if (call->result == NVJITLINK_SUCCESS)
        call->result = nvjitlink.complete(call->l);
}

static ga_status take_cubin(linker l, const char *name, void **code, size_t *nbytes)
{
    size_t size = 0;
    int result = nvjitlink.cubin_size(l, &size);
    char *bytes = result == NVJITLINK_SUCCESS ? ga__malloc(size) : NULL;
    if (result == NVJITLINK_SUCCESS && !bytes)
        return GA_ERR_MEMORY;
    if (result == NVJITLINK_SUCCESS)
        result = nvjitlink.cubin(l, bytes);
    if (result != NVJITLINK_SUCCESS) {
        ga__free(bytes);
        return fail_link(l, name, result);
    }
    *code = bytes;
    *nbytes = size;
    return GA_OK;
}

ga_status ga__nvjitlink_link(const ga__link_inputs *inputs, int arch, void **code, size_t *nbytes)
{
    char option[32];
    const char *const options[] = {option};
    link_call call = {.inputs = inputs};
    ga_status status = load_library();
    if (status == GA_OK)
        status = check_definitions(inputs);
    if (status != GA_OK)
        return status;
    snprintf(option, sizeof option, "-arch=sm_%d", arch);
    call.result = nvjitlink.create(&call.l, 1, options);
    if (call.result != NVJITLINK_SUCCESS)
        return fail_link(NULL, inputs->name, call.result);
    if (!ga__with_stack(STACK_NEED, call_link, &call))
        status = ga__fail(GA_ERR_MEMORY, "link: the system starts no thread for the linker");
    else if (call.result != NVJITLINK_SUCCESS)
        status = fail_link(call.l, inputs->name, call.result);
    else
        status = take_cubin(call.l, inputs->name, code, nbytes);
    nvjitlink.destroy(&call.l);
    return status;
}
