#!/bin/sh
# Compiles the host's kernels that have vectors of their own for other processors than this one, which selects other
# code: processors.sh TEST-PROGRAM... runs one of the programs, collects the text of each kernel, and only parses it.
# QUARRY_TEST_SAMPLE chooses the program and the texts.
set -eu

case $(uname -m) in
x86_64) processors="x86-64-v2 x86-64-v3 skylake-avx512 icelake-server" ;;
*)
    echo "processors.sh: skipped: this processor is no x86-64"
    exit 77
    ;;
esac
most=8 # texts
QUARRY_TEST_SAMPLE=${QUARRY_TEST_SAMPLE:-1} QUARRY_TEST_SHARE=128 QUARRY_CXXFLAGS=-O0
export QUARRY_TEST_SAMPLE QUARRY_TEST_SHARE QUARRY_CXXFLAGS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/texts"

QUARRY_DEVICE=cpu QUARRY_CACHE_DIR=$work/cache QUARRY_DUMP_DIR=$work/texts
export QUARRY_DEVICE QUARRY_CACHE_DIR QUARRY_DUMP_DIR
shift $((QUARRY_TEST_SAMPLE % $#))
"$1" > "$work/log" 2>&1 || {
    tail -n 20 "$work/log"
    exit 1
}

grep -l "ga_mask_lanes" "$work/texts"/*.cpp > "$work/all.txt"
awk -v seed="$QUARRY_TEST_SAMPLE" 'BEGIN { srand(seed) } { print rand(), $0 }' "$work/all.txt" |
    sort -n | cut -d' ' -f2 | head -n "$most" > "$work/some.txt"
failed=0
for processor in $processors; do
    while read -r text; do
        # shellcheck disable=SC2086
        ${QUARRY_CXX:-c++} -std=c++17 -march="$processor" -fopenmp-simd -fno-exceptions -fno-rtti \
            -w -fsyntax-only "$text" > "$work/errors" 2>&1 && continue
        failed=$((failed + 1))
        echo "processors.sh: $(basename "$text") does not compile for $processor:"
        grep -m 3 error "$work/errors"
    done < "$work/some.txt"
done
echo "processors.sh: $(wc -l < "$work/some.txt") of $(wc -l < "$work/all.txt") texts, $failed failures"
[ -s "$work/some.txt" ] && [ $failed = 0 ]
