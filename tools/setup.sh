#!/bin/sh
# Installs the missing Debian packages that a build needs; on other systems it only checks for them:
# setup.sh [PACKAGE...]; these packages are needed too.
set -eu

packages="build-essential meson ninja-build pkg-config libcmocka-dev libpng-dev python3 python3-venv valgrind $*"
packages="$packages libopenblas0-pthread" # a BLAS for products of matrices

if ! command -v dpkg-query > /dev/null; then
    for program in c++ cc meson ninja pkg-config python3; do
        command -v "$program" > /dev/null || { echo "setup: $program is missing"; exit 1; }
    done
    exit 0
fi

missing=
for package in $packages; do
    state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null || true)
    [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
echo "setup: installing$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086 # the packages are separate words
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing
