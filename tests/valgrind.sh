#!/bin/sh
# Runs a program's kernels under Valgrind, whose processor differs from the machine's, with a separate
# cache and with one that the machine has filled: valgrind.sh PROGRAM.
set -u

program=$1
valgrind=$(command -v valgrind) || {
    echo "valgrind.sh: skipped: valgrind is not installed"
    exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0

run() { # WHAT, COMMAND...
    what=$1
    shift
    "$@" > "$work/log" 2>&1 && return
    echo "valgrind.sh: $what: status $?:"
    tail -n 20 "$work/log"
    wrong=1
}

# A signal such as SIGILL, a memory error and a wrong result all give a nonzero status.
QUARRY_CACHE_DIR=$work/own run "with its own cache" "$valgrind" -q --error-exitcode=99 "$program"
QUARRY_CACHE_DIR=$work/shared run "without Valgrind" "$program"
natively=$(find "$work/shared" -name '*.qk' | wc -l)
QUARRY_CACHE_DIR=$work/shared run "with a shared cache" "$valgrind" -q --error-exitcode=99 "$program"
[ "$natively" -gt 0 ] || { echo "valgrind.sh: nothing was kept"; wrong=1; }

[ $wrong = 0 ] || exit 1
echo "valgrind.sh: OK"
