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

/* A conversion in the words of the language: programs may forbid C's in C++. */
#ifdef __cplusplus
#define GA_CAST_(type, value) static_cast<type>(value)
#else
#define GA_CAST_(type, value) ((type)(value))
#endif

/* How macros call a function, and in C++ a template. <quarry/sites.h> redefines both to note the
 * file and line of the call. */
#define GA_AT_(f, ...) (f)(__VA_ARGS__)
#define GA_HERE_(call) call

#endif
