/* Arrays of structs: dtypes that a program defines. */
#ifndef QUARRY_STRUCT_H
#define QUARRY_STRUCT_H

#include <quarry/array.h>

GA_BEGIN_DECLS

/* The most bytes of a struct. */
#define GA_MAX_STRUCT_BYTES 2048

/* A dtype for elements of `nbytes` bytes with the C++ type `name`: "particle", "ns::pair". Custom
 * kernels declare arguments of it ("const particle *x") and see `definition`, C++ such as "struct
 * particle { float x, y, z; int n; };"; NULL if a kernel's preamble or CUDA ("float3") defines the
 * type. The bytes are those of the C compiler: sizeof(particle). Arrays of such a dtype copy,
 * slice, transpose, index, join, save and load like others; functions of numbers fail with
 * GA_ERR_DTYPE. The same arguments give the same dtype again. Dtypes are never freed; there are at
 * most 4032. Any thread may call this. On failure GA_NO_DTYPE: GA_ERR_INVALID for a name that no
 * C++ type can have or that already has another size or definition, and for a size outside 1 to
 * GA_MAX_STRUCT_BYTES; GA_ERR_MEMORY. */
GA_API ga_dtype ga_struct_dtype(const char *name, size_t nbytes, const char *definition);

/* The dtype of CUDA's vector type of 1 to 4 numbers: (GA_FLOAT32, 3) is float3. Custom kernels
 * know these types without this call. GA_NO_DTYPE and GA_ERR_DTYPE or GA_ERR_INVALID if CUDA has
 * no such type. */
GA_API ga_dtype ga_vector_dtype(ga_dtype element, int count);

/* A view of the member at byte `offset` of each element of x, with the shape of x: ga_field(x,
 * GA_FLOAT32, offsetof(particle, mass)). Functions of numbers read and write it. GA_ERR_SHAPE if
 * the member is not within the element or not aligned, or if the element's size is not a multiple
 * of the member's. */
GA_API gpuarray *ga_field(const gpuarray *x, ga_dtype dtype, size_t offset);

GA_END_DECLS

#endif
