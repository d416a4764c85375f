/* Dtypes as data: sizes, kinds, kernel types, and C numbers to and from their bytes. */
#ifndef GA_MODEL_DTYPE_H
#define GA_MODEL_DTYPE_H

#include <quarry/dtype.h>
#include <quarry/error.h>
#include <quarry/value.h>

bool ga__dtype_valid(ga_dtype dtype);
char ga__dtype_kind(ga_dtype dtype);                /* 'b' 'i' 'u' 'f' 'c', '-' for none */
const char *ga__dtype_memory_type(ga_dtype dtype);  /* its C++ type in a kernel's memory */
const char *ga__dtype_compute_type(ga_dtype dtype); /* the type a kernel computes in */
ga_dtype ga__dtype_compute(ga_dtype dtype);         /* that type as a dtype: float16 -> float32 */
ga_dtype ga__dtype_real(ga_dtype dtype);            /* complex64 -> float32, others themselves */
/* The dtype of this kind and size ('f' and 2: float16); GA_NO_DTYPE when there is none. */
ga_dtype ga__dtype_find(char kind, size_t nbytes);
const char *ga__dtype_npy(ga_dtype dtype);
/* From a .npy descr ("<f4", ">i2", "|b1"); *swapped says whether its bytes are in the other order.
 * GA_NO_DTYPE when it is none of ours (no error raised). */
ga_dtype ga__dtype_from_npy(const char *descr, bool *swapped);
/* From a C type name as kernels declare it ("float", "unsigned long long", "int8_t", "half",
 * "complex<float>", "std::complex<double>"); GA_NO_DTYPE when unknown. */
ga_dtype ga__dtype_from_c(const char *type);

/* Stores a C number as one element of dtype, converting as ga_astype does. */
void ga__dtype_store(ga_dtype dtype, ga_value number, void *element);
/* Reads one element as a number of that dtype (float16 and bfloat16 as their float64 value). */
ga_value ga__dtype_fetch(ga_dtype dtype, const void *element);
/* A number converted to double, int64, bool as ga_astype does. */
double ga__number_double(ga_value number);
int64_t ga__number_int64(ga_value number);
bool ga__number_bool(ga_value number);

/* Reverses the bytes of each number in place (complex: of each part). */
void ga__dtype_swap_bytes(ga_dtype dtype, void *elements, size_t count);
/* Makes 1 of every truth that is not 0 (bool); other dtypes stay as they are. */
void ga__dtype_normalise(ga_dtype dtype, void *elements, size_t count);

float ga__half_to_float(uint16_t bits);
uint16_t ga__float_to_half(double value); /* one rounding, to nearest even */
float ga__bfloat16_to_float(uint16_t bits);
uint16_t ga__float_to_bfloat16(double value);

#endif
