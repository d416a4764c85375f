#!/bin/sh
# Tries Quarry in bare Debian systems, as on a newcomer's first day: try-debian.sh FOLDER SUITE STEP...
# Needs root, debootstrap and a network; FOLDER receives the systems (3 GB), which stay for the next call. The steps:
#   deb     makes the .deb in one system. In another: installs it, runs the README's program, the tutorial's, one in
#           C++20, a Makefile, a CMake and a Meson project, the command and the manual, and removes it
#   wheels  builds with CUDA, nvcc included, where no toolkit is, compiles kernels, and tests what that installs
#   example runs the README's first command
#   tests   runs the README's second command, and lists what it skips
# With 2 processors that others use too: 8 minutes, 12, 6 and 60.
set -eu

[ $# -ge 3 ] || { sed -n '2,9s/^# //p' "$0"; exit 1; }
root=$(realpath "$(dirname "$0")/..")
mkdir -p "$1"
folder=$(realpath "$1") suite=$2
shift 2

system() { # NAME: a bare system with the committed tree in /root/quarry
    [ -e "$folder/$suite.done" ] || {
        debootstrap --variant=minbase "$suite" "$folder/$suite" > "$folder/debootstrap.log"
        cp -L /etc/resolv.conf "$folder/$suite/etc/"
        touch "$folder/$suite.done"
    }
    [ -d "$folder/$1" ] || cp -a "$folder/$suite" "$folder/$1"
    rm -rf "$folder/$1/root/quarry"
    mkdir "$folder/$1/root/quarry"
    git -C "$root" archive HEAD | tar x -C "$folder/$1/root/quarry"
    [ -z "${PIP_CERT-}" ] || cp "$PIP_CERT" "$folder/$1/root/certificates"
}

inside() { # NAME COMMANDS: in /root/quarry of the system, with nothing of this one's environment but a /proc
    echo "try-debian: $1: $2"
    certificates=${PIP_CERT+/root/certificates}
    unshare --mount sh -ec 'mount -t proc proc "$1/proc"
        exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
            ${3:+PIP_CERT="$3"} chroot "$1" sh -exc "cd /root/quarry; $2"' sh "$folder/$1" "$2" "$certificates"
}

deb() {
    system builder
    inside builder 'tools/make-deb.sh /root'
    rm -rf "$folder/user"
    system user
    cp "$folder"/builder/root/quarry_*.deb "$folder/user/root/"
    inside user 'apt-get update -qq
        apt-get install -y -qq /root/quarry_*.deb pkg-config make cmake meson man-db > /dev/null
        sh tools/try-installed.sh /usr
        apt-get remove -y -qq quarry > /dev/null
        ! find / -xdev -name "*quarry*" -not -path "/root/*" -not -path "/var/*" | grep .'
}

wheels() {
    system wheels
    inside wheels 'tools/setup.sh cmake
        [ -d build/wheels ] || meson setup build/wheels -Dcuda=enabled -Dtests=false
        ninja -C build/wheels
        build/wheels/cli/quarry info
        mkdir build/made
        build/wheels/bench/quarry-kernels build/made
        [ "$(find build/made -name "*.cubin" | wc -l)" -gt 40 ]
        sh tests/package.sh . build/wheels lib/$(uname -m)-linux-gnu both true'
}

example() {
    system example
    inside example 'tools/run-example.sh; [ -s hillshade.png ]'
}

tests() {
    system tests
    inside tests 'tools/run-tests.sh; grep -h skipped build/test/meson-logs/testlog.txt | sort -u'
}

for step; do
    case $step in
    deb | wheels | example | tests) $step ;;
    *) echo "try-debian: unknown step $step" && exit 1 ;;
    esac
done
echo "try-debian: OK"
