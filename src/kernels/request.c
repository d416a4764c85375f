/* What the engines share: parameters, keys, records and the lookup of kernels. */
#include "kernels/request.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/setting.h"
#include "base/error.h"
#include "base/word.h"
#include "device/unload.h"

__extension__ typedef unsigned __int128 uint128;

void ga__divisor_set(uint64_t word[GA__DIVISOR_WORDS], int64_t size, bool wide)
{
    const int bits = wide ? 64 : 32;
    int shift = 0;
    while (shift < bits - 1 && ((uint64_t)1 << shift) < (uint64_t)size)
        shift++;
    const uint128 excess = (((uint128)1 << shift) - (uint64_t)size) << bits;
    word[0] = (uint64_t)size;
    word[1] = (uint64_t)(excess / (uint64_t)size + 1);
    word[2] = (uint64_t)shift;
}

void ga__params_add_divisor(ga__params *params, int64_t size, bool wide)
{
    ga__divisor_set(ga__params_reserve(params, GA__DIVISOR_WORDS * sizeof(uint64_t)), size, wide);
}

void ga__params_add_number(ga__params *params, ga_dtype type, ga_value number)
{
    uint64_t pair[2] = {0, 0};
    ga__dtype_store(type, number, pair); /* rounded to the dtype, which may be narrower */
    if (ga__dtype_is_stored(type))
        ga__dtype_store(ga__dtype_compute(type), ga__dtype_fetch(type, pair), pair);
    ga__params_add(params, pair[0]);
    ga__params_add(params, pair[1]);
}

void ga__params_add_accessor(ga__params *params, const gpuarray *x)
{
    const int64_t size = (int64_t)ga__dtype_size(x->dtype);
    if (x->contiguous)
        return;
    for (int axis = x->ndim - 1; axis >= 0; axis--)
        ga__params_add(params, (uint64_t)x->shape[axis]);
    for (int axis = x->ndim - 1; axis >= 0; axis--)
        ga__params_add(params, (uint64_t)(x->strides[axis] / size));
}

bool ga__goes_past_cache(const ga__device *device, size_t nbytes)
{
    return nbytes >= (size_t)8 << 20 && nbytes >= (size_t)device->processors << 21;
}

void ga__key_init(ga__key *key, const ga__formula *formula, const ga__device *device,
                  ga__engine engine)
{
    key->nwords = 0;
    ga__key_add(key, formula->id.high);
    ga__key_add(key, formula->id.low);
    ga__key_add(key, (uint64_t)(uintptr_t)device | (uint64_t)engine);
}

/* Which template files have the functions that an expression may name after "ga::". */
typedef struct need {
    const char *name, *file;
    size_t length; /* of the name */
    bool libm;
} need;

static const need needs[] = {
#define GA_NEED(name, file) {name, file, sizeof(name) - 1, false},
#define GA_NEED_LIBM(name, file) {name, file, sizeof(name) - 1, true},
#include "needs.def"
#undef GA_NEED
#undef GA_NEED_LIBM
};

/* The needs of the text's functions, one after another; *at is where the search goes on. NULL: no
 * more. */
static const need *next_need(const char **at)
{
    while ((*at = ga__find_word(*at, "ga")) != NULL) {
        *at += strlen("ga");
        if (strncmp(*at, "::", 2) != 0)
            continue;
        *at += strlen("::");
        size_t length = 0;
        while (ga__in_word((*at)[length]))
            length++;
        for (size_t k = 0; k < sizeof needs / sizeof *needs; k++)
            if (needs[k].length == length && memcmp(needs[k].name, *at, length) == 0)
                return &needs[k];
    }
    return NULL;
}

static void need_files(ga__record *record, const char *const *texts)
{
    for (const char *const *text = texts; *text; text++) {
        const char *at = *text;
        for (const need *found; (found = next_need(&at)) != NULL;) {
            char flag[64];
            snprintf(flag, sizeof(flag), "%.*s", (int)strcspn(found->file, "."), found->file);
            ga__record_set(record, flag, "1");
        }
    }
}

int ga__count_calls(const char *text)
{
    int calls = 0;
    for (const char *at = strstr(text, "ga::"); at; at = strstr(at + 1, "ga::"))
        calls++;
    return calls;
}

bool ga__calls_libm(const char *text)
{
    for (const need *found; (found = next_need(&text)) != NULL;)
        if (found->libm)
            return true;
    return false;
}

static bool names_complex(const char *const *texts)
{
    for (; *texts; texts++)
        if (ga__find_word(*texts, "complex") || ga__find_word(*texts, "complex64") ||
            ga__find_word(*texts, "complex128"))
            return true;
    return false;
}

/* Users write a dtype by its name where C++ has no type for it. */
static void name_types(ga__record *record)
{
    for (int d = GA_NO_DTYPE + 1; d < GA_DTYPE_COUNT; d++) {
        const ga__dtype_row *row = &ga__dtype_rows[d];
        if (!ga__dtype_is_stored((ga_dtype)d) && row->kind != 'c')
            continue;
        ga__record *type = ga__record_append(record, GA__KEY(named_type));
        ga__record_set(type, GA__KEY(memory), row->memory_type);
        ga__record_set(type, GA__KEY(name), row->name);
    }
}

static void set_optional(ga__record *record, const char *name, const char *text)
{
    ga__record_set(record, name, text ? text : "");
}

/* A kernel has these only if its texts or its engine ask for them. */
static void clear_optional(ga__record *record)
{
    const char *const keys[] = {
        GA__KEY(integer),       GA__KEY(functions),   GA__KEY(special),    GA__KEY(elements),
        GA__KEY(distributions), GA__KEY(samplers),    GA__KEY(counts),     GA__KEY(search),
        GA__KEY(bins),          GA__KEY(gather),      GA__KEY(fold),       GA__KEY(convolve),
        GA__KEY(series),        GA__KEY(vector_math), GA__KEY(plain),      GA__KEY(fast_path),
        GA__KEY(reduce_types),  GA__KEY(scan_types),  GA__KEY(order_key),  GA__KEY(runs),
        GA__KEY(short_circuit), GA__KEY(reduces),     GA__KEY(transposes), GA__KEY(exact)};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        ga__record_set(record, keys[k], "");
}

ga__record *ga__request_record(const ga__formula *formula, bool host, size_t nwords,
                               bool complex_types, const char *const *texts)
{
    ga__record *record = ga__record_new();
    ga__record_set(record, GA__KEY(cuda), host ? "" : "1");
    ga__record_set(record, GA__KEY(complex), complex_types || names_complex(texts) ? "1" : "");
    clear_optional(record);
    ga__record_set(record, GA__KEY(user), formula->user_text ? "1" : "");
    if (formula->user_text)
        name_types(record);
    ga__record_set(record, GA__KEY(user_text), formula->user_text ? "1" : "");
    ga__record_set_flag(record, GA__KEY(cuda_words), host && formula->cuda_words);
    need_files(record, texts);
    ga__record_set_number(record, GA__KEY(nwords), (int64_t)nwords);
    ga__record_set(record, GA__KEY(body), formula->body);
    set_optional(record, GA__KEY(preamble), formula->preamble);
    set_optional(record, GA__KEY(loop_prep), formula->loop_prep);
    set_optional(record, GA__KEY(after_loop), formula->after_loop);
    ga__record_set(record, GA__KEY(uses_index), formula->uses_index ? "1" : "");
    ga__record_setf(record, GA__KEY(entry), "quarry_%s", formula->name);
    return record;
}

void ga__request_operand(ga__record *record, int k, const ga__declaration *d,
                         const ga__operand_variant *v)
{
    const bool array = v->memory != GA_NO_DTYPE, streamed = v->streamed,
               moved = streamed && !v->placed;
    ga__record_set_number(record, GA__KEY(k), k);
    ga__record_set(record, GA__KEY(name), d->name);
    ga__record_set(record, GA__KEY(value), ga__dtype_compute_type((ga_dtype)v->type));
    ga__record_set(record, GA__KEY(stored), ga__dtype_memory_type((ga_dtype)v->type));
    ga__record_set_flag(record, GA__KEY(array), array);
    ga__record_set_flag(record, GA__KEY(number), !array && !streamed);
    ga__record_set_flag(record, GA__KEY(streamed), streamed);
    ga__record_set_flag(record, GA__KEY(placed), v->placed && array);
    ga__record_set_flag(record, GA__KEY(counted), v->placed && !array);
    ga__record_set_flag(record, GA__KEY(loaded), moved && d->reads);
    ga__record_set_flag(record, GA__KEY(writes), d->writes);
    ga__record_set_flag(record, GA__KEY(written), moved && d->writes);
    ga__record_set_flag(record, GA__KEY(element), streamed && d->access == GA__ELEMENT);
    ga__record_set_flag(record, GA__KEY(accessor), array && d->access == GA__ACCESSOR);
    ga__record_set_flag(record, GA__KEY(index), false);
    ga__record_set(record, GA__KEY(const), d->is_const || !d->writes ? "const" : "");
    if (d->access == GA__VALUE || v->placed)
        ga__record_set(record, GA__KEY(parameter), d->name);
    else
        ga__record_setf(record, GA__KEY(parameter), "ga_e%d", k);
    if (array) {
        ga__record_set(record, GA__KEY(memory), ga__dtype_memory_type((ga_dtype)v->memory));
        ga__record_set_number(record, GA__KEY(itemsize),
                              (int64_t)ga__dtype_size((ga_dtype)v->memory));
    }
}

void ga__request_group(ga__record *record, int step, bool by_floats)
{
    const bool floats = by_floats && step != STEP_ZERO;
    ga__record_set_flag(record, GA__KEY(floats), floats);
    ga__record_set(record, GA__KEY(source), floats ? "floats" : "from");
    ga__record_set(record, GA__KEY(lane_number), step == STEP_ZERO ? "0" : "ga_l");
}

void ga__request_accessor(ga__record *record, const ga__operand_variant *v, size_t data_word)
{
    ga__record_set(record, GA__KEY(dense), v->contiguous ? "1" : "");
    ga__record_set_number(record, GA__KEY(rank), (int)v->ndim);
    ga__record_list(record, GA__KEY(extent));
    for (int axis = 0; axis < (int)v->ndim; axis++) {
        ga__record *extent = ga__record_append(record, GA__KEY(extent));
        ga__record_set_number(extent, GA__KEY(shape_word), (int64_t)(data_word + 1 + (size_t)axis));
        ga__record_set_number(extent, GA__KEY(stride_word),
                              (int64_t)(data_word + 1 + (size_t)v->ndim + (size_t)axis));
    }
}

void ga__request_step(ga__record *record, const char *name, int step, size_t word)
{
    if (step == STEP_ANY)
        ga__record_setf(record, name, "(ga_index)ga_args.w[%zu]", word);
    else
        ga__record_set(record, name, step == STEP_ONE ? "1" : step == STEP_BACK ? "-1" : "0");
}

void ga__request_axes(ga__record *record, const char *coordinate, int first, int ndim,
                      const size_t *word)
{
    ga__record_set(record, GA__KEY(coordinate), coordinate);
    ga__record_list(record, GA__KEY(axis));
    for (int axis = first; axis < ndim; axis++) {
        ga__record *entry = ga__record_append(record, GA__KEY(axis));
        ga__record_set_number(entry, GA__KEY(axis), axis);
        ga__record_set(entry, GA__KEY(last), axis == ndim - 1 ? "1" : "");
        if (axis == ndim - 1)
            continue;
        ga__record_set_number(entry, GA__KEY(word), (int64_t)word[axis]);
        ga__record_set_number(entry, GA__KEY(word1), (int64_t)(word[axis] + 1));
        ga__record_set_number(entry, GA__KEY(word2), (int64_t)(word[axis] + 2));
    }
}

bool ga__variant_is_complex(const ga__operand_variant *v)
{
    return ga__dtype_kind((ga_dtype)v->type) == 'c' ||
           (v->memory != GA_NO_DTYPE && ga__dtype_kind((ga_dtype)v->memory) == 'c');
}

ga__stream *ga__operands_stream(ga__device *device, int noperands, const ga__operand *operands)
{
    ga__stream *stream = ga__current_stream(device);
    if (!stream)
        return NULL;
    for (int k = 0; k < noperands; k++) {
        const gpuarray *x = operands[k].array;
        if (x && operands[k].access != GA__COORDINATE &&
            ga__use(stream, x->buffer, operands[k].writes) != GA_OK)
            return NULL;
    }
    return stream;
}

bool ga__variant_is_narrow(const ga__operand_variant *v)
{
    const ga_dtype memory = (ga_dtype)v->memory, type = (ga_dtype)v->type;
    return v->streamed && ga__dtype_is_stored(memory) &&
           ga__dtype_compute(type) == ga__dtype_compute(memory);
}

/* ---- Kernels ---- */

static void free_loaded(void *value)
{
    ga__loaded_kernel *loaded = value;
    ga__module_release(loaded->module);
    ga__free(loaded);
}

static void carve(ga__device *device, ga__function *function, const ga__record *record)
{
    size_t nbytes;
    const char *key = GA__KEY(carveout),
               *percent = ga__record_value(record, key, strlen(key), &nbytes);
    if (percent && device->backend->code.carve)
        device->backend->code.carve(device, function, atoi(percent));
}

static ga__function *get_function(const ga__request *request, ga__module **module)
{
    const ga__formula *formula = request->formula;
    const char *template_name = request->template_name;
    ga__record *record = request->describe(request->plan);
    const ga__recipe recipe = {formula->name,
                               ga__embedded_file(template_name, strlen(template_name)), record,
                               formula->fast_math};
    char entry[128];
    snprintf(entry, sizeof(entry), "quarry_%s", formula->name);
    ga__function *function = ga__module_function(request->device, &recipe, entry, module);
    if (function)
        carve(request->device, function, record);
    ga__record_free(record);
    return function;
}

static ga__loaded_kernel *load(const ga__request *request)
{
    ga__device *device = request->device;
    ga__loaded_kernel *loaded = ga__calloc(1, sizeof(*loaded));
    if (!loaded)
        return NULL;
    loaded->function = get_function(request, &loaded->module);
    if (!loaded->function) {
        ga__free(loaded);
        return NULL;
    }
    if (request->block > 0)
        loaded->resident =
            device->backend->code.resident_blocks(device, loaded->function, request->block);
    return loaded;
}

static ga__key_table kernels = GA__KEY_TABLE_INIT(GA__LOADED_KERNELS, free_loaded);
static pthread_once_t limit_once = PTHREAD_ONCE_INIT;

/* From the environment: 0 means no limit; a text that is not a number changes nothing. */
static void set_limit(void)
{
    const long long limit =
        ga__setting_integer("QUARRY_LOADED_KERNELS", 0, INT64_MAX, (long long)kernels.limit);
    kernels.limit = limit > 0 ? (size_t)limit : SIZE_MAX;
}

/* Unloads what the kernel replaces, now or soon. */
static const ga__loaded_kernel *keep(const ga__key *key, ga__loaded_kernel *loaded)
{
    pthread_once(&limit_once, set_limit);
    const ga__loaded_kernel *stands = ga__key_table_put(&kernels, key, loaded);
    if (!stands)
        free_loaded(loaded);
    ga__unload_sweep();
    return stands;
}

const ga__loaded_kernel *ga__request_find(const ga__key *key, const ga__request *request)
{
    const ga__loaded_kernel *found = ga__key_table_get(&kernels, key);
    ga__request_check_key(key, request);
    if (found)
        return found;
    ga__loaded_kernel *loaded = load(request);
    return loaded ? keep(key, loaded) : NULL;
}

static void *retain_module(void *module)
{
    return ga__module_retain(module);
}

static void release_module(void *module)
{
    ga__module_release(module);
}

ga_status ga__request_keep(const ga__loaded_kernel *kernel, ga_graph *graph)
{
    return ga__graph_keep(graph, kernel->module, retain_module, release_module);
}
