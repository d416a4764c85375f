#!/bin/sh
# Checks that a shared library exports only names that start with ga_: check-symbols.sh LIBRARY.
set -eu

exported=$(nm -D --defined-only "$1" | awk '{ print $NF }')
others=$(printf '%s\n' "$exported" | grep -vE '^ga_[a-z]' || true)
internal=$(printf '%s\n' "$exported" | grep -E '^ga__' || true)

if [ -n "$others$internal" ]; then
    printf 'check-symbols: %s exports more than the public functions:\n%s\n' "$1" "$others$internal"
    exit 1
fi
echo "check-symbols: OK, $(printf '%s\n' "$exported" | wc -l) functions"
