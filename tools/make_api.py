"""Makes docs/api.md from the public headers and the op tables: make_api.py [--check] SOURCE-ROOT.

With --check nothing is written; the exit status says whether the file is up to date.
"""
import os
import re
import sys

INTERNAL = {'each', 'export'}    # other headers include these; they declare nothing public
TABLES = [('Elementwise, one operand', 'unary', 'ga_{}(a)'),
          ('Elementwise, two operands', 'binary', 'ga_{}(a, b)'),
          ('Elementwise, three operands', 'ternary', 'ga_{}(a, b, c)'),
          ('Elementwise, two results', 'split', 'ga_{}(x, &{}, &{})'),
          ('Reductions', 'reduce', 'ga_{}(x, ...)'),
          ('Scans', 'scan', 'ga_{}(x, ...)'),
          ('Distributions', 'draw', 'ga_rng_{}(rng, dtype{}, GA_SHAPE(...))')]
KINDS = {'?': 'bool', 'i': 'int', 'u': 'uint', 'f': 'float', 'c': 'complex'}

INTRODUCTION = '''# Functions

`tools/make_api.py` generates this page from `include/quarry/`; edit the comments there. [reference.md](reference.md)
has an example of each name, and the dtypes of results.

A *value* is an array or any C number (a weak scalar, as in NEP 50). Every elementwise function `ga_f` has
a twin, `ga_f_into(out, ...)`, that writes into an array, which may also be an operand, and returns a
`ga_status`. Options of a reduction follow its array: `GA_AXIS(0, 2)`, `.keepdims = true`,
`.dtype = GA_FLOAT64`, `.ddof = 1`, `.out = array`, `.where = mask`, `GA_INITIAL(v)`, `.offsets = array`
([functions.md](functions.md#masks-initial-elements-segments)). A scan takes one axis; without an axis it
scans all elements in C order. Its options are `.dtype`, `.exclusive`, `.reverse`, `.include_initial`, `GA_INITIAL(v)`,
`.offsets` and `.out` ([scans.md](scans.md)); `ga_cumulative_sum` and `ga_cumulative_prod` are `ga_cumsum` and
`ga_cumprod`, but arrays of several dimensions need an axis. Functions that create an array return NULL on failure,
and NULL for a NULL argument; the thread keeps its first error (`ga_error()`, `ga_error_message()`).
'''
OPERATIONS = '''The tables of operations. ULP is the maximum error of a float32 or float64 result in units in the last
place; 0 is exact. For functions of complex numbers the unit is that of the modulus; the error of complex
powers grows with \\|b ln a\\|.
'''


def read(root, name):
    with open(os.path.join(root, 'include', 'quarry', name)) as file:
        return file.read()


def public_headers(root):
    """The headers that quarry.h includes, in its order, which is that of the chapters."""
    names = re.findall(r'^#include <quarry/(\w+)\.h>', read(root, '../quarry.h'), flags=re.M)
    there = {name[:-2] for name in os.listdir(os.path.join(root, 'include', 'quarry')) if name.endswith('.h')}
    lost = sorted(there - INTERNAL - set(names))
    if lost:
        sys.exit('include/quarry.h does not include ' + ', '.join(f'{name}.h' for name in lost))
    return [name for name in names if name != 'sites']


def comment_text(comment):
    lines = [re.sub(r'^\s*(/\*|\*/|\*)? ?', '', line) for line in comment.split('\n')]
    return '\n'.join(lines).replace('*/', '').strip()


def unwrap(text):
    return re.sub(r'(?<!\n)\n(?!\n)', ' ', text)


def without_cpp(text):
    """The text as C sees it: of the conditions only those on __cplusplus are decided."""
    out, open_ifs = [], []    # of each condition: whether it is on __cplusplus, and whether C sees this branch
    for line in text.splitlines(keepends=True):
        word = re.match(r'#\s*(if|else|endif)|', line)[1]
        on_cpp = re.match(r'#if(n?)def __cplusplus\b', line)
        if word == 'if':
            open_ifs.append([bool(on_cpp), not on_cpp or on_cpp[1] == 'n'])
        decided = word and open_ifs[-1][0]
        if decided and word == 'else':
            open_ifs[-1][1] = not open_ifs[-1][1]
        if word == 'endif':
            open_ifs.pop()
        if not decided and all(seen for _, seen in open_ifs):
            out.append(line)
    return ''.join(out)


def public_part(text, root):
    """The header without its C++ half, include guard and macros that end in an underscore."""
    text = without_cpp(text)
    text = re.sub(r'/\* clang-format o\w+ \*/\n?', '', text)
    dtypes = ', '.join('GA_' + row[0] for row in rows(root, 'dtype'))
    text = re.sub(r'#define GA_DTYPE\(.*?#undef GA_DTYPE\n', f'    {dtypes},\n', text, flags=re.S)
    return text


def is_public(block):
    return re.search(r'\bGA_API \w|^typedef\b|^#define GA_(?:[A-Z]+[(\s]|MAX_\w+ \d)|^static inline ga_value ga_value_',
                     block, flags=re.M)


def wanted_lines(block):
    block = re.sub(r'^static inline [^\n]*_\([^\n]*\)\n\{.*?^\}\n?', '', block, flags=re.M | re.S)
    block = re.sub(r'^static inline ([^\n]*)\n\{.*?^\}\n?', r'\1;\n', block, flags=re.M | re.S)
    block = re.sub(r'^#define GA_\w+(?:_ONE|_MANY|_MORE|_OVER|_\d|EACH\d+)\b(.*\\\n)*.*\n?', '', block,
                   flags=re.M)
    block = re.sub(r'^#define (?:\w+_|ga_\w+)\b(.*\\\n)*.*\n?', '', block, flags=re.M)
    block = re.sub(r'^(#define GA_\w+(?:\([^)]*\))?)\s(?!\d+$)(.*\\\n)*.*\n?', r'\1\n', block, flags=re.M)
    block = re.sub(r'^#(include|if|ifdef|ifndef|else|elif|endif|undef|define QUARRY).*\n?', '',
                   block, flags=re.M)
    block = re.sub(r'\bGA_API |^    GA_NAMED_OPTIONS_;\n', '', block, flags=re.M)
    block = re.sub(r' GA_PRINTF\([^)]*\)', '', block)
    block = re.sub(r'^(GA_BEGIN_DECLS|GA_END_DECLS|GA_VALUE_\w+\(.*|    \(\(?ga_\w+.*)\n?', '', block,
                   flags=re.M)
    lines = re.sub(r'\n{2,}', '\n', block).strip().split('\n')
    return '\n'.join(line for k, line in enumerate(lines) if k == 0 or line != lines[k - 1])


def sections(text):
    """(comment, code) pairs: a comment at the start of a line, and the code up to the next one."""
    parts = re.split(r'^(/\*.*?\*/)\n', text, flags=re.M | re.S)
    return list(zip(parts[1::2], parts[2::2]))


def header_chapter(root, name):
    pairs = sections(public_part(read(root, name + '.h'), root))
    return f'## <quarry/{name}.h>\n\n' + described(pairs)


def described(pairs):
    """The comments and what they stand above."""
    out = []
    for comment, code in pairs:
        text = comment_text(comment)
        heading = re.fullmatch(r'---- (.*) ----', text)
        shown = wanted_lines(code) if is_public(code) else ''
        if heading:
            out.append(f'### {heading.group(1)}\n')
        elif shown or '#define ga_' in code or code.startswith('\n') or comment == pairs[0][0]:
            out.append(unwrap(text) + '\n')
        if shown:
            out.append(f'```c\n{shown}\n```\n')
    return '\n'.join(out)


def rows(root, table):
    text = re.sub(r'/\*.*?\*/', '', read(root, table + '.def'), flags=re.S)
    text = re.sub(r'"\n\s*"', '', text)    # one string in several lines
    for row in re.findall(r'^GA_[A-Z]+[0-4]?\((.*?)\)$', text, flags=re.S | re.M):
        parts = re.findall(r'"(?:[^"\\]|\\.)*"|[^,\s"][^,"]*', row)
        yield [part.strip().strip('"') for part in parts]


def table_chapter(root, title, table, form):
    has_ulp = table in ('unary', 'binary', 'ternary')
    complex_ulp = dict(rows(root, 'complex'))
    out = [f'### {title}\n', '| function | result | takes |' + (' ULP |' if has_ulp else ''),
           '|---|---|---|' + ('---|' if has_ulp else '')]
    for row in rows(root, table):
        name, kinds, line = row[0], row[1], row[-1].replace('|', '\\|')
        results = row[-3:-1] if table == 'split' else []
        if table == 'draw':
            results = [''.join(f', {parameter}' for parameter in row[6:-1:2])]
        takes = ' '.join(KINDS[kind] for kind in kinds)
        ulp = f' {row[-2]} |' if has_ulp else ''
        if has_ulp and name in complex_ulp:
            ulp = f' {row[-2]}, complex {complex_ulp[name]} |'
        out.append(f'| `{form.format(name, *results)}` | {line} | {takes} |{ulp}')
    return '\n'.join(out) + '\n'


def options_of(root, table):
    """The options of reductions or scans, from the heads in tools/make_ops.py."""
    text = read(root, '../../tools/make_ops.py')
    head = re.search(rf"^{table.upper()}_HEAD = '''(.*?)'''", text, flags=re.M | re.S)[1].replace('\\\\', '\\')
    return described([pair for pair in sections(head) if not pair[0].startswith('/* ----')])


def aliases_chapter(root):
    out = ['### Second names\n', 'As NumPy, SciPy and the array API call them; `_into` twins have them too.\n',
           '| name | is |', '|---|---|']
    out += [f'| `ga_{row[0]}` | `ga_{row[1]}` |' for row in rows(root, 'alias')]
    return '\n'.join(out) + '\n'


def operations_chapter(root):
    parts = ['## <quarry/ops.h>\n\n' + OPERATIONS]
    for title, table, form in TABLES:
        chapter = table_chapter(root, title, table, form)
        if table in ('reduce', 'scan'):
            head, rest = chapter.split('\n', 1)
            chapter = f'{head}\n\n{options_of(root, table)}\n{rest.lstrip()}'
        parts.append(chapter)
    parts.append(aliases_chapter(root))
    return '\n'.join(parts)


def macros_chapter(root, text):
    """The macros of the headers, in the form of functions, that the other chapters do not name."""
    known = set(re.findall(r'\w+', text))
    out = []
    for name in public_headers(root):
        header = '' if name == 'ops' else without_cpp(read(root, name + '.h'))
        for macro, value in re.findall(r'^#define (ga_\w*[a-z0-9])\([^)]*\)\s*((?:.*\\\n)*.*)', header, flags=re.M):
            function = re.search(r'\bga_\w*[a-z0-9]\b', value)
            if macro.removesuffix('_into') not in known and function:
                out.append(f'| `{macro}` | `{function[0]}` | quarry/{name}.h |')
    return '\n'.join(['## Macros over functions\n', '| macro | calls | header |', '|---|---|---|', *out]) + '\n'


def make(root):
    chapters = [INTRODUCTION]
    for name in public_headers(root):
        chapters.append(operations_chapter(root) if name == 'ops' else header_chapter(root, name))
    return '\n'.join([*chapters, macros_chapter(root, '\n'.join(chapters))])


def main():
    check = '--check' in sys.argv
    root = sys.argv[-1]
    path = os.path.join(root, 'docs', 'api.md')
    text = make(root)
    if not check:
        with open(path, 'w') as file:
            file.write(text)
    elif not os.path.exists(path) or open(path).read() != text:
        sys.exit('docs/api.md is not up to date: run tools/make_api.py .')


main()
