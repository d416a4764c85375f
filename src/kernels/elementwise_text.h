/* The text of an elementwise kernel. */
#ifndef GA_KERNELS_ELEMENTWISE_TEXT_H
#define GA_KERNELS_ELEMENTWISE_TEXT_H

#include "jit/template.h"
#include "kernels/variant.h"

#define GA__HOST_STRIP 256 /* elements that go past the cache together */
#define GA__HOST_BAND 256  /* columns of a square whose rows are transposed */

/* The record of elementwise.tmpl, a function of the formula and the variant alone; its caller frees
 * it. NULL and an error when memory is out. `d` has the variant's operands. */
ga__record *ga__elementwise_text(const ga__formula *f, const ga__declaration *d,
                                 const ga__elementwise_variant *v);

#endif
