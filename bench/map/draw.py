"""Draws the map: the time of each case over rows of random lengths, as a share of the memory bus, beside peers.

draw.py QUARRY_MAP --out FOLDER [--seconds S] [--peers torch,jax,...] [options of quarry-map]
writes FOLDER/map.csv and FOLDER/map.svg and prints how many cells reach which share. The seed of the lengths stands in
both. On the host (QUARRY_DEVICE=cpu) the peers run there too."""
import argparse
import collections
import csv
import math
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
COLOURS = ['#1b6ca8', '#d1495b', '#2e933c', '#edae49', '#6a4c93', '#00798c', '#8d5524', '#444444', '#e377c2', '#7f7f7f',
           '#bcbd22', '#17becf', '#9edae5', '#aec7e8', '#ffbb78', '#98df8a']


def read_cells(path):
    """The title and the cells of quarry-map's CSV."""
    with open(path) as file:
        lines = file.read().splitlines()
    return lines[0].lstrip('# '), list(csv.DictReader(lines[1:]))


def key_of(cell):
    return cell['case'], cell['dtype'], cell['layout'], cell['length']


def run_peer(name, cells, options, bytes_per_array):
    command = [sys.executable, os.path.join(HERE, 'peers.py'), name, cells, '--bytes', str(bytes_per_array),
               '--seconds', str(options.seconds)]
    if os.environ.get('QUARRY_DEVICE') == 'cpu':
        command.append('--cpu')
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        print(f'{name}: {(done.stderr.strip().splitlines() or ["?"])[-1]}')
    times = {}
    for line in done.stdout.splitlines():
        if not line.startswith('#'):
            *key, us = line.split(',')
            times[tuple(key)] = float(us)
    return times


def summary(cells, peers):
    """Lines about the cells: how many reach which share, the mean of each case, how many are behind the best peer."""
    shares = [float(cell['share']) for cell in cells]
    yield (f'{len(cells)} cells: {sum(s >= 0.85 for s in shares)} reach 0.85, {sum(s < 0.6 for s in shares)} do not '
           f'reach 0.6, the mean is {statistics.mean(shares):.3f}')
    cases = collections.defaultdict(list)
    for cell in cells:
        cases[cell['case']].append(float(cell['share']))
    for case, values in cases.items():
        yield (f'  {case:12} mean {statistics.mean(values):.3f}  least {min(values):.3f}  '
               f'below 0.85: {sum(v < 0.85 for v in values)} of {len(values)}')
    compared = [cell for cell in cells if any(cell.get(peer) for peer in peers)]
    behind = [cell for cell in compared
              if float(cell['us']) > 1.03 * min(float(cell[peer]) for peer in peers if cell.get(peer))]
    if compared:
        yield f'{len(compared)} cells have a peer; Quarry is more than 3 % behind the best one in {len(behind)}'
    for cell in sorted(cells, key=lambda cell: float(cell['share']))[:12]:
        yield '  least: ' + ', '.join(f'{name} {cell[name]}' for name in ('case', 'dtype', 'layout', 'length', 'share'))


# ---- The picture ----

PANEL, GAP, LEFT, TOP, PER_LINE = (230, 120), (28, 44), 40, 56, 4


def panel(case, cells, dtypes, longest, at):
    """The SVG of one case: a line a dtype, the share of the bus by the length of a row."""
    def point(cell):
        x = math.log2(int(cell['length'])) / longest * PANEL[0]
        y = PANEL[1] * (1 - min(float(cell['share']), 1.1) / 1.1)
        return f'{at[0] + x:.1f},{at[1] + y:.1f}'
    yield (f'<rect x="{at[0]}" y="{at[1]}" width="{PANEL[0]}" height="{PANEL[1]}" fill="none" stroke="#bbb"/>'
           f'<text x="{at[0]}" y="{at[1] - 6}" font-weight="bold">{case}</text>')
    for share in (0.5, 1):
        y = at[1] + PANEL[1] * (1 - share / 1.1)
        yield (f'<path d="M{at[0]},{y:.1f}h{PANEL[0]}" stroke="#ddd"/>'
               f'<text x="{at[0] - 22}" y="{y + 3:.1f}">{share:.1f}</text>')
    for power in range(0, int(longest) + 1, 6):
        yield f'<text x="{at[0] + power / longest * PANEL[0]:.1f}" y="{at[1] + PANEL[1] + 12}">2^{power}</text>'
    for dtype in dtypes:
        line = sorted((cell for cell in cells if cell['dtype'] == dtype), key=lambda cell: int(cell['length']))
        points = ' '.join(map(point, line))
        colour = COLOURS[dtypes.index(dtype) % len(COLOURS)]
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.3"/>'


def picture(title, cells):
    dtypes, cases = (list(dict.fromkeys(cell[name] for cell in cells)) for name in ('dtype', 'case'))
    longest = max(1, math.log2(max(int(cell['length']) for cell in cells)))
    lines = -(-len(cases) // PER_LINE)
    width, height = LEFT + PER_LINE * (PANEL[0] + GAP[0]), TOP + lines * (PANEL[1] + GAP[1])
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
           f'font-size="10"><rect width="100%" height="100%" fill="white"/><text x="{LEFT}" y="16" font-size="12">'
           f'Share of the memory bus by the length of a row: {title}</text>']
    for k, dtype in enumerate(dtypes):
        out.append(f'<text x="{LEFT + 90 * k}" y="32" fill="{COLOURS[k % len(COLOURS)]}">{dtype}</text>')
    for k, case in enumerate(cases):
        at = LEFT + k % PER_LINE * (PANEL[0] + GAP[0]), TOP + k // PER_LINE * (PANEL[1] + GAP[1])
        out += panel(case, [cell for cell in cells if cell['case'] == case and cell['layout'] == cells[0]['layout']],
                     dtypes, longest, at)
    return '\n'.join(out + ['</svg>', ''])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('quarry_map')
    parser.add_argument('--out', required=True)
    parser.add_argument('--seconds', type=float, default=60, help='for each peer')
    parser.add_argument('--peers', default='')
    options, others = parser.parse_known_args()
    os.makedirs(options.out, exist_ok=True)
    raw, merged = (os.path.join(options.out, name) for name in ('quarry.csv', 'map.csv'))
    subprocess.run([options.quarry_map, '--out', raw, *others], check=True)
    title, cells = read_cells(raw)
    peers = [name for name in options.peers.split(',') if name]
    bytes_per_array = int(title.split(' bytes')[0].split()[-1])
    for peer in peers:
        times = run_peer(peer, raw, options, bytes_per_array)
        for cell in cells:
            cell[peer] = times.get(key_of(cell), '')
    with open(merged, 'w', newline='') as file:
        file.write(f'# {title}\n')
        table = csv.DictWriter(file, cells[0].keys(), lineterminator='\n')
        table.writeheader()
        table.writerows(cells)
    with open(os.path.join(options.out, 'map.svg'), 'w') as file:
        file.write(picture(title, cells))
    print(title)
    for line in summary(cells, peers):
        print(line)


main()
