/* Proves that keys in memory are complete: equal keys fill a template with equal records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "kernels/program.h"

/* What the text of a kernel is a function of, a line a name or value; NULL when memory is out. */
static char *print_text_key(const ga__program *program)
{
    ga__strbuf s = GA__STRBUF_INIT;
    ga__record *record = program->describe(program->plan);
    ga__strbuf_addf(&s, "%s for %s, fast_math %d\n", program->template_name, program->device->name,
                    program->formula->fast_math);
    ga__record_print(record, &s);
    s.failed |= !record;
    ga__record_free(record);
    for (size_t k = 0; !s.failed && k < s.length; k++)
        if (s.text[k] == '\0')
            s.text[k] = '\n';
    return ga__strbuf_take(&s);
}

static void fail(const ga__program *program, const char *before, const char *now)
{
    size_t at = 0;
    while (before[at] && before[at] == now[at])
        at++;
    while (at > 0 && before[at - 1] != '\n')
        at--;
    fprintf(stderr, "%s: one key, two texts:\n  before: %.200s\n  now:    %.200s\n",
            program->formula->name, before + at, now + at);
    abort();
}

/* Texts are kept under the key and the table that it belongs to. */
void ga__program_check_key(const ga__key_table *table, const ga__key *key,
                           const ga__program *program)
{
    static ga__key_table texts = GA__KEY_TABLE_INIT;
    uint64_t words[1 + GA__KEY_WORDS] = {(uint64_t)(uintptr_t)table};
    memcpy(words + 1, key->words, key->nwords * sizeof(words[0]));
    const size_t nbytes = (1 + key->nwords) * sizeof(words[0]);
    const ga__saved_error saved = ga__error_save();
    char *now = print_text_key(program);
    char *before = now ? ga__key_table_put_bytes(&texts, words, nbytes, now) : NULL;
    if (before && before != now && strcmp(before, now) != 0)
        fail(program, before, now);
    if (before != now)
        ga__free(now);
    ga__error_restore(saved);
}
