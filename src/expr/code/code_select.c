/* Writes the texts of a selection: what is chosen, and which elements are. */
#include "base/alloc.h"
#include "base/error.h"
#include "expr/coder.h"

typedef ga__coder coder;

/* What a text reads of the inputs, in the part's bits. */
static void note_reads(coder *c, int part)
{
    for (int k = 0; k < c->step->ninputs; k++)
        if (c->step->inputs[k].source != GA__FROM_NUMBER && c->needed[c->step->inputs[k].node])
            c->step->reads[part] |= (uint64_t)1 << k;
}

/* Puts the elements of the inputs that a text reads before it: "x0_at" is an accessor. */
static char *with_elements(coder *c, uint64_t reads, const char *statements)
{
    for (int k = 0; k < c->step->ninputs; k++) {
        const ga__input *input = &c->step->inputs[k];
        const char *type = ga__dtype_moved_type(input->dtype);
        if (reads >> k & 1)
            ga__strbuf_addf(&c->text, "const %s %s = ga::cast<%s>(" GA__SELECTED_NAME "[i]); ",
                            type, input->name, type, input->name);
    }
    ga__strbuf_add(&c->text, statements);
    return ga__strbuf_take(&c->text);
}

/* Writes "elements; statements; return VALUE". */
static char *code_part(coder *c, int part, int node, int stored)
{
    ga__coder_start(c, stored);
    ga__coder_mark(c, node);
    ga__coder_add_statements(c);
    ga__strbuf_addf(&c->text, "return %s", c->name[node]);
    note_reads(c, part);
    char *const statements = ga__strbuf_take(&c->text);
    char *const text = statements ? with_elements(c, c->step->reads[part], statements) : NULL;
    ga__free(statements);
    return text;
}

ga_status ga__coder_select(coder *c)
{
    ga__step *step = c->step;
    const ga__node *node = &c->graph->nodes[step->domain];
    step->selects = true;
    step->finish[0] = code_part(c, 1, node->key.operand[1], -1);
    if (step->finish[0])
        step->text = code_part(c, 0, node->key.operand[0], node->key.operand[0]);
    return step->text ? GA_OK : ga_error();
}
