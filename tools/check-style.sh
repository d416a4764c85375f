#!/bin/sh
# Checks the style rules that a program can check: check-style.sh [--fix].
# With --fix it runs clang-format over the files first.
set -u
cd "$(dirname "$0")/.."
complaints=$(mktemp)
trap 'rm -f "$complaints"' EXIT

complain() { # RULE, offending lines on standard input
    lines=$(cat)
    [ -z "$lines" ] || printf '%s:\n%s\n' "$1" "$lines" >> "$complaints"
}

c_files=$(find include src tests examples bench cli -name '*.[ch]' -o -name '*.cu' | grep -v '^tests/golden/' | sort)
tables=$(find include src -name '*.def' | sort)
templates=$(find templates -name '*.tmpl' -o -name '*.cuda' -o -name '*.host' | sort)
scripts=$(find tools tests bench examples -name '*.py' -o -name '*.sh' | sort)

formatter=
for name in clang-format-14 clang-format build/python/bin/clang-format; do
    if [ -z "$formatter" ] && "$name" --version 2>/dev/null | grep -q 'version 14\.'; then
        formatter=$name
    fi
done
if [ "${1-}" = --fix ]; then
    [ -n "$formatter" ] || { echo "check-style: clang-format 14 is needed to fix"; exit 1; }
    "$formatter" -i $c_files
fi

awk 'length > 100 { print FILENAME ":" FNR ": " length " columns" }' $c_files $tables $templates |
    complain "more than 100 columns"
grep -nE '^.{121,}' $scripts | complain "more than 120 columns in a script"

wc -l $(echo "$c_files" | grep -E '^(src|include|cli)/') $tables $templates |
    awk '$2 != "total" && $1 > 500 { print $2 ": " $1 " lines" }' |
    complain "more than 500 lines in a file"

for file in $c_files $tables $templates; do
    head -n 1 "$file" | grep -qE '^(/\*|//)' || echo "$file"
done | complain "no first comment that says the file's job"

grep -nE '\b(TODO|FIXME|XXX)\b' $c_files $tables $templates $scripts meson.build |
    grep -v '^tools/check-style.sh:' | complain "unfinished"

grep -nE '^[[:space:]]*#include[[:space:]]*"[^"]*\.\./' $c_files | complain 'an include with "../"'

grep -rhoE 'GA__FORMULA_ID\([0-9]+\)' src | sort | uniq -d | complain "an id of two formulas"
grep -rnE '\.id = \{' src | complain "an id without a family"

grep -nE '\bcase GA_(BOOL|U?INT(8|16|32|64)|B?FLOAT(16|32|64)|COMPLEX(64|128))\b' \
    $(echo "$c_files" | grep '^src/' | grep -v '^src/model/dtype\.c$') |
    complain "a switch on dtype outside src/model/dtype.c"

grep -nE 'getenv *\(|\benviron\b' $(echo "$c_files" | grep -E '^(src|cli)/' | grep -v '^src/base/os/environment\.') |
    grep -v '^cli/.*secure_getenv("TMPDIR")' |
    complain "the environment is read by base/os/environment.h alone"

python3 tools/floors.py --check src | complain "folders of src/"

grep -nE '[[:space:]]+$' $c_files $tables $templates $scripts | complain "trailing blanks"

if [ -n "$formatter" ]; then
    "$formatter" --dry-run --Werror $c_files 2>&1 | grep ': error: ' | cut -d : -f 1 | sort -u |
        complain "not as clang-format writes it (tools/check-style.sh --fix)"
else
    echo "check-style: skipped clang-format: version 14 is not installed (tools/run-tests.sh installs it)"
fi

cat "$complaints"
[ ! -s "$complaints" ] || exit 1
echo "check-style: OK"
