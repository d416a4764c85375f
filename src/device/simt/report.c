/* Describes where the threads of a block that cannot continue wait. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "device/simt/block.h"

enum { MOST_GROUPS = 6 };

/* Threads in one state: in the same wait, or returned (NULL). */
typedef struct group {
    const ga_simt_wait *wait;
    int count, first;
} group;

static const ga_simt_wait *wait_of(const ga__block *b, int linear)
{
    const uint32_t bit = 1u << linear % GA_SIMT_WARP;
    if (b->exited[linear / GA_SIMT_WARP] & bit)
        return NULL;
    return b->threads[linear]->wait;
}

static bool is_same(const ga_simt_wait *a, const ga_simt_wait *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return a->op == b->op && a->line == b->line && a->mask == b->mask;
}

/* Makes the groups in the order of their first threads; the last group takes any excess. */
static int make_groups(const ga__block *b, group groups[MOST_GROUPS])
{
    int n = 0;
    for (int linear = 0; linear < b->nthreads; linear++) {
        const ga_simt_wait *wait = wait_of(b, linear);
        int i = 0;
        while (i < n && !is_same(groups[i].wait, wait))
            i++;
        if (i == MOST_GROUPS)
            i--;
        else if (i == n)
            groups[n++] = (group){wait, 0, linear};
        groups[i].count++;
    }
    return n;
}

static void append(char *text, size_t size, const char *format, ...) GA_PRINTF(3, 4);
static void append(char *text, size_t size, const char *format, ...)
{
    const size_t length = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + length, size - length, format, args);
    va_end(args);
}

static void describe_group(const ga__block *b, const group *g, char *text, size_t size)
{
    const ga_simt_index first = ga__simt_index_of(g->first, b->view.dim);
    append(text, size, "%d ", g->count);
    if (g->wait == NULL)
        append(text, size, "returned");
    else if (g->wait->op > GA_SIMT_CONVERGE)
        append(text, size, "at %s with mask 0x%08x (line %d)", g->wait->name, g->wait->mask,
               g->wait->line);
    else
        append(text, size, "at %s (line %d)", g->wait->name, g->wait->line);
    append(text, size, ", the first (%u, %u, %u)", first.x, first.y, first.z);
}

void ga__block_describe(const ga__block *b, char *text, size_t size)
{
    group groups[MOST_GROUPS];
    const int n = make_groups(b, groups);
    snprintf(text, size, "its %d threads wait for each other: ", b->nthreads);
    for (int i = 0; i < n; i++) {
        describe_group(b, &groups[i], text, size);
        append(text, size, "%s", i + 1 < n ? "; " : "");
    }
}
