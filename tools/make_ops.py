"""Makes <quarry/ops.h>, the prototypes and macros of every table row: make_ops.py OUT TABLES-DIRECTORY."""
import os
import re
import sys

HEAD = '''/* Elementwise functions and reductions; made by tools/make_ops.py from the .def tables. */
#ifndef QUARRY_OPS_H
#define QUARRY_OPS_H

#include <quarry/error.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* Operands broadcast; each is an array or a C number (a weak scalar). The function without _into returns
 * a new C-order array; the one with it writes into `out`, whose shape must be the broadcast shape and
 * whose dtype the result must cast to (NumPy's "same_kind"); `out` may be an operand itself, and partial
 * overlaps are handled. NULL and GA_ERR_SHAPE, GA_ERR_DTYPE, GA_ERR_DEVICE, GA_ERR_MEMORY or
 * GA_ERR_COMPILE on failure. */
'''

REDUCE_HEAD = '''
/* ---- Reductions ---- */

/* What a reduction takes. In C: ga_sum(x, GA_AXIS(0, 2), .keepdims = true); left out, an option is zero. */
typedef struct ga_reduce_args {
    const gpuarray *x;
    int naxes;       /* 0: every axis */
    const int *axes; /* negative ones count from the end */
    bool keepdims;   /* reduced axes stay, with length 1 */
    ga_dtype dtype;  /* the dtype to compute in and return */
    int ddof;        /* var and std divide by count - ddof */
    gpuarray *out;   /* where the result goes; then `out` itself is returned, not a new reference */
} ga_reduce_args;

#define GA_AXIS(...) .naxes = GA_COUNT_(int, __VA_ARGS__), .axes = GA_LIST_(int, __VA_ARGS__)

/* Each returns a new array of the axes that were kept (0-d when none). Results are the same bits from
 * run to run on one device. GA_ERR_INVALID for a bad or repeated axis, or an empty reduction that has no
 * answer. */
'''

DOT = '''
/* The sum of a * b of two 1-D arrays, a 0-d array; multiply and sum are one kernel. */
GA_API gpuarray *ga_dot(const gpuarray *a, const gpuarray *b);
'''


def rows(directory, table):
    text = open(os.path.join(directory, table + '.def')).read()
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    for row in re.findall(r'GA_[A-Z]+\((.*?)\)\n', text + '\n', flags=re.S):
        yield [part.strip().strip('"') for part in re.findall(r'"(?:[^"\\]|\\.)*"|[^,"]+', row)
               if part.strip()]


def elementwise(name, line, count):
    letters = 'abc'[:count]
    values = ', '.join(f'ga_value {v}' for v in letters)
    wrapped = ', '.join(f'GA_V({v})' for v in letters)
    names = ', '.join(letters)
    return (f'\n/* {line}. */\n'
            f'GA_API gpuarray *ga_{name}({values});\n'
            f'GA_API ga_status ga_{name}_into(gpuarray *out, {values});\n',
            f'#define ga_{name}({names}) (ga_{name})({wrapped})\n'
            f'#define ga_{name}_into(out, {names}) (ga_{name}_into)(out, {wrapped})\n')


def main(out, directory):
    declarations, macros = [HEAD], []
    for table, count in (('unary', 1), ('binary', 2), ('ternary', 3)):
        for row in rows(directory, table):
            declaration, macro = elementwise(row[0], row[-1], count)
            declarations.append(declaration)
            macros.append(macro)
    for row in rows(directory, 'split'):
        name, first, second, line = row[0], row[-3], row[-2], row[-1]
        declarations.append(
            f'\n/* {line}. Both results are new arrays, set only on success. */\n'
            f'GA_API ga_status ga_{name}(const gpuarray *x, gpuarray **{first}, gpuarray **{second});\n')
    declarations.append(REDUCE_HEAD)
    for row in rows(directory, 'reduce'):
        declarations.append(f'\n/* {row[-1]}. */\nGA_API gpuarray *ga_{row[0]}(ga_reduce_args args);\n')
        macros.append(f'#define ga_{row[0]}(...) GA_REDUCE_CALL_(ga_{row[0]}, __VA_ARGS__)\n')
    declarations.append(DOT)
    with open(out, 'w') as header:
        header.write(''.join(declarations))
        header.write('\nGA_END_DECLS\n\n#ifdef __cplusplus\n'
                     'inline ga_reduce_args ga_reduce_args_(const gpuarray *x)\n{\n'
                     '    ga_reduce_args args = {};\n    args.x = x;\n    return args;\n}\n'
                     'inline ga_reduce_args ga_reduce_args_(const ga_reduce_args &args)\n{\n'
                     '    return args;\n}\n'
                     '#define GA_REDUCE_CALL_(f, ...) (f)(ga_reduce_args_(__VA_ARGS__))\n'
                     '#else\n'
                     '#define GA_REDUCE_CALL_(f, ...) (f)((ga_reduce_args){.x = __VA_ARGS__})\n'
                     '#endif\n\n/* clang-format off */\n')
        header.write(''.join(macros))
        header.write('/* clang-format on */\n\n#endif\n')


main(*sys.argv[1:])
