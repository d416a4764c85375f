#!/bin/sh
# Builds a Debian package of the library, its headers, the command and the pages: make-deb.sh [FOLDER].
# The package goes to FOLDER (default: the current one). It has the CUDA backend if a toolkit is installed.
set -eu

output=$(cd "${1:-.}" && pwd)
cd "$(dirname "$0")/.."
sh tools/setup.sh dpkg-dev python3-sphinx python3-myst-parser python3-sphinx-rtd-theme

[ -f build/deb/build.ninja ] ||
    meson setup build/deb --prefix=/usr --buildtype=release --wrap-mode=nodownload -Dtests=false -Dexamples=false \
        -Dbench=false -Dsite=auto
meson compile -C build/deb
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/debian/quarry
mkdir -p "$root/DEBIAN"
meson install -C build/deb --no-rebuild --skip-subprojects --quiet --destdir "$root"

library=$(find "$root/usr/lib" -name 'libquarry.so.*.*' -type f)
version=${library##*.so.}
strip --strip-unneeded "$library" "$root/usr/bin/quarry"
find "$root/usr/share/man" -type f -name '*.[0-9]' -exec gzip -9n {} +
mv "$root/usr/share/doc/quarry/LICENSE" "$root/usr/share/doc/quarry/copyright"
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
find "$root" -type d -exec chmod 755 {} +

# What the programs of the package need, as dpkg-shlibdeps reads it from them.
printf 'Source: quarry\n\nPackage: quarry\nArchitecture: any\n' > "$work/debian/control"
needs=$(cd "$work" && dpkg-shlibdeps -O -l"$(dirname "$library")" -xquarry "$library" "$root/usr/bin/quarry" |
    sed 's/^shlibs:Depends=//')

cat > "$root/DEBIAN/control" << END
Package: quarry
Version: $version
Architecture: $(dpkg --print-architecture)
Section: libdevel
Priority: optional
Maintainer: Quarry <quarry@localhost>
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: $needs
Recommends: g++ | clang, libc6-dev, libopenblas0-pthread | libopenblas0
Suggests: pkg-config, cmake
Description: NumPy's arrays for C, on GPUs and processors
 Slices and masks, formulas, reductions, scans, sorts, sets, histograms,
 random numbers, products and .npy files, with NumPy's names and results.
 They run on an NVIDIA GPU, or on the processor if there is none, where the
 C++ compiler makes the kernels.
END
echo "libquarry $(echo "$version" | cut -d. -f1) quarry (>= $version)" > "$root/DEBIAN/shlibs"
echo 'activate-noawait ldconfig' > "$root/DEBIAN/triggers"
(cd "$root" && find usr -type f -exec md5sum {} + > DEBIAN/md5sums)

dpkg-deb --root-owner-group --build "$root" "$output"
