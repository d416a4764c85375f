/* Users' modules: compiles or loads them, finds their kernels and variables, and frees them. */
#include "user/module.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/os/fork.h"
#include "base/os/system.h"
#include "base/strbuf.h"
#include "base/texts.h"
#include "device/code.h"
#include "jit/compile.h"
#include "user/cuda_names.h"

/* ---- Making and freeing ---- */

ga_module *ga__module_new(const char *name)
{
    ga__device *device = ga__current_device();
    ga_module *m = device ? ga__calloc(1, sizeof *m) : NULL;
    if (!m)
        return NULL;
    m->references = 1;
    m->device = device;
    pthread_mutex_init(&m->lock, NULL);
    m->guard = (ga__fork_guard){.lock = &m->lock, .rank = GA__FORK_LEAF};
    ga__fork_guard_add(&m->guard);
    m->name = ga__strdup(name);
    if (m->name)
        return m;
    ga_module_free(m);
    return NULL;
}

/* Unloads the code once its kernels are done. Errors that the wait finds are not reported here. */
static void unload(ga_module *m)
{
    const ga__backend *backend = m->device->backend;
    ga__saved_error saved = ga__error_save();
    if (m->code)
        (void)backend->synchronize(m->device);
    while (m->code) {
        ga__loaded_code *code = m->code;
        m->code = code->next;
        backend->code.unload(code->image);
        ga__free(code);
    }
    ga__error_restore(saved);
}

static void kernel_free(ga__module_kernel *kernel)
{
    ga__free(kernel->base.name);
    ga__free(kernel);
}

static void module_release(void *owner)
{
    ga_module *m = owner;
    if (__atomic_sub_fetch(&m->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    unload(m);
    while (m->kernels) {
        ga__module_kernel *kernel = m->kernels;
        m->kernels = kernel->next;
        kernel_free(kernel);
    }
    ga__fork_guard_remove(&m->guard);
    pthread_mutex_destroy(&m->lock);
    ga__texts *const lists[] = {&m->options, &m->header_names, &m->header_texts, &m->compiled,
                                &m->symbols};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        ga__texts_reset(lists[i]);
    ga__cuda_names_reset(&m->names);
    ga__free(m->text);
    ga__free(m->name);
    ga__free(m);
}

void ga_module_free(ga_module *module)
{
    if (module)
        module_release(module);
}

ga_status ga__module_load_code(ga_module *m, const void *bytes, size_t nbytes, ga__image **image)
{
    ga__loaded_code *code = ga__malloc(sizeof *code);
    if (!code)
        return GA_ERR_MEMORY;
    ga_status status = m->device->backend->code.load(m->device, bytes, nbytes, &code->image);
    if (status != GA_OK) {
        ga__free(code);
        return status;
    }
    *image = code->image;
    pthread_mutex_lock(&m->lock);
    code->next = m->code;
    m->code = code;
    pthread_mutex_unlock(&m->lock);
    return GA_OK;
}

/* ---- Compiling ---- */

/* Adds the names, which commas, semicolons and line ends outside brackets separate. */
static void split_names(ga__texts *names, const char *text)
{
    int depth = 0;
    const char *start = text, *at = text;
    for (;; at++) {
        depth += *at != '\0' && strchr("<([", *at) != NULL;
        depth -= *at != '\0' && strchr(">)]", *at) != NULL;
        if (*at != '\0' && (depth > 0 || !strchr(",;\n", *at)))
            continue;
        start += strspn(start, " \t\r\n");
        size_t length = start < at ? (size_t)(at - start) : 0;
        while (length > 0 && strchr(" \t\r\n", start[length - 1]))
            length--;
        if (length > 0)
            ga__texts_addn(names, start, length);
        if (*at == '\0')
            return;
        start = at + 1;
    }
}

ga_status ga__module_copy_args(ga_module *m, const ga_module_args *args)
{
    m->text = ga__strdup(args->source);
    ga__texts_split(&m->options, args->options ? args->options : "");
    for (const ga_header *header = args->headers; header && header->name; header++) {
        if (!header->text)
            return ga__fail(GA_ERR_INVALID, "%s: the text of the header \"%s\" is NULL", m->name,
                            header->name);
        ga__texts_add(&m->header_names, header->name);
        ga__texts_add(&m->header_texts, header->text);
    }
    if (!m->text || m->options.failed || m->header_names.failed || m->header_texts.failed)
        return GA_ERR_MEMORY;
    return ga__cuda_names_find(&m->names, m->text);
}

static ga_status get_code(ga_module *m, const ga__texts *kernels, ga__code *code)
{
    const ga__cuda_source source = {.name = m->name,
                                    .text = m->text,
                                    .options = ga__texts_list(&m->options),
                                    .header_names = ga__texts_list(&m->header_names),
                                    .header_texts = ga__texts_list(&m->header_texts),
                                    .kernels = ga__texts_list(kernels),
                                    .piece = m->piece};
    return ga__module_code(m->device, &source, code);
}

ga_status ga__module_compile_code(ga_module *m, const char *wanted, ga__code *code)
{
    ga__texts alone = {0};
    split_names(&alone, wanted);
    for (size_t i = 0; i < m->names.kernels.count; i++)
        ga__texts_add(&m->compiled, m->names.kernels.text[i]);
    for (size_t i = 0; i < alone.count; i++)
        if (ga__texts_find(&m->compiled, alone.text[i]) < 0)
            ga__texts_add(&m->compiled, alone.text[i]);
    ga_status status = GA_ERR_MEMORY;
    if (alone.failed || m->compiled.failed)
        goto done;
    const ga__saved_error before = ga__error_save();
    status = get_code(m, &m->compiled, code);
    if (status == GA_ERR_COMPILE && m->compiled.count > alone.count) {
        ga_clear_error();
        ga__texts_reset(&m->compiled);
        m->compiled = alone;
        alone = (ga__texts){0};
        status = get_code(m, &m->compiled, code);
    }
    ga__error_settle(before);
done:
    ga__texts_reset(&alone);
    return status;
}

void ga__module_add_symbols(ga_module *m, const char *symbols)
{
    for (; *symbols; symbols += strcspn(symbols, "\n") + 1)
        ga__texts_addn(&m->symbols, symbols, strcspn(symbols, "\n"));
}

/* Loads the compiled code and keeps its symbols. */
static ga_status load_compiled(ga_module *m, ga__code *code)
{
    ga_status status = ga__module_load_code(m, code->bytes, code->nbytes, &m->image);
    if (status != GA_OK)
        return status;
    ga__module_add_symbols(m, code->symbols);
    return m->symbols.failed ? GA_ERR_MEMORY : GA_OK;
}

ga_module *(ga_module_compile)(size_t size, const ga_module_args *options)
{
    ga_module_args args;
    if (ga__options_read("module_compile", &args, sizeof args, options, size) != GA_OK)
        return NULL;
    ga__code code;
    const char *name = args.name && *args.name ? args.name : "module";
    if (!args.source)
        return ga__fail_null(GA_ERR_INVALID, "%s: the source is NULL", name);
    ga_module *m = ga__module_new(name);
    if (!m)
        return NULL;
    ga_status status = ga__module_copy_args(m, &args);
    if (status == GA_OK)
        status = ga__module_compile_code(m, args.kernels ? args.kernels : "", &code);
    if (status == GA_OK) {
        status = load_compiled(m, &code);
        ga__code_reset(&code);
    }
    if (status == GA_OK)
        return m;
    ga_module_free(m);
    return NULL;
}

/* ---- Loading ---- */

static ga_status load_file(ga_module *m, const char *path)
{
    size_t nbytes;
    if (!m->device->backend->user.find)
        return ga__fail(
            GA_ERR_UNSUPPORTED,
            "%s: GPU code does not run on %s: compile its source with ga_module_compile", path,
            m->device->name);
    char *bytes = ga__read_file(path, &nbytes);
    if (!bytes)
        return ga_error();
    ga_status status =
        ga__is_device_code(bytes, nbytes)
            ? ga__module_load_code(m, bytes, nbytes, &m->image)
            : ga__fail(GA_ERR_FORMAT, "%s: %zu bytes are not a cubin, fat binary or PTX", path,
                       nbytes);
    ga__free(bytes);
    return status;
}

ga_module *ga_module_load(const char *path)
{
    if (!path)
        return ga__fail_null(GA_ERR_INVALID, "load: the path of the module is NULL");
    ga_module *m = ga__module_new(path);
    if (!m || load_file(m, path) == GA_OK)
        return m;
    ga_module_free(m);
    return NULL;
}

/* ---- Kernels ---- */

static void add_names(ga__strbuf *list, const ga__texts *names)
{
    for (size_t i = 0; i < names->count; i++)
        ga__strbuf_addf(list, "%s%s", list->length > 0 ? ", " : "", names->text[i]);
}

static ga_status fail_no_kernel(const ga_module *m, const char *name)
{
    ga__strbuf list = GA__STRBUF_INIT;
    add_names(&list, &m->names.kernels);
    add_names(&list, &m->names.others);
    ga_status status =
        ga__fail(GA_ERR_INVALID, "%s: the module has no kernel \"%s\"; its kernels: %s", m->name,
                 name, list.text ? list.text : "none");
    ga__strbuf_reset(&list);
    return status;
}

static ga_status fail_variables(const ga_module *m, const char *name)
{
    ga__strbuf list = GA__STRBUF_INIT;
    add_names(&list, &m->names.variables);
    ga_status status = ga__fail(
        GA_ERR_INVALID,
        "%s: \"%s\", compiled by itself, would not share the module's variables (%s): name it in "
        "ga_module_compile's .kernels",
        m->name, name, list.text ? list.text : "");
    ga__strbuf_reset(&list);
    return status;
}

/* Raises for a name that does not compile; for a template instance, the compiler's own error says
 * more. */
static ga_status fail_plain(const ga_module *m, const char *name)
{
    if (ga__texts_find(&m->names.others, name) < 0)
        return fail_no_kernel(m, name);
    return ga__fail(GA_ERR_INVALID,
                    "%s: the kernel \"%s\" is left out by an #if, or defined more than once",
                    m->name, name);
}

static ga_status load_instance(ga_module *m, ga__code *code, ga__function **function)
{
    ga__image *image;
    ga_status status = ga__module_load_code(m, code->bytes, code->nbytes, &image);
    if (status != GA_OK)
        return status;
    code->symbols[strcspn(code->symbols, "\n")] = '\0';
    return m->device->backend->code.find(image, code->symbols, function);
}

/* Compiles the source again for this kernel: a template instance, or a name that the name reader
 * missed or rejected. */
static ga_status find_instance(ga_module *m, const char *name, ga__function **function)
{
    ga__code code;
    ga__texts wanted = {0};
    const bool is_plain = !strpbrk(name, "<(");
    if (m->names.variables.count > 0)
        return is_plain && ga__texts_find(&m->names.others, name) < 0 ? fail_no_kernel(m, name)
                                                                      : fail_variables(m, name);
    ga__texts_add(&wanted, name);
    const ga__saved_error before = ga__error_save();
    ga_status status = wanted.failed ? GA_ERR_MEMORY : get_code(m, &wanted, &code);
    ga__texts_reset(&wanted);
    if (status == GA_OK) {
        status = load_instance(m, &code, function);
        ga__code_reset(&code);
    } else if (status == GA_ERR_COMPILE && is_plain) {
        ga_clear_error();
        status = fail_plain(m, name);
    }
    ga__error_settle(before);
    return status;
}

/* Looks the name up with the backend, without raising: there may be another way. */
static bool find_by_name(ga_module *m, const char *name, ga__function **function)
{
    const ga__backend *backend = m->device->backend;
    if (!backend->user.find)
        return false;
    const ga__saved_error before = ga__error_save();
    const bool found = backend->user.find(m->image, name, function) == GA_OK;
    ga__error_restore(before);
    return found;
}

static ga_status find_function(ga_module *m, const char *name, ga__function **function)
{
    const ga__backend *backend = m->device->backend;
    const long known = ga__texts_find(&m->compiled, name);
    if (known >= 0)
        return backend->code.find(m->image, m->symbols.text[known], function);
    if (!m->text)
        return backend->user.find ? backend->user.find(m->image, name, function)
                                  : fail_no_kernel(m, name);
    return find_by_name(m, name, function) ? GA_OK : find_instance(m, name, function);
}

static ga__module_kernel *new_kernel(ga_module *m, const char *name)
{
    static _Atomic uint64_t last_id;
    ga__module_kernel *kernel = ga__calloc(1, sizeof *kernel);
    if (!kernel)
        return NULL;
    kernel->base.kind = GA__MODULE_KERNEL;
    kernel->base.name = ga__strdup(name);
    kernel->device = m->device;
    kernel->id = atomic_fetch_add(&last_id, 1) + 1;
    if (kernel->base.name && find_function(m, name, &kernel->function) == GA_OK &&
        m->device->backend->user.info(m->device, kernel->function, &kernel->info) == GA_OK) {
        return kernel;
    }
    kernel_free(kernel);
    return NULL;
}

static ga__module_kernel *find_locked(const ga_module *m, const char *name)
{
    ga__module_kernel *kernel = m->kernels;
    while (kernel && strcmp(kernel->base.name, name) != 0)
        kernel = kernel->next;
    return kernel;
}

static ga__module_kernel *find_kernel(ga_module *m, const char *name)
{
    pthread_mutex_lock(&m->lock);
    ga__module_kernel *kernel = find_locked(m, name);
    pthread_mutex_unlock(&m->lock);
    return kernel;
}

/* Adds the new kernel to the module, unless another thread has added one of that name; returns the
 * kernel in the list. */
static ga__module_kernel *keep_kernel(ga_module *m, ga__module_kernel *kernel)
{
    pthread_mutex_lock(&m->lock);
    ga__module_kernel *stands = find_locked(m, kernel->base.name);
    if (!stands) {
        kernel->next = m->kernels;
        m->kernels = stands = kernel;
    }
    pthread_mutex_unlock(&m->lock);
    if (stands != kernel)
        kernel_free(kernel);
    return stands;
}

/* Compiles without the lock: threads that want the same kernel share the code, and other kernels of
 * the module, and forks, do not wait. */
ga_kernel *ga_module_kernel(ga_module *module, const char *name)
{
    if (!module || !name)
        return ga__fail_null(GA_ERR_INVALID, "kernel: the %s is NULL", module ? "name" : "module");
    ga__module_kernel *kernel = find_kernel(module, name);
    if (kernel)
        return &kernel->base;
    kernel = new_kernel(module, name);
    return kernel ? &keep_kernel(module, kernel)->base : NULL;
}

/* ---- Variables ---- */

static ga_status fail_no_variable(const ga_module *m, const char *name)
{
    ga__strbuf list = GA__STRBUF_INIT;
    add_names(&list, &m->names.variables);
    ga_status status =
        ga__fail(GA_ERR_INVALID, "%s: the module has no variable \"%s\"%s%s", m->name, name,
                 list.text ? "; its variables: " : "", list.text ? list.text : "");
    ga__strbuf_reset(&list);
    return status;
}

static ga_status find_variable(ga_module *m, const char *name, void **memory, size_t *nbytes)
{
    char *symbol = ga__cuda_variable_symbol(name);
    if (!symbol)
        return GA_ERR_MEMORY;
    const ga__saved_error before = ga__error_save();
    ga_status status = m->device->backend->user.global(m->device, m->image, symbol, memory, nbytes);
    ga__free(symbol);
    if (status == GA_ERR_INVALID) {
        ga_clear_error();
        status = fail_no_variable(m, name);
    }
    ga__error_settle(before);
    return status;
}

gpuarray *ga_module_global(ga_module *module, const char *name)
{
    void *memory;
    size_t nbytes;
    if (!module || !name)
        return ga__fail_null(GA_ERR_INVALID, "global: the %s is NULL", module ? "name" : "module");
    if (find_variable(module, name, &memory, &nbytes) != GA_OK)
        return NULL;
    __atomic_add_fetch(&module->references, 1, __ATOMIC_RELAXED);
    ga__buffer *buffer = ga__buffer_wrap(module->device, memory, nbytes, module, module_release);
    if (!buffer) {
        module_release(module);
        return NULL;
    }
    const int64_t length = (int64_t)nbytes;
    return ga__array_over(buffer, GA_UINT8, 1, &length);
}
