"""Tests of the comparison: verdicts, table and chart of a fixture, and whole runs: test_compare.py QUARRY-BENCH."""
import importlib.util
import json
import os
import re
import stat
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import report

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FIXTURE = json.loads((HERE / 'fixture.json').read_text())
PEERS = [name for name in ('numpy', 'numexpr') if importlib.util.find_spec(name)]
CASES = 'add f32,eval,sum f32 10^3,host: add,sort f32,argsort f16,quantile,isin,x[mask],histogram,bincount'


class Report(unittest.TestCase):
    def test_verdicts(self):
        self.assertEqual({row['case']: row['verdict'] for row in report.judge(FIXTURE)}, {
            'met': 'met',
            'level': 'level with CUB',
            'short | of both': 'short: 0.500 of the limit, not 0.97; 0.90 times as fast as CuPy',
            'x[1:] + y[1:]': 'met',
            'wrong': 'WRONG',
            'small': 'met',
            'alone': '—',
            'host: add into out': 'short: 1.20 times the limit, not 1.15',
            'host: sum of 16, read': 'met',
            'first call, disk cache': 'short: 310 us, not 300'})

    def test_the_host_has_bars_of_its_own(self):
        rows = [{'case': 'sin f32', 'us': 100, 'gbps': 40, 'limit_us': 91, 'of_limit': 0.91, 'checked': True},
                {'case': 'first call, new kernel', 'us': 79000, 'checked': True}]
        host = {**FIXTURE, 'device': 'cpu', 'quarry': rows, 'peers': {'NumPy': {'rows': {'sin f32': {'us': 150}}}}}
        self.assertEqual([row['verdict'] for row in report.judge(host)],
                         ['short: 1.50 times as fast as NumPy, not 2', 'met'])

    def test_a_wrong_result_is_no_peer(self):
        met = report.judge(FIXTURE)[0]
        self.assertEqual((met['peer'], met['peer_us'], met['times_peer']), ('CUB', 120, 1.2))

    def test_table(self):
        lines = report.markdown(FIXTURE).splitlines()
        head = next(line for line in lines if line.startswith('| case'))
        self.assertEqual(head, '| case | limit us | Quarry us | of limit | CUB us | CuPy us | best peer / Quarry | '
                               'verdict |')
        self.assertIn('| met | 98.0 | 100.0 | 0.980 | 120.0 | 90.0 † | 1.20 | met |', lines)
        self.assertIn('| level | 99.0 | 100.0 | 0.990 | 99.5 | — | 0.99 | level with CUB |', lines)
        self.assertTrue(any(line.startswith('| short \\| of both |') for line in lines))
        self.assertIn('| wrong | — | 0.00 | — | 7.00 | — | — | WRONG |', lines)
        self.assertIn('| small | — | 4.50 | — | — | 9.00 | 2.00 | met |', lines)
        self.assertIn('- raw launch: 2.50 us of the host', lines)
        self.assertIn("- JAX absent (ModuleNotFoundError: No module named 'jax')", lines)
        self.assertNotIn('- write only: 0 GB/s', lines)

    def test_temporary_memory(self):
        row = {'case': 'sort f32', 'us': 10, 'checked': True, 'temporary_bytes': 80e6, 'temporary_most': 80.4e6}
        peers = {'CUB': {'rows': {'sort f32': {'us': 11, 'temporary_bytes': 45e6}}}, 'CuPy': {'rows': {}}}
        results = {**FIXTURE, 'quarry': [row, FIXTURE['quarry'][0]], 'peers': peers}
        head, _, first, second = [line for line in report.markdown(results).splitlines() if line.startswith('| ')]
        self.assertTrue(head.endswith('| best peer / Quarry | temporary MB | verdict |'))
        self.assertTrue(first.endswith('| 1.10 | 80 (CUB 45) | met |'))
        self.assertTrue(second.endswith('| — | — | met |'))
        row['temporary_bytes'] = 160e6
        self.assertEqual(report.judge(results)[0]['verdict'], 'short: 160 MB of temporary memory, not 80')

    def test_chart(self):
        name = '{http://www.w3.org/2000/svg}'
        chart = ElementTree.fromstring(report.svg(FIXTURE))
        dots = [circle.findtext(name + 'title') for circle in chart.iter(name + 'circle')
                if circle.find(name + 'title') is not None]
        self.assertEqual(dots, ['Quarry 0.98', 'CUB 0.82', 'Quarry 0.99', 'CUB 0.99', 'Quarry 0.50', 'CuPy 0.56',
                                'Quarry 0.91'])
        self.assertIn('short | of both', [text.text for text in chart.iter(name + 'text')])

    def test_a_page_gives_the_chart_again(self):
        dots = [re.findall('<title>(.*?)</title>', report.svg(results))
                for results in (FIXTURE, report.from_markdown(report.markdown(FIXTURE)))]
        self.assertEqual(*dots)
        self.assertGreater(len(dots[0]), 5)

    def test_the_chart_of_the_readme_is_that_of_its_table(self):
        text = (ROOT / 'README.md').read_text(encoding='utf-8')
        page = re.search(r'\[the table\]\((bench/results/h200-[\w-]*\.md)\)', text)[1]
        results = report.from_markdown((ROOT / page).read_text(encoding='utf-8'))
        self.assertEqual((ROOT / 'docs/h200.svg').read_text(encoding='utf-8'), report.svg(results))
        self.assertIn(page, (ROOT / 'docs/performance.md').read_text(encoding='utf-8'))


class Rounds(unittest.TestCase):
    @staticmethod
    def results(us, limit_us, peers, checked=True):
        row = {'case': 'add f32', 'us': us, 'limit_us': limit_us, 'of_limit': limit_us / us, 'checked': checked}
        return {'device': 'cpu', 'limits_gbps': {'memcpy': limit_us}, 'quarry': [row], 'peers': peers}

    def test_the_best_times_are_kept_with_the_limit_of_their_round(self):
        a = self.results(100, 90, {'NumPy': {'rows': {'add f32': {'us': 200}, 'sin f32': {'us': 9}}}})
        b = self.results(80, 96, {'NumPy': {'rows': {'add f32': {'us': 180, 'reason': 'wrong'}}, 'reason': 'late'}})
        for results in (report.fastest(a, b), report.fastest(b, a)):
            self.assertEqual(results['quarry'], b['quarry'])
            self.assertEqual(results['limits_gbps'], {'memcpy': 96})
            self.assertEqual(results['peers'], {'NumPy': {'rows': {'add f32': {'us': 200}, 'sin f32': {'us': 9}}}})

    def test_a_wrong_result_stays(self):
        right, wrong = self.results(100, 90, {}), self.results(50, 90, {}, checked=False)
        for results in (report.fastest(right, wrong), report.fastest(wrong, right)):
            self.assertFalse(results['quarry'][0]['checked'])


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def program(self, name, script):
        path = self.folder / name
        path.write_text('#!/bin/sh\n' + script)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return path

    def fake_bench(self, status=0):
        """A program that prints a bench's results at once and exits with that status."""
        results = self.folder / 'fake.json'
        results.write_text(json.dumps({'device': 'cpu', 'description': 'fake', 'n': 65536, 'limits_gbps': {},
                                       'cases': [{'case': 'add f32', 'us': 2, 'checked': True}]}))
        return self.program('bench', f'cp {results} "$2"; exit {status}\n')    # the first argument is --json

    def compare(self, program, *arguments):
        """Runs compare.py over small arrays on the host; its status and what it wrote."""
        out = self.folder / 'out'
        command = [sys.executable, HERE / 'compare.py', program, '--out', out, '--n', '65536', *arguments]
        done = subprocess.run(command, env={**os.environ, 'QUARRY_DEVICE': 'cpu'}, stdout=subprocess.PIPE, text=True)
        results = json.loads((out / 'results.json').read_text())
        self.assertEqual((out / 'results.md').read_text(), report.markdown(results))
        self.assertTrue(done.stdout.endswith(report.markdown(results) + '\n'))
        ElementTree.parse(out / 'results.svg')
        return done.returncode, results

    @unittest.skipUnless(PEERS, 'neither NumPy nor numexpr is installed')
    def test_host(self):
        status, results = self.compare(bench, '--cases', CASES, '--peers', ','.join(PEERS))
        self.assertEqual(status, 0)
        self.assertEqual(results['n'], 65536)
        cases = {row['case'] for row in results['rows'] if row['us'] > 0 and row['peer']}
        self.assertTrue({'add f32', 'eval sqrt(x*x + y*y)', 'host: add, allocated'} <= cases)
        if 'numpy' in PEERS:
            self.assertTrue({'sort f32', 'argsort f16', 'quantile f32, 3 shares', 'isin i32, 1000 tests',
                             'x[mask], half', 'histogram f32, 256 edges', 'bincount i32 below 256',
                             'call: sort f32 10^3'} <= cases)
        for peer in results['peers'].values():
            self.assertNotIn('reason', peer)
            for case in ('add f32', 'eval sqrt(x*x + y*y)', 'host: add, allocated'):
                self.assertGreater(peer['rows'][case]['us'], 0)
                self.assertNotIn('reason', peer['rows'][case])

    def test_what_a_peer_lacks_is_no_abort(self):
        cub = self.program('cub', 'echo \'{"version": "1"}\'; echo noise; echo \'{"case": "add f32", "us": 1}\'\n'
                                  'echo \'{"case": "sin f32", "reason": "none"}\'; exit 3\n')
        status, results = self.compare(self.fake_bench(), '--peers', 'cub', '--cub', cub)
        self.assertEqual(status, 0)
        self.assertEqual(results['peers']['CUB'], {
            'version': '1', 'reason': 'it ended with status 3',
            'rows': {'add f32': {'us': 1}, 'sin f32': {'reason': 'none'}}})
        self.assertEqual(results['rows'][0]['verdict'], 'short: 0.50 times as fast as CUB')

    def test_time_runs_out(self):
        cub = self.program('cub', 'echo \'{"case": "add f32", "us": 1}\'; sleep 1000 & wait\n')
        status, results = self.compare(self.fake_bench(), '--peers', 'cub,numpy', '--cub', cub, '--seconds', '3')
        self.assertEqual(status, 0)
        self.assertEqual(results['peers'], {'CUB': {'reason': 'no time left', 'rows': {'add f32': {'us': 1}}},
                                            'NumPy': {'reason': 'no time left', 'rows': {}}})

    def test_a_bench_that_breaks_down_is_told(self):
        status, results = self.compare(self.fake_bench(status=9), '--peers', '')
        self.assertEqual(status, 1)
        self.assertIn('ended with status 9', results['reason'])

    def test_rounds(self):
        cub = self.program('cub', 'echo >> "$0.calls"; us=$((4 - $(wc -l < "$0.calls")))\n'
                                  'echo "{\\"case\\": \\"add f32\\", \\"us\\": $us}"\n')
        status, results = self.compare(self.fake_bench(), '--peers', 'cub', '--cub', cub, '--rounds', '3')
        self.assertEqual(status, 0)
        self.assertEqual(results['peers'], {'CUB': {'rows': {'add f32': {'us': 1}}}})
        self.assertEqual(Path(f'{cub}.calls').read_text(), '\n\n\n')

    def test_unknown_peer(self):
        command = [sys.executable, HERE / 'compare.py', bench, '--out', '/nowhere', '--peers', 'cub,matlab']
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn('no peer is called matlab', done.stderr)


bench = sys.argv.pop()
unittest.main(verbosity=2)
