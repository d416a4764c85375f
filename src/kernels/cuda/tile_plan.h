/* Chooses the tiles of an elementwise kernel on CUDA: which part of each axis a block computes. */
#ifndef GA_KERNELS_CUDA_TILE_PLAN_H
#define GA_KERNELS_CUDA_TILE_PLAN_H

#include "model/layout.h"

#define GA__MOST_STAGES 4

/* An operand that passes through shared memory. An element keeps its place in its 16-byte vector,
 * so that whole vectors are copied whatever its address; in long stretches also in its sector, so
 * that no two requests of a warp read halves of one. */
typedef struct ga__stage {
    int place, size;            /* in the nest; bytes of an element */
    uint64_t begin;             /* the array's address */
    int unit;                   /* bytes of a vector or a sector */
    int vectors;                /* of 16 bytes, of a stretch: the most */
    int offset;                 /* of its shared memory, in bytes */
    int shift, mask;            /* the swizzle: bits of an element's byte that change its bank */
    int count[GA_MAX_NDIM];     /* stretches along each axis */
    int64_t step[GA_MAX_NDIM];  /* bytes of shared memory along each axis */
    int64_t reach[GA_MAX_NDIM]; /* bytes that a stretch grows by along the axis; 0: not its own */
} ga__stage;

/* A stretch is memory without gaps: of the results over the first `run` axes, of a staged operand
 * over the axes that its memory joins. */
typedef struct ga__tile {
    int run, nstages;
    int vectors, stretches; /* vectors of a stretch of the results, and stretches */
    int64_t part, spare;    /* elements of a stretch, and by how many it may begin early */
    int across;             /* log2 of the neighbouring vectors of a warp */
    int turns, ids;         /* turns of a warp along a stretch; threads' turns in all */
    int align;              /* elements to which the stretches of neighbouring tiles align */
    bool ends;              /* some stretch may begin or end within a vector */
    int64_t total;          /* elements along the run */
    int64_t extent[GA_MAX_NDIM], halo[GA_MAX_NDIM];
    int64_t tiles[GA_MAX_NDIM];  /* along an axis, */
    int64_t before[GA_MAX_NDIM]; /* and blocks from one to the next */
    int64_t shared;              /* bytes */
    ga__stage stage[GA__MOST_STAGES];
} ga__tile;

/* What the choice depends on beside the nest, whose operands up to `written` are the results. */
typedef struct ga__tile_request {
    int written;
    int lanes;      /* of a vector of the results */
    int size;       /* bytes of an element of the first result */
    bool aligned;   /* the first result begins where a vector can */
    bool apart;     /* stretches end with axis 0: see ga__elementwise_reads_again() */
    int block;      /* threads */
    int64_t fewest; /* tiles that keep the device busy */
    int64_t shared; /* bytes that a block may have */
} ga__tile_request;

/* The axes over which the results have no gaps; at least 1. */
int ga__tile_run(const ga__nest *nest, int written);

/* Fills the tile from its stages' places, sizes and alignments; may exchange axes of the nest.
 * False when shared memory cannot hold a tile. */
bool ga__tile_choose(ga__tile *t, ga__nest *nest, const ga__tile_request *request);

#endif
