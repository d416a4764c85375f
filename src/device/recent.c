/* Chooses which large block serves a request, and which leave their list. */
#include "device/recent.h"

#include <stdbool.h>

static bool serves(const ga__block *b, size_t nbytes)
{
    return b->capacity >= nbytes && b->capacity - nbytes <= nbytes / 16;
}

ga__block *ga__recent_take(ga__block **list, size_t nbytes)
{
    ga__block **best = NULL;
    for (ga__block **at = list; *at != NULL; at = &(*at)->next)
        if (serves(*at, nbytes) && (best == NULL || (*at)->capacity < (*best)->capacity))
            best = at;
    if (best == NULL)
        return NULL;
    ga__block *b = *best;
    *best = b->next;
    return b;
}

ga__block *ga__recent_put(ga__block **list, ga__block *block, size_t most)
{
    size_t nbytes = 0;
    int count = 0;
    block->next = *list;
    *list = block;
    ga__block **at = list;
    for (; *at != NULL; at = &(*at)->next) {
        if (count++ == GA__RECENT_BLOCKS || (*at)->capacity > most - nbytes)
            break;
        nbytes += (*at)->capacity;
    }
    ga__block *dropped = *at;
    *at = NULL;
    return dropped;
}
