/* What the engines share: parameters, keys, records and the lookup of kernels. */
#ifndef GA_KERNELS_REQUEST_H
#define GA_KERNELS_REQUEST_H

#include <assert.h>
#include <string.h>

#include "device/graph.h"
#include "jit/key_table.h"
#include "jit/compile.h"
#include "jit/template.h"
#include "kernels/variant.h"

/* What a kernel knows of the stride of an operand along an axis. */
enum { STEP_ZERO, STEP_ONE, STEP_ANY, STEP_BACK };

/* The widest access of a GPU's thread and a line of its memory, in bytes, and the threads of a
 * warp. */
enum { GA__VECTOR_BYTES = 16, GA__LINE_BYTES = 128, GA__WARP = 32 };

/* The bytes of a vector that an element of `size` bytes takes: all of them, if it is a struct of
 * more, or of a size that is no power of two. */
static inline size_t ga__vector_size(size_t size)
{
    return size <= GA__VECTOR_BYTES && (size & (size - 1)) == 0 ? size : GA__VECTOR_BYTES;
}

static inline int64_t ga__ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Whether the engine follows the operand from element to element. */
static inline bool ga__operand_streamed(const ga__operand *operand)
{
    return operand->array && operand->access != GA__ACCESSOR;
}

/* Whether the engine follows it, but leaves loads and stores to the body. */
static inline bool ga__operand_placed(const ga__operand *operand)
{
    return operand->access == GA__PLACED || operand->access == GA__COORDINATE;
}

/* In a plan's list of places: no loop nest has the operand. */
#define GA__NO_PLACE (-1)

/* A kernel's parameters: words in the caller's memory. */
typedef struct ga__params {
    uint64_t *word, *next, *end;
} ga__params;

/* Words of a divisor, and of a number. */
enum { GA__DIVISOR_WORDS = 3, GA__NUMBER_WORDS = 2 };

static inline ga__params ga__params_in(uint64_t *word, size_t most)
{
    return (ga__params){word, word, word + most};
}

static inline size_t ga__params_count(const ga__params *params)
{
    return (size_t)(params->next - params->word);
}

static inline void ga__params_add(ga__params *params, uint64_t word)
{
    assert(params->next < params->end);
    *params->next++ = word;
}

static inline void ga__params_add_pointer(ga__params *params, const void *address)
{
    ga__params_add(params, (uint64_t)(uintptr_t)address);
}

/* Room for a struct of words. */
static inline void *ga__params_reserve(ga__params *params, size_t nbytes)
{
    void *const room = params->next;
    params->next += nbytes / sizeof *params->next;
    assert(nbytes % sizeof *params->next == 0 && params->next <= params->end);
    return room;
}

/* The strides of one operand of a nest, from the innermost axis. */
static inline void ga__params_add_strides(ga__params *params, const ga__nest *nest, int place)
{
    const size_t count = (size_t)nest->ndim;
    uint64_t *const strides = ga__params_reserve(params, count * sizeof *strides);
    if (count == 1) /* the usual case: no call */
        strides[0] = (uint64_t)nest->strides[place][0];
    else
        memcpy(strides, nest->strides[place], count * sizeof *strides);
}

/* size, multiplier and shift: division by an invariant integer, Granlund & Montgomery (1994),
 * figure 4.1, for dividends below 2^31 or, when wide, 2^63. */
void ga__divisor_set(uint64_t word[GA__DIVISOR_WORDS], int64_t size, bool wide);
void ga__params_add_divisor(ga__params *params, int64_t size, bool wide);
/* Two words: the number in the compute type of `type`. */
void ga__params_add_number(ga__params *params, ga_dtype type, ga_value number);

/* What follows the pointer of an accessor: nothing if the array is contiguous, otherwise its shape
 * and strides (in elements) from the innermost axis. */
void ga__params_add_accessor(ga__params *params, const gpuarray *x);

/* Whether 32 bits count offsets up to `extent` elements, with room for the threads past the end. */
static inline bool ga__fits_32_bits(int64_t extent)
{
    return extent < INT32_MAX - (1 << 20);
}

/* Whether results exceed the caches of the host's cores, so that storing them past the caches pays:
 * from 8 MiB, or 2 MiB a processor if that is more. */
bool ga__goes_past_cache(const ga__device *device, size_t nbytes);

/* The engine of a kernel. A key holds it in the low bits of the device's address, which are 0. */
typedef enum ga__engine {
    GA__ELEMENTWISE,
    GA__REDUCE,
    GA__RANDOM,
    GA__FUSED,
    GA__SCAN,
    GA__BINS,
    GA__RANK,
    GA__SORT,
    GA__PRODUCT,
    GA__ENGINES
} ga__engine;
_Static_assert(GA__ENGINES <= _Alignof(ga__device), "an engine's number fits an address");

/* A key that starts with the formula, the device and the engine. */
void ga__key_init(ga__key *key, const ga__formula *formula, const ga__device *device,
                  ga__engine engine);
static inline void ga__key_add(ga__key *key, uint64_t word)
{
    assert(key->nwords < GA__KEY_WORDS);
    key->words[key->nwords++] = word;
}

/* Room for a struct without padding, of at most `most` bytes. ga__key_extend() adds what it is. */
static inline void *ga__key_rest(ga__key *key, size_t most)
{
    (void)most; /* without assertions */
    assert(key->nwords * sizeof key->words[0] + most <= sizeof key->words);
    return key->words + key->nwords;
}

static inline void ga__key_extend(ga__key *key, size_t nbytes)
{
    assert(nbytes % sizeof key->words[0] == 0);
    key->nwords += nbytes / sizeof key->words[0];
}

/* Adds a struct without padding: a whole number of words. */
static inline void ga__key_add_bytes(ga__key *key, const void *bytes, size_t nbytes)
{
    memcpy(ga__key_rest(key, nbytes), bytes, nbytes);
    ga__key_extend(key, nbytes);
}

/* The name of a key of records, which keys.def declares: a name that it lacks does not compile. */
enum {
#define GA_KEY(name) GA__KEY_##name,
#include "keys.def"
#undef GA_KEY
};
#define GA__KEY(name) ((void)GA__KEY_##name, #name)

/* A record with what head.tmpl reads: the target, the files of the device library that `texts`
 * (ends with NULL) need, and the formula's texts. */
ga__record *ga__request_record(const ga__formula *formula, bool host, size_t nwords,
                               bool complex_types, const char *const *texts);

/* How often the text of a table names a function of the device library. */
int ga__count_calls(const char *text);

/* Whether the text of a table calls functions of libm (needs.def). */
bool ga__calls_libm(const char *text);

/* Sets the place, name, types and flags of one operand. */
void ga__request_operand(ga__record *record, int k, const ga__declaration *d,
                         const ga__operand_variant *v);

/* Sets how an accessor is indexed; its pointer is word `data_word`. */
void ga__request_accessor(ga__record *record, const ga__operand_variant *v, size_t data_word);

/* Sets `name` to an operand's step along an axis: a literal, or word `word` of `w`. */
void ga__request_step(ga__record *record, const char *name, int step, size_t word);

/* Sets what axes.tmpl reads: the axes from `first` on. Their coordinates are variables that start
 * with `coordinate`; word[axis] is the divisor of each axis but the last. */
void ga__request_axes(ga__record *record, const char *coordinate, int first, int ndim,
                      const size_t *word);

bool ga__variant_is_complex(const ga__operand_variant *v);

/* The stream for a launch over these operands; it waits for the work of other streams on them. NULL
 * and an error on failure. */
ga__stream *ga__operands_stream(ga__device *device, int noperands, const ga__operand *operands);

/* Whether the operand is streamed and stores the floats that it computes with in 16 bits. */
bool ga__variant_is_narrow(const ga__operand_variant *v);

/* Sets how the host's groups of vectors reach a streamed operand, which has a step from an element
 * to the next: BY_FLOATS, they convert it between memory and float. */
void ga__request_group(ga__record *record, int step, bool by_floats);

/* A kernel that an engine asks for. */
typedef struct ga__request {
    const ga__formula *formula;
    ga__device *device;
    const char *template_name;
    /* The record of the template, with a `carveout` if code.carve() is to have one; the caller
     * frees it. */
    ga__record *(*describe)(const void *plan);
    const void *plan;
    int block; /* threads, if the engine asks how many blocks run at once; otherwise 0 */
} ga__request;

/* A kernel that is ready to launch. */
typedef struct ga__loaded_kernel {
    ga__function *function;
    ga__module *module; /* of the function */
    int resident;       /* blocks that the device runs at once */
} ga__loaded_kernel;

/* The most words of parameters that the operands of a call over `ndim` axes take: addresses,
 * strides along one axis or more, and places, or numbers. The shape and strides of an accessor are
 * its own. The same bound for each of few operands costs less than a look at them. */
#define GA__FEW_OPERANDS 8
#define GA__OPERAND_WORDS (5 + 3 * GA_MAX_NDIM)
static inline size_t ga__operands_words(int ndim, int noperands, const ga__operand *operands)
{
    size_t words = (size_t)noperands * ((size_t)ndim + 4);
    for (int k = 0; k < noperands; k++)
        if (operands[k].access == GA__ACCESSOR && operands[k].array)
            words += 2 * (size_t)operands[k].array->ndim;
    return words;
}

/* The kernel under the key, compiled and loaded if memory lacks it. The calling thread holds it
 * until ga__request_leave(). NULL and an error on failure. Memory keeps at most
 * QUARRY_LOADED_KERNELS kernels of all engines, by default 4096; the disk keeps the others. */
#define GA__LOADED_KERNELS 4096
const ga__loaded_kernel *ga__request_find(const ga__key *key, const ga__request *request);

/* The same under the key of the formula, the device, the engine and its variant, without padding.
 */
static inline const ga__loaded_kernel *ga__request_find_variant(const ga__request *request,
                                                                ga__engine engine,
                                                                const void *variant, size_t nbytes)
{
    ga__key key;
    ga__key_init(&key, request->formula, request->device, engine);
    ga__key_add_bytes(&key, variant, nbytes);
    return ga__request_find(&key, request);
}

static inline void ga__request_leave(void)
{
    ga__key_table_leave();
}

/* Makes the graph keep the kernel's code. */
ga_status ga__request_keep(const ga__loaded_kernel *kernel, ga_graph *graph);

static inline ga_status ga__request_launch(const ga__loaded_kernel *kernel, ga__stream *stream,
                                           const ga__launch *launch)
{
    if (stream->graph && ga__request_keep(kernel, stream->graph) != GA_OK)
        return GA_ERR_MEMORY;
    return stream->device->backend->code.launch(stream, kernel->function, launch);
}

/* In builds with -Dcheck_keys=true: ends the process if the key stood for another text before. In
 * other builds it does nothing. */
#ifdef QUARRY_CHECK_KEYS
void ga__request_check_key(const ga__key *key, const ga__request *request);
#else
static inline void ga__request_check_key(const ga__key *key, const ga__request *request)
{
    (void)key, (void)request;
}
#endif

#endif
