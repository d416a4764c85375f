/* The limits of a launch of CUDA kernels: the same ones on every device, with the same messages. */
#include "device/grid.h"

#include "base/error.h"

static const int64_t most_blocks[3] = {INT32_MAX, 65535, 65535};
static const int64_t most_threads[3] = {1024, 1024, 64};

static ga_status fail_dims(const ga__grid_launch *launch, const char *what, const int64_t *n,
                           const int64_t *most)
{
    return ga__fail(GA_ERR_INVALID,
                    "%s: the %s is (%lld, %lld, %lld), not from (1, 1, 1) to (%lld, %lld, %lld)",
                    launch->name, what, (long long)n[0], (long long)n[1], (long long)n[2],
                    (long long)most[0], (long long)most[1], (long long)most[2]);
}

static bool within(const int64_t *n, const int64_t *most)
{
    return n[0] >= 1 && n[0] <= most[0] && n[1] >= 1 && n[1] <= most[1] && n[2] >= 1 &&
           n[2] <= most[2];
}

ga_status ga__check_grid(const ga__grid_launch *launch, const ga__function_info *info)
{
    const int64_t *grid = launch->grid, *block = launch->block;
    if (!within(grid, most_blocks))
        return fail_dims(launch, "grid", grid, most_blocks);
    if (!within(block, most_threads))
        return fail_dims(launch, "block", block, most_threads);
    const int64_t threads = block[0] * block[1] * block[2];
    if (threads > info->max_threads)
        return ga__fail(GA_ERR_INVALID,
                        "%s: a block of (%lld, %lld, %lld) has %lld threads, the kernel allows "
                        "%d",
                        launch->name, (long long)block[0], (long long)block[1], (long long)block[2],
                        (long long)threads, info->max_threads);
    if (launch->shared > info->max_shared_bytes - info->shared_bytes)
        return ga__fail(GA_ERR_INVALID,
                        "%s: %zu bytes of dynamic shared memory and the kernel's own %zu are "
                        "more than the %zu that a block can have",
                        launch->name, launch->shared, info->shared_bytes, info->max_shared_bytes);
    return GA_OK;
}
