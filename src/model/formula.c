/* The ids of formulas: a hash of all that their texts depend on. */
#include "model/formula.h"

#include <string.h>

void ga__describe(ga__strbuf *description, const char *piece)
{
    const size_t length = piece ? strlen(piece) : 0;
    ga__strbuf_add_bytes(description, &length, sizeof(length));
    ga__strbuf_add_bytes(description, piece ? piece : "", length);
}

ga_status ga__description_id(const ga__strbuf *description, ga__hash128 *id)
{
    if (description->failed)
        return ga_error();
    *id = ga__identity_of(description->text, description->length);
    return GA_OK;
}
