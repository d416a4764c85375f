/* How a scan runs: its rows, and the variant of the kernel that suits them. */
#ifndef GA_KERNELS_SCAN_PLAN_H
#define GA_KERNELS_SCAN_PLAN_H

#include "kernels/request.h"
#include "kernels/scan/scan_text.h"

/* One call. The nest has the axes that are not scanned, its operands are the streamed arrays, those
 * that are written first. */
typedef struct ga__scan_plan {
    const ga__scan *scan;
    ga__device *device;
    const ga__operand *operands;
    int noperands, streamed;
    int64_t length, rows;
    ga__nest kept;                    /* the caller provides noperands rows of strides */
    int8_t place[GA__MAX_OPERANDS];   /* of operand k in the nest; GA__NO_PLACE: not in it */
    int64_t along[GA__MAX_OPERANDS];  /* of each place, its step along the scanned axis, and */
    int64_t offset[GA__MAX_OPERANDS]; /* the element from which it starts */
    ga__scan_variant v;
    int64_t width;  /* with columns, neighbouring rows */
    int64_t groups; /* rows, or with columns those that a block takes together */
    int64_t tile;   /* elements of a row that a block takes together */
    int64_t tiles;  /* of a row */
    int64_t each;   /* rows of a block */
    int64_t grid;
    size_t shared; /* CUDA: bytes of dynamic shared memory */
    size_t stack;  /* host: bytes of the arrays that a block keeps on its thread's stack */
} ga__scan_plan;

/* Fills the rest of *p from the scan, its operands, and the room for strides. */
void ga__scan_plan_make(ga__scan_plan *p, int ndim, const int64_t *shape, int axis);

/* The parts of ga__scan_plan_make() that differ by the kind of device. */
void ga__scan_plan_cuda(ga__scan_plan *p);
void ga__scan_plan_host(ga__scan_plan *p);

/* Bytes of the states that tiles leave for later ones; 0: they leave none. */
size_t ga__scan_plan_state_bytes(const ga__scan_plan *p);

#endif
