#!/bin/sh
# Sets the machine up, builds Quarry and runs the terrain example: run-example.sh [DIRECTORY].
# hillshade.npy and hillshade.png go to DIRECTORY (default: the current one).
set -eu

output=$(cd "${1:-.}" && pwd)
cd "$(dirname "$0")/.."
sh tools/setup.sh

[ -f build/example/build.ninja ] ||
    meson setup build/example --buildtype=release -Dtests=false -Dbench=false
meson compile -C build/example
build/example/examples/terrain examples/data/elevation.npy "$output"
echo "The picture is $output/hillshade.png"
