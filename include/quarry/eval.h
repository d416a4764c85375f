/* Whole formulas as text: parsed, typed as NumPy would, and run as the fewest kernels. */
#ifndef QUARRY_EVAL_H
#define QUARRY_EVAL_H

#include <stdbool.h>
#include <stdint.h>

#include <quarry/error.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* A name that an expression may use, and what it stands for. The name is only read during the call.
 */
typedef struct ga_named {
    const char *name;
    ga_value value;
} ga_named;

/* A parsed expression. */
typedef struct ga_expr ga_expr;

/* The value of the expression, a new array. `args` are the `count` names it may use (at most 64,
 * each a C identifier); arrays broadcast, C numbers are weak scalars and parameters of the kernels:
 * a new number never compiles. The grammar is docs/eval.md's: Python's operators, the functions of
 * the op tables, where(c, a, b), casts such as float32(x), reductions with axis=, keepdims= and
 * ddof=, and the constants pi e inf nan True False. Dtypes and shapes are those the functions
 * ga_add() and so on would give. Safe on text from anywhere: none of it reaches a compiler. The
 * first call with a text, dtypes and numbers of axes plans and may compile; later ones do neither.
 * GA_ERR_INVALID (the message shows the place), GA_ERR_SHAPE, GA_ERR_DTYPE, GA_ERR_DEVICE,
 * GA_ERR_UNSUPPORTED (an expression too large for a kernel). */
GA_API gpuarray *ga_eval(const char *expression, int count, const ga_named *args);

/* The same into `out`, to whose shape the result must broadcast and to whose dtype it must cast
 * (NumPy's "same_kind"); `out` may be an argument too, and overlaps are handled. */
GA_API ga_status ga_eval_into(gpuarray *out, const char *expression, int count,
                              const ga_named *args);

/* How the expression would be run: its kernels, what each reads and writes, the bytes moved and the
 * statements computed. The caller frees the text with free(). Nothing is compiled or run. */
GA_API char *ga_explain(const char *expression, int count, const ga_named *args);

/* ---- Data that does not fit memory ---- */

/* How an evaluation goes through its sources (source.h). Zero means default. */
typedef struct ga_chunks {
    /* Bytes of inputs and output that a chunk has; two chunks are in memory, of which one is
     * computed and the other read or written. Data of no more than that is not cut. Default: 4 MiB
     * on "cpu", 256 MiB on a GPU; what cannot be cut so is then computed at once if it fits. */
    int64_t bytes;
    /* Called now and then by the calling thread with the bytes of files read and written so far,
     * and all that there will be, also while the host's compiler runs. It returns false to stop,
     * which is GA_ERR_CANCELLED. */
    bool (*progress)(int64_t done, int64_t total, void *user);
    void *user;
} ga_chunks;

/* The value of the expression, as by ga_eval(), whose arguments may also be sources: they are read
 * chunk by chunk, cut along the first axis (or as many as it takes), and what can be computed from
 * a chunk is, while the next one is read. Partial results of reductions are combined; what depends
 * on them goes through the sources once more. Elementwise results, and reductions that do not
 * depend on an order (min, max, any, all, argmin, argmax, count_nonzero, sums and products of
 * integers), are those of ga_eval() to the bit; floating sums are as accurate. Arrays that every
 * chunk needs must fit in `bytes` together (at least 1 MiB). `chunks` may be NULL. The errors of
 * ga_eval(); GA_ERR_UNSUPPORTED shows what cannot be cut; GA_ERR_IO, GA_ERR_CANCELLED. */
GA_API gpuarray *ga_eval_chunked(const ga_chunks *chunks, const char *expression, int count,
                                 const ga_named *args);

/* The same into a .npy file, chunk by chunk: to a temporary file beside `path`, which takes its
 * place when it is complete. After an error there is no file, and what was at `path` still is. */
GA_API ga_status ga_eval_save(const char *path, const ga_chunks *chunks, const char *expression,
                              int count, const ga_named *args);

/* As ga_explain(), and how ga_eval_save() would go through the sources with these chunks. */
GA_API char *ga_explain_chunked(const ga_chunks *chunks, const char *expression, int count,
                                const ga_named *args);

/* ---- Parsed once ---- */

/* Reads an expression once, for ga_eval_expr(). NULL and GA_ERR_INVALID when it cannot be read. */
GA_API ga_expr *ga_compile_expr(const char *expression);

/* The same, but its kernels may approximate, as custom kernels with .fast_math may: on a GPU they
 * are compiled with --use_fast_math (quotients and square roots of float32 within 2 units in the
 * last place, its exp, log, sin, cos and powers by the chip's own approximations, subnormal numbers
 * as 0), on the host with the compiler's -ffast-math. Up to 2.5 times as fast where arithmetic, not
 * memory, is the limit. NaN and infinities are not to be relied on. */
GA_API ga_expr *ga_compile_fast_expr(const char *expression);

/* As ga_eval() and ga_eval_into(), of a parsed expression. Threads may share one. */
GA_API gpuarray *ga_eval_expr(const ga_expr *expr, int count, const ga_named *args);
GA_API ga_status ga_eval_expr_into(gpuarray *out, const ga_expr *expr, int count,
                                   const ga_named *args);

/* Frees a parsed expression; NULL does nothing. */
GA_API void ga_expr_free(ga_expr *expr);

GA_END_DECLS

/* ga_eval("a*x + y", GA_NAMED("a", 2.0), GA(x), GA(y)): GA(v) is the variable v under its own name.
 * Up to 32 of them; none is fine too. */
#define GA(v) GA_NAMED(#v, v)
#ifdef __cplusplus
#define GA_NAMED(name, v) (ga_named{name, GA_V(v)})
template <class... Named> inline gpuarray *ga_eval_(const char *expression, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_eval(expression, (int)sizeof...(named), list);
}
template <class... Named>
inline ga_status ga_eval_into_(gpuarray *out, const char *expression, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_eval_into(out, expression, (int)sizeof...(named), list);
}
template <class... Named> inline char *ga_explain_(const char *expression, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_explain(expression, (int)sizeof...(named), list);
}
template <class... Named> inline gpuarray *ga_eval_expr_(const ga_expr *expr, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_eval_expr(expr, (int)sizeof...(named), list);
}
template <class... Named>
inline ga_status ga_eval_expr_into_(gpuarray *out, const ga_expr *expr, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_eval_expr_into(out, expr, (int)sizeof...(named), list);
}
template <class... Named>
inline gpuarray *ga_eval_chunked_(const ga_chunks *chunks, const char *expression, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_eval_chunked(chunks, expression, (int)sizeof...(named), list);
}
template <class... Named>
inline ga_status ga_eval_save_(const char *path, const ga_chunks *chunks, const char *expression,
                               Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_eval_save(path, chunks, expression, (int)sizeof...(named), list);
}
template <class... Named>
inline char *ga_explain_chunked_(const ga_chunks *chunks, const char *expression, Named... named)
{
    const ga_named list[] = {named..., ga_named()};
    return ga_explain_chunked(chunks, expression, (int)sizeof...(named), list);
}
#define ga_eval(...) ga_eval_(__VA_ARGS__)
#define ga_eval_into(...) ga_eval_into_(__VA_ARGS__)
#define ga_explain(...) ga_explain_(__VA_ARGS__)
#define ga_eval_expr(...) ga_eval_expr_(__VA_ARGS__)
#define ga_eval_expr_into(...) ga_eval_expr_into_(__VA_ARGS__)
#define ga_eval_chunked(...) ga_eval_chunked_(__VA_ARGS__)
#define ga_eval_save(...) ga_eval_save_(__VA_ARGS__)
#define ga_explain_chunked(...) ga_explain_chunked_(__VA_ARGS__)
#else
#include <quarry/each.h>
#define GA_NAMED(name, v) ((ga_named){name, GA_V(v)})
#define ga_eval(...) (ga_eval)(GA_NAMES_(__VA_ARGS__))
#define ga_eval_into(out, ...) (ga_eval_into)(out, GA_NAMES_(__VA_ARGS__))
#define ga_explain(...) (ga_explain)(GA_NAMES_(__VA_ARGS__))
#define ga_eval_expr(...) (ga_eval_expr)(GA_NAMES_(__VA_ARGS__))
#define ga_eval_expr_into(out, ...) (ga_eval_expr_into)(out, GA_NAMES_(__VA_ARGS__))
#define ga_eval_chunked(chunks, ...) (ga_eval_chunked)(chunks, GA_NAMES_(__VA_ARGS__))
#define ga_eval_save(path, chunks, ...) (ga_eval_save)(path, chunks, GA_NAMES_(__VA_ARGS__))
#define ga_explain_chunked(chunks, ...) (ga_explain_chunked)(chunks, GA_NAMES_(__VA_ARGS__))
/* An expression and its names as three arguments. */
#define GA_NAMES_(...) GA_JOIN_(GA_NAMES_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__)
#define GA_NAMES_ONE(e) e, 0, (const ga_named *)0
#define GA_NAMES_MANY(e, ...) e, GA_COUNT_(ga_named, __VA_ARGS__), GA_LIST_(ga_named, __VA_ARGS__)
#endif

#endif
