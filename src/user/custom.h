/* A custom kernel: its texts, and what is known about them. */
#ifndef GA_USER_CUSTOM_H
#define GA_USER_CUSTOM_H

#include <stdatomic.h>

#include "base/hash.h"
#include "user/arguments.h"
#include "user/kernel.h"

/* A kernel owns copies of all its texts. Several threads may run it at once: only `direct` changes,
 * and only from false to true. */
typedef struct ga__custom {
    ga_kernel base; /* its name as the user wrote it */
    ga__arguments arguments;
    bool fast_math;
    char *identifier;                                     /* the name as a C identifier */
    char *operation, *preamble, *loop_prep, *after_loop;  /* elementwise */
    char *neutral, *reduce_expr, *map_expr, *struct_name; /* reductions */
    char *ranged;                                         /* the operation for some indices */
    char *starts;   /* scans, whose operation is the output statement, and which map and reduce */
    bool uses_last; /* the output statement names `last_item` */
    bool sums;      /* a scan whose operator is a + b */
    ga_dtype dtype_out;   /* GA_NO_DTYPE: a struct's bytes */
    ga_dtype struct_type; /* of the result, if that is an array of structs */
    size_t struct_bytes;
    bool uses_index, cuda_words;
    ga__hash128 id, direct_id, ranged_id;
    /* The text does not compile with elements in registers: index memory instead. */
    atomic_bool direct;
} ga__custom;

#endif
