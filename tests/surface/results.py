"""What the comparisons of this folder share."""
import sys

import numpy as np


def changed(function):
    """A function that changes its first argument, as one that returns a changed copy."""
    def call(a, *rest, **options):
        a = np.array(a)
        function(a, *rest, **options)
        return a
    return call


def finish(run, results, wrong, least):
    """Prints the summary of a program's run and exits; fewer results than `least` are a failure."""
    print(f"{results} results, {wrong} wrong; exit status {run.returncode}", run.stderr)
    sys.exit(1 if wrong or run.returncode or results < least else 0)
