/* What the engines share: parameter words, keys, the head of every template, compiling. */
#ifndef GA_KERNELS_REQUEST_H
#define GA_KERNELS_REQUEST_H

#include <assert.h>
#include <string.h>

#include "device/graph.h"
#include "jit/key_table.h"
#include "jit/compile.h"
#include "jit/template.h"
#include "kernels/variant.h"

/* How the stride of an operand along an axis is known to a kernel. */
enum { STEP_ZERO, STEP_ONE, STEP_ANY };

static inline int64_t ga__ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

/* Whether the engine loads or stores the operand, element by element. */
static inline bool ga__operand_streamed(const ga__operand *operand)
{
    return operand->array && operand->access != GA__ACCESSOR;
}

/* In a plan's list of rows: the operand is in no loop nest. */
#define GA__NO_ROW (-1)

/* A kernel's parameters, words in memory of the caller's. */
#define GA__MAX_PARAM_WORDS 1600 /* of any kernel */
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

/* The strides of a nest's row, from the innermost axis. */
static inline void ga__params_add_strides(ga__params *params, const ga__nest *nest, int row)
{
    const size_t count = (size_t)nest->ndim;
    uint64_t *const strides = ga__params_reserve(params, count * sizeof *strides);
    if (count == 1) /* the usual case: no call */
        strides[0] = (uint64_t)nest->strides[row][0];
    else
        memcpy(strides, nest->strides[row], count * sizeof *strides);
}

/* size, multiplier and shift: division by an invariant integer, Granlund & Montgomery (1994),
 * figure 4.1, for dividends below 2^31 or, when wide, 2^63. */
void ga__params_add_divisor(ga__params *params, int64_t size, bool wide);
/* Two words: the number as dtype's compute type. */
void ga__params_add_number(ga__params *params, ga_dtype type, ga_value number);

/* What follows the pointer of an array indexed freely: nothing when it is contiguous, else its
 * shape and strides (in elements) from the innermost axis. */
void ga__params_add_accessor(ga__params *params, const gpuarray *x);

/* Whether offsets of up to `extent` elements and `n` elements can be counted in 32 bits, with room
 * for the threads past the end. */
static inline bool ga__fits_32_bits(int64_t extent)
{
    return extent < INT32_MAX - (1 << 20);
}

/* Whether results of so many bytes are more than the host's cores keep in their own caches, so that
 * they had better be stored past them: from 8 MiB, or 2 MiB a processor when that is more. */
bool ga__goes_past_cache(const ga__device *device, size_t nbytes);

/* Whose kernel it is; the low bits of a device's address, which are 0, hold it in keys. */
typedef enum ga__engine { GA__ELEMENTWISE, GA__REDUCE, GA__RANDOM, GA__ENGINES } ga__engine;
_Static_assert(GA__ENGINES <= _Alignof(ga__device), "an engine's number fits an address");

/* A key that starts with the formula, the device and the engine. */
void ga__key_init(ga__key *key, const ga__formula *formula, const ga__device *device,
                  ga__engine engine);
static inline void ga__key_add(ga__key *key, uint64_t word)
{
    assert(key->nwords < GA__KEY_WORDS);
    key->words[key->nwords++] = word;
}

/* Adds a struct without padding, a whole number of words. */
static inline void ga__key_add_bytes(ga__key *key, const void *bytes, size_t nbytes)
{
    assert(nbytes % sizeof key->words[0] == 0 &&
           key->nwords + nbytes / sizeof key->words[0] <= GA__KEY_WORDS);
    memcpy(key->words + key->nwords, bytes, nbytes);
    key->nwords += nbytes / sizeof key->words[0];
}

/* The name of a key of records, which keys.def declares: a name that it lacks does not compile. */
enum {
#define GA_KEY(name) GA__KEY_##name,
#include "keys.def"
#undef GA_KEY
};
#define GA__KEY(name) ((void)GA__KEY_##name, #name)

/* The record of head.tmpl: target, needs (found by scanning `texts`, which ends with NULL), user's
 * texts. */
ga__record *ga__program_record(const ga__formula *formula, bool host, size_t nwords,
                               bool complex_types, const char *const *texts);

/* Whether the text of a table calls functions of libm (needs.def). */
bool ga__calls_libm(const char *text);

/* Sets k, name, types and flags that both engines' templates read of one operand. */
void ga__program_operand(ga__record *record, int k, const ga__declaration *d,
                         const ga__operand_variant *v);

/* The same of an array indexed freely, whose pointer is in word `data_word`. */
void ga__program_accessor(ga__record *record, const ga__operand_variant *v, size_t data_word);

/* Sets `name` to the step of an operand along an axis: a literal, or parameter word `word`. */
void ga__program_step(ga__record *record, const char *name, int step, size_t word);

/* Sets what axes.tmpl reads: the axes from `first` on, whose coordinates are variables that start
 * with `coordinate`; word[axis] is the divisor of each but the last. */
void ga__program_axes(ga__record *record, const char *coordinate, int first, int ndim,
                      const size_t *word);

bool ga__variant_is_complex(const ga__operand_variant *v);

/* The stream for a launch on the device over these operands, which it makes wait for whatever other
 * streams do with them. NULL and an error on failure. */
ga__stream *ga__operands_stream(ga__device *device, int noperands, const ga__operand *operands);

/* Whether 16 bits are stored of what is computed as float, element by element. */
bool ga__variant_is_narrow(const ga__operand_variant *v);

/* Sets how the host's groups of vectors get at a streamed operand with that step along axis 0. */
void ga__program_group(ga__record *record, const ga__operand_variant *v);

/* One kernel of an engine: all that its text depends on. */
typedef struct ga__program {
    const ga__formula *formula;
    ga__device *device;
    const char *template_name;
    ga__record *(*describe)(const void *plan); /* what fills the template; its caller frees it */
    const void *plan;
    int block; /* its threads, if the engine asks how many blocks run at once; 0 */
} ga__program;

/* A kernel that is ready to launch. */
typedef struct ga__loaded_program {
    ga__function *function;
    ga__module *module; /* of the function */
    int resident;       /* how many blocks the device runs at once */
} ga__loaded_program;

/* What memory has under the key, or has from now on. The calling thread holds it until
 * ga__program_leave(). NULL and an error on failure. Memory keeps at most QUARRY_LOADED_KERNELS
 * kernels of all engines, 4096 unless that is set; another that is asked for again comes from the
 * disk. */
#define GA__LOADED_KERNELS 4096
const ga__loaded_program *ga__program_find(const ga__key *key, const ga__program *program);
static inline void ga__program_leave(void)
{
    ga__key_table_leave();
}

/* Makes the graph keep the program's code. */
ga_status ga__program_keep(const ga__loaded_program *program, ga_graph *graph);

static inline ga_status ga__program_launch(const ga__loaded_program *program, ga__stream *stream,
                                           const ga__launch *launch)
{
    if (stream->graph && ga__program_keep(program, stream->graph) != GA_OK)
        return GA_ERR_MEMORY;
    return stream->device->backend->code.launch(stream, program->function, launch);
}

/* In builds with -Dcheck_keys=true: ends the process when the key stood for another text before. In
 * others it does nothing. */
#ifdef QUARRY_CHECK_KEYS
void ga__program_check_key(const ga__key *key, const ga__program *program);
#else
static inline void ga__program_check_key(const ga__key *key, const ga__program *program)
{
    (void)key, (void)program;
}
#endif

#endif
