"""Thousands of random calls in one process, compared with NumPy: caches must not mix calls up.

stateful.py LIBRARY [--seed S] [--calls N] [--recipes R] [--first K] [--threads T] [--seconds S]: draws R recipes,
then calls them in random order with random sizes, layouts, values, names and orders of arguments. The seed is printed;
the first wrong answer ends the run with the call that gave it.
"""

import argparse
import faulthandler
import os
import sys
import threading
import time
import traceback
import warnings

try:
    import numpy as np

    from quarry import SMALL, Error, Library, epsilon
    import bins
    import building
    import shapes
    import recipes
    from draws import DISTRIBUTIONS
    from einsums import EINSUMS
    from gathers import GATHERS
    from products import PRODUCTS
    from ranks import RANKS
    from sets import SETS
    from trees import TREES
except ImportError as missing:
    print("skipped: %s (tools/run-tests.sh installs it)" % missing)
    sys.exit(77)

KINDS = (recipes.RECIPES + bins.RECIPES + shapes.RECIPES + building.RECIPES + RANKS + SETS +
         EINSUMS + PRODUCTS + TREES + GATHERS + DISTRIBUTIONS)
HANGS = 300  # seconds without the start of a call: the run ends and prints where each thread is


def same(got, wanted, exact):
    """NumPy's bytes, or within 32 units in the last place of the result's dtype."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return False
    if exact or wanted.dtype.kind in "biu":
        if wanted.dtype.name in SMALL:
            got, wanted = got.astype(np.float32), wanted.astype(np.float32)
        return bool(np.array_equal(got, wanted, equal_nan=wanted.dtype.kind in "fc"))
    eps = epsilon(wanted.dtype.name) if wanted.dtype.name in SMALL else np.finfo(wanted.dtype).eps
    got, wanted = (x.astype(np.float64) if wanted.dtype.name in SMALL else x for x in (got, wanted))
    return bool(np.allclose(got, wanted, rtol=32 * float(eps), atol=32 * float(eps), equal_nan=True))


def first_difference(got, wanted):
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return "%s%s, not %s%s" % (got.dtype, got.shape, wanted.dtype, wanted.shape)
    places = np.argwhere(np.atleast_1d(got != wanted))
    if not len(places):
        return "they differ in NaN"
    at = tuple(int(k) for k in places[0])
    return "%d of %d differ; at %s %r, not %r" % (len(places), wanted.size, at, np.atleast_1d(got)[at],
                                                 np.atleast_1d(wanted)[at])


class Run:
    """One thread's calls. Threads of a run share the recipes' dtypes and formulas, and so the kernels."""

    def __init__(self, library, seed, thread, kinds):
        rng = np.random.default_rng(seed)
        self.recipes = [KINDS[k % len(KINDS)](library, rng) for k in kinds]
        self.rng = np.random.default_rng([seed, thread])
        self.calls = self.results = 0
        self.wrong = None

    def call(self):
        """None, or the error."""
        recipe = self.recipes[int(self.rng.integers(len(self.recipes)))]
        try:
            what, pairs = recipe.call(self.rng)
        except Error as error:
            return "%s of %s, %s: %s" % (type(recipe).__name__, recipe.dtypes, recipe.layouts, error)
        for got, wanted, exact in pairs:
            got, wanted = got.numpy(), np.asarray(wanted)
            self.results += 1
            if not same(got, wanted, exact):
                return "%s: %s" % (what, first_difference(got, wanted))
        return None

    def run(self, calls, end):
        while self.calls < calls and time.monotonic() < end and not self.wrong:
            faulthandler.dump_traceback_later(HANGS, exit=True)
            try:
                self.wrong = self.call()
            except Exception:
                self.wrong = traceback.format_exc()
            self.calls += 1


def run_threads(library, options):
    """The runs of all threads, ended."""
    end = time.monotonic() + options.seconds
    kinds = range(options.first, options.first + options.recipes)
    runs = [Run(library, options.seed, k, kinds) for k in range(options.threads)]
    threads = [threading.Thread(target=run.run, args=(options.calls, end)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    faulthandler.cancel_dump_traceback_later()
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("library")
    given = os.environ.get("QUARRY_TEST_SEED") or os.environ.get("QUARRY_TEST_SAMPLE") or time.time_ns()
    parser.add_argument("--seed", type=int, default=int(given) % 10**9)
    parser.add_argument("--calls", type=int, default=2000, help="of each thread")
    sampled = int(os.environ.get("QUARRY_TEST_SHARE", 1)) > 1  # each recipe compiles some ten kernels
    parser.add_argument("--recipes", type=int, default=24 if sampled else 48)
    parser.add_argument("--first", type=int, default=int(given) % len(KINDS) if sampled else 0,
                        help="the kind of the first recipe, by its number")
    parser.add_argument("--only", help="recipes whose names contain this")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args()
    if options.only:
        KINDS[:] = [recipe for recipe in KINDS if options.only in recipe.__name__]
    warnings.simplefilter("ignore")
    print("--seed %d --first %d --recipes %d" % (options.seed, options.first, options.recipes), flush=True)
    library = Library(options.library)
    start = time.monotonic()
    runs = run_threads(library, options)
    for k, run in enumerate(runs):
        if run.wrong:
            sys.exit("seed %d, thread %d, call %d: %s" % (options.seed, k, run.calls - 1, run.wrong))
    print("%d calls, %d results on %s in %.1f s: all as NumPy's" % (
        sum(run.calls for run in runs), sum(run.results for run in runs), library.device(), time.monotonic() - start))


main()
