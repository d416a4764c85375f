/* How a product runs: the axes of its stack, and its tiles. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_TILES_H
#define GA_KERNELS_PRODUCT_PRODUCT_TILES_H

#include "kernels/product/product_call.h"
#include "kernels/product/product_text.h"

/* One operand: a matrix at each place of the stack. Strides are in elements. */
typedef struct ga__product_operand {
    const gpuarray *array;
    int64_t row, column; /* from a row or column to the next one */
    int64_t stack[GA_MAX_NDIM];
} ga__product_operand;

typedef struct ga__product_plan {
    const ga__product *call;
    ga__device *device;
    int64_t m, n, k;
    ga__product_operand a, b, c;
    int axes; /* of the stack, the innermost first; those that follow each other are one */
    int64_t length[GA_MAX_NDIM];
    int64_t places; /* of the stack */
    bool turned;    /* a and b are the call's b and a, transposed */
    bool tiled;     /* what follows is planned */
    ga__product_variant v;
    int64_t tile_m, tile_n, tiles_m, tiles_n;
    int64_t blocks;       /* of the launch, */
    int64_t resident;     /* CUDA, little: of those that run at once */
    int block;            /* CUDA: threads of a block */
    size_t shared_bytes;  /* CUDA: dynamic bytes of a block */
    size_t scratch_bytes; /* of a host's worker */
} ga__product_plan;

/* CUDA: what a thread has, and so the tile. */
void ga__product_set_tile(ga__product_plan *p, int rows, int columns);

/* CUDA: the directions in which elements are read, and whether by vectors, once the rest of the
 * variant is planned. */
void ga__product_choose_copies(ga__product_plan *p);

/* CUDA: whether words are copied in the background; such copies do not convert. */
bool ga__product_copies_ahead(const ga__product_plan *p);

#endif
