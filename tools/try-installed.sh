#!/bin/sh
# Builds and runs what the pages show with an installed Quarry, in a new folder: try-installed.sh PREFIX.
# Needs a C and a C++ compiler, pkg-config, make, CMake, Meson and man.
set -eu

root=$(realpath "$(dirname "$0")/..")
prefix=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

block() { # KIND PAGE: its first block of that kind
    python3 "$root/tests/page_blocks.py" "$1" "$root/$2"
}

block c README.md > program.c
cc program.c $(pkg-config --cflags --libs quarry) -o program
./program
rm program

block make docs/install.md > Makefile
make
./program

cat > modern.cpp << 'END'
#include <quarry.hpp>

int main()
{
    const quarry::array x(ga_linspace(GA_FLOAT32, 0, 1, 3));
    ga_print(ga_sum((x + 1) * 2, GA_AXIS(0), .keepdims = true));
    return ga_error() != GA_OK;
}
END
c++ -std=c++20 modern.cpp $(pkg-config --cflags --libs quarry) -o modern
[ "$(./modern)" = '[9.]' ]

block cmake docs/install.md > CMakeLists.txt
cmake -S . -B cmake > /dev/null
cmake --build cmake > /dev/null
cmake/program

block meson docs/install.md > meson.build
meson setup meson > /dev/null
ninja -C meson > /dev/null
meson/program

# The tutorial, as it stands.
python3 "$root/tests/check_blocks.py" --run "$(find "$prefix/lib" -name libquarry.so)" "$root" \
    "$prefix/include/quarry/ops.h" cc

quarry info
[ "$(quarry eval 'x*x' x=3)" = 9 ]
man quarry > /dev/null
man ga_sum > /dev/null
[ -s "$prefix/share/doc/quarry/html/search.html" ]
echo "try-installed: OK"
