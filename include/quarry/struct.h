/* Arrays of structs: a program makes a dtype of them. */
#ifndef QUARRY_STRUCT_H
#define QUARRY_STRUCT_H

#include <quarry/array.h>

GA_BEGIN_DECLS

/* The most bytes of a struct. */
#define GA_MAX_STRUCT_BYTES 2048

/* A dtype for elements of `nbytes` bytes whose C++ type has this name: "particle", "ns::pair".
 * Custom kernels declare arguments of it ("const particle *x") and see `definition`, C++ such as
 * "struct particle { float x, y, z; int n; };"; NULL if a kernel's preamble defines the type, or
 * CUDA does ("float3"). The bytes are those of the C compiler: sizeof(particle). Arrays of such a
 * dtype copy, slice, transpose, index, join, save and load like others; functions of numbers fail
 * with GA_ERR_DTYPE. The same arguments give the same dtype again. Dtypes are never freed, and
 * there are up to 4032. Any thread may call it. GA_NO_DTYPE on failure: GA_ERR_INVALID (a name that
 * is no C++ type's, that another dtype has, or that stands for another size or definition; a size
 * that is not 1 to GA_MAX_STRUCT_BYTES), GA_ERR_MEMORY. */
GA_API ga_dtype ga_struct_dtype(const char *name, size_t nbytes, const char *definition);

/* The dtype of CUDA's vector type of 1 to 4 numbers: (GA_FLOAT32, 3) is float3. Custom kernels know
 * these types without a call of this function. GA_NO_DTYPE and GA_ERR_DTYPE or GA_ERR_INVALID if
 * CUDA has no such type. */
GA_API ga_dtype ga_vector_dtype(ga_dtype element, int count);

/* The member of this dtype that lies `offset` bytes into each element of x, as a view of x's shape:
 * ga_field(x, GA_FLOAT32, offsetof(particle, mass)). Functions of numbers read and write it.
 * GA_ERR_SHAPE if the member does not lie within the element, or if the element's bytes are not a
 * multiple of the member's. */
GA_API gpuarray *ga_field(const gpuarray *x, ga_dtype dtype, size_t offset);

GA_END_DECLS

#endif
