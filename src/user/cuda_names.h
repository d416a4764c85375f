/* Finds the names of kernels and variables in CUDA C++ source. */
#ifndef GA_USER_CUDA_NAMES_H
#define GA_USER_CUDA_NAMES_H

#include <quarry/error.h>

#include "base/texts.h"

/* Names in the form used outside all namespaces: "add", "ns::add". */
typedef struct ga__cuda_names {
    ga__texts kernels;   /* defined exactly once: no templates, and not within #if */
    ga__texts others;    /* the other kernels; "scale<...>" is a template */
    ga__texts variables; /* __device__, __constant__ and __managed__ at namespace scope */
} ga__cuda_names;

/* Reads the names in the text. It does not expand macros, so names from macros or from included
 * files are not found. On GA_ERR_MEMORY there is nothing to reset. */
ga_status ga__cuda_names_find(ga__cuda_names *names, const char *text);
void ga__cuda_names_reset(ga__cuda_names *names);

/* The symbol of a variable (ga__free it): "ns::v" is _ZN2ns1vE, by the Itanium C++ ABI, section
 * 5.1; a name outside all namespaces is its own symbol. NULL and an error if memory is out. */
char *ga__cuda_variable_symbol(const char *name);

#endif
