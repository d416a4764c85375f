/* Remedies for names that NumPy's and C's users call although expressions have no such function. */
#include "expr/text/elsewhere.h"

#include <string.h>

#include "model/rows.h"

static const struct {
    const char *name, *remedy;
} names[] = {
#define GA__ELSEWHERE(name) {#name, "call ga_" #name "()"},
#include "expr/text/elsewhere.def"
#undef GA__ELSEWHERE
    {"int", "write int64(x) or another dtype"},
    {"float", "write float32(x) or float64(x)"},
    {"double", "write float64(x)"},
    {"complex", "write complex64(x) or complex128(x)"},
    {"norm", "write sqrt(sum(x*x))"},
};

const char *ga__elsewhere(const char *name, size_t length)
{
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strlen(names[k].name) == length && memcmp(names[k].name, name, length) == 0)
            return names[k].remedy;
    return NULL;
}

const char *ga__reduction_options(int row)
{
    switch (row) {
    case GA__ROW_max:
        return "max takes axis=, keepdims=, dtype=, where= and initial=; write maximum(x, y) for "
               "two operands";
    case GA__ROW_min:
        return "min takes axis=, keepdims=, dtype=, where= and initial=; write minimum(x, y) for "
               "two operands";
    case GA__ROW_var:
    case GA__ROW_std:
        return "var and std take axis=, keepdims=, dtype=, where=, ddof= and correction=";
    default: return "a reduction takes axis=, keepdims=, dtype=, where= and initial=";
    }
}

const char *ga__operator_hint(int row)
{
    return row == GA__ROW_bitwise_xor ? "; write a power as x ** y"
           : row == GA__ROW_bitwise_and || row == GA__ROW_bitwise_or
               ? "; & and | come before comparisons: write (x > 0) & (y > 0)"
               : "";
}
