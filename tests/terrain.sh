#!/bin/sh
# Compares the output of examples/terrain with NumPy's numbers: terrain.sh TERRAIN SOURCE-ROOT.
set -eu

terrain=$1
root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$terrain" "$root/examples/data/elevation.npy" "$work" > "$work/all.txt"
cat "$work/all.txt"
tail -n +2 "$work/all.txt" > "$work/got.txt"

# Labels, units and counts must agree exactly, numbers with a fraction to 1e-5 (they are float32 sums).
awk '
    function off(a, b) { return a > b ? a - b : b - a }
    NR == FNR { want[FNR] = $0; lines = FNR; next }
    {
        rows = FNR
        n = split(want[FNR], w)
        bad = n != NF
        for (i = 1; i <= NF && !bad; i++)
            bad = $i ~ /\./ && w[i] ~ /\./ ? off($i, w[i]) > 1e-5 * (1 + w[i]) + 1e-4 : $i != w[i]
        if (bad) { print "terrain.sh: got \"" $0 "\", expected \"" want[FNR] "\""; failed = 1 }
    }
    END {
        if (rows != lines) { print "terrain.sh: " rows + 0 " lines, expected " lines; failed = 1 }
        exit failed
    }' "$root/tests/golden/terrain.txt" "$work/got.txt"

# The shaded picture: the header of the array, and the magic number of the PNG.
head -c 128 "$work/hillshade.npy" | grep -a -q "'descr': '<f4'.*'shape': (342, 401)"
head -c 4 "$work/hillshade.png" | grep -a -q PNG
echo "terrain.sh: OK"
