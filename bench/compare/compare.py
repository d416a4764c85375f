"""Times Quarry, the machine's limits and other libraries in one run: compare.py QUARRY-BENCH --out FOLDER.

Writes results.json, results.md and results.svg, anew after every row: who is killed loses only the next one.
"""
import argparse
import datetime
import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import report

HERE = Path(__file__).resolve().parent
TITLES = {'cub': 'CUB', 'cupy': 'CuPy', 'numpy': 'NumPy', 'numexpr': 'numexpr', 'torch': 'PyTorch', 'jax': 'JAX',
          'mlx': 'MLX', 'torch.compile': 'torch.compile'}
# torch.compile comes last: it takes the longest, in case the time runs out.
PEERS = {'cuda': ['cub', 'cupy', 'torch', 'jax', 'mlx', 'torch.compile'],
         'cpu': ['numpy', 'numexpr', 'torch', 'torch.compile']}


def options():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('bench', help='the program quarry-bench')
    parser.add_argument('--cub', help='the program quarry-bench-cub')
    parser.add_argument('--out', required=True, type=Path, help='the folder of the results')
    parser.add_argument('--cases', default='', help='only cases whose name contains one of these, with commas between')
    parser.add_argument('--peers', help='only these, with commas between: ' + ', '.join(TITLES) + '; "" is none')
    parser.add_argument('--n', type=int, help='elements (default: 2^28 on CUDA, 10^7 on the host)')
    parser.add_argument('--rounds', type=int, default=1,
                        help='times all, one after another, that often, and keeps the best of each figure')
    parser.add_argument('--seconds', type=float, default=270, help='for everything (default: %(default)s)')
    return parser.parse_args()


def end_session(process):
    """Ends the program and its children: a library's compilers may outlive it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Comparison:
    """The results of this round so far, those of the rounds before, and the time that is left."""

    def __init__(self, chosen):
        self.chosen, self.end = chosen, time.monotonic() + chosen.seconds
        self.results, self.before = {}, None

    def left(self):
        return max(self.end - time.monotonic(), 0)

    def arguments(self):
        """The options that all programs understand."""
        return ['--cases', self.chosen.cases] if self.chosen.cases else []

    def all_rounds(self):
        results = report.fastest(self.before, self.results) if self.before else self.results
        return {**results, 'rows': report.judge(results)}

    def save(self):
        results = self.all_rounds()
        for name, text in [('results.json', json.dumps(results, indent=1, ensure_ascii=False) + '\n'),
                           ('results.md', report.markdown(results)), ('results.svg', report.svg(results))]:
            part = self.chosen.out / (name + '.part')
            part.write_text(text, encoding='utf-8')
            part.replace(self.chosen.out / name)

    def time_quarry(self):
        """Quarry and the limits, with the device and n that the peers then get; False when there is no result."""
        path = self.chosen.out / 'quarry.json'
        path.unlink(missing_ok=True)
        sizes = ['--n', str(self.chosen.n)] if self.chosen.n else []
        reason = None
        try:
            status = subprocess.run([self.chosen.bench, '--json', path, *sizes, *self.arguments()],
                                    timeout=self.left()).returncode
            if status not in (0, 1):    # 1: a wrong result, which its row tells
                reason = f'quarry-bench ended with status {status}: rows may be missing'
        except subprocess.TimeoutExpired:
            reason = 'no time left for all rows of Quarry'
        if not path.exists():
            return False
        quarry = json.loads(path.read_text())
        self.results = {'date': str(datetime.date.today()), 'command': shlex.join(sys.argv),
                        **{key: quarry[key] for key in ('device', 'description', 'n', 'limits_gbps')},
                        **({'reason': reason} if reason else {}), 'quarry': quarry['cases'], 'peers': {}}
        self.save()
        return True

    def command(self, name):
        sizes = ['--n', str(self.results['n'])]
        if name == 'cub':
            return [self.chosen.cub, *sizes, *self.arguments()] if self.chosen.cub else None
        cpu = ['--cpu'] if self.results['device'] == 'cpu' else []
        return [sys.executable, str(HERE / 'peer.py'), name, *sizes, *cpu, *self.arguments()]

    def read(self, peer, process):
        for line in process.stdout:
            try:
                row = json.loads(line)
            except ValueError:      # what a library prints
                continue
            if 'case' in row:
                peer['rows'][row.pop('case')] = row
            else:
                peer.update(row)
            self.save()

    def time_peer(self, name):
        peer = self.results['peers'][TITLES[name]] = {'rows': {}}
        command = self.command(name)
        if not command or self.left() <= 0:
            peer['reason'] = 'no time left' if command else 'no program'
            return
        with open(self.chosen.out / f'{name}.log', 'w') as log:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True)
            timer = threading.Timer(self.left(), end_session, [process])
            timer.start()
            try:
                self.read(peer, process)
                status = process.wait()
            finally:
                timer.cancel()
                end_session(process)
        if status and 'reason' not in peer:
            peer['reason'] = 'no time left' if self.left() <= 0 else f'it ended with status {status}'

    def time_peers(self):
        kind = self.results['device'].split(':')[0]
        asked = PEERS[kind] if self.chosen.peers is None else [p for p in self.chosen.peers.split(',') if p]
        for name in asked:
            start = time.monotonic()
            self.time_peer(name)
            self.save()
            peer = self.results['peers'][TITLES[name]]
            print(f"{TITLES[name]}: {len(peer['rows'])} rows in {time.monotonic() - start:.0f} s"
                  + (f", {peer['reason']}" if 'reason' in peer else ''), flush=True)


def main():
    chosen = options()
    unknown = [name for name in (chosen.peers or '').split(',') if name and name not in TITLES]
    if unknown:
        sys.exit(f'compare: no peer is called {", ".join(unknown)}: there are {", ".join(TITLES)}')
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('compare: told to end'))
    chosen.out.mkdir(parents=True, exist_ok=True)
    comparison = Comparison(chosen)
    for _ in range(chosen.rounds):
        if not comparison.time_quarry():
            sys.exit('compare: quarry-bench gave no result')
        comparison.time_peers()
        comparison.before = comparison.all_rounds()
        if 'reason' in comparison.before or comparison.left() <= 0:
            break
    results = comparison.before
    print(report.markdown(results))
    sys.exit('reason' in results or any(not row['checked'] for row in results['quarry']))


main()
