"""Draws a small map of the host: every wanted cell and a peer have times, and the picture is well formed."""
import csv
import importlib.util
import os
import subprocess
import sys
import tempfile
import xml.dom.minidom

HERE = os.path.dirname(os.path.abspath(__file__))
LAYOUTS = ['contiguous', 'windowed', 'transposed']
LENGTHS = ['1', '7', '100']
PEERS = [name for name in ('numpy',) if importlib.util.find_spec(name)]
CASES = {'int8': 12, 'float32': 22}  # those that a dtype has

with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, os.path.join(HERE, 'draw.py'), sys.argv[1], '--out', folder, '--seconds', '20',
                    '--peers', ','.join(PEERS), '--device', 'cpu', '--bytes', '40000', '--rounds', '1',
                    '--lengths', ','.join(LENGTHS), '--dtypes', ','.join(CASES), '--layouts', ','.join(LAYOUTS)],
                   check=True, env={**os.environ, 'QUARRY_DEVICE': 'cpu'})
    with open(os.path.join(folder, 'map.csv')) as file:
        cells = list(csv.DictReader(line for line in file if not line.startswith('#')))
    xml.dom.minidom.parse(os.path.join(folder, 'map.svg'))

for dtype, cases in CASES.items():
    got = [(cell['case'], cell['layout'], cell['length']) for cell in cells if cell['dtype'] == dtype]
    assert len(got) == len(set(got)) == cases * len(LAYOUTS) * len(LENGTHS), (dtype, len(got))
assert all(float(cell['us']) > 0 and float(cell['share']) > 0 for cell in cells)
assert all(any(float(cell[peer] or 0) > 0 for cell in cells) for peer in PEERS)
print(f'{len(cells)} cells')
