/* Dtypes as data: sizes, kinds, kernel types, and C numbers to and from their bytes. */
#ifndef GA_MODEL_DTYPE_H
#define GA_MODEL_DTYPE_H

#include <quarry/dtype.h>
#include <quarry/error.h>
#include <quarry/value.h>

typedef struct ga__dtype_row {
    const char *name;
    char kind;               /* 'b' 'i' 'u' 'f' 'c', 'V' of a struct, '-' for none */
    unsigned nbytes;         /* of an element */
    const char *memory_type; /* its C++ type in a kernel's memory */
    ga_dtype compute;        /* what a kernel computes in: float16 -> float32 */
    ga_dtype real;           /* complex64 -> float32, others themselves */
    ga_dtype floating;       /* int16 -> float32, floats and complex themselves */
    ga_dtype digits;         /* whose digits a text shows; GA_NO_DTYPE: six */
    const char *npy;
    const char *c_names; /* of C types, with blanks between */
    struct {
        int fraction_bits, bias;
        uint16_t top;       /* infinity, or NaN in a format without infinity */
    } format;               /* of a float that is only stored: the bits below the sign */
    ga_dtype moved;         /* of a struct: its stand-in for kernels that only move elements */
    const char *definition; /* of a struct: C++, or "" */
} ga__dtype_row;

extern const ga__dtype_row ga__dtype_rows[GA_DTYPE_COUNT]; /* row 0 is no dtype's */

/* Of structs (structs.h). From a C type's name, without blanks at its ends: one that was made, or
 * one of CUDA's vectors. GA_NO_DTYPE when there is none; no error is raised unless memory is out.
 */
ga_dtype ga__struct_from_c(const char *type);
/* Its row; row 0 for a value that is no struct's. */
const ga__dtype_row *ga__struct_row(ga_dtype dtype);

/* Of any value, also of none that is a dtype. */
static inline const ga__dtype_row *ga__dtype_row_of(ga_dtype dtype)
{
    return (unsigned)dtype < GA_DTYPE_COUNT ? &ga__dtype_rows[dtype] : ga__struct_row(dtype);
}

static inline bool ga__dtype_valid(ga_dtype dtype)
{
    return ga__dtype_row_of(dtype) != ga__dtype_rows;
}

/* A struct is a dtype of bytes: it moves, and custom kernels take it, but it is not a number. */
static inline bool ga__dtype_is_struct(ga_dtype dtype)
{
    return (unsigned)dtype >= GA_FIRST_STRUCT;
}

/* The dtype in whose place kernels move elements: bytes for a struct. */
static inline ga_dtype ga__dtype_moved(ga_dtype dtype)
{
    return ga__dtype_is_struct(dtype) ? ga__dtype_row_of(dtype)->moved : dtype;
}

static inline size_t ga__dtype_size(ga_dtype dtype)
{
    return ga__dtype_row_of(dtype)->nbytes;
}

static inline char ga__dtype_kind(ga_dtype dtype)
{
    return ga__dtype_row_of(dtype)->kind;
}

/* Whether sums of such numbers round: real and complex floats. */
static inline bool ga__dtype_rounds(ga_dtype dtype)
{
    const char kind = ga__dtype_kind(dtype);
    return kind == 'f' || kind == 'c';
}

static inline ga_dtype ga__dtype_real(ga_dtype dtype)
{
    return ga__dtype_row_of(dtype)->real;
}

/* What a kernel computes in, as a dtype: float16 -> float32. */
static inline ga_dtype ga__dtype_compute(ga_dtype dtype)
{
    return ga__dtype_row_of(dtype)->compute;
}

/* Whether kernels only store the dtype and compute in another, so that each result rounds once. */
static inline bool ga__dtype_is_stored(ga_dtype dtype)
{
    return ga__dtype_compute(dtype) != dtype;
}

const char *ga__dtype_memory_type(ga_dtype dtype);
const char *ga__dtype_compute_type(ga_dtype dtype);
/* The same for texts without definitions of structs: of a struct, its stand-in's. */
const char *ga__dtype_moved_type(ga_dtype dtype);
/* The integer of kind 'i' or 'u' and this size; GA_NO_DTYPE when there is none. */
ga_dtype ga__dtype_integer(char kind, size_t nbytes);
/* The smallest complex dtype that holds the real one. */
ga_dtype ga__dtype_complex(ga_dtype real);
const char *ga__dtype_npy(ga_dtype dtype);
/* From a .npy descr ("<f4", ">i2", "|b1", a dtype's name); *swapped says whether its bytes are in
 * the other order. GA_NO_DTYPE when it is none of ours (no error raised). */
ga_dtype ga__dtype_from_npy(const char *descr, bool *swapped);
/* From a C type name as kernels declare it ("float", "unsigned long long", "int8_t", "half",
 * "complex<float>", "std::complex<double>", a struct's); GA_NO_DTYPE when unknown. */
ga_dtype ga__dtype_from_c(const char *type);
/* The same without structs. */
ga_dtype ga__dtype_number_from_c(const char *type);
/* The alignment of elements: their size, or for a struct what its members may need.
 */
size_t ga__dtype_alignment(ga_dtype dtype);

/* Stores a C number as one element of dtype, converting as ga_astype does. */
void ga__dtype_store(ga_dtype dtype, ga_value number, void *element);
/* Reads one element as a number of that dtype (floats as their float64 value); a struct's value is
 * the address of its bytes. */
ga_value ga__dtype_fetch(ga_dtype dtype, const void *element);
/* Whether the value is a C number. A number in the place of a ga_value sets its kind and no dtype.
 */
static inline bool ga__is_number(ga_value value)
{
    return value.kind == GA_VALUE_NUMBER && ga__dtype_valid(value.dtype);
}

/* A number converted to double, int64, bool as ga_astype does. */
double ga__number_double(ga_value number);
int64_t ga__number_int64(ga_value number);
bool ga__number_bool(ga_value number);

/* Reverses the bytes of each number in place (complex: of each part). */
void ga__dtype_swap_bytes(ga_dtype dtype, void *elements, size_t count);
/* Makes 1 of every truth that is not 0 (bool); other dtypes stay as they are. */
void ga__dtype_normalise(ga_dtype dtype, void *elements, size_t count);

/* The dtype of that name; GA_NO_DTYPE: there is none. */
ga_dtype ga__dtype_named(const char *name, size_t length);

#endif
