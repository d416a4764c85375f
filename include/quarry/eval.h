/* Whole formulas as text: parsed, typed as in NumPy, and run as the fewest kernels. */
#ifndef QUARRY_EVAL_H
#define QUARRY_EVAL_H

#include <stdbool.h>
#include <stdint.h>

#include <quarry/error.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* A name that an expression may use, and its value. The name is read only during the call. */
typedef struct ga_named {
    const char *name;
    ga_value value;
} ga_named;

/* A parsed expression; ga_compile_expr() makes it. */
typedef struct ga_expr ga_expr;

/* Evaluates the expression and returns a new array. `args` are the `count` names that it may use
 * (at most 64, each a C identifier). Arrays broadcast. C numbers are weak scalars and parameters of
 * the kernels: changing a number's value never recompiles. docs/eval.md has the grammar: Python's
 * operators, the functions of the op tables, where(c, a, b), casts such as float32(x), reductions
 * with axis=, keepdims=, dtype= and correction=, views (x[1:, None], x.T, x.real), names ("t = x -
 * mean(x); t / std(t)"), and the constants pi e inf nan True False. Dtypes and shapes are those of
 * ga_add() and the other functions. Untrusted text is safe: none of it reaches a compiler. The
 * first call with a given text, dtypes and numbers of axes makes a plan and may compile; later
 * calls do neither. The call does not wait, except for the number of elements of a mask.
 * GA_ERR_INVALID for malformed text (the message shows the place), an unknown name, or a source
 * among the arguments; GA_ERR_SHAPE, GA_ERR_DTYPE and GA_ERR_INDEX as for the functions;
 * GA_ERR_UNSUPPORTED (more than 256 operators between numbers). */
GA_API gpuarray *ga_eval(const char *expression, int count, const ga_named *args);

/* The same, into `out`. The result must broadcast to the shape of `out` (GA_ERR_SHAPE) and cast to
 * its dtype (NumPy's "same_kind", GA_ERR_DTYPE). `out` may also be an argument; overlaps are
 * handled. */
GA_API ga_status ga_eval_into(gpuarray *out, const char *expression, int count,
                              const ga_named *args);

/* How the expression would run: its kernels, what each reads and writes, the bytes moved and the
 * statements computed. The caller frees the text with free(); NULL on failure, with the errors of
 * ga_eval(). Compiles and runs nothing. */
GA_API char *ga_explain(const char *expression, int count, const ga_named *args);

/* ---- Data that does not fit memory ---- */

/* How an evaluation reads its sources (source.h). Zero means default. The macros below pass the
 * size of the struct that the program knows before its address. */
typedef struct ga_chunks {
    /* Bytes of inputs and output in one chunk. Two chunks are in memory: one is computed while the
     * other is read or written. Data that fits one chunk is not split. Default: 4 MiB on "cpu", 256
     * MiB on a GPU; with the default, data that cannot be split into such chunks is computed at
     * once if it fits. */
    int64_t bytes;
    /* The calling thread calls this from time to time, also while the host's compiler runs, with
     * the bytes of files read and written so far and the total. Return false to stop; the
     * evaluation then fails with GA_ERR_CANCELLED. */
    bool (*progress)(int64_t done, int64_t total, void *user);
    void *user;
} ga_chunks;

/* Evaluates the expression as ga_eval() does, but arguments may also be sources. Sources are read
 * chunk by chunk, split along the first axis or as many leading axes as necessary, and each chunk
 * is computed while the next is read. Partial results of reductions are combined; a kernel that
 * depends on a finished reduction reads the sources once more. Elementwise results, and reductions
 * that do not depend on the order of elements (min, max, any, all, argmin, argmax, count_nonzero,
 * sums and products of integers), equal those of ga_eval() bit for bit; floating sums are as
 * accurate. Sources and intermediate results that every chunk needs in full must together fit
 * `bytes` or 1 MiB, whichever is greater; with the default, a quarter of the free memory. `chunks`
 * may be NULL. The errors of ga_eval(), and GA_ERR_UNSUPPORTED (the message shows what cannot be
 * split), GA_ERR_IO, GA_ERR_CANCELLED. */
GA_API gpuarray *ga_eval_chunked(size_t size, const ga_chunks *chunks, const char *expression,
                                 int count, const ga_named *args);

/* The same into a .npy file, chunk by chunk. The result goes to a temporary file beside `path`,
 * which replaces `path` when it is complete. After an error no new file remains, and an old file
 * at `path` is unchanged. */
GA_API ga_status ga_eval_save(const char *path, size_t size, const ga_chunks *chunks,
                              const char *expression, int count, const ga_named *args);

/* The text of ga_explain(), and how ga_eval_save() would read the sources with these chunks. The
 * caller frees it with free(). */
GA_API char *ga_explain_chunked(size_t size, const ga_chunks *chunks, const char *expression,
                                int count, const ga_named *args);

/* ---- Parsed once ---- */

/* Parses an expression once, for ga_eval_expr(). NULL and GA_ERR_INVALID if the text is malformed.
 * Freed by ga_expr_free(). */
GA_API ga_expr *ga_compile_expr(const char *expression);

/* The same, but the kernels may approximate, like custom kernels with .fast_math. On a GPU they are
 * compiled with --use_fast_math: quotients and square roots of float32 are within 2 units in the
 * last place; exp, log, sin, cos and powers of float32 use the chip's own approximations; subnormal
 * numbers become 0. On the host they are compiled with -ffast-math. Up to 2.5 times as fast where
 * arithmetic, not memory, is the limit. Do not rely on NaN or infinities. */
GA_API ga_expr *ga_compile_fast_expr(const char *expression);

/* As ga_eval() and ga_eval_into(), with a parsed expression. Threads may share one. */
GA_API gpuarray *ga_eval_expr(const ga_expr *expr, int count, const ga_named *args);
GA_API ga_status ga_eval_expr_into(gpuarray *out, const ga_expr *expr, int count,
                                   const ga_named *args);

/* Frees a parsed expression. NULL is a no-op. */
GA_API void ga_expr_free(ga_expr *expr);

GA_END_DECLS

/* ga_eval("a*x + y", GA_NAMED("a", 2.0), GA(x), GA(y)): GA(v) is the variable v under its own name.
 * There may be 0 to 64 of them. */
#define GA(v) GA_NAMED(#v, v)
#ifdef __cplusplus
#define GA_NAMED(name, v) (ga_named{name, GA_V(v)})
template <class... Named> inline gpuarray *ga_eval_(const char *expression, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_eval(expression, static_cast<int>(sizeof...(named)), list);
}
template <class... Named>
inline ga_status ga_eval_into_(gpuarray *out, const char *expression, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_eval_into(out, expression, static_cast<int>(sizeof...(named)), list);
}
template <class... Named> inline char *ga_explain_(const char *expression, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_explain(expression, static_cast<int>(sizeof...(named)), list);
}
template <class... Named> inline gpuarray *ga_eval_expr_(const ga_expr *expr, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_eval_expr(expr, static_cast<int>(sizeof...(named)), list);
}
template <class... Named>
inline ga_status ga_eval_expr_into_(gpuarray *out, const ga_expr *expr, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_eval_expr_into(out, expr, static_cast<int>(sizeof...(named)), list);
}
template <class... Named>
inline gpuarray *ga_eval_chunked_(const ga_chunks *chunks, const char *expression, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_eval_chunked(sizeof *chunks, chunks, expression, static_cast<int>(sizeof...(named)),
                           list);
}
template <class... Named>
inline ga_status ga_eval_save_(const char *path, const ga_chunks *chunks, const char *expression,
                               Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_eval_save(path, sizeof *chunks, chunks, expression,
                        static_cast<int>(sizeof...(named)), list);
}
template <class... Named>
inline char *ga_explain_chunked_(const ga_chunks *chunks, const char *expression, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_explain_chunked(sizeof *chunks, chunks, expression,
                              static_cast<int>(sizeof...(named)), list);
}
#define ga_eval(...) GA_HERE_(ga_eval_(__VA_ARGS__))
#define ga_eval_into(...) GA_HERE_(ga_eval_into_(__VA_ARGS__))
#define ga_explain(...) GA_HERE_(ga_explain_(__VA_ARGS__))
#define ga_eval_expr(...) GA_HERE_(ga_eval_expr_(__VA_ARGS__))
#define ga_eval_expr_into(...) GA_HERE_(ga_eval_expr_into_(__VA_ARGS__))
#define ga_eval_chunked(...) GA_HERE_(ga_eval_chunked_(__VA_ARGS__))
#define ga_eval_save(...) GA_HERE_(ga_eval_save_(__VA_ARGS__))
#define ga_explain_chunked(...) GA_HERE_(ga_explain_chunked_(__VA_ARGS__))
#else
#include <quarry/each.h>
#define GA_NAMED(name, v) ((ga_named){name, GA_V(v)})
#define ga_eval(...) GA_AT_(ga_eval, GA_NAMES_(__VA_ARGS__))
#define ga_eval_into(out, ...) GA_AT_(ga_eval_into, out, GA_NAMES_(__VA_ARGS__))
#define ga_explain(...) GA_AT_(ga_explain, GA_NAMES_(__VA_ARGS__))
#define ga_eval_expr(...) GA_AT_(ga_eval_expr, GA_NAMES_(__VA_ARGS__))
#define ga_eval_expr_into(out, ...) GA_AT_(ga_eval_expr_into, out, GA_NAMES_(__VA_ARGS__))
#define ga_eval_chunked(chunks, ...)                                                               \
    GA_AT_(ga_eval_chunked, sizeof(ga_chunks), chunks, GA_NAMES_(__VA_ARGS__))
#define ga_eval_save(path, chunks, ...)                                                            \
    GA_AT_(ga_eval_save, path, sizeof(ga_chunks), chunks, GA_NAMES_(__VA_ARGS__))
#define ga_explain_chunked(chunks, ...)                                                            \
    GA_AT_(ga_explain_chunked, sizeof(ga_chunks), chunks, GA_NAMES_(__VA_ARGS__))
/* An expression and its names as three arguments. */
#define GA_NAMES_(...) GA_JOIN_(GA_NAMES_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__)
#define GA_NAMES_ONE(e) e, 0, (const ga_named *)0
#define GA_NAMES_OVER(e, ...) e, ga_a_macro_takes_at_most_64_arguments, (const ga_named *)0
#define GA_NAMES_MANY(e, ...) e, GA_COUNT_(ga_named, __VA_ARGS__), GA_LIST_(ga_named, __VA_ARGS__)
#endif

#endif
