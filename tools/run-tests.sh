#!/bin/sh
# Sets the machine up, builds Quarry and runs every test: run-tests.sh [--sanitize] [--fuzz] [--sample].
# With --sanitize the tests run a second time, built with the address and undefined-behaviour
# sanitizers, and with a check that each kernel's key in memory stands for one text.
# With --fuzz every fuzz target runs for a minute, all at once.
# With --sample long tables are tested by one of 64 of their rows; of slow tests a quarter runs, of
# slow lists and the tests in the simulator of CUDA an eighth, with the sanitizers half of that. The
# commit chooses which, so that another commit tests others; QUARRY_TEST_SAMPLE=n repeats a choice,
# QUARRY_TEST_SHARE=n takes one of n. The host's kernels compile with -O1, in 0.6 of the time;
# QUARRY_CXXFLAGS= gives users' -O3.
# The end repeats the names of the tests that failed, with the last lines of their output.
# The last line is "N passed, N failed"; the exit status is non-zero on any failure.
set -u

sanitize=
fuzz=
sample=
for option; do
    case $option in
    --sanitize) sanitize=1 ;;
    --fuzz) fuzz=1 ;;
    --sample) sample=1 ;;
    *)
        echo "run-tests: unknown option $option"
        exit 1
        ;;
    esac
done

cd "$(dirname "$0")/.." || exit 1
# shellcheck disable=SC2086 # the packages are separate words
sh tools/setup.sh cmake fish zsh groff man-db mandoc locales python3-sphinx python3-myst-parser \
    ${fuzz:+clang libclang-rt-dev} || exit 1

# NumPy 2 is the reference of tests/stateful; Debian's may be older.
build/python/bin/python -c 'import ml_dtypes, numpy' 2> /dev/null || {
    python3 -m venv build/python && build/python/bin/pip install -q 'numpy>=2' ml_dtypes
} || { echo "run-tests: cannot install NumPy into build/python"; exit 1; }
# The style of C is that of clang-format 14; Debian's may be newer.
for name in clang-format-14 clang-format build/python/bin/clang-format; do "$name" --version; done 2> /dev/null |
    grep -q 'version 14\.' || build/python/bin/pip install -q clang-format==14.0.6 ||
    echo "run-tests: cannot install clang-format 14 into build/python: the style is not checked in full"

if [ "$sample" ]; then
    commit=$(git rev-parse --short=8 HEAD 2> /dev/null || echo 0)
    QUARRY_TEST_SAMPLE=${QUARRY_TEST_SAMPLE-$((0x$commit))}
    QUARRY_TEST_SHARE=${QUARRY_TEST_SHARE-64}
    QUARRY_CXXFLAGS=${QUARRY_CXXFLAGS--O1}
    export QUARRY_TEST_SAMPLE QUARRY_TEST_SHARE QUARRY_CXXFLAGS
    echo "run-tests: one of $QUARRY_TEST_SHARE rows, QUARRY_TEST_SAMPLE=$QUARRY_TEST_SAMPLE"
fi

# Both builds use the same kernels: the second finds them compiled.
QUARRY_CACHE_DIR=${QUARRY_CACHE_DIR-$PWD/build/kernels}
export QUARRY_CACHE_DIR
logs=
broken=0

configure() { # FOLDER, SETUP OPTIONS...: in the background, for a setup keeps one processor busy
    [ -f "$1/build.ninja" ] || meson setup "$@" > "build/setup-$(basename "$1").log" 2>&1 &
}

build_and_test() { # FOLDER, TEST OPTIONS
    folder=$1 test_options=$2
    [ -f "$folder/build.ninja" ] || cat "build/setup-$(basename "$folder").log"
    if meson compile -C "$folder"; then
        rm -f "$folder/meson-logs/testlog.json"
        # shellcheck disable=SC2086 # the options are separate words
        meson test -C "$folder" --print-errorlogs $test_options || broken=1
        logs="$logs $folder/meson-logs/testlog.json"
    else
        echo "run-tests: $folder does not build"
        broken=$((broken + 1))
    fi
}

# Of debug information, reports need the numbers of lines; all of it takes a third of a compiler's time.
common="-Ddebug=false -Dc_args=-g1 -Dcpp_args=-g1"
sanitized="-Db_sanitize=address,undefined -Db_lundef=false -Dcuda=disabled"

# shellcheck disable=SC2086 # the options are separate words
{
    configure build/test $common -Doptimization=2 -Dsite=auto
    [ ! "$fuzz" ] || configure build/fuzz --native-file tools/clang.ini $common $sanitized -Doptimization=1 \
        -Dfuzz=true -Dfuzz_seconds=60 -Dexamples=false -Dbench=false -Dcli=false
    [ ! "$sanitize" ] || configure build/sanitize $common $sanitized -Doptimization=1 -Dcheck_keys=true -Dbench=false
}
wait

build_and_test build/test ""
if [ "$fuzz" ]; then
    # All at once: each shares the processors with the others for its minute.
    build_and_test build/fuzz "--suite=fuzz --num-processes=16"
fi
if [ "$sanitize" ]; then
    # A sanitizer stops at the first error; the host's compiler is not ours to check for leaks.
    ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1:allocator_may_return_null=1
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    QUARRY_TEST_REDUCED=1
    export ASAN_OPTIONS UBSAN_OPTIONS QUARRY_TEST_REDUCED
    build_and_test build/sanitize "--timeout-multiplier=4 --no-suite=style --no-suite=bench"
fi

# shellcheck disable=SC2086 # the logs are separate words
python3 - "$broken" $logs << 'END'
import json
import sys

broken, passed, failed = int(sys.argv[1]), 0, 0
for log in sys.argv[2:]:
    for line in open(log):
        test = json.loads(line)
        passed += test['result'] in ('OK', 'EXPECTEDFAIL')
        if test['result'] not in ('OK', 'EXPECTEDFAIL', 'SKIP'):
            failed += 1
            output = (test.get('stdout') or '') + (test.get('stderr') or '')
            print(f'{test["result"]}: {test["name"]}, {test["duration"]:.1f} s, {log}')
            print(*('    ' + line for line in output.splitlines()[-60:]), sep='\n')
failed = max(failed, broken)
print(f'{passed} passed, {failed} failed')
sys.exit(failed != 0 or passed == 0)
END
