/* Computes each lane's result of a warp operation: shuffles, votes, matches and reductions. */
#include <stdbool.h>

#include "device/simt/block.h"

typedef unsigned long long word;

static int first_lane(uint32_t lanes)
{
    return __builtin_ctz(lanes);
}

/* The lanes whose value is `value`. */
static uint32_t lanes_with(ga__simt_thread *const lanes[], uint32_t members, word value)
{
    uint32_t with = 0;
    for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
        const int lane = first_lane(rest);
        with |= (uint32_t)(lanes[lane]->wait->value == value) << lane;
    }
    return with;
}

static word step(int op, word a, word b)
{
    switch (op) {
    case GA_SIMT_REDUCE_ADD: return a + b;
    case GA_SIMT_REDUCE_AND: return a & b;
    case GA_SIMT_REDUCE_OR: return a | b;
    case GA_SIMT_REDUCE_XOR: return a ^ b;
    case GA_SIMT_REDUCE_MIN: return (long long)a < (long long)b ? a : b;
    default: return (long long)a > (long long)b ? a : b;
    }
}

static word reduce(ga__simt_thread *const lanes[], uint32_t members, int op)
{
    word total = lanes[first_lane(members)]->wait->value;
    for (uint32_t rest = members & (members - 1); rest != 0; rest &= rest - 1)
        total = step(op, total, lanes[first_lane(rest)]->wait->value);
    return total;
}

/* The result that all lanes share. */
static word common_result(ga__simt_thread *const lanes[], uint32_t members, int op)
{
    const word first = lanes[first_lane(members)]->wait->value;
    const uint32_t equal = lanes_with(lanes, members, first);
    switch (op) {
    case GA_SIMT_SYNC: return 0;
    case GA_SIMT_BALLOT: return lanes_with(lanes, members, 1);
    case GA_SIMT_ALL: return lanes_with(lanes, members, 0) == 0;
    case GA_SIMT_ANY: return lanes_with(lanes, members, 1) != 0;
    case GA_SIMT_UNIFORM: return equal == members;
    case GA_SIMT_MATCH_ALL: return equal == members ? members : 0;
    default: return reduce(lanes, members, op);
    }
}

/* A shuffle that reads a non-participating lane has an undefined result; this returns NaN or -1.
 * Many correct kernels do so in lanes whose result is unused. */
static word read_lane(ga__simt_thread *const lanes[], uint32_t members, int source)
{
    return members >> source & 1 ? lanes[source]->wait->value : ~(word)0;
}

void ga__warp_results(ga__simt_thread *const lanes[GA_SIMT_WARP], uint32_t members)
{
    const int op = lanes[first_lane(members)]->wait->op;
    const bool each = op == GA_SIMT_SHUFFLE || op == GA_SIMT_MATCH_ANY;
    const word common = each ? 0 : common_result(lanes, members, op);
    for (uint32_t rest = members; rest != 0; rest &= rest - 1) {
        const int lane = first_lane(rest);
        const ga_simt_wait *wait = lanes[lane]->wait;
        lanes[lane]->result = op == GA_SIMT_SHUFFLE     ? read_lane(lanes, members, wait->source)
                              : op == GA_SIMT_MATCH_ANY ? lanes_with(lanes, members, wait->value)
                                                        : common;
    }
}
