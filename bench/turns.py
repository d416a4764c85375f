#!/usr/bin/env python3
"""Times the cases of two builds of quarry-bench in turns, so that the load of others affects both alike.

turns.py OLD/bench/quarry-bench NEW/bench/quarry-bench [--cases NAME,...] [--n N] [--rounds R] [--runs K]
    [--restarts S]
starts both programs for each case that they have in common and asks them for the least time of K runs, R times each.
It prints the medians, and the median of the ratios of neighbours. Where the arrays lie changes a time on a host by some
per cent; with --restarts S both programs start S times for each case, the median counts all, and the last columns are
the least and the largest median of one start. The builds may have other interfaces. QUARRY_DEVICE chooses the device.
Cases that time calls, whose names begin with "call: ", are left out.
"""
import argparse
import itertools
import random
import statistics
import subprocess
import sys

WARM_UP = 3


class Side:
    """A program that has the arrays of one case."""

    def __init__(self, program, case, more):
        self.case = case
        # A comma separates names: the longest part of the case's name finds it among others.
        part = max(case.split(','), key=len)
        self.process = subprocess.Popen([program, '--turns', '--cases', part, *more], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        while (name := self.process.stdout.readline()) and name.rstrip('\n') != case:
            self.ask(0)
        if not name:
            raise SystemExit(f'turns.py: {program} did not start {case}')

    def ask(self, runs):
        self.process.stdin.write(f'{runs}\n')
        self.process.stdin.flush()

    def time_us(self, runs):
        self.ask(runs)
        answer = self.process.stdout.readline()
        if not answer or float(answer) < 0:
            raise SystemExit(f'turns.py: {self.process.args[0]} failed: {self.case}')
        return float(answer)

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def names_of(program):
    done = subprocess.run([program, '--list'], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


def time_case(programs, case, options):
    more = ['--n', options.n] if options.n else []
    sides = [Side(program, case, more) for program in programs]
    times = ([], [])
    for _ in range(WARM_UP):
        for side in sides:
            side.time_us(1)
    for _ in range(options.rounds):
        for k in random.sample((0, 1), 2):
            times[k].append(sides[k].time_us(options.runs))
    for side in sides:
        side.end()
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('old')
    parser.add_argument('new')
    parser.add_argument('--cases', help='only cases whose name contains one of these, which commas separate')
    parser.add_argument('--n', help='elements, or their logarithm')
    parser.add_argument('--rounds', type=int, default=30)
    parser.add_argument('--runs', type=int, default=1, help='runs whose least time counts as one')
    parser.add_argument('--restarts', type=int, default=1, help='how often both programs start for a case')
    options = parser.parse_args()
    parts = options.cases.split(',') if options.cases else ['']
    known = set(names_of(options.new))
    cases = [case for case in names_of(options.old) if case in known and not case.startswith('call: ') and
             any(part in case for part in parts)]
    if not cases:
        sys.exit('turns.py: the programs have no such case in common')
    print(f'{"case":40} {"old us":>12} {"new us":>12} {"ratio":>7} {"least":>7} {"largest":>7}')
    for case in cases:
        starts = [time_case((options.old, options.new), case, options) for _ in range(options.restarts)]
        old, new = ([us for start in starts for us in start[side]] for side in (0, 1))
        ratios = [[b / a for a, b in zip(*start)] for start in starts]
        ratio = statistics.median(itertools.chain(*ratios))
        medians = [statistics.median(start) for start in ratios]
        print(f'{case:40} {statistics.median(old):12.2f} {statistics.median(new):12.2f} {ratio:7.3f} '
              f'{min(medians):7.3f} {max(medians):7.3f}', flush=True)


if __name__ == '__main__':
    main()
