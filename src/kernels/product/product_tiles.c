/* The tiles of CUDA's products: how threads read and store their elements. */
#include "kernels/product/product_tiles.h"

typedef ga__product_plan plan;
typedef ga__product_operand operand;

static int64_t magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

void ga__product_set_tile(plan *p, int rows, int columns)
{
    p->v.rows = (uint8_t)rows;
    p->v.columns = (uint8_t)columns;
    p->tile_m = rows * p->v.side;
    p->tile_n = columns * ga__product_wide(&p->v);
}

static bool along_k(int64_t along, int64_t step)
{
    return magnitude(along) < magnitude(step);
}

/* Whether every vector of `count` elements is aligned: a line of them is `step` from the next. */
static bool is_aligned(const plan *p, const operand *o, int64_t along, int64_t step, int count)
{
    const size_t bytes = (size_t)count * ga__dtype_size(o->array->dtype);
    bool aligned =
        (count == 1 || along == 1) && step % count == 0 && (uintptr_t)o->array->data % bytes == 0;
    for (int axis = 0; axis < p->axes; axis++)
        aligned = aligned && o->stack[axis] % count == 0;
    return aligned;
}

/* Whether a thread loads vectors along k or along the lines. Along k, the kernel reads the last
 * elements singly; along the lines, every line is whole vectors. A word of bytes holds four
 * elements along k. */
static bool loads_vectors(const plan *p, const operand *o, bool along_k, int64_t lines)
{
    const int64_t k_step = o == &p->a ? o->column : o->row, step = o == &p->a ? o->row : o->column;
    const int group = ga__product_factor_group(&p->v);
    const bool bytes =
        ga__dtype_size((ga_dtype)p->v.type) == 1 && !ga__dtype_rounds((ga_dtype)p->v.type);
    return along_k ? is_aligned(p, o, k_step, step, bytes ? 4 * group : group)
                   : lines % group == 0 && is_aligned(p, o, step, k_step, group);
}

void ga__product_choose_copies(plan *p)
{
    p->v.a_along_k = along_k(p->a.column, p->a.row);
    p->v.b_along_k = along_k(p->b.row, p->b.column);
    const int columns = ga__product_column_group(&p->v); /* they decide it */
    p->v.a_vectors = loads_vectors(p, &p->a, p->v.a_along_k, p->m);
    p->v.b_vectors = loads_vectors(p, &p->b, p->v.b_along_k, p->n);
    p->v.c_vectors = p->n % columns == 0 && is_aligned(p, &p->c, p->c.column, p->c.row, columns);
}

bool ga__product_copies_ahead(const plan *p)
{
    const ga_dtype type = p->call->type;
    return p->a.array->dtype == type && p->b.array->dtype == type &&
           ga__dtype_compute(type) == type && ga__dtype_size(type) >= 4;
}
