"""Results of a comparison as rows with verdicts, a Markdown table and an SVG chart."""
import re
from xml.sax.saxutils import escape

# Within 1 % of the best peer is level with it: runs differ by as much. JAX is timed by calls back to back, where
# what a kernel takes to start and to end is behind its neighbours: 2 to 5 us of each.
LEVEL = {'JAX': 0.97}
USUAL_LEVEL = 0.99
OF_LIMIT = {'cuda': 0.97, 'cpu': 0.9}
OF_LIMIT_ROW = {('cuda', 'x[1:] + y[1:]'): 0.9, ('cuda', 'random f32'): 0.9, ('cuda', 'normal f32'): 0.8}
TIMES_LIMIT = {'host: add into out': 1.15, 'host: add, allocated': 1.15, 'host: custom kernel': 1.15,
               'host: eval into out': 1.15, 'host: ga_launch': 1.15, 'host: sum of 16, read': 1.15,
               'first call, new kernel': 1.3}
MOST_US = {('cuda', 'first call, disk cache'): 300, ('cpu', 'first call, disk cache'): 300,
           ('cpu', 'first call, new kernel'): 80000}
PEER_ROW = {('cpu', 'sin f32'): 2, ('cpu', 'exp f64'): 2}    # times the best peer; elsewhere 1

# The machine's overheads, which quarry-bench times as the limits of these rows.
OVERHEADS = {'host: add into out': 'raw launch', 'host: add, allocated': 'raw launch, pool allocation and free',
             'host: sum of 16, read': 'round trip through mapped memory'}


def row_of(peer, case):
    """A peer's row; it has no variant of its own for expressions that may approximate."""
    return peer['rows'].get(case) or peer['rows'].get(case.removesuffix(', fast'), {})


def best_peer(results, case):
    """Name and time of the fastest peer whose result is right; (None, None) when none has the case."""
    times = [(row_of(peer, case)['us'], name) for name, peer in results['peers'].items()
             if 'us' in row_of(peer, case) and 'reason' not in row_of(peer, case)]
    return min(times)[::-1] if times else (None, None)


def megabytes(row):
    return f"{row['temporary_bytes'] / 1e6:.0f}" if 'temporary_bytes' in row else '—'


def shortfalls(row, kind):
    """The goal that the row misses, in words; None if it has no goal."""
    case, found, promised = row['case'], [], False
    if 'of_limit' in row:
        least, promised = OF_LIMIT_ROW.get((kind, case), OF_LIMIT[kind]), True
        if row['of_limit'] < least:
            found.append(f"{row['of_limit']:.3f} of the limit, not {least}")
    elif 'times_limit' in row and case in TIMES_LIMIT:
        promised = True
        if row['times_limit'] > TIMES_LIMIT[case]:
            found.append(f"{row['times_limit']:.2f} times the limit, not {TIMES_LIMIT[case]}")
    if (kind, case) in MOST_US:
        promised = True
        if row['us'] > MOST_US[kind, case]:
            found.append(f"{row['us']:.0f} us, not {MOST_US[kind, case]}")
    if row.get('temporary_bytes', 0) > row.get('temporary_most', 0):
        found.append(f"{megabytes(row)} MB of temporary memory, not {row['temporary_most'] / 1e6:.0f}")
    if row['peer']:
        least, promised = PEER_ROW.get((kind, case), 1), True
        if row['times_peer'] < LEVEL.get(row['peer'], USUAL_LEVEL) * least:
            found.append(f"{row['times_peer']:.2f} times as fast as {row['peer']}" + (f', not {least}' * (least > 1)))
    return found if promised else None


def verdict(row, kind):
    if not row['checked']:
        return 'WRONG'
    found = shortfalls(row, kind)
    if found is None:
        return '—'
    if found:
        return 'short: ' + '; '.join(found)
    return f"level with {row['peer']}" if row['peer'] and row['times_peer'] < 1 else 'met'


def judge(results):
    """One row for each case of quarry-bench: its figures, the best peer, how they compare, and a verdict."""
    kind, rows = results['device'].split(':')[0], []
    for measured in results['quarry']:
        row = dict(measured)
        row['peer'], row['peer_us'] = best_peer(results, row['case'])
        right = row['checked'] and row['us'] > 0
        row['times_peer'] = round(row['peer_us'] / row['us'], 4) if right and row['peer'] else None
        row['verdict'] = verdict(row, kind)
        rows.append(row)
    return rows


# ---- Rounds ----

def faster_case(a, b):
    """One row of quarry-bench from two: the shorter time and the limit timed in turns with it, but a wrong result
    stays."""
    if not (a['checked'] and b['checked']):
        return a if b['checked'] else b
    return min(a, b, key=lambda row: row['us'])


def faster_time(a, b):
    """One row of a peer from two: a right result counts before a wrong or a missing one."""
    return min(a, b, key=lambda row: ('reason' in row, row.get('us', float('inf'))))


def merged(a, b, faster):
    """The rows of both by their case."""
    return {case: faster(a[case], b[case]) if case in a and case in b else a.get(case) or b[case]
            for case in dict.fromkeys([*a, *b])}


def fastest(a, b):
    """The results of two rounds of one comparison as one: of each time the shorter."""
    quarry = merged(*({row['case']: row for row in results['quarry']} for results in (a, b)), faster_case)
    peers = {}
    for name in dict.fromkeys([*a['peers'], *b['peers']]):
        both = [results['peers'].get(name, {'rows': {}, 'reason': 'not run'}) for results in (a, b)]
        peers[name] = {**both[1], **both[0], 'rows': merged(both[0]['rows'], both[1]['rows'], faster_time)}
        if not all('reason' in peer for peer in both):
            peers[name].pop('reason', None)
    limits = {name: max(rate, b['limits_gbps'].get(name, 0)) for name, rate in a['limits_gbps'].items()}
    results = {**b, **a, 'limits_gbps': limits, 'quarry': list(quarry.values()), 'peers': peers}
    if not ('reason' in a and 'reason' in b):
        results.pop('reason', None)
    return results


# ---- Markdown ----

def number(us):
    return f'{us:.2f}' if us < 10 else f'{us:.1f}' if us < 1000 else f'{us:.0f}'


def peer_cell(peer, case):
    row = row_of(peer, case)
    if 'us' not in row:
        return '—'
    return number(row['us']) + (' †' if 'reason' in row else '')


def table(head, rows):
    lines = [head, ['---'] + ['---:'] * (len(head) - 2) + ['---']] + rows
    return ['| ' + ' | '.join(str(cell).replace('|', '\\|') for cell in line) + ' |' for line in lines]


def limits_lines(results):
    lines = [f'- {name}: {gbps:.0f} GB/s' for name, gbps in results['limits_gbps'].items() if gbps]
    for row in results['quarry']:
        if row['case'] in OVERHEADS and 'limit_us' in row:
            lines.append(f"- {OVERHEADS[row['case']]}: {row['limit_us']:.2f} us of the host")
    return lines


def peers_lines(results):
    lines = []
    for name, peer in results['peers'].items():
        state = peer.get('version') or 'absent'
        lines.append(f"- {name} {state}" + (f" ({peer['reason']})" if 'reason' in peer else ''))
    return lines


def quarry_cells(row):
    ratio = (f"{row['of_limit']:.3f}" if 'of_limit' in row else
             f"{row['times_limit']:.2f}x" if 'times_limit' in row else '—')
    ahead = f"{row['times_peer']:.2f}" if row['times_peer'] else '—'
    return number(row['limit_us']) if 'limit_us' in row else '—', number(row['us']), ratio, ahead


def temporary_cell(results, row):
    """Quarry's temporary memory, and that of the peers that tell."""
    peers = {name: row_of(peer, row['case']) for name, peer in results['peers'].items()}
    told = [f'{name} {megabytes(found)}' for name, found in peers.items() if 'temporary_bytes' in found]
    return megabytes(row) + (f" ({', '.join(told)})" if told and 'temporary_bytes' in row else '')


def markdown(results):
    peers = [name for name, peer in results['peers'].items() if peer['rows']]
    temporary = any('temporary_bytes' in row for row in results['quarry'])
    head = ['case', 'limit us', 'Quarry us', 'of limit', *(f'{name} us' for name in peers), 'best peer / Quarry',
            *(['temporary MB'] if temporary else []), 'verdict']
    rows = []
    for row in judge(results):
        limit, us, ratio, ahead = quarry_cells(row)
        cells = [peer_cell(results['peers'][name], row['case']) for name in peers]
        memory = [temporary_cell(results, row)] if temporary else []
        rows.append([row['case'], limit, us, ratio, *cells, ahead, *memory, row['verdict']])
    lines = [f"# {results['description']}, {results['date']}", '',
             f"`{results['command']}`, n = {results['n']}", '',
             *([f"**{results['reason']}**", ''] if 'reason' in results else []), 'Limits, timed in the same run:', '',
             *limits_lines(results), '', 'Peers:', '', *peers_lines(results), '',
             'Medians in us; lower is better. `of limit` is the time of the machine itself over that of Quarry',
             '(1 is the bus), with `x` the time of Quarry over it. † differs from what the case must give by more',
             'than rounding explains: it does not count. — was not measured: `results.json` has the reasons.',
             *(['`temporary MB` is what a run takes besides its inputs and its result.'] if temporary else []), '']
    return '\n'.join(lines + table(head, rows)) + '\n'


def parsed(cell):
    """A time of the table, and whether it counts; None for none."""
    found = re.fullmatch(r'([\d.]+)( †)?', cell)
    return {'us': float(found[1]), **({'reason': 'wrong'} if found[2] else {})} if found else None


def from_markdown(text):
    """What the chart shows of the results in a page that markdown() wrote."""
    lines = [line.replace('\\|', '\0') for line in text.splitlines() if line.startswith('| ')]
    head, _, *rows = [[cell.strip().replace('\0', '|') for cell in line.split('|')[1:-1]] for line in lines]
    columns = {name.removesuffix(' us'): k for k, name in enumerate(head) if name.endswith(' us')}
    quarry, peers = [], {name: {'rows': {}} for name in columns if name not in ('limit', 'Quarry')}
    for row in rows:
        found = {name: parsed(row[k]) for name, k in columns.items()}
        measured = {'case': row[0], 'us': found['Quarry']['us'], 'checked': row[-1] != 'WRONG'}
        if re.fullmatch(r'[\d.]+', row[head.index('of limit')]):
            measured |= {'limit_us': found['limit']['us'], 'of_limit': float(row[head.index('of limit')])}
        quarry.append(measured)
        for name in peers:
            if found[name]:
                peers[name]['rows'][row[0]] = found[name]
    description = re.search(r'^# (.*?)(?:$|: )', text, flags=re.M)[1]
    return {'description': description, 'device': 'cuda:0', 'quarry': quarry, 'peers': peers}


# ---- The chart ----

WIDTH, LEFT, TOP, STEP = 880, 210, 64, 22
QUARRY, COLOURS = '#1b4dd6', ['#d1495b', '#edae49', '#00798c', '#8d6a9f', '#5c6b73', '#7fb069']
STYLE = ('text{font:13px sans-serif;fill:#222}.title{font-size:15px;font-weight:bold}.end{text-anchor:end}'
         '.mid{text-anchor:middle}.grid{stroke:#ddd}.bus{stroke:#222;stroke-dasharray:4 3}')


def place(fraction):
    """The position of a fraction of the limit's speed, from 0 to 1.1."""
    return LEFT + min(max(fraction, 0), 1.1) / 1.1 * (WIDTH - LEFT - 24)


def dot(fraction, y, colour, radius, title):
    return (f'<circle cx="{place(fraction):.1f}" cy="{y}" r="{radius}" fill="{colour}">'
            f'<title>{escape(title)}</title></circle>')


def chart_row(results, row, y, colours):
    marks = [f'<line class="grid" x1="{LEFT}" x2="{WIDTH - 24}" y1="{y}" y2="{y}"/>',
             f'<text class="end" x="{LEFT - 10}" y="{y + 4}">{escape(row["case"])}</text>',
             dot(row['of_limit'], y, QUARRY, 7, f'Quarry {row["of_limit"]:.2f}')]
    for name, colour in colours.items():
        peer = row_of(results['peers'][name], row['case'])
        if 'us' in peer and 'reason' not in peer:
            fraction = row['limit_us'] / peer['us']
            marks.append(dot(fraction, y, colour, 4, f'{name} {fraction:.2f}'))
    return marks


def legend(colours):
    marks, x = [], LEFT
    for name, colour in [('Quarry', QUARRY), *colours.items()]:
        marks.append(f'<circle cx="{x}" cy="40" r="5" fill="{colour}"/><text x="{x + 10}" y="44">{escape(name)}</text>')
        x += 30 + 8 * len(name)
    return marks


def svg(results):
    """A line for each case with a limit; a dot for each library, at its share of the limit's speed."""
    rows = [row for row in judge(results) if 'of_limit' in row and row['checked']]
    names = [name for name, peer in results['peers'].items() if peer['rows']]
    colours = dict(zip(names, COLOURS))
    bottom = TOP + STEP * len(rows)
    marks = [f'<text class="title" x="{LEFT}" y="20">Speed as a share of what memory allows, '
             f'{escape(results["description"])}</text>', *legend(colours)]
    for tenth in range(0, 11, 2):
        x, kind = place(tenth / 10), 'bus' if tenth == 10 else 'grid'
        marks.append(f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 12}" y2="{bottom}"/>'
                     f'<text class="mid" x="{x:.1f}" y="{bottom + 16}">{tenth / 10:.1f}</text>')
    for i, row in enumerate(rows):
        marks += chart_row(results, row, TOP + STEP * i, colours)
    height = bottom + 30
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}">\n<style>{STYLE}</style>\n<rect width="100%" height="100%" fill="#fff"/>\n'
            + '\n'.join(marks) + '\n</svg>\n')
