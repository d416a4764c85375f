/* Custom kernels: the user's own elementwise operations and reductions, in CUDA C. */
#ifndef QUARRY_KERNEL_H
#define QUARRY_KERNEL_H

#include <stddef.h>

#include <quarry/array.h>
#include <quarry/each.h>
#include <quarry/error.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

typedef struct ga_kernel ga_kernel;

/* Arguments of ga_elementwise_kernel(); all texts are copied. The macro passes the size of the
 * struct that the program knows before its address, here and below. */
typedef struct ga_elementwise_args {
    const char
        *arguments; /* a C parameter list: "float a, const float *x, float *z"; types below */
    const char *operation;  /* statements run for every i in 0 .. n-1: "z[i] = a*x[i]" */
    const char *name;       /* appears in messages and logs; NULL: "kernel" */
    const char *preamble;   /* device functions, structs and constants that the operation uses */
    const char *loop_prep;  /* statements before a thread's first element */
    const char *after_loop; /* statements after a thread's last element */
    bool fast_math;         /* trade accuracy and special values for speed, as
                             * ga_compile_fast_expr() does; here and below */
} ga_elementwise_args;

/* A kernel that ga_run() runs once for every element. Argument types are the C types char .. long
 * long, signed or unsigned, intN_t, uintN_t, size_t, bool, float, double, half, complex<float>,
 * complex<double>, and every NumPy name (float32, bfloat16, ...); each is a number, or with * an
 * array. Arrays may also be of structs: of a name that ga_struct_dtype() knows, or of CUDA's
 * vectors, float3. A struct without * is the element of a 0-d array, which the texts only read;
 * scans take none (GA_ERR_UNSUPPORTED). In the texts, `x[i]` is element i of x in C order, whatever
 * its strides, and `n` is the number of elements. Arithmetic on floats smaller than float32 is in
 * float; they also have their NumPy names (float16, ...) as types there. The texts may use the C
 * mathematical functions, NAN and INFINITY, and CUDA's words for one thread, on the host too:
 * __device__ and the like, atomicAdd and the other atomics, __ldg and the other loads and stores,
 * __float2int_rn and the other conversions, __fadd_rn, __sinf, __popc and the other intrinsics,
 * make_float4 and the vector types, threadIdx, blockIdx, blockDim and gridDim. On the host each
 * part of the elements is a block of one thread: barriers do nothing, and functions that read
 * values of other threads (__shfl_sync, __ballot_sync, ...) do not compile; ga_module_compile()
 * runs such kernels on the host too. Nothing is compiled before the first run. NULL on failure:
 * GA_ERR_INVALID if the argument list is malformed. Freed by ga_kernel_free(). */
GA_API ga_kernel *ga_elementwise_kernel(size_t size, const ga_elementwise_args *args);

/* Runs the kernel. `count` is the number of args, one for each declared argument: arrays of the
 * declared dtype, or C numbers, which convert to the declared type and must fit it: 300 does not
 * fit int8, and a complex number is none of a real type. Every array that is indexed only by [i]
 * must have the same size, and n is that size. The call does not wait. GA_ERR_INVALID for another
 * count, a number that does not fit, a read-only view that the kernel writes, or a kernel of
 * another kind; GA_ERR_DTYPE for an array of another dtype; GA_ERR_SHAPE for different sizes;
 * GA_ERR_COMPILE with the compiler's message, at the first run. */
GA_API ga_status ga_run(ga_kernel *kernel, int count, const ga_value *args);

/* ga_run_over(kernel, GA_RANGE(1, -1, 1), x, y): the same for the indices of a slice only, as
 * NumPy's range(n)[1:-1]. `i` takes these values and `n` is that of ga_run(). Arrays are read and
 * written in place, index by index: an input that overlaps a written array is not copied.
 * GA_ERR_INVALID also for a part that is not a range, such as GA_INDEX(1); GA_ERR_INDEX for a step
 * of 0. */
GA_API ga_status ga_run_over(ga_kernel *kernel, ga_range range, int count, const ga_value *args);

/* Arguments of ga_reduction_kernel(); all texts are copied. */
typedef struct ga_reduction_args {
    ga_dtype dtype_out;  /* dtype of the result, and of a and b in reduce_expr; a struct's too */
    const char *neutral; /* the neutral element of reduce_expr: "0" */
    const char *reduce_expr; /* combines a and b, in any order and grouping: "a+b" */
    const char
        *map_expr; /* the value of element i: "x[i]*y[i]"; NULL or "": the first array's [i] */
    const char *arguments; /* as for elementwise kernels */
    const char *name;
    const char *preamble;
    const char *struct_name; /* the type of a and b if it is a struct defined in the preamble */
    size_t struct_bytes;     /* its size; the result is then a uint8 array with that many bytes */
    bool fast_math;
} ga_reduction_args;

/* A kernel that ga_reduce() runs over all elements in one launch. reduce_expr must be associative
 * and commutative. In the texts, x[i] and n are as in elementwise kernels; without elements the
 * result is `neutral`. NULL on failure: GA_ERR_INVALID if the argument list is malformed. Freed by
 * ga_kernel_free(). */
GA_API ga_kernel *ga_reduction_kernel(size_t size, const ga_reduction_args *args);

/* Runs the kernel; arguments and errors as for ga_run(). Returns a 0-d array of dtype_out, or the
 * struct's bytes. */
GA_API gpuarray *ga_reduce(ga_kernel *kernel, int count, const ga_value *args);

/* Arguments of ga_scan_kernel(); all texts are copied. */
typedef struct ga_scan_kernel_args {
    ga_dtype dtype;               /* of item, and of a and b in scan_expr */
    const char *arguments;        /* as for elementwise kernels */
    const char *input_expr;       /* the value of element i: "x[i] > 300 ? 1 : 0" */
    const char *scan_expr;        /* combines a, of earlier elements, and b: "a+b" */
    const char *neutral;          /* the neutral element of scan_expr: "0" */
    const char *output_statement; /* statements run for every i in 0 .. n-1. `item` combines
                                     elements 0 .. i, `prev_item` those before i, and `last_item`
                                     all of them: "if (item != prev_item) y[prev_item] = x[i]" */
    const char *name;
    const char *preamble;
    const char *is_segment_start_expr; /* whether element i starts a segment. `item` then combines
                                          the segment's elements so far, and prev_item is neutral
                                          at its start. NULL or "": one segment */
    bool fast_math;
} ga_scan_kernel_args;

/* A kernel that ga_scan() runs over all elements in one launch, or two if it uses `last_item`. In
 * the texts, x[k] is element k of x in C order. Arrays that are indexed only by [i] must have
 * equal sizes, and n is that size; without such an array, n is the size of the first array. An
 * output statement may run before input_expr and is_segment_start_expr of other elements: of
 * arrays that the output statement writes, these two may read only x[i]. scan_expr must be
 * associative; it need not be commutative. NULL on failure: GA_ERR_INVALID if the argument list is
 * malformed. Freed by ga_kernel_free(). */
GA_API ga_kernel *ga_scan_kernel(size_t size, const ga_scan_kernel_args *args);

/* Runs the kernel; arguments and errors as for ga_run(). */
GA_API ga_status ga_scan(ga_kernel *kernel, int count, const ga_value *args);

/* Frees the kernel. NULL is a no-op. Compiled code stays cached for the next kernel with the same
 * text. */
GA_API void ga_kernel_free(ga_kernel *kernel);

GA_END_DECLS

/* ga_elementwise_kernel(arguments, operation, name, .preamble = ..., ...) and so on. The arguments
 * of ga_run, ga_reduce and ga_scan may be arrays and C numbers, up to 64. */
#ifdef __cplusplus
template <class... Values> inline ga_status ga_run_(ga_kernel *kernel, Values... values)
{
    const ga_value list[] = {GA_V(values)...};
    return ga_run(kernel, static_cast<int>(sizeof...(values)), list);
}
template <class... Values>
inline ga_status ga_run_over_(ga_kernel *kernel, ga_range range, Values... values)
{
    const ga_value list[] = {GA_V(values)...};
    return ga_run_over(kernel, range, static_cast<int>(sizeof...(values)), list);
}
template <class... Values> inline gpuarray *ga_reduce_(ga_kernel *kernel, Values... values)
{
    const ga_value list[] = {GA_V(values)...};
    return ga_reduce(kernel, static_cast<int>(sizeof...(values)), list);
}
template <class... Values> inline ga_status ga_scan_(ga_kernel *kernel, Values... values)
{
    const ga_value list[] = {GA_V(values)...};
    return ga_scan(kernel, static_cast<int>(sizeof...(values)), list);
}
#define ga_run(...) GA_HERE_(ga_run_(__VA_ARGS__))
#define ga_run_over(...) GA_HERE_(ga_run_over_(__VA_ARGS__))
#define ga_scan(...) GA_HERE_(ga_scan_(__VA_ARGS__))
#define ga_reduce(...) GA_HERE_(ga_reduce_(__VA_ARGS__))
/* The options that follow the positional arguments, in the order of the structs' members. In C++20
 * they have the same spelling as in C; C++17 has no designated initialisers, and takes the structs.
 */
struct ga_elementwise_rest_ {
    const char *preamble = nullptr, *loop_prep = nullptr, *after_loop = nullptr;
    bool fast_math = false;
};
struct ga_reduction_rest_ {
    const char *preamble = nullptr, *struct_name = nullptr;
    size_t struct_bytes = 0;
    bool fast_math = false;
};
struct ga_scan_rest_ {
    const char *preamble = nullptr, *is_segment_start_expr = nullptr;
    bool fast_math = false;
};
inline ga_kernel *ga_scan_kernel_(const ga_scan_kernel_args &args)
{
    return ga_scan_kernel(sizeof args, &args);
}
inline ga_kernel *ga_scan_kernel_(ga_dtype dtype, const char *arguments, const char *input_expr,
                                  const char *scan_expr, const char *neutral,
                                  const char *output_statement, const char *name = nullptr,
                                  const ga_scan_rest_ &rest = {})
{
    return ga_scan_kernel_(ga_scan_kernel_args{dtype, arguments, input_expr, scan_expr, neutral,
                                               output_statement, name, rest.preamble,
                                               rest.is_segment_start_expr, rest.fast_math});
}
inline ga_kernel *ga_elementwise_kernel_(const ga_elementwise_args &args)
{
    return ga_elementwise_kernel(sizeof args, &args);
}
inline ga_kernel *ga_elementwise_kernel_(const char *arguments, const char *operation,
                                         const char *name = nullptr,
                                         const ga_elementwise_rest_ &rest = {})
{
    return ga_elementwise_kernel_(ga_elementwise_args{arguments, operation, name, rest.preamble,
                                                      rest.loop_prep, rest.after_loop,
                                                      rest.fast_math});
}
inline ga_kernel *ga_reduction_kernel_(const ga_reduction_args &args)
{
    return ga_reduction_kernel(sizeof args, &args);
}
inline ga_kernel *ga_reduction_kernel_(ga_dtype dtype_out, const char *neutral,
                                       const char *reduce_expr, const char *map_expr,
                                       const char *arguments, const char *name = nullptr,
                                       const ga_reduction_rest_ &rest = {})
{
    return ga_reduction_kernel_(ga_reduction_args{dtype_out, neutral, reduce_expr, map_expr,
                                                  arguments, name, rest.preamble, rest.struct_name,
                                                  rest.struct_bytes, rest.fast_math});
}
#define ga_elementwise_kernel(...)                                                                 \
    GA_HERE_(GA_JOIN_(GA_ELEMENTWISE_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_ELEMENTWISE_1(args) ga_elementwise_kernel_(args)
#define GA_ELEMENTWISE_2(...) ga_elementwise_kernel_(__VA_ARGS__)
#define GA_ELEMENTWISE_3(...) ga_elementwise_kernel_(__VA_ARGS__)
#define GA_ELEMENTWISE_4(a, operation, name, ...)                                                  \
    ga_elementwise_kernel_(a, operation, name, {__VA_ARGS__})
#define GA_ELEMENTWISE_5 GA_ELEMENTWISE_4
#define GA_ELEMENTWISE_6 GA_ELEMENTWISE_4
#define GA_ELEMENTWISE_MORE GA_ELEMENTWISE_4
#define ga_reduction_kernel(...)                                                                   \
    GA_HERE_(GA_JOIN_(GA_REDUCTION_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_REDUCTION_1(args) ga_reduction_kernel_(args)
#define GA_REDUCTION_5(...) ga_reduction_kernel_(__VA_ARGS__)
#define GA_REDUCTION_6(...) ga_reduction_kernel_(__VA_ARGS__)
#define GA_REDUCTION_MORE(dtype, neutral, reduce, map, a, name, ...)                               \
    ga_reduction_kernel_(dtype, neutral, reduce, map, a, name, {__VA_ARGS__})
#define ga_scan_kernel(...) GA_HERE_(GA_JOIN_(GA_SCAN_KERNEL_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_SCAN_KERNEL_1(args) ga_scan_kernel_(args)
#define GA_SCAN_KERNEL_6(...) ga_scan_kernel_(__VA_ARGS__)
#define GA_SCAN_KERNEL_MORE(dtype, a, input, scan, neutral, output, ...)                           \
    GA_JOIN_(GA_SCAN_KERNEL_NAMED_, GA_MANY_(__VA_ARGS__))                                         \
    (dtype, a, input, scan, neutral, output, __VA_ARGS__)
#define GA_SCAN_KERNEL_NAMED_ONE(...) ga_scan_kernel_(__VA_ARGS__)
#define GA_SCAN_KERNEL_NAMED_MANY(dtype, a, input, scan, neutral, output, name, ...)               \
    ga_scan_kernel_(dtype, a, input, scan, neutral, output, name, {__VA_ARGS__})
#else
#define ga_run(...) GA_CALL_(ga_run, __VA_ARGS__)
#define ga_run_over(kernel, range, ...) GA_AT_(ga_run_over, kernel, range, GA_VALUES_(__VA_ARGS__))
#define ga_scan(...) GA_CALL_(ga_scan, __VA_ARGS__)
#define ga_scan_kernel(...)                                                                        \
    GA_AT_(ga_scan_kernel, sizeof(ga_scan_kernel_args),                                            \
           &(ga_scan_kernel_args){.dtype = __VA_ARGS__})
#define ga_reduce(...) GA_CALL_(ga_reduce, __VA_ARGS__)
#define ga_elementwise_kernel(...)                                                                 \
    GA_AT_(ga_elementwise_kernel, sizeof(ga_elementwise_args),                                     \
           &(ga_elementwise_args){.arguments = __VA_ARGS__})
#define ga_reduction_kernel(...)                                                                   \
    GA_AT_(ga_reduction_kernel, sizeof(ga_reduction_args),                                         \
           &(ga_reduction_args){.dtype_out = __VA_ARGS__})
#endif

#endif
