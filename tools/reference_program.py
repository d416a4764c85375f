"""The examples of the reference, and the program that runs them all; make_reference.py uses it."""
import re
from dataclasses import dataclass, field

MARK = '\x01'
# The operands, as the page shows them.
PRELUDE = '''
gpuarray *n = ga_arange(GA_FLOAT64, 0, 12, 1);
x = ga_reshape(ga_divide(ga_subtract(n, 5), 2), GA_SHAPE(3, 4)); /* -2.5 to 3 by 0.5 */
y = ga_round(ga_reshape(ga_sin(ga_add(n, 1)), GA_SHAPE(3, 4)), 3);
z = ga_reshape(ga_arange(GA_FLOAT32, 0, 24, 1), GA_SHAPE(2, 3, 4));
m = ga_reshape(ga_remainder(ga_multiply(ga_arange(GA_INT32, 0, 20, 1), 7), 11), GA_SHAPE(4, 5));
k = ga_reshape(ga_remainder(ga_multiply(ga_arange(GA_INT64, 0, 12, 1), 5), 7), GA_SHAPE(3, 4));
s = ga_sqrt(ga_arange(GA_FLOAT64, 0, 9, 1));
row = ga_slice(x, "1");                /* [-0.5 0 0.5 1] */
y1d = ga_slice(y, "1");
p = ga_add(ga_absolute(row), 0.25);    /* [0.75 0.25 0.75 1.25] */
p01 = ga_divide(p, 2);
ints = ga_remainder(ga_multiply(ga_arange(GA_INT64, 1, 6, 1), 3), 5); /* [3 1 4 2 0] */
idx = ga_remainder(ga_multiply(ga_arange(GA_INT64, 0, 5, 1), 2), 3);  /* [0 2 1 0 2] */
mask = ga_greater(x, 0.5);
'''
OPERANDS = ('x', 'y', 'z', 'm', 'k', 's', 'p', 'row', 'y1d', 'p01', 'ints')
# The parameters of distributions.
PARAMETERS = {'loc': 0, 'scale': 1, 'mean': 1, 'sigma': 0.5, 'low': 0, 'high': 1, 'a': 2, 'b': 3, 'shape': 2, 'df': 3,
              'nonc': 1, 'dfnum': 4, 'dfden': 6, 'left': 0, 'mode': 0.5, 'right': 1, 'mu': 0, 'kappa': 2, 'lam': 3,
              'n': 10, 'p': 0.25, 'ngood': 5, 'nbad': 5, 'nsample': 4}
HEAD = r'''
#include <quarry.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gpuarray *x, *y, *z, *m, *k, *s, *p, *row, *y1d, *p01, *idx, *ints, *mask, *two, *v3, *t, *v, *along;
static gpuarray *a, *b, *c, *d, *out[4], *edges[4];
static ga_rng *rng;

static void make(ga_dtype dtype)
{
PRELUDE    two = ga_arange(GA_INT64, 0, 4, 2);
    if (dtype != GA_NO_DTYPE) {
        gpuarray **const operands[] = {&x, &y, &z, &m, &k, &s, &p, &row, &y1d, &p01, &ints};
        for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
            *operands[i] = ga_copy(ga_astype(*operands[i], dtype));
    }
    v = ga_copy(x);
    t = ga_transpose(y);
    v3 = ga_slice(x, ":, :3");
    along = ga_argsort(y);
    a = b = c = d = NULL;
    memset(out, 0, sizeof out);
    memset(edges, 0, sizeof edges);
}

static void show_array(const gpuarray *result) { if (result) ga_print(result); }
static void show_text(const char *text) { puts(text ? text : "ERROR: no text"); }
static void show_double(double number) { printf("%.10g\n", number); }
static void show_integer(long long number) { printf("%lld\n", number); }
static void show_bool(bool truth) { puts(truth ? "true" : "false"); }
#define SHOW(v) _Generic((v), gpuarray *: show_array, char *: show_text, const char *: show_text, \
    double: show_double, bool: show_bool, default: show_integer)(v)

static void show_dtype(const gpuarray *result)
{
    puts(result ? ga_dtype_name(ga_dtype_of(result)) : "error");
    ga_clear_error();
}

static void show_no_dtype(const gpuarray *result) { (void)result; }
#define SHOW_DTYPE(v) _Generic((v), gpuarray *: show_dtype, default: show_no_dtype)( \
    _Generic((v), gpuarray *: (v), default: NULL))

/* What the plan of a formula writes last. */
static void show_planned(char *plan)
{
    char *at = plan, *last = NULL;
    while (at && (at = strstr(at, "\n  writes ")) != NULL)
        last = at += strlen("\n  writes ");
    if (last)
        last[strcspn(last, " ")] = '\0';
    puts(last ? last : ga_error() == GA_ERR_DTYPE ? "error" : ga_error_message());
    free(plan);
    ga_clear_error();
}

static void on_error(ga_status status, const char *message, const char *file, int line, void *user)
{
    (void)status, (void)file, (void)line, (void)user;
    printf("%s\n", message);
}

static void on_line(int level, const char *text, void *user)
{
    (void)user;
    if (level == GA_LOG_ERROR)
        printf("%.*s\n", (int)strcspn(text, " "), text);
}

static void *own_alloc(size_t nbytes, const char *device, void *stream, void *user)
{
    (void)device, (void)stream, (void)user;
    return aligned_alloc(256, (nbytes + 255) / 256 * 256);
}

static void own_free(void *memory, size_t nbytes, const char *device, void *stream, void *user)
{
    (void)nbytes, (void)device, (void)stream, (void)user;
    free(memory);
}

static ga_status fill_ones(void *user, int64_t first, int64_t count, void *elements)
{
    (void)user, (void)first;
    for (int64_t i = 0; i < count; i++)
        ((double *)elements)[i] = 1;
    return GA_OK;
}

static void count_entry(const ga_cache_entry *entry, void *user)
{
    (void)entry;
    ++*(int64_t *)user;
}

static void start(int number, ga_dtype dtype)
{
    fflush(stdout);
    ga_clear_error();
    ga_scope_begin();
    make(dtype);
    rng = ga_rng_new(7);
    if (dtype == GA_NO_DTYPE)
        printf("\1example %d\n", number);
    else
        printf("\1dtype %d %s\n", number, ga_dtype_name(dtype));
}

static void end(void)
{
    if (ga_error() != GA_OK)
        printf("ERROR: %s\n", ga_error_message());
    ga_clear_error();
    ga_rng_free(rng);
    ga_scope_end();
}
'''


@dataclass
class Example:
    """An example: its names, the statements, what the page shows, and the NumPy expression of the same value."""
    names: list
    shown: str
    code: str
    numpy: str = ''
    formula: str = ''       # of a table's function: its dtypes come from the plan
    result: str = ''        # an expression whose dtype depends on the operands
    number: int = field(default=0)


def rows(root, table):
    text = re.sub(r'/\*.*?\*/', '', (root / f'include/quarry/{table}.def').read_text(), flags=re.S)
    text = re.sub(r'"\n\s*"', '', text)
    for row in re.findall(r'^GA_[A-Z]+[0-4]?\((.*?)\)$', text, flags=re.S | re.M):
        parts = re.findall(r'"(?:[^"\\]|\\.)*"|[^,\s"][^,"]*', row)
        yield [part.strip().strip('"') for part in parts]


def depends(code):
    return any(re.search(rf'\b{name}\b', code) for name in OPERANDS)


def expression(names, call, numpy='', formula='', before=''):
    """An example that shows the value of an expression."""
    shown = call if not before else f'{before};\n{call}'
    code = (f'    {before};\n' if before else '') + f'    SHOW({call});'
    is_array = re.match(r'ga_\w+\([^[]*$', call) and not before
    result = call if is_array and depends(call) and not formula else ''
    return Example(names, shown, code, numpy, formula, result)


def of_tables(root):
    """An example for each row of a table."""
    for table, arguments, formula in (('unary', 'row', '{}(row)'), ('binary', 'row, p', '{}(row, p)'),
                                      ('ternary', 'row, p, 1', ''), ('reduce', 'x, GA_AXIS(0)', '{}(x, axis=0)'),
                                      ('scan', 'row', '{}(row)')):
        for row in rows(root, table):
            real = any(kind in row[1] for kind in 'f')
            operands = arguments if real else arguments.replace('row', 'ints').replace('p', 'idx')
            yield expression([f'ga_{row[0]}'], f'ga_{row[0]}({operands})', formula=formula.format(row[0]))
    for row in rows(root, 'split'):
        yield expression([f'ga_{row[0]}'], 'b', before=f'ga_{row[0]}(row, &a, &b)')
    for row in rows(root, 'draw'):
        numbers = ''.join(f', {PARAMETERS[parameter]}' for parameter in row[6:-1:2])
        numbers = ', -1, 1, 0, 1' if row[0] == 'truncated_normal' else numbers
        dtype = 'GA_FLOAT32' if 'f' in row[1] else 'GA_INT32'
        yield expression([f'ga_rng_{row[0]}'], f'ga_rng_{row[0]}(rng, {dtype}{numbers}, GA_SHAPE(4))')


def split_arguments(text):
    parts, depth, start = [], 0, 0
    quoted = False
    for at, letter in enumerate(text):
        quoted ^= letter == '"'
        depth += 0 if quoted else (letter in '([{') - (letter in ')]}')
        if letter == ',' and depth == 0 and not quoted:
            parts.append(text[start:at])
            start = at + 1
    return [' '.join(part.split()) for part in [*parts, text[start:]]]


def of_surface(root):
    """The calls that tests/surface compares with NumPy, the shortest of each name."""
    found = {}
    for name in ('program.c', 'order.h'):
        text = (root / 'tests' / 'surface' / name).read_text()
        for start in re.finditer(r'^    (SHOW|AFTER)\(', text, flags=re.M):
            end = text.index(');\n', start.end())
            numpy, *calls = split_arguments(text[start.end():end])
            numpy = numpy.strip('"')
            call, before = (calls[1], calls[0]) if start[1] == 'AFTER' else (', '.join(calls), '')
            function = re.match(r'(ga_\w+)\(', before or call)
            known = set(re.findall(r'\b[a-z]\w*\b', re.sub(r'"[^"]*"|\b[gG][aA]_\w+|\.\w+', '', f'{before} {call}')))
            if not function or '_into(out' in before or known - set(HEAD_NAMES) or re.search(r'"\s*"|_\(', numpy):
                continue
            old = found.get(function[1])
            if old is None or len(call + before) < len(old.shown):
                found[function[1]] = expression([function[1]], call, numpy=numpy, before=before)
    return found.values()


HEAD_NAMES = [*OPERANDS, 'idx', 'mask', 'two', 'v3', 't', 'a', 'b', 'c', 'd', 'out', 'along', 'true', 'false', 'v']


def of_file(root):
    """The examples of docs/examples.txt."""
    text = re.sub(r'^#.*\n', '', (root / 'docs/examples.txt').read_text(), flags=re.M)
    for head, line, block in re.findall(r'^((?:\w+ ?)+):(.*)\n((?:    .*\n)*)', text, flags=re.M):
        names = head.split()
        if line.strip():
            yield expression(names, line.strip())
        else:
            shown = re.sub(r'^    ', '', block, flags=re.M).rstrip()
            yield Example(names, shown, block.rstrip())


def examples(root, public):
    """By name: the example that shows it."""
    found = {}
    for example in [*of_surface(root), *of_tables(root), *of_file(root)]:
        old = found.get(example.names[0])
        if old and old.formula and not example.formula and len(example.names) >= 1:
            example.formula, example.result = old.formula, ''
        for name in example.names:
            found[name] = example
    found = {name: example for name, example in found.items() if name in public}
    for number, example in enumerate(dict.fromkeys(map(id, found.values()))):
        next(e for e in found.values() if id(e) == example).number = number
    return found


def results(example, dtypes, few):
    """The dtypes of an example's operands that the page shows results for, and the statement that shows one."""
    if example.formula:
        names = dict.fromkeys(re.findall(r'\b(row|p|x|ints|idx)\b', example.formula))
        return dtypes, f'show_planned(ga_explain("{example.formula}", {", ".join(f"GA({name})" for name in names)}))'
    return (few, f'SHOW_DTYPE({example.result})') if example.result else ((), '')


def text(found, dtypes, few):
    """The program: PROGRAM SHARE FIRST runs one example of SHARE, from FIRST on. The dtypes of results that only a run
    tells are those of a few operands."""
    indented = re.sub(r'^(?=.)', '    ', PRELUDE.lstrip(), flags=re.M)
    out = [HEAD.replace('PRELUDE', indented)]
    main = ['int main(int argc, char **argv)\n{',
            '    const int share = argc > 1 ? atoi(argv[1]) : 1, first = argc > 2 ? atoi(argv[2]) : 0;']
    for number, example in {example.number: example for example in found.values()}.items():
        own, shown = results(example, dtypes, few)
        out.append(f'static void example_{number}(void)\n{{\n{example.code}\n}}\n')
        main += [f'    if ({number} % share == first) {{',
                 f'        start({number}, GA_NO_DTYPE), example_{number}(), end();',
                 *(f'        start({number}, GA_{dtype.upper()}), {shown}, end();' for dtype in own), '    }']
    return '\n'.join([*out, *main, '    return 0;\n}\n'])
