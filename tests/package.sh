#!/bin/sh
# Installs the build into a folder and builds programs against it, as docs/install.md says:
# package.sh ROOT BUILD LIBDIR LINKING (shared, static or both) HAS_CUDA (true or false).
set -u

root=$(realpath "$1") build=$(realpath "$2") libdir=$3 linking=$4 has_cuda=$5
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
wrong=0

complain() {
    echo "package.sh: $*"
    wrong=$((wrong + 1))
}

meson install -C "$build" --no-rebuild --skip-subprojects --quiet --destdir "$work/root" > install.log 2>&1 || {
    cat install.log
    exit 1
}
installed=$(dirname "$(find root -name bin -type d)")
mv "$installed" installed # the tree works wherever it stands
PKG_CONFIG_PATH=$work/installed/$libdir/pkgconfig
LD_LIBRARY_PATH=$work/installed/$libdir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export PKG_CONFIG_PATH LD_LIBRARY_PATH

for file in include/quarry.h include/quarry.hpp "$libdir/pkgconfig/quarry.pc" \
    share/man/man1/quarry.1 share/man/man3/ga_sum.3 \
    share/doc/quarry/README.md share/doc/quarry/docs/install.md share/bash-completion/completions/quarry \
    share/zsh/site-functions/_quarry share/fish/vendor_completions.d/quarry.fish bin/quarry; do
    [ -s "installed/$file" ] || complain "$file is not installed"
done
if [ -e installed/tests ] || find installed -name '*cmocka*' -o -name 'test_*' | grep -q .; then
    complain "tests are installed"
fi

python3 "$root/tests/check_links.py" --installed installed/share/doc/quarry > links.log ||
    complain "pages: $(cat links.log)"

# No path of this machine, apart from the prefix that the relocatable file does not need.
grep -nE '(^|[ =])/|\.a( |$)' "$PKG_CONFIG_PATH/quarry.pc" && complain "quarry.pc has paths of this machine"
grep -rn "$build" installed/include "$PKG_CONFIG_PATH" installed/"$libdir"/cmake &&
    complain "files name the build folder"

cat > program.c << 'END'
#include <stdio.h>
#include <quarry.h>

int main(void)
{
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_FLOAT64, 0, 4, 1);
        ga_print(ga_eval("sqrt(x*x + 9)", GA(x)));
        ga_print(ga_matmul(ga_ones(GA_FLOAT64, GA_SHAPE(1, 3)), ga_ones(GA_FLOAT64, GA_SHAPE(3, 1))));
    }
    if (ga_error() != GA_OK)
        fprintf(stderr, "%s\n", ga_error_message());
    return ga_error() != GA_OK;
}
END
cat > program.cpp << 'END'
#include <quarry.hpp>

int main()
{
    return ga_error() != GA_OK;
}
END
printf '[3.         3.16227766 3.60555128 4.24264069]\n[[3.]]\n' > wanted

runs() { # PROGRAM: prints what is wanted
    QUARRY_DEVICE=cpu "$1" > found 2>&1 && cmp -s found wanted && return
    complain "$1: $(cat found)"
}

build_c() { # OUTPUT OPTION...
    output=$1
    shift
    cc -Wall program.c "$@" -o "$output" > link.log 2>&1 && return
    complain "$output: cc $*: $(cat link.log)"
    return 1
}

if [ "$linking" != static ]; then
    # shellcheck disable=SC2046 # the options are separate words
    build_c ./shared $(pkg-config --cflags --libs quarry) && runs ./shared
    c++ -std=c++20 program.cpp $(pkg-config --cflags --libs quarry) -o ./cpp && ./cpp || complain "C++"
    needs=$(ldd installed/"$libdir"/libquarry.so | awk '{ print $1 }' |
        grep -vE '^(linux-vdso|/lib.*/ld-|ld-|libc\.so|libm\.so)')
    [ -z "$needs" ] || complain "libquarry.so needs $needs"
fi
# The commands of pages that compile a program.
cat "$root/README.md" "$root"/docs/*.md | grep '^cc program.c ' > commands
[ "$(wc -l < commands)" -ge 3 ] || complain "the pages have no commands of cc"
while read -r command; do
    case $command in
    *--static*) [ "$linking" = shared ] && continue ;;
    *) [ "$linking" = static ] && continue ;;
    esac
    rm -f program
    sh -c "${command%% && *}" > link.log 2>&1 && runs ./program || complain "$command: $(cat link.log)"
done < commands
rm -f program

# A Makefile.
python3 "$root/tests/page_blocks.py" make "$root/docs/install.md" > Makefile
make CC=cc > make.log 2>&1 && runs ./program || complain "Makefile: $(cat make.log)"

# A Meson project.
if [ "$linking" != static ]; then
    python3 "$root/tests/page_blocks.py" meson "$root/docs/install.md" > meson.build
    if meson setup meson > meson.log 2>&1 && ninja -C meson >> meson.log 2>&1; then
        runs meson/program
    else
        complain "Meson: $(cat meson.log)"
    fi
fi

if [ "$linking" != shared ]; then
    flags=$(pkg-config --static --cflags --libs quarry | sed 's/-lquarry/-l:libquarry.a/')
    # shellcheck disable=SC2086
    build_c ./partly $flags && runs ./partly
    ldd ./partly | grep -q quarry && complain "partly: needs libquarry.so"
    if [ "$has_cuda" = true ]; then
        echo "package.sh: skipped -static: NVIDIA's runtime library does not support it (docs/install.md); the test" \
            "\"linked with -static\" leaves it out"
    else
        # shellcheck disable=SC2086
        build_c ./whole -static $flags && runs ./whole
    fi
fi

if command -v cmake > /dev/null; then
    python3 "$root/tests/page_blocks.py" cmake "$root/docs/install.md" > CMakeLists.txt
    cat >> CMakeLists.txt << 'END'
foreach(kind shared static)
  if(TARGET quarry::${kind})
    add_executable(with_${kind} program.c)
    target_link_libraries(with_${kind} PRIVATE quarry::${kind})
  endif()
endforeach()
END
    if cmake -S . -B cmake -DCMAKE_PREFIX_PATH="$work/installed" > cmake.log 2>&1 &&
        cmake --build cmake >> cmake.log 2>&1; then
        [ "$linking" = static ] || runs cmake/with_shared
        [ "$linking" = shared ] || runs cmake/with_static
        runs cmake/program
    else
        complain "CMake: $(cat cmake.log)"
    fi
    sed -i 's/quarry 0.1 REQ/quarry 9.0 REQ/' CMakeLists.txt
    cmake -S . -B newer -DCMAKE_PREFIX_PATH="$work/installed" > cmake.log 2>&1 && complain "version 9.0 is found"
else
    complain "cmake is missing (tools/run-tests.sh installs it)"
fi

[ $wrong = 0 ] && echo "package.sh: OK"
[ $wrong = 0 ]
