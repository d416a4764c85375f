/* What all kernels that a user makes have in common. */
#ifndef GA_USER_KERNEL_H
#define GA_USER_KERNEL_H

#include <quarry/kernel.h>

typedef enum ga__kernel_kind {
    GA__ELEMENTWISE_KERNEL,
    GA__REDUCTION_KERNEL,
    GA__MODULE_KERNEL
} ga__kernel_kind;

/* What a handle points to; each kind has more behind it. */
struct ga_kernel {
    ga__kernel_kind kind;
    char *name; /* for messages */
};

/* Raises unless the kernel is of this kind: `caller` ("run") starts the message when it is NULL. */
ga_status ga__kernel_check(const char *caller, const ga_kernel *kernel, ga__kernel_kind kind);

/* Raises, with the kernel's name, unless there are as many arguments as it takes, and a list. */
ga_status ga__kernel_check_list(const ga_kernel *kernel, int wanted, int count,
                                const ga_value *args);

#endif
