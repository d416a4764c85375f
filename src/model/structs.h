/* The dtypes of structs, which programs make: rows beside the table of dtypes. */
#ifndef GA_MODEL_STRUCTS_H
#define GA_MODEL_STRUCTS_H

#include "base/strbuf.h"
#include "model/dtype.h"

/* The dtype of elements that are only bytes, "V12": NumPy's name. GA_NO_DTYPE on failure. */
ga_dtype ga__bytes_dtype(size_t nbytes);

/* Appends the definition of the struct, after those of the structs that it names and that were made
 * before it. `added`, of GA__STRUCTS flags, says which are there. */
#define GA__STRUCTS (GA_LAST_STRUCT - GA_FIRST_STRUCT + 1)
void ga__struct_define(ga_dtype dtype, bool *added, ga__strbuf *text);

#endif
