#!/bin/sh
# Builds everything and gathers what tools/check-gpu.sh and bench/compare/run.sh need: prepare-gpu.sh FOLDER.
# The folder can be copied to a machine that has a GPU and a driver but neither Meson nor cmocka.
set -eu

mkdir -p "$1"
target=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
[ -f build/gpu/build.ninja ] || meson setup build/gpu --buildtype=release -Dcuda=enabled
meson compile -C build/gpu
meson compile -C build/gpu quarry-bench-cub

mkdir -p "$target/src" "$target/tests" "$target/examples" "$target/bench" "$target/lib"
find build/gpu/src -maxdepth 1 -name "libquarry.so*" ! -type d -exec cp -P {} "$target/src/" \;
: > "$target/tests/list.txt"
for test in build/gpu/tests/test_*; do
    [ "$test" != build/gpu/tests/test_ranges ] || continue # it needs a profiler of the build's own
    if [ -f "$test" ] && [ -x "$test" ]; then
        cp "$test" "$target/tests/" && strip "$target/tests/$(basename "$test")"
        echo "tests/$(basename "$test")" >> "$target/tests/list.txt"
    fi
done
find build/gpu/examples -maxdepth 1 -type f -executable -exec cp {} "$target/examples/" \;
cp build/gpu/bench/quarry-bench build/gpu/bench/quarry-bench-cub "$target/bench/"

# Libraries of the tests and of the terrain example that the other machine may lack.
ldd "$target"/tests/test_* "$target/examples/terrain" |
    awk '$1 ~ /^lib(cmocka|png)/ && $3 ~ /^\// { print $3 }' | sort -u |
    while read -r library; do cp -L "$library" "$target/lib/"; done
echo "prepared $target: $(wc -l < "$target/tests/list.txt") tests, $(du -sh "$target" | cut -f1)"
