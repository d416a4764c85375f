/* Finds the known name that is nearest to one that is not known. */
#include "expr/text/nearest.h"

#include <stdio.h>
#include <string.h>

#define LONGEST 32 /* longer names are near to none */

static int least(int a, int b, int c)
{
    const int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* The edits that turn a into b: letters added, removed, replaced, and neighbours swapped
 * (Damerau's distance). Case does not count. */
static int distance(const char *a, size_t na, const char *b, size_t nb)
{
    int d[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= na; i++)
        d[i][0] = (int)i;
    for (size_t j = 0; j <= nb; j++)
        d[0][j] = (int)j;
    for (size_t i = 1; i <= na; i++)
        for (size_t j = 1; j <= nb; j++) {
            const char x = lower(a[i - 1]), y = lower(b[j - 1]);
            d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + (x != y));
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y &&
                d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    return d[na][nb];
}

ga__nearest ga__nearest_to(const char *name, size_t length)
{
    const int most = length < 2 ? 0 : length < 5 ? 1 : length < 9 ? 2 : 3;
    return (ga__nearest){.name = name, .length = length, .distance = most + 1};
}

void ga__nearest_add_bytes(ga__nearest *n, const char *candidate, size_t length)
{
    if (n->length > LONGEST || length > LONGEST)
        return;
    const int edits = distance(n->name, n->length, candidate, length);
    if (edits >= n->distance)
        return;
    n->distance = edits;
    n->best = candidate;
    n->best_length = (int)length;
}

void ga__nearest_add(ga__nearest *n, const char *candidate)
{
    ga__nearest_add_bytes(n, candidate, strlen(candidate));
}

void ga__nearest_append(const ga__nearest *n, char *text, size_t room)
{
    const size_t used = strlen(text);
    if (n->best)
        snprintf(text + used, room - used, " (did you mean %.*s?)", n->best_length, n->best);
}
