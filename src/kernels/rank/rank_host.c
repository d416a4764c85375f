/* Which rows a thread of the host selects from by itself: rounds read a row several times, where a
 * thread with a sample reads it once. */
#include "kernels/rank/rank_host.h"

enum {
    LINE = 64,
    KEEP_ROOM = 64,        /* ga_keep_room of rank_keep.host */
    FEW_PARTS = 8,         /* of a row take as long one after another as rounds by many threads */
    FEW_PROCESSORS = 4,    /* never have faster rounds, */
    MOST_SCRATCH = 1 << 29 /* bytes of all threads together, at most */
};

size_t ga__rank_host_scratch(const ga__ranking *r)
{
    const size_t keys = 2 * (size_t)(r->count + KEEP_ROOM) * ga__dtype_size(r->x->dtype);
    return (keys + LINE - 1) / LINE * LINE;
}

bool ga__rank_host_takes_rows(const ga__ranking *r, const ga__device *device)
{
    if (r->count <= (int64_t)GA__RANK_HOST_GRAIN * FEW_PARTS || r->rows >= device->processors)
        return true;
    return device->processors <= FEW_PROCESSORS && ga__dtype_size(r->x->dtype) > 1 &&
           ga__rank_host_scratch(r) <= MOST_SCRATCH / (size_t)device->processors;
}
