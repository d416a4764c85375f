/* The common part of all kernels that a user makes. */
#ifndef GA_USER_KERNEL_H
#define GA_USER_KERNEL_H

#include <quarry/kernel.h>

typedef enum ga__kernel_kind {
    GA__ELEMENTWISE_KERNEL,
    GA__REDUCTION_KERNEL,
    GA__SCAN_KERNEL,
    GA__MODULE_KERNEL
} ga__kernel_kind;

/* The object behind a handle; each kind appends its own members. */
struct ga_kernel {
    ga__kernel_kind kind;
    char *name; /* for messages */
};

/* Raises unless the kernel is of this kind. If the kernel is NULL, the message starts with `caller`
 * ("run"). */
ga_status ga__kernel_check(const char *caller, const ga_kernel *kernel, ga__kernel_kind kind);

/* Raises, with the kernel's name, unless `count` is the number of its arguments and the list is not
 * NULL. */
ga_status ga__kernel_check_list(const ga_kernel *kernel, int wanted, int count,
                                const ga_value *args);

#endif
