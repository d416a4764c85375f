#!/bin/sh
# Reads the manual pages as man and whatis do, and ends at their first warning: man.sh FOLDER PAGE...
set -u

folder=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
wrong=0

complain() {
    echo "man.sh: $*"
    wrong=1
}

count=$(find "$folder" -name 'ga_*.3' | wc -l)
[ "$count" -gt 600 ] || complain "pages are missing: there are $count"
for name in ga_sum ga_cosh_into ga_sort_args GA_AXIS quarry-array quarry-reference; do
    [ -s "$folder/$name.3" ] || complain "$name has no page"
done

# Every name of the reference has a page.
sed -n 's/^### //p' "$(dirname "$0")/../docs/reference.md" | tr -d ' ' | tr ',' '\n' | while read -r name; do
    [ -s "$folder/$name.3" ] || echo "$name"
done > "$work/lost"
[ -s "$work/lost" ] && complain "names have no page: $(head -n 5 "$work/lost")"

# A page of a second name leads to one that is there.
grep -l '^\.so ' "$folder"/*.3 > "$work/second"
grep -h '^\.so ' "$folder"/*.3 | sed 's/.*man3.//' | sort -u | while read -r page; do
    [ -s "$folder/$page" ] || echo "$page"
done > "$work/lost"
[ -s "$work/lost" ] && complain "names lead to pages that are not there: $(head -n 5 "$work/lost")"
find "$folder" -name '*.3' | grep -vxFf "$work/second" > "$work/pages"

check() { # TOOL WHAT ARGUMENT...: nothing may come out that WHAT matches
    tool=$1 what=$2
    shift 2
    if ! command -v "$tool" > /dev/null; then
        echo "man.sh: skipped $tool, which is not installed (Debian: man-db, groff, mandoc)"
        return
    fi
    xargs "$tool" "$@" < "$work/pages" > "$work/out" 2>&1
    grep -E "$what" "$work/out" > "$work/bad" && complain "$tool: $(head -n 5 "$work/bad")"
}

printf '%s\n' "$@" >> "$work/pages"
check lexgrog 'parse failed'
check groff 'warning|error' -man -ww -z -Tutf8 -rLL=200n
check mandoc '(ERROR|UNSUPP):|WARNING: [^m]|WARNING: m[^i]' -Tlint -W warning # a date is missing: builds repeat

[ $wrong = 0 ] && echo "man.sh: OK"
[ $wrong = 0 ]
