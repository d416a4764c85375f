/* Modules: the user's own CUDA C++ with kernels, compiled or loaded, and their launch. */
#ifndef QUARRY_MODULE_H
#define QUARRY_MODULE_H

#include <quarry/kernel.h>
#include <quarry/stream.h>

GA_BEGIN_DECLS

/* ---- Modules ---- */

/* Compiled or loaded code of one device. */
typedef struct ga_module ga_module;

/* A file that the source includes: #include "name". */
typedef struct ga_header {
    const char *name, *text;
} ga_header;

/* Arguments of ga_module_compile(); all texts are copied. */
typedef struct ga_module_args {
    const char *source;  /* CUDA C++ as for nvcc, without host code */
    const char *options; /* of NVRTC, separated by spaces: "-DN=4 --use_fast_math -I'my headers'" */
    const char *name;    /* appears in messages and logs; NULL: "module" */
    const ga_header *headers; /* ended by {0, 0}: GA_HEADERS(); NULL: none */
    const char *kernels; /* instances of templates: "scale<float>, ns::add<int, 4>"; see below */
} ga_module_args;

/* Compiles the source for the calling thread's current device. Kernels are found by their names,
 * extern "C" or not. The code is cached as for all kernels, unless the source includes "files" that
 * are not among the headers. Headers in <angles> come from the CUDA toolkit, if it is installed
 * (CUDA_HOME, CUDA_PATH or /usr/local/cuda), and from the -I options. Functions without __host__ or
 * __device__ are device functions. The language is C++17 unless an option says otherwise. The
 * compiler's warnings go to the log. NULL on failure: GA_ERR_COMPILE with the compiler's log and
 * the source lines that it mentions, GA_ERR_INVALID, GA_ERR_MEMORY. Freed by ga_module_free(). */
GA_API ga_module *ga_module_compile(size_t size, const ga_module_args *args);

/* Arguments of ga_module_link(). */
typedef struct ga_link_args {
    const ga_module_args *sources; /* GA_SOURCES() sets the first three members */
    size_t count, source_bytes;
    const char *name;         /* of the module, in messages; NULL: "module" */
    const char *const *files; /* more code to link, ended by NULL: cubins, fatbins and PTX of
                                 nvcc -dc, objects and libraries. Not on the host */
} ga_link_args;

/* Compiles several sources and links them to one module: ga_module_link(GA_SOURCES({.source = a},
 * {.source = b, .options = "-DN=4"})). A source calls functions and uses variables of another by
 * their declarations: extern __device__ float f(float). The code of each source is cached as by
 * ga_module_compile(). On a GPU nvJitLink links, which is part of the CUDA toolkit and loaded at
 * the first call; on the host the system's linker does. Templates' instances are named in the
 * .kernels of the source that defines them. NULL on failure: as ga_module_compile(), and
 * GA_ERR_COMPILE with the linker's log, or if there is no nvJitLink; GA_ERR_UNSUPPORTED for files
 * on the host. */
GA_API ga_module *ga_module_link(size_t size, const ga_link_args *args);

/* Loads code that nvcc made for the current device: a cubin, a fatbin, or PTX, which the driver
 * compiles. NULL and GA_ERR_IO, GA_ERR_FORMAT (not such a file), GA_ERR_DEVICE (not code for this
 * device), GA_ERR_UNSUPPORTED (the device is the host). */
GA_API ga_module *ga_module_load(const char *path);

/* The kernel with this name: "add", "ns::add", an instance of a template such as "scale<float>",
 * or the symbol in the code. Templates of a loaded module are known only by their symbols. The
 * same name gives the same pointer; the module owns it. A template instance that is not in
 * ga_module_args.kernels is compiled at the first request. That code has its own copies of
 * variables, so the request is an error in a module with __device__ or __constant__ variables.
 * NULL and GA_ERR_INVALID if there is no such kernel; the message lists the kernels of the module.
 */
GA_API ga_kernel *ga_module_kernel(ga_module *module, const char *name);

/* The memory of a __device__ or __constant__ variable, "table" or "ns::table", as a uint8 array:
 * ga_view() gives it a dtype, ga_assign() sets it. Two modules with the same source have separate
 * variables. The array keeps the code loaded, even after ga_module_free(). NULL and GA_ERR_INVALID
 * if there is no such variable. */
GA_API gpuarray *ga_module_global(ga_module *module, const char *name);

/* Waits for the device, then frees the module and its kernels. NULL is a no-op. */
GA_API void ga_module_free(ga_module *module);

/* ---- Launching ---- */

/* A number of blocks, or of threads in a block; made by GA_DIM(x), GA_DIM(x, y), GA_DIM(x, y, z).
 */
typedef struct ga_dim {
    int64_t x, y, z;
} ga_dim;

/* Launch parameters of <<<grid, block, shared_bytes, stream>>> besides grid and block. */
typedef struct ga_launch_options {
    size_t shared_bytes; /* dynamic shared memory of each block: extern __shared__ */
    ga_stream *stream;   /* NULL: the calling thread's current one */
} ga_launch_options;

/* Launches a module's kernel on `grid` blocks of `block` threads with `count` arguments. The launch
 * follows the stream's order, and waits for other streams' work on the arrays among the arguments.
 * An argument is one of these:
 *
 * An array: the address of its first element. Strides, and which elements are written, are the
 * kernel's responsibility. A NULL array is a failed result: nothing is launched, and the first
 * error stays.
 *
 * A C number of the parameter's exact type: a long long parameter takes 4LL, not 4, and a float
 * takes 0.5f.
 *
 * GA_STRUCT(v): the bytes of a struct or any other variable.
 *
 * A void pointer: an address on the device.
 *
 * GA_IN(p, nbytes), GA_OUT(p, nbytes), GA_INOUT(p, nbytes): host memory. The kernel gets device
 * memory: copied from the host before the launch (IN), copied back after it (OUT), or both.
 *
 * Without OUT or INOUT memory the call returns at once. With it, the call returns when that memory
 * is filled. IN memory may be changed once the call returns. The number and sizes of the arguments
 * are checked; their types cannot be. Errors: GA_ERR_INVALID with the numbers (count, sizes,
 * dimensions, shared memory, another kind of kernel), GA_ERR_DEVICE (an array or a stream of
 * another device), GA_ERR_UNSUPPORTED (host memory, or another stream, in a recorded graph),
 * GA_ERR_MEMORY; in each case nothing is launched. If a kernel faults, the next call that waits
 * reports it and names the kernels that were launched; this process cannot use the device again. */
GA_API ga_status ga_launch(ga_kernel *kernel, ga_dim grid, ga_dim block, int count,
                           const ga_value *args);

/* The same with options. */
GA_API ga_status ga_launch_with(ga_kernel *kernel, ga_dim grid, ga_dim block, size_t size,
                                const ga_launch_options *options, int count, const ga_value *args);

/* Resources and limits of a module's kernel. */
typedef struct ga_kernel_properties {
    int parameters;
    int registers;           /* per thread; 0 on the host */
    size_t shared_bytes;     /* per block, without dynamic shared memory */
    size_t local_bytes;      /* per thread: the stack and spilled registers */
    size_t constant_bytes;   /* of the kernel's __constant__ variables */
    size_t max_shared_bytes; /* per block, including dynamic shared memory */
    int max_threads;         /* per block */
    int suggested_block;     /* the number of threads for the highest occupancy */
    double occupancy; /* with that block: threads that run at once, as a fraction of the maximum */
} ga_kernel_properties;

/* Writes them to *properties; `size` is the size of the struct, which the macro passes.
 * GA_ERR_INVALID if the kernel is NULL or does not belong to a module. */
GA_API ga_status ga_kernel_info(const ga_kernel *kernel, size_t size,
                                ga_kernel_properties *properties);

static inline ga_value ga_value_host(ga_value_kind kind, const void *memory, size_t nbytes)
{
    ga_value v = {kind, GA_NO_DTYPE, {0}};
    v.as.host.memory.from = memory;
    v.as.host.nbytes = nbytes;
    return v;
}

static inline ga_value ga_value_out(ga_value_kind kind, void *memory, size_t nbytes)
{
    ga_value v = {kind, GA_NO_DTYPE, {0}};
    v.as.host.memory.to = memory;
    v.as.host.nbytes = nbytes;
    return v;
}

GA_END_DECLS

#define ga_kernel_info(kernel, properties)                                                         \
    GA_AT_(ga_kernel_info, kernel, sizeof(ga_kernel_properties), properties)

#define GA_IN(memory, nbytes) ga_value_host(GA_VALUE_IN, memory, nbytes)
#define GA_OUT(memory, nbytes) ga_value_out(GA_VALUE_OUT, memory, nbytes)
#define GA_INOUT(memory, nbytes) ga_value_out(GA_VALUE_INOUT, memory, nbytes)

#define GA_DIM(...) GA_DIM_(__VA_ARGS__, 1, 1, 1)
#define GA_DIM_(x, y, z, ...)                                                                      \
    GA_DIM_OF_(GA_CAST_(int64_t, x), GA_CAST_(int64_t, y), GA_CAST_(int64_t, z))

/* ga_module_compile(source, .options = ..., ...); ga_launch(kernel, GA_DIM(...), GA_DIM(...),
 * args...); ga_launch_with(kernel, GA_DIM(...), GA_DIM(...), GA_WITH(.shared_bytes = ...),
 * args...). Launches take up to 64 arguments. */
#ifdef __cplusplus
#include <type_traits>
#define GA_DIM_OF_(x, y, z) (ga_dim{x, y, z})
template <class T> inline ga_value GA_STRUCT(const T &v)
{
    static_assert(std::is_trivially_copyable<T>::value, "a kernel gets the bytes of a struct");
    return ga_value_host(GA_VALUE_STRUCT, &v, sizeof v);
}
inline ga_module *ga_module_compile_(const ga_module_args &args)
{
    return ga_module_compile(sizeof args, &args);
}
/* The options after the source: "-DN=4", "name" in this order, or in C++20 as in C. */
struct ga_module_rest_ {
    const char *options = nullptr, *name = nullptr;
    const ga_header *headers = nullptr;
    const char *kernels = nullptr;
};
inline ga_module *ga_module_compile_(const char *source, const ga_module_rest_ &rest = {})
{
    return ga_module_compile_(
        ga_module_args{source, rest.options, rest.name, rest.headers, rest.kernels});
}
inline ga_status ga_launch_(ga_kernel *kernel, ga_dim grid, ga_dim block)
{
    return ga_launch(kernel, grid, block, 0, nullptr);
}
template <class... Values>
inline ga_status ga_launch_(ga_kernel *kernel, ga_dim grid, ga_dim block, const Values &...values)
{
    const ga_value list[] = {GA_V(values)...};
    return ga_launch(kernel, grid, block, static_cast<int>(sizeof...(values)), list);
}
inline ga_status ga_launch_with_(ga_kernel *kernel, ga_dim grid, ga_dim block,
                                 ga_launch_options options)
{
    return ga_launch_with(kernel, grid, block, sizeof options, &options, 0, nullptr);
}
template <class... Values>
inline ga_status ga_launch_with_(ga_kernel *kernel, ga_dim grid, ga_dim block,
                                 ga_launch_options options, const Values &...values)
{
    const ga_value list[] = {GA_V(values)...};
    return ga_launch_with(kernel, grid, block, sizeof options, &options,
                          static_cast<int>(sizeof...(values)), list);
}
struct ga_link_rest_ {
    const char *name = nullptr;
    const char *const *files = nullptr;
};
inline ga_module *ga_module_link_(std::initializer_list<ga_module_args> sources,
                                  const ga_link_rest_ &rest = {})
{
    const ga_link_args args = {sources.begin(), sources.size(), sizeof(ga_module_args), rest.name,
                               rest.files};
    return ga_module_link(sizeof args, &args);
}
#define GA_SOURCES(...) (std::initializer_list<ga_module_args>{__VA_ARGS__})
#define ga_module_link(...) GA_HERE_(GA_JOIN_(GA_LINK_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__))
#define GA_LINK_ONE(sources) ga_module_link_(sources)
#define GA_LINK_MANY(sources, ...) ga_module_link_(sources, {__VA_ARGS__})
#define GA_HEADERS(...) (std::initializer_list<ga_header>{__VA_ARGS__, {nullptr, nullptr}}.begin())
/* Options that are left out have their defaults without a warning. */
struct ga_with_ {
    size_t shared_bytes = 0;
    ga_stream *stream = nullptr;
    operator ga_launch_options() const
    {
        return ga_launch_options{shared_bytes, stream};
    }
};
#define GA_WITH(...) (ga_with_{__VA_ARGS__})
#define ga_module_compile(...) GA_HERE_(GA_JOIN_(GA_MODULE_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__))
#define GA_MODULE_ONE(source) ga_module_compile_(source)
#define GA_MODULE_MANY(source, ...) ga_module_compile_(source, {__VA_ARGS__})
#define ga_launch(...) GA_HERE_(ga_launch_(__VA_ARGS__))
#define ga_launch_with(...) GA_HERE_(ga_launch_with_(__VA_ARGS__))
#else
#define GA_DIM_OF_(x, y, z) ((ga_dim){x, y, z})
#define GA_STRUCT(...) ga_value_host(GA_VALUE_STRUCT, &(__VA_ARGS__), sizeof(__VA_ARGS__))
#define GA_HEADERS(...) ((const ga_header[]){__VA_ARGS__, {0, 0}})
#define GA_WITH(...) (&(ga_launch_options){__VA_ARGS__})
#define ga_module_compile(...)                                                                     \
    GA_AT_(ga_module_compile, sizeof(ga_module_args), &(ga_module_args){.source = __VA_ARGS__})
#define GA_SOURCES(...)                                                                            \
    ((const ga_module_args[]){__VA_ARGS__}),                                                       \
        sizeof((const ga_module_args[]){__VA_ARGS__}) / sizeof(ga_module_args),                    \
        sizeof(ga_module_args)
#define ga_module_link(...)                                                                        \
    GA_AT_(ga_module_link, sizeof(ga_link_args), &(ga_link_args){.sources = __VA_ARGS__})
#define ga_launch(kernel, grid, ...) GA_LAUNCH_(__VA_ARGS__)(kernel, grid, __VA_ARGS__)
#define GA_LAUNCH_(...) GA_JOIN_(GA_LAUNCH_, GA_JOIN_(GA_MANY_(__VA_ARGS__), _))
#define GA_LAUNCH_ONE_(kernel, grid, block) GA_AT_(ga_launch, kernel, grid, block, GA_NO_VALUES_)
#define GA_LAUNCH_MANY_(kernel, grid, block, ...)                                                  \
    GA_AT_(ga_launch, kernel, grid, block, GA_VALUES_(__VA_ARGS__))
#define GA_LAUNCH_OVER_(kernel, grid, block, ...)                                                  \
    (ga_launch)(kernel, grid, block, ga_a_macro_takes_at_most_64_arguments, 0)
#define ga_launch_with(kernel, grid, block, ...)                                                   \
    GA_AT_(ga_launch_with, kernel, grid, block, GA_OPTIONS_(__VA_ARGS__)(__VA_ARGS__))
#define GA_OPTIONS_(...) GA_JOIN_(GA_OPTIONS_, GA_JOIN_(GA_MANY_(__VA_ARGS__), _))
#define GA_OPTIONS_ONE_(options) sizeof(ga_launch_options), options, GA_NO_VALUES_
#define GA_OPTIONS_MANY_(options, ...) sizeof(ga_launch_options), options, GA_VALUES_(__VA_ARGS__)
#define GA_OPTIONS_OVER_(options, ...)                                                             \
    sizeof(ga_launch_options), options, ga_a_macro_takes_at_most_64_arguments, 0
#endif

#endif
