/* Links several sources to one module. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "user/module.h"

/* The pieces of one link. */
typedef struct linking {
    ga_module *module;
    size_t count;
    ga__code *codes;
    ga__link_piece *pieces;
} linking;

static ga_status add_names(ga__texts *to, const ga__texts *from)
{
    for (size_t i = 0; i < from->count; i++)
        ga__texts_add(to, from->text[i]);
    return to->failed ? GA_ERR_MEMORY : GA_OK;
}

/* Gives the linked module the names of a piece. */
static ga_status take_names(ga_module *to, const ga_module *piece, const char *symbols)
{
    ga_status status = add_names(&to->compiled, &piece->compiled);
    if (status == GA_OK)
        status = add_names(&to->names.kernels, &piece->names.kernels);
    if (status == GA_OK)
        status = add_names(&to->names.others, &piece->names.others);
    if (status == GA_OK)
        status = add_names(&to->names.variables, &piece->names.variables);
    ga__module_add_symbols(to, symbols);
    return to->symbols.failed ? GA_ERR_MEMORY : status;
}

/* Compiles source k to relocatable code. */
static ga_status compile_piece(linking *l, size_t k, const ga_module_args *args)
{
    const char *name = args->name && *args->name ? args->name : l->module->name;
    if (!args->source)
        return ga__fail(GA_ERR_INVALID, "%s: source %zu is NULL", l->module->name, k + 1);
    ga_module *piece = ga__module_new(name);
    if (!piece)
        return ga_error();
    piece->piece = (int)k + 1;
    ga_status status = ga__module_copy_args(piece, args);
    if (status == GA_OK)
        status = ga__module_compile_code(piece, args->kernels ? args->kernels : "", &l->codes[k]);
    if (status == GA_OK) {
        l->pieces[k] = (ga__link_piece){
            .name = l->module->name, .bytes = l->codes[k].bytes, .nbytes = l->codes[k].nbytes};
        status = take_names(l->module, piece, l->codes[k].symbols);
    }
    ga_module_free(piece);
    return status;
}

static ga_status compile_pieces(linking *l, const ga_link_args *args)
{
    ga_status status = GA_OK;
    for (size_t k = 0; k < l->count && status == GA_OK; k++) {
        ga_module_args known;
        const char *source = (const char *)args->sources + k * args->source_bytes;
        status = ga__options_read("module_link", &known, sizeof known, source, args->source_bytes);
        if (status == GA_OK)
            status = compile_piece(l, k, &known);
    }
    return status;
}

static ga_status link_pieces(const linking *l, const ga_link_args *args)
{
    const ga__device *device = l->module->device;
    const ga__link_inputs inputs = {
        .name = l->module->name, .pieces = l->pieces, .count = l->count, .files = args->files};
    void *code;
    size_t nbytes;
    ga_status status = device->backend->user.link(l->module->device, &inputs, &code, &nbytes);
    if (status != GA_OK)
        return status;
    status = ga__module_load_code(l->module, code, nbytes, &l->module->image);
    ga__free(code);
    return status;
}

static void free_pieces(linking *l)
{
    for (size_t k = 0; l->codes && k < l->count; k++)
        ga__code_reset(&l->codes[k]);
    ga__free(l->codes);
    ga__free(l->pieces);
}

ga_module *(ga_module_link)(size_t size, const ga_link_args *options)
{
    ga_link_args args;
    if (ga__options_read("module_link", &args, sizeof args, options, size) != GA_OK)
        return NULL;
    const char *name = args.name && *args.name ? args.name : "module";
    if (args.count == 0 || !args.sources)
        return ga__fail_null(GA_ERR_INVALID, "%s: there is no source to link", name);
    linking l = {.module = ga__module_new(name), .count = args.count};
    if (!l.module)
        return NULL;
    l.codes = ga__calloc(l.count, sizeof *l.codes);
    l.pieces = l.codes ? ga__calloc(l.count, sizeof *l.pieces) : NULL;
    ga_status status = l.pieces ? compile_pieces(&l, &args) : GA_ERR_MEMORY;
    if (status == GA_OK)
        status = link_pieces(&l, &args);
    free_pieces(&l);
    if (status == GA_OK)
        return l.module;
    ga_module_free(l.module);
    return NULL;
}
