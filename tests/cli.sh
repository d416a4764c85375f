#!/bin/sh
# Runs the quarry command end to end on small files, right and wrong: cli.sh QUARRY SOURCE-ROOT.
set -u

quarry=$(realpath "$1")
root=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir cache tmp
QUARRY_CACHE_DIR=$work/cache
TMPDIR=$work/tmp
export QUARRY_CACHE_DIR TMPDIR
if [ -n "${QUARRY_TEST_REDUCED-}" ]; then # the kernels are not what it checks
    QUARRY_CXXFLAGS=-O1
    export QUARRY_CXXFLAGS
fi
wrong=0

complain() {
    echo "cli.sh: $*"
    wrong=$((wrong + 1))
}

run() { # ARGUMENT...: runs quarry; its output is in out, its complaints in err, its status in $status
    "$quarry" "$@" > out 2> err
    status=$?
}

gives() { # TEXT ARGUMENT...
    text=$1
    shift
    run "$@"
    [ $status = 0 ] && [ "$(cat out)" = "$text" ] && [ ! -s err ] && return
    complain "quarry $*: status $status: $(cat out err); expected: $text"
}

says() { # PATTERN ARGUMENT...
    pattern=$1
    shift
    run "$@"
    [ $status = 0 ] && grep -q -e "$pattern" out && [ ! -s err ] && return
    complain "quarry $*: status $status: $(cat out err); expected what matches: $pattern"
}

fails() { # PATTERN ARGUMENT...: status 2, a message, no output, no file r.npy, nothing temporary
    pattern=$1
    shift
    run "$@"
    [ $status = 2 ] || complain "quarry $*: status $status, not 2"
    head -n 1 err | grep -q '^quarry: ' || complain "quarry $*: says $(cat err)"
    grep -q -e "$pattern" err || complain "quarry $*: says $(cat err); expected what matches: $pattern"
    [ ! -s out ] || complain "quarry $*: prints $(cat out)"
    [ ! -e r.npy ] || complain "quarry $*: left r.npy"
    nothing_left "quarry $*"
}

nothing_left() { # WHAT
    left=$(find . -name '.quarry-*' -o -path './tmp/*')
    [ -z "$left" ] || complain "$1: left $left"
}

python3 - << 'END'
import struct

def save(name, descr, shape, code, numbers):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head = head.ljust(117) + '\n'
    data = struct.pack('<%d%s' % (len(numbers), code), *numbers)
    open(name, 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode() + data)

save('x.npy', '<f8', '(2, 3)', 'd', [3, 0, 1, -1, 2, 8])
save('y.npy', '<f4', '(3,)', 'f', [4, 1, 0])
save('i.npy', '<i4', '(4,)', 'i', [1, 2, 3, -4])
save('e.npy', '<f8', '(0,)', 'd', [])
save('c.npy', '<c16', '(3,)', 'd', [1, 1, 3, -11 / 3, float('nan'), 0])
save('2.5', '<i4', '()', 'i', [7])
save('big.npy', '<f8', '(2000, 1000)', 'd', [1.0] * 2000000)
save('text.npy', '<f8', '(50, 1000)', 'd', [1.0] * 50000)
whole = open('x.npy', 'rb').read()
open('short.npy', 'wb').write(whole[:-1])
open('long.npy', 'wb').write(whole + b'!')
open('magic.npy', 'wb').write(b'NUMPY' + whole)
open('head.npy', 'wb').write(whole[:40])
open('descr.npy', 'wb').write(whole.replace(b'<f8', b'<M8'))
open('none.npy', 'wb').close()
END

# Values. NumPy's output is given here as text.
gives '5.0' eval 'sqrt(x*x + y*y)' x=3.0 y=4
gives '[[5.         1.         1.        ]
 [4.12310563 2.23606798 8.        ]]' eval 'sqrt(x*x + y*y)' x=x.npy y=y.npy
gives '13.0' eval 'sum(x)' x=x.npy
gives '[4. 9.]' eval 'sum(x, axis=1)' x=x.npy
gives '[ 2  4  6 -8]' eval 'a*i' a=2 i=i.npy
gives '[  2.5   5.    7.5 -10. ]' eval 'a*i' i=i.npy a=2.5
gives '[  250.   500.   750. -1000.]' eval 'i*a' i=i.npy a=2.5e2
gives '[32 33 34 27]' eval 'i + a' i=i.npy a=0x1f
gives '-9223372036854775808' eval n n=-9223372036854775808
gives '18446744073709551615' eval n n=18446744073709551615
gives '[]' eval 'e + 1' e=e.npy
gives '8' eval 'n + 1' n=./2.5
gives '3.5' eval 'n + 1' n=2.5
gives '[-1 -2 -3  4]' eval -- '-i' i=i.npy
gives '[False False False  True]' eval 'i < 0' i=i.npy --device cpu
gives '[ 2  4  6 -8]' eval 'i + j' i=i.npy j=i.npy
gives '3' eval '1 + 2'

# Other files, and how results look.
printf 'p,q\n1,2.5\n# a comment\n3,4\n' > t.csv
gives '[[2. 5.]
 [6. 8.]]' eval 'x*2' x=t.csv
gives '' eval 'x*2' x=t.csv -o r.csv
[ "$(cat r.csv)" = "$(printf '2,5\n6,8')" ] || complain "eval -o r.csv writes $(cat r.csv)"
rm -f r.csv
gives '' eval 'i*i' i=i.npy -o r.csv --dtype uint8
[ "$(tr '\n' ' ' < r.csv)" = '1 4 9 16 ' ] || complain "eval -o r.csv writes $(cat r.csv)"
rm -f r.csv
[ "$("$quarry" eval 'i + 1' i=i.npy -o - | "$quarry" eval 'sum(y)' y=-)" = 6 ] || complain "a pipe of .npy files"
[ "$("$quarry" eval 'sum(t, axis=0)' t=- < t.csv)" = '[4.  6.5]' ] || complain "a table on standard input"
fails 'standard input:2: column 2: expected float64, found "four"' eval x x=- << 'END'
1,2
3,four
END
fails 'standard input: no numbers' eval x x=- < /dev/null
printf '2\n' > one.csv
printf '# the root\nsqrt(x)\n' > f.txt
gives '[2. 1. 0.]' eval -f f.txt x=y.npy --precision 3
gives '[1.414]' eval -f f.txt x=one.csv -p 3
gives '0.722' eval 'mean(x)/3' x=x.npy -p 3
gives '2.' eval 'mean(x)' x=x.npy -p 0
gives '13.' eval 'sum(x)' x=x.npy -p 4
gives '1.+0.333j' eval '(3 + 1j)/3' -p 3
gives '13' eval 'sum(int32(x))' x=x.npy -p 1
gives '' eval 'x/3' x=one.csv -p 3 -o r.csv
[ "$(cat r.csv)" = 0.667 ] || complain "eval -p 3 -o r.csv writes $(cat r.csv)"
rm -f r.csv
fails '.npy file has no digits: leave out --precision' eval x x=x.npy -p 3 -o r.npy
fails '.npy file has no digits' eval x x=x.npy -p 3 -e -o r.npy
fails '.npy file has no digits' eval x x=x.npy -p 3 -o -
fails 'a plan has no digits' eval x x=x.npy -p 3 -e
printf 't = x -\n    mean(\n  x)\n\n# a statement a line\nu = t * 2;\nu\n  + 1\n' > f.txt
printf '0,2\n' > two.csv
gives '[[-1.  3.]]' eval -f f.txt x=two.csv
printf 'x\000 + 1\n' > f.txt
fails 'f.txt: not a text' eval -f f.txt x=y.npy
gives '[1. 2. 3. 4.]' eval 'abs(i)' i=i.npy -t float16
printf '1,2\n3\n' > bad.csv
fails 'bad.csv:2: 1 columns, expected 2' eval x x=bad.csv
printf '1,2\n3,four\n' > bad.csv
fails 'bad.csv:2: column 2: expected float64, found "four"' eval x x=bad.csv
printf '1,2,\n' > bad.csv
fails 'bad.csv:1: column 3: expected float64, found ""' eval x x=bad.csv
printf 'p,q\n1, \n' > bad.csv
fails 'bad.csv:2: column 2: expected float64, found ""' eval x x=bad.csv
printf '1,2\0003\n' > bad.csv
fails 'bad.csv:1: not a text' eval x x=bad.csv
mkdir folder.csv
fails 'folder.csv: Is a directory' eval x x=folder.csv
printf '\357\273\2771,2\r\n3,4\r\n' > marked.csv
gives '[[1. 2.]
 [3. 4.]]' eval x x=marked.csv
printf '# measured\n\np,q\n# twice\n1,2\n' > named.csv
gives '[[1. 2.]]' eval x x=named.csv
gives '' eval 'x/0.0 - x/0.0' x=i.npy -o r.csv
[ "$(tr '\n' ' ' < r.csv)" = 'nan nan nan nan ' ] || complain "eval -o r.csv writes $(cat r.csv)"
rm -f r.csv
fails 'does not use y' eval x x=x.npy y=2
fails 'does not use sum' eval 'sum(x)' x=x.npy sum=2
fails 'does not use T' eval 'x.T' x=x.npy T=2
fails 'does not use axis' eval 'sum(x, axis = 0)' x=x.npy axis=2
gives '[False  True False]' eval 'axis==y' axis=1 y=y.npy
fails 'FILE.npy, FILE.csv or -' eval x x=x.npy -o r.txt
fails '"float31"' eval x x=x.npy -t float31
fails '\-\-precision' eval x x=x.npy -p many
fails 'No such file' eval -f nothing.txt x=x.npy
fails 'up to 2 dimensions' eval 'complex64(x)' x=x.npy -o r.csv
rm -f r.csv
says 'x.npy: float64 (2, 3), 48 B' show x.npy
says 'min -1  max 8  mean 2.16667  NaN 0' show x.npy
says 'min -4  max 3  mean 0.5$' show i.npy
says '"dtype": "int32", "shape": \[4\], "bytes": 16, "min": -4, "max": 3, "mean": 0.5, "nan": 0}' show --json i.npy
says 'e.npy: float64 (0,), 0 B' show e.npy
printf '%s\n' -inf,-1,nan 0,1,inf > wide.csv
says 'min -inf  max inf  mean nan  NaN 1' show wide.csv
says '^  |? ?|$' show wide.csv
says '^  |+@?|$' show wide.csv
says '"min": "-Infinity", "max": "Infinity", "mean": "NaN", "nan": 1}' show -j wide.csv
printf '1,inf\n' > high.csv
says '"min": 1, "max": "Infinity", "mean": "Infinity", "nan": 0}' show -j high.csv
printf 'nan,nan\n' > lost.csv
says '"min": null, "max": null, "mean": null, "nan": 2}' show -j lost.csv
says 'min nan  max nan  mean nan  NaN 2$' show lost.csv
says '"min": -1, "max": 8, "mean": 2.1666666666666665, "nan": 0}' show -j x.npy
says '"min": -1, "max": 8, "mean": 2.17, "nan": 0}' show -j x.npy -p 3
gives 'c.npy: complex128 (3,), 48 B
  mean 2-1.33333j  NaN 1' show c.npy
says '"bytes": 48, "mean": \[2, -1.33\], "nan": 1}' show --json c.npy -p 3
gives '' eval 'complex64(c[:1]) + float32(1e38)*10j' c=c.npy -o w.npy
gives 'w.npy: complex64 (1,), 8 B
  mean 1+infj  NaN 0' show w.npy
says '"mean": \[1, "Infinity"\], "nan": 0}' show --json w.npy
gives '' eval 'c[-1:]' c=c.npy -o w.npy
says '  mean nan  NaN 1$' show w.npy
says '"bytes": 16, "mean": null, "nan": 1}' show -j w.npy
gives '' eval 'n + uint64(i)*0' n=18446744073709551615 i=i.npy -o n.npy
says 'min 18446744073709551615  max 18446744073709551615' show n.npy
says '"min": 18446744073709551615, "max"' show --json n.npy
rm -f n.npy

# JSON: one line, which Python reads; numbers keep their digits.
gives '{"dtype": "float64", "shape": [2, 3], "value": [[3, 0, 1], [-1, 2, 8]]}' eval --json x x=x.npy
gives '{"dtype": "float64", "shape": [], "value": 0.1}' eval -j x x=0.1
gives '{"dtype": "float64", "shape": [], "value": 0.30000000000000004}' eval -j 'x + y' x=0.1 y=0.2
gives '{"dtype": "float64", "shape": [], "value": 0.3}' eval -j -p 3 'x + y' x=0.1 y=0.2
gives '{"dtype": "float32", "shape": [3], "value": [2.1, 0.6, 0.1]}' eval -j 'y/2 + float32(0.1)' y=y.npy
gives '{"dtype": "bool", "shape": [4], "value": [false, false, false, true]}' eval -j 'i < 0' i=i.npy
gives '{"dtype": "uint64", "shape": [], "value": 18446744073709551615}' eval -j n n=18446744073709551615
gives '{"dtype": "float64", "shape": [0], "value": []}' eval -j 'e + 1' e=e.npy
gives '{"dtype": "float64", "shape": [0, 1], "value": []}' eval -j 'e[:, None]' e=e.npy
gives '{"dtype": "float64", "shape": [1, 0], "value": [[]]}' eval -j 'e[None]' e=e.npy
gives '{"dtype": "float64", "shape": [2, 3], "value": [[null, 0, 1], [-1, 2, 8]]}' \
    eval -j 'where(x == 3, x/0.0, x)' x=x.npy
gives '{"dtype": "complex128", "shape": [2], "value": [[1, 2], [3, 2]]}' eval -j 'x[0, ::2][::-1] + 2j' x=x.npy
fails 'leave out --output' eval -j x x=x.npy -o r.npy
fails 'leave out --explain' eval -j x x=x.npy -e
"$quarry" info --json > out 2> err && [ ! -s err ] && [ "$(wc -l < out)" = 1 ] && python3 - out << 'END' ||
import json
import sys

found = json.load(open(sys.argv[1]))
names = [device['name'] for device in found['devices']]
assert names[-1] == 'cpu' and found['in_use'] in names, names
assert all(device['memory'] >= device['free'] > 0 for device in found['devices'])
assert found['cpu_kernels'] and found['cache']['kernels'] > 0 and found['cache']['bytes'] > 0
assert isinstance(found['cuda_kernels'], str) or len(found['cuda_kernels']['problem']) > 20
END
    complain "info --json: $(cat out err)"
QUARRY_CACHE_DIR='' says '"cache": null}' info -j
QUARRY_DEVICE=nosuch says '"in_use": {"problem": ".*nosuch' info --json
says '  | -@|' show x.npy
"$quarry" show - < i.npy | grep -q '^-: int32 (4,), 16 B' || complain "show -"
fails 'no file is given' show
fails 'none.npy' show none.npy

# Files, and the plan.
gives '' eval 'x + y' x=x.npy y=y.npy -o r.npy
gives '[[7. 1. 1.]
 [3. 3. 8.]]' eval r r=r.npy
gives '' eval 'x * 0' --output=r.npy x=x.npy
gives '0.0' eval 'max(abs(r))' r=r.npy
rm -f r.npy
says '1 kernel' eval 'sum(x*y)' x=x.npy y=y.npy --explain
says 'moves' eval 'sum(x*y)' x=x.npy y=y.npy -e -o r.npy
gives '10.0' eval r r=r.npy
rm -f r.npy
python=$root/build/python/bin/python # which tools/run-tests.sh makes
[ -x "$python" ] || python=python3
if "$python" -c 'import numpy' 2> /dev/null; then
    run eval 'x - y' x=x.npy y=y.npy -o n.npy
    "$python" -c "import numpy as n; assert (n.load('n.npy') == n.load('x.npy') - n.load('y.npy')).all()" ||
        complain "NumPy does not read n.npy as it should"
else
    echo "cli.sh: skipped reading a result with NumPy, which is not installed (tools/run-tests.sh installs it)"
fi

# The lines of the pages and of the manual. Other lines for the shell install things or take long.
cp big.npy huge.npy
cp x.npy a.npy
cp x.npy b.npy
cat "$root"/README.md "$root"/docs/*.md | grep -E '^quarry (eval|info|show|cache)( |$)' > lines
[ "$(wc -l < lines)" -ge 4 ] || complain "the pages have no lines of quarry eval and quarry info"
sed -n '/^.SH EXAMPLES/,$ s/\\//gp' "$root/docs/quarry.1" | grep '^quarry ' >> lines
[ "$(wc -l < lines)" -ge 9 ] || complain "quarry.1 has no examples"
while read -r line; do
    (quarry() { "$quarry" "$@"; } && eval "$line") > out 2> err && [ ! -s err ] ||
        complain "$line: $(cat out err)"
done < lines
rm -f r.npy huge.npy a.npy b.npy

# Chunks: small ones give the same result as the whole.
for chunk in 24 48 1K 1M; do
    gives '[[5.         1.         1.        ]
 [4.12310563 2.23606798 8.        ]]' eval 'sqrt(x*x + y*y)' x=x.npy y=y.npy --chunk $chunk
    gives '13.0' eval 'sum(x)' x=x.npy --chunk=$chunk
    gives '5' eval 'argmax(x)' x=x.npy -c $chunk
    gives '' eval 'x - mean(x, axis=0)' x=x.npy -c $chunk -o r.npy
    gives '[[ 2.  -1.  -3.5]
 [-2.   1.   3.5]]' eval r r=r.npy
done
rm -f r.npy
gives '1999999.0' eval 'sum(a*big) - 1' a=1 big=big.npy --chunk 100K
says 'sweep 2: kernel 2 in .* chunks' eval 'big - mean(big)' big=big.npy --chunk 1M --explain
says 'files: 48000000 bytes' eval 'big - mean(big)' big=big.npy --chunk 1M --explain

# Bad input.
cp x.npy before.npy
fails 'takes bytes such as' eval x x=x.npy --chunk 0
fails 'takes bytes such as' eval x x=x.npy --chunk 12Q
fails 'takes bytes such as' eval x x=x.npy --chunk -1
fails 'takes bytes such as' eval x x=x.npy --chunk 9999999999G
fails 'one row takes 24 bytes' eval 'sum(x, axis=0)' x=x.npy --chunk 20 -o r.npy
fails 'broadcast' eval 'x + i' x=x.npy i=i.npy -o r.npy
fails 'no argument is named q' eval 'x + q' x=x.npy -o r.npy
fails 'no function named nosuch' eval 'nosuch(x)' x=x.npy -o r.npy
fails 'hypot' eval 'hypot(x)' x=x.npy -o r.npy
fails 'before the end' eval '(x + 1' x=x.npy -o r.npy
fails '^    x +' eval 'x + ' x=x.npy -o r.npy
fails 'axis' eval 'sum(x, axis=2)' x=x.npy -o r.npy
fails 'division by the integer 0' eval 'i // 0' i=i.npy -o r.npy
fails 'float64' eval '~x' x=x.npy -o r.npy
fails 'no/such' eval 'x' x=x.npy -o no/such/r.npy
fails 'nosuch.npy: No such file' eval x x=nosuch.npy -o r.npy
mkdir d.npy
fails 'directory' eval x x=x.npy -o d.npy
fails 'directory' eval x x=cache -o r.npy
for bad in short long magic head descr none; do
    fails "$bad.npy" eval x x=$bad.npy -o r.npy
done
fails 'no device "cud"' eval x x=x.npy -d cud -o r.npy
fails 'output.*input' eval 'x + 1' x=x.npy -o x.npy
fails 'output.*input' eval 'x + 1' x=x.npy -o ././x.npy
ln -s x.npy link.npy
fails 'output.*input' eval 'x + 1' x=x.npy -o link.npy
fails 'output.*input' eval 'x + 1' x=link.npy -o x.npy
cmp -s x.npy before.npy || complain "x.npy has changed"
fails 'given twice' eval 'x + 1' x=1 x=2
fails 'is not a name' eval 'x + 1' 2x=1
fails 'does not fit' eval n n=18446744073709551616
fails 'does not fit' eval n n=-9223372036854775809
fails 'is not name=file.npy' eval x x.npy
fails 'is not name=file.npy' eval x x=
fails 'is not name=file.npy' eval x =x.npy
fails '1e: No such file' eval n n=1e
fails '0x: No such file' eval n n=0x
fails 'inf: No such file' eval n n=inf
nested=$(printf '%5000s' '' | tr ' ' '(')
fails 'nest\|deep' eval "$nested" -o r.npy
QUARRY_CXX=/nonexistent/c++ fails 'install one or set QUARRY_CXX' eval 'x * 3.75 - x' x=x.npy -o r.npy -d cpu

# An existing result stays if a later run fails.
run eval 'x + 1' x=x.npy -o kept.npy
cp kept.npy kept-before.npy
run eval 'x + i' x=x.npy i=i.npy -o kept.npy
{ [ $status = 2 ] && cmp -s kept.npy kept-before.npy; } || complain "an error changed kept.npy"

# An output path that is a link replaces the link's target, and keeps its mode.
mkdir real
cp kept.npy real/target.npy
chmod 640 real/target.npy
ln -s real/target.npy to.npy
gives '' eval 'x * 2' x=x.npy -o to.npy
[ -L to.npy ] || complain "the link to.npy is a file now"
[ "$(stat -c %a real/target.npy)" = 640 ] || complain "real/target.npy has mode $(stat -c %a real/target.npy)"
gives '26.0' eval 'sum(t)' t=real/target.npy

# So does a .csv file, which is written whole or not at all.
gives '' eval 'x * 2' x=text.npy -o r.csv
sha256sum r.csv > whole.sum
( # a subshell, in which files grow to 64 KiB
    ulimit -f 128
    wrong=0
    fails 'r.csv: File too large' eval 'x * 2' x=text.npy -o r.csv
    fails 'n.csv: File too large' eval 'x * 2' x=text.npy -o n.csv
    [ $wrong = 0 ]
) || complain "a .csv file that does not fit"
sha256sum --status -c whole.sum || complain "an error changed r.csv"
[ ! -e n.csv ] || complain "an error left n.csv"
fails 'no/such/r.csv: No such file' eval 'x * 2' x=x.npy -o no/such/r.csv
mkdir d.csv
fails 'd.csv: Is a directory' eval 'x * 2' x=x.npy -o d.csv
chmod 640 r.csv
ln -s r.csv to.csv
gives '' eval 'x * 2' x=x.npy -o to.csv
{ [ -L to.csv ] && [ "$(stat -c %a r.csv)" = 640 ]; } || complain "to.csv is a file now, or r.csv has another mode"
[ "$(head -n 1 r.csv)" = 6,0,2 ] || complain "to.csv leads to $(head -n 1 r.csv)"
ln -s new.csv to-new.csv
(umask 027 && gives '' eval 'x * 2' x=x.npy -o to-new.csv)
[ "$(stat -c %a new.csv)" = 640 ] || complain "new.csv has mode $(stat -c %a new.csv)"
rm -f r.csv

# Usage.
fails 'no expression' eval
fails 'unknown option --foo' eval x --foo
fails 'unknown option -x' eval -x x=x.npy
fails 'unknown option -z' eval x -zo r.npy
fails '-o needs a value' eval x -o
fails '--output needs a value' eval x --output
fails 'takes no value' eval x --explain=2
fails 'quarry eval --help' eval x --foo
fails 'no command'
fails 'unknown command "nosuch"' nosuch
fails 'unknown option --nosuch' --nosuch
fails 'unknown command "nosuch"' help nosuch
fails 'neither list nor clear' cache nosuch
fails 'unexpected argument' cache list clear
fails 'unexpected argument' info nosuch
fails 'unknown option --nosuch' info --nosuch
version=$(sed -n "s/^ *version: '\(.*\)',\$/\1/p" "$root/meson.build")
gives "quarry $version" --version
says '^usage: quarry COMMAND' --help
says '^usage: quarry COMMAND' help
for command in info eval show cache bench; do
    says "^usage: quarry $command" $command --help
    says "^usage: quarry $command" help $command
    if [ $command = bench ] && ! "$quarry" bench --list > /dev/null 2>&1; then
        "$quarry" --help | grep -q '^  bench' && complain "the help has a command that is not installed"
        continue
    fi
    says "^  $command" --help
done
if [ -c /dev/full ]; then
    "$quarry" eval 1 > /dev/full 2> err
    { [ $? = 2 ] && grep -q '^quarry: .*standard output' err; } || complain "a full disk is no error: $(cat err)"
fi

# The machine and the cache.
says "^quarry  *$version" info
says '^cpu  .*memory' info
says '^cache  .*kernels' info
QUARRY_CXX=/nonexistent/c++ says 'install one or set QUARRY_CXX' info
QUARRY_DEVICE=nosuch says '^in use .*nosuch' info
run cache
files=$(find cache -name '*.qk' | wc -l)
[ "$files" -gt 0 ] || complain "the cache is empty"
says "$work/cache: $files kernels" cache
run cache list
[ "$(grep -c '\.qk  [a-z]' out)" = "$files" ] || complain "cache list: $(cat out)"
grep -qE ' (cpu|cuda) .*\.qk  eval_sqrt_x_times_x_plus_float64_y_times_y$' out ||
    complain "cache list says no formula: $(cat out)"
run eval 'sqrt(first*first + b*b)' first=x.npy b=y.npy
says "$work/cache: $files kernels" cache # names of variables make no kernels
: > cache/notes.txt
says "$files kernels removed" cache clear
[ "$(ls cache)" = notes.txt ] || complain "cache clear left $(ls cache)"
QUARRY_CACHE_DIR='' fails 'no folder' cache
QUARRY_CACHE_DIR='' says '^cache  *none' info

# quarry-bench is found next to the program, whatever path leads to it.
mkdir alone
cp "$quarry" alone/quarry
LD_LIBRARY_PATH=$(ldd "$quarry" | awk '/libquarry/ { print $3 }' | xargs dirname)
export LD_LIBRARY_PATH
alone/quarry bench --list > out 2> err
{ [ $? = 2 ] && grep -q '^quarry: bench: no quarry-bench in' err; } || complain "bench alone: $(cat out err)"
alone/quarry --help | grep -q '^  bench' && complain "the help has a command that is not installed"
printf '#!/bin/sh\necho "$@"\nexit 7\n' > alone/quarry-bench
chmod +x alone/quarry-bench
[ "$(alone/quarry bench --list 'a b')" = '--list a b' ] || complain "bench does not pass its arguments on"
alone/quarry bench > out
[ $? = 7 ] || complain "bench does not pass the status on"

# More data than memory: 4 and 1 GiB, where a process may have half of that. Holes in the files are zeros.
# A sample has 2.25 GiB instead of 4, whose offsets still take more than 31 bits.
huge=4294967296 large=1073741824 chunks=65536
[ -z "${QUARRY_TEST_SHARE-}" ] || huge=2415919104
[ -z "${QUARRY_TEST_REDUCED-}" ] || huge=67108864 large=67108864 chunks=8192
python3 - $huge $large << 'END'
import struct
import sys

for name, nbytes in ('huge.npy', int(sys.argv[1])), ('large.npy', int(sys.argv[2])):
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 4096), }" % (nbytes // 16384)
    head = head.ljust(117) + '\n'
    with open(name, 'wb') as file:
        file.write(b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head.encode())
        file.truncate(128 + nbytes)
        for element, number in (0, -3), (nbytes // 8 + 7, 5), (nbytes // 4 - 1, 7):
            file.seek(128 + 4 * element)
            file.write(struct.pack('<f', number))
END
at_most() { # BYTES: what processes of this shell may have; sanitizers take terabytes of addresses
    [ -n "${QUARRY_TEST_REDUCED-}" ] || ulimit -v $(($1 / 1024))
}
(
    QUARRY_THREADS=2
    export QUARRY_THREADS
    at_most $((huge / 2))
    gives "$((huge / 4 + 8))" eval 'argmax(x) + int64(sum(x))' x=huge.npy --chunk 64M -d cpu
    at_most $((large / 2))
    gives '' eval 'sum(abs(x - min(x)), axis=1) + sum(x)' x=large.npy --chunk 16M -d cpu -o rows.npy
    gives "$((large / 16384 - 3))" eval 'count_nonzero(r == 12297)' r=rows.npy -d cpu
    gives '12294.0' eval 'min(r) + argmin(r)' r=rows.npy -d cpu
    gives '12304.0' eval 'max(r)' r=rows.npy -d cpu
    exit $wrong
) || wrong=$((wrong + 1))

# On a terminal a bar is shown, and removed before the value.
if ! python3 -c 'import pty; pty.openpty()' 2> /dev/null; then
    echo "cli.sh: skipped the bar on a terminal: this system gives none (is /dev/pts mounted?)"
else
    python3 - "$quarry" eval 'sum(x)' x=large.npy --chunk $((large / chunks)) -d cpu << 'END' ||
import os
import pty
import re
import subprocess
import sys

terminal, its_end = pty.openpty()
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=its_end)
os.close(its_end)
shown = b''
try:
    while part := os.read(terminal, 65536):
        shown += part
except OSError:  # how Linux says that the other end is closed
    pass
value = process.stdout.read()
bar = re.search(rb'\r *\d+% \[#* *\] [\d.]+ [KMGT]?i?B/s, \d+:\d\d left', shown)
if process.wait() != 0 or value != b'9.0\n' or not bar or not re.search(rb'\r +\r$', shown):
    sys.exit(f'status {process.returncode}, value {value}, shown {shown}')
END
        complain "the bar is wrong"
fi

# An interrupt at any time leaves no partial result.
timeout -s INT 1 "$quarry" eval 'x*2.5 + 1' x=huge.npy -o s.npy --chunk 16M -d cpu > out 2> err
status=$?
nothing_left "an interrupt among chunks"
[ $status = 124 ] && [ -e s.npy ] && complain "an interrupt among chunks leaves a result"
[ $status = 0 ] || [ $status = 124 ] || complain "an interrupted quarry ends with $status: $(cat err)"
rm -f s.npy
for delay in 0.02 0.05 0.1 0.2; do
    timeout -s INT "$delay" "$quarry" eval "x*$delay + 1" x=big.npy -o s.npy > out 2> err
    nothing_left "an interrupt after $delay s"
    [ ! -e s.npy ] || gives '2000000' eval 'size + count_nonzero(s)' s=s.npy size=0
    rm -f s.npy
done

# A shell starts background commands with SIGINT ignored, nohup with SIGHUP ignored; python3 restores both.
uninterrupted='import os, sys; from signal import *
for s in SIGINT, SIGHUP: signal(s, SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])'
# ... nor does one while standard input is read.
mkfifo endless
python3 -c "$uninterrupted" "$quarry" show - < endless > out 2> err &
running=$!
exec 3> endless
printf '1,2\n' >&3
for _ in $(seq 300); do # the first ones may come before python3 listens
    kill -s INT $running 2> /dev/null || break
    sleep 0.1
done
exec 3>&-
wait $running
[ $? -gt 128 ] || complain "an interrupt does not end show -: $(cat out err)"
nothing_left "an interrupt while standard input is read"

# ... nor does one in the moment in which a temporary file has a name.
cat > interrupt.c << 'END'
#include <dlfcn.h>
#include <signal.h>

static int make(const char *name, char *path, int length)
{
    const int fd = ((int (*)(char *, int))dlsym(RTLD_NEXT, name))(path, length);
    raise(SIGINT);
    return fd;
}

int mkstemps(char *path, int length)
{
    return make("mkstemps", path, length);
}

int mkstemps64(char *path, int length)
{
    return make("mkstemps64", path, length);
}
END
cc -D_GNU_SOURCE -shared -fPIC -o interrupt.so interrupt.c || complain "interrupt.c does not compile"
run eval 1+1 # so that no compiler, which has temporary files of its own, runs below
for arguments in 'show -' 'eval x+1 x=-' 'eval 1+1 -o -'; do
    # shellcheck disable=SC2086 # several arguments
    printf '1,2\n' | LD_PRELOAD=$work/interrupt.so ASAN_OPTIONS=verify_asan_link_order=0:detect_leaks=0 \
        python3 -c "$uninterrupted" "$quarry" $arguments > out 2> err
    [ $? = 130 ] || complain "an interrupt does not end $arguments: $(cat out err)"
    nothing_left "an interrupt of $arguments in mkstemps"
done

# ... also while a compiler runs, which ends too. This one would take a minute.
cat > slow-compiler << 'END'
#!/bin/sh
echo $$ > compiling
: > "$TMPDIR/left.o"
sleep 60
END
chmod +x slow-compiler
for signal in INT TERM HUP; do
    rm -f compiling
    QUARRY_CXX=$work/slow-compiler QUARRY_CACHE_DIR='' \
        python3 -c "$uninterrupted" "$quarry" eval 'x*7.5 + 1' x=big.npy -o s.npy -d cpu > out 2> err &
    running=$!
    while [ ! -s compiling ] && kill -0 $running 2> /dev/null; do sleep 0.02; done
    kill -s $signal $running
    wait $running
    status=$?
    [ $status -gt 128 ] || complain "$signal while compiling: status $status: $(cat err)"
    kill -0 "$(cat compiling)" 2> /dev/null && complain "$signal while compiling: the compiler is left"
    [ ! -e s.npy ] || complain "$signal while compiling: left s.npy"
    nothing_left "$signal while compiling"
done

[ $wrong = 0 ] || exit 1
echo "cli.sh: OK"
