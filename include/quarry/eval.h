/* Whole formulas as text: parsed, typed as NumPy would, and run as the fewest kernels. */
#ifndef QUARRY_EVAL_H
#define QUARRY_EVAL_H

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

/* Reads an expression once, for ga_eval_expr(). NULL and GA_ERR_INVALID when it cannot be read. */
GA_API ga_expr *ga_compile_expr(const char *expression);

/* As ga_eval(), of a parsed expression. Threads may share one. */
GA_API gpuarray *ga_eval_expr(const ga_expr *expr, int count, const ga_named *args);

/* Frees a parsed expression; NULL does nothing. */
GA_API void ga_expr_free(ga_expr *expr);

GA_END_DECLS

/* ga_eval("a*x + y", GA_NAMED("a", 2.0), GA(x), GA(y)): GA(v) is the variable v under its own name.
 * Up to 32 of them; none is fine too. */
#ifdef __cplusplus
#define GA_NAMED(name, v) (ga_named{name, GA_V(v)})
inline gpuarray *ga_eval_(const char *expression)
{
    return ga_eval(expression, 0, nullptr);
}
template <class... Named> inline gpuarray *ga_eval_(const char *expression, Named... named)
{
    const ga_named list[] = {named...};
    return ga_eval(expression, (int)sizeof...(named), list);
}
inline ga_status ga_eval_into_(gpuarray *out, const char *expression)
{
    return ga_eval_into(out, expression, 0, nullptr);
}
template <class... Named>
inline ga_status ga_eval_into_(gpuarray *out, const char *expression, Named... named)
{
    const ga_named list[] = {named...};
    return ga_eval_into(out, expression, (int)sizeof...(named), list);
}
inline char *ga_explain_(const char *expression)
{
    return ga_explain(expression, 0, nullptr);
}
template <class... Named> inline char *ga_explain_(const char *expression, Named... named)
{
    const ga_named list[] = {named...};
    return ga_explain(expression, (int)sizeof...(named), list);
}
inline gpuarray *ga_eval_expr_(const ga_expr *expr)
{
    return ga_eval_expr(expr, 0, nullptr);
}
template <class... Named> inline gpuarray *ga_eval_expr_(const ga_expr *expr, Named... named)
{
    const ga_named list[] = {named...};
    return ga_eval_expr(expr, (int)sizeof...(named), list);
}
#define ga_eval(...) ga_eval_(__VA_ARGS__)
#define ga_eval_into(...) ga_eval_into_(__VA_ARGS__)
#define ga_explain(...) ga_explain_(__VA_ARGS__)
#define ga_eval_expr(...) ga_eval_expr_(__VA_ARGS__)
#else
#include <quarry/each.h>
#define GA_NAMED(name, v) ((ga_named){name, GA_V(v)})
#define ga_eval(...) GA_NAMES_(__VA_ARGS__)(ga_eval, __VA_ARGS__)
#define ga_explain(...) GA_NAMES_(__VA_ARGS__)(ga_explain, __VA_ARGS__)
#define ga_eval_expr(...) GA_NAMES_(__VA_ARGS__)(ga_eval_expr, __VA_ARGS__)
#define ga_eval_into(out, ...) GA_JOIN_(GA_INTO_, GA_NAMES_(__VA_ARGS__))(out, __VA_ARGS__)
#define GA_NAMES_(...) GA_JOIN_(GA_NAMES_, GA_MANY_(__VA_ARGS__))
#define GA_NAMES_ONE(f, e) (f)(e, 0, (const ga_named *)0)
#define GA_NAMES_MANY(f, e, ...)                                                                   \
    (f)(e, GA_COUNT_(ga_named, __VA_ARGS__), GA_LIST_(ga_named, __VA_ARGS__))
#define GA_INTO_GA_NAMES_ONE(out, e) (ga_eval_into)(out, e, 0, (const ga_named *)0)
#define GA_INTO_GA_NAMES_MANY(out, e, ...)                                                         \
    (ga_eval_into)(out, e, GA_COUNT_(ga_named, __VA_ARGS__), GA_LIST_(ga_named, __VA_ARGS__))
#endif
#define GA(v) GA_NAMED(#v, v)

#endif
