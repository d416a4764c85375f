#!/bin/sh
# Configures a build with the CUDA that tools/fetch_cuda.py fetches, without an installed toolkit, and compiles the CUDA
# floor against each version; no GPU takes part: cuda_wheels.sh SOURCE-ROOT BUILD.
# What was fetched stays in BUILD/wheels for the next run.
set -u

source=$(realpath "$1")
kept=$(realpath "$2")/wheels
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$kept"
wrong=0

complain() {
    echo "cuda_wheels.sh: $*"
    wrong=$((wrong + 1))
}

# What object files and libraries call of the runtime.
called_symbols() {
    nm -u "$@" | awk '$2 ~ /^cuda/ { print $2 }' | sort -u
}

# Meson fetches, and every function of the runtime library that is called is in the wheel.
mkdir -p "$work/build"
[ -d "$kept/13.0" ] && cp -rs "$kept/13.0" "$work/build/cuda"
if meson setup "$work/build" "$source" -Dcuda=enabled -Dtoolkit_version=13.0 -Dtests=false -Dexamples=false \
    -Dbench=false -Dcli=false > "$work/log" 2>&1 &&
    ninja -C "$work/build" src/libquarry-cuda.a >> "$work/log" 2>&1; then
    [ -d "$kept/13.0" ] || cp -r "$work/build/cuda" "$kept/13.0"
    called_symbols "$work/build/src/libquarry-cuda.a" > "$work/called"
    nm --defined-only "$work/build/cuda/lib/libcudart_static.a" 2> /dev/null | awk '{ print $NF }' |
        sort -u > "$work/there"
    [ -s "$work/called" ] || complain "the CUDA floor calls nothing"
    missing=$(comm -23 "$work/called" "$work/there")
    [ -z "$missing" ] || complain "13.0 has no $missing"
    [ -s "$work/build/cuda/lib/libnvrtc.so.13" ] || complain "13.0 has no NVRTC"
else
    complain "13.0: $(tail -n 20 "$work/log")"
fi

# The sources take the headers of every version, and what they call is in the runtime library. Before 12.8 the
# driver's functions load code (driver_code.c).
for version in 12.9 12.8 12.6 12.4; do
    python3 "$source/tools/fetch_cuda.py" --version $version "$kept/$version" > "$work/log" 2>&1 || {
        complain "$version: $(cat "$work/log")"
        continue
    }
    mkdir -p "$work/$version"
    for file in "$source"/src/device/cuda/*.c; do
        by_driver=
        case $version in 12.4 | 12.6) by_driver=-DQUARRY_DRIVER_CODE ;; esac
        [ -z "$by_driver" ] && [ "${file##*/}" = driver_code.c ] && continue
        cc -std=gnu11 -c -O1 -Wall -Wextra -Werror -DQUARRY_CUDA $by_driver -D_GNU_SOURCE -DQUARRY_VERSION='""' \
            -I"$work/build/src/floors/cuda" -I"$source/include" -I"$work/build/include" -I"$source/templates/engine" \
            -I"$source/templates/lib" -I"$source/templates/simt" -isystem "$kept/$version/include" "$file" \
            -o "$work/$version/${file##*/}.o" > "$work/log" 2>&1 || complain "$version: $(head -n 5 "$work/log")"
    done
    called_symbols "$work/$version"/*.o > "$work/called"
    nm -D --defined-only "$kept/$version"/lib/libcudart.so.12 | sed 's/.* //; s/@.*//' | sort -u > "$work/there"
    missing=$(comm -23 "$work/called" "$work/there")
    [ -z "$missing" ] || complain "$version has no $missing"
done

[ $wrong = 0 ] && echo "cuda_wheels.sh: OK"
[ $wrong = 0 ]
