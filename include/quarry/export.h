/* Linkage of the public functions. */
#ifndef QUARRY_EXPORT_H
#define QUARRY_EXPORT_H

#ifdef __cplusplus
#define GA_BEGIN_DECLS extern "C" {
#define GA_END_DECLS }
#else
#define GA_BEGIN_DECLS
#define GA_END_DECLS
#endif

#if defined(__GNUC__) || defined(__clang__)
#define GA_API __attribute__((visibility("default")))
#define GA_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define GA_API
#define GA_PRINTF(text, first)
#endif

/* A cast in the syntax of the language: C++ programs may forbid C casts. */
#ifdef __cplusplus
#define GA_CAST_(type, value) static_cast<type>(value)
#else
#define GA_CAST_(type, value) ((type)(value))
#endif

/* A member without a size, which begins the options of a call, so that options need names. An
 * unnamed one, such as the 0 in ga_sum(x, 0), does not compile; an axis is GA_AXIS(0). */
#if defined(__cplusplus)
#define GA_NAMED_OPTIONS_ static_assert(true, "")
#elif defined(__GNUC__)
struct ga_axis_is_GA_AXIS_ {
    int axis;
};
#define GA_NAMED_OPTIONS_ __extension__ struct ga_axis_is_GA_AXIS_ options_have_names_[0]
#else
#define GA_NAMED_OPTIONS_ _Static_assert(1, "")
#endif

/* A pointer, in C: an integer in its place does not compile. */
#define GA_POINTER_(pointer) (&*(pointer))

/* How macros call a function, and in C++ a template. <quarry/sites.h> redefines both to note the
 * file and line of the call. */
#define GA_AT_(f, ...) (f)(__VA_ARGS__)
#define GA_HERE_(call) call

#endif
