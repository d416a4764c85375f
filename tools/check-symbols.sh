#!/bin/sh
# Checks that a library exports the functions its headers declare and no others:
# check-symbols.sh LIBRARY HEADER...
set -eu

library=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

nm -D --defined-only "$library" | awk '{ print $NF }' | sort -u > "$work/exported"
cat "$@" | tr '\n' ' ' | grep -oE 'GA_API [^;(]*[(;]' | grep -oE 'ga_[a-z0-9_]+[(;]$' | tr -d '(;' |
    sort -u > "$work/declared"

missing=$(comm -13 "$work/exported" "$work/declared")
others=$(comm -23 "$work/exported" "$work/declared")
[ -z "$missing" ] || printf 'declared but not exported:\n%s\n' "$missing"
[ -z "$others" ] || printf 'exported but not declared:\n%s\n' "$others"
[ -z "$missing$others" ] || exit 1
echo "check-symbols: OK, $(wc -l < "$work/exported") functions"
