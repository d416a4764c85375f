/* Fills templates: text with holes, conditions and repetitions. */
#ifndef GA_JIT_TEMPLATE_H
#define GA_JIT_TEMPLATE_H

#include <stdbool.h>

#include <quarry/error.h>

#include "base/embedded.h"
#include "base/strbuf.h"
#include "jit/record.h"

/* The template language, line by line:
 *   @name@             a hole, anywhere in a line: the value of `name` in the innermost record
 *                      that has it
 *   //@each list       the lines up to its //@end once for each record of `list`
 *   //@if name         the lines up to //@else or //@end when `name` has a value, neither "" nor
 * "0"
 *   //@if !name        the opposite
 *   //@else  //@end
 *   //@include file    another template's lines
 * Blocks nest. A directive stands on a line of its own and may be indented. An unknown name, list
 * or file and an unbalanced block are errors that name the template and the line. Values are pasted
 * without a scan for holes and may span lines. */

/* Prints the names and digests of the template and of the files that it includes for this record.
 * Equal prints and equal records give equal texts. Reads no text. Takes a missing name as false,
 * since ga__fill() then fails. */
void ga__template_print(const ga__embedded *template, const ga__record *record, ga__strbuf *out);

/* The filled text of the template; ga__free it. NULL and an error on failure. */
char *ga__fill(const ga__embedded *template, const ga__record *record);

/* The parts that make a kernel's text. */
typedef struct ga__recipe {
    const char *name; /* of the kernel, in messages */
    const ga__embedded *template;
    const ga__record *record;
    bool fast_math;
} ga__recipe;

#endif
