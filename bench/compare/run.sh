#!/usr/bin/env bash
# Times Quarry beside the machine's limits and other libraries: run.sh [BUILD] [OPTIONS of compare.py].
# BUILD is a Meson build folder or what tools/prepare-gpu.sh made; without one, build/gpu is made.
# QUARRY_DEVICE=cpu compares on the host. Results go to BUILD/compare unless --out names a folder.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=
case "${1--}" in
-*) ;;
*)
    build=$(cd "$1" && pwd)
    shift
    ;;
esac

if [ -z "$build" ]; then
    build=$root/build/gpu
    [ -f "$build/build.ninja" ] || meson setup "$build" "$root" --buildtype=release
    meson compile -C "$build" quarry-bench
fi

# CUB's program is compiled here when the folder has none.
cub=$build/bench/quarry-bench-cub
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
if [ ! -x "$cub" ] && [ "${QUARRY_DEVICE-}" != cpu ] && [ -x "$nvcc" ]; then
    "$nvcc" -O3 -std=c++17 -arch=native -DBENCH_CUDA -D_GNU_SOURCE -I "$root/bench" "$root/bench/compare/cub.cu" \
        "$root/bench/compare/cub_order.cu" "$root/bench/clock.c" "$root/bench/limits.cu" -ldl -o "$cub" || true
fi

export LD_LIBRARY_PATH="$build/lib:$build/src${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
arguments=("$build/bench/quarry-bench" --out "$build/compare")
[ ! -x "$cub" ] || arguments+=(--cub "$cub")
exec python3 "$root/bench/compare/compare.py" "${arguments[@]}" "$@"
