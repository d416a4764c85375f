/* Proves that keys in memory are complete: equal keys fill a template with equal records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "kernels/request.h"

/* All that the text of a kernel depends on, one name or value on each line; NULL when memory is
 * out. */
static char *print_text_key(const ga__request *request)
{
    ga__strbuf s = GA__STRBUF_INIT;
    ga__record *record = request->describe(request->plan);
    ga__strbuf_addf(&s, "%s for %s, fast_math %d\n", request->template_name, request->device->name,
                    request->formula->fast_math);
    ga__record_print(record, &s);
    s.failed |= !record;
    ga__record_free(record);
    for (size_t k = 0; !s.failed && k < s.length; k++)
        if (s.text[k] == '\0')
            s.text[k] = '\n';
    return ga__strbuf_take(&s);
}

static void fail(const ga__request *request, const char *before, const char *now)
{
    size_t at = 0;
    while (before[at] && before[at] == now[at])
        at++;
    while (at > 0 && before[at - 1] != '\n')
        at--;
    fprintf(stderr, "%s: one key, two texts:\n  before: %.200s\n  now:    %.200s\n",
            request->formula->name, before + at, now + at);
    abort();
}

static void free_text(void *text)
{
    ga__free(text);
}

/* As many as any test has. */
static ga__key_table texts = GA__KEY_TABLE_INIT((size_t)1 << 20, free_text);

void ga__request_check_key(const ga__key *key, const ga__request *request)
{
    if (ga__alloc_requests_left() > 0)
        return; /* a test fails each request of a call; the check's own would be most of them */
    const ga__saved_error saved = ga__error_save();
    char *now = print_text_key(request);
    const char *before = now ? ga__key_table_get(&texts, key) : NULL;
    if (before && strcmp(before, now) != 0)
        fail(request, before, now);
    const bool kept = now && !before && ga__key_table_put(&texts, key, now);
    if (before || kept)
        ga__key_table_leave();
    if (!kept)
        ga__free(now);
    ga__error_restore(saved);
}
