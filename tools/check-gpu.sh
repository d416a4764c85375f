#!/usr/bin/env bash
# Runs every test, the sanitizers and the bench on a GPU: check-gpu.sh BUILD [OUT].
# BUILD is a Meson build folder or a folder made by prepare-gpu.sh; tables and logs go to OUT (BUILD/out).
#   STAGES      which of "tests examples memcheck racecheck initcheck bench" to run (default: all but
#               initcheck)
#   SANITIZE    the tests that run under compute-sanitizer (default: all)
#   TEST_LIMIT  seconds for one test (default: 600)
#   JOBS        how many tests run at once (default: 4); the bench runs alone
#   BENCH_ARGS  for quarry-bench
# The last line is "N passed, N failed"; the exit status is non-zero on any failure.
set -u

root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?usage: check-gpu.sh BUILD [OUT]}" && pwd) || exit 1
mkdir -p "${2:-$build/out}" || exit 1
out=$(cd "${2:-$build/out}" && pwd)
stages=${STAGES:-tests examples memcheck racecheck bench}
limit=${TEST_LIMIT:-600}
jobs=${JOBS:-4}
: > "$out/verdicts"

QUARRY_DEVICE=${QUARRY_DEVICE:-cuda:0}
QUARRY_GOLDEN=$root/tests/golden
QUARRY_GOLDEN_DIR=$QUARRY_GOLDEN
QUARRY_CACHE_DIR=${QUARRY_CACHE_DIR-$out/kernels}
LD_LIBRARY_PATH=$build/lib:$build/src${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export QUARRY_DEVICE QUARRY_GOLDEN QUARRY_GOLDEN_DIR QUARRY_CACHE_DIR LD_LIBRARY_PATH

check() { # NAME, COMMAND...: runs it, keeps its output, notes and prints the verdict
    local name=$1 start verdict=ok
    shift
    start=$(date +%s)
    "$@" > "$out/$name.log" 2>&1
    case $? in
    0) ;;
    77) verdict=skipped ;;
    *) verdict=FAILED ;;
    esac
    {
        printf '%-44s %-7s %4d s\n' "$name" "$verdict" $(($(date +%s) - start))
        [ $verdict = ok ] || tail -n 15 "$out/$name.log" | sed 's/^/    /'
    } > "$out/$name.verdict"
    cat "$out/$name.verdict"
    echo "$verdict $name" >> "$out/verdicts"
}

queue() { # the same in the background, $jobs at a time
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
        wait -n
    done
    check "$@" &
}

wants() {
    case " $stages " in
    *" $1 "*) true ;;
    *) false ;;
    esac
}

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
tests=$(cat "$build/tests/list.txt" 2> /dev/null ||
    find "$build/tests" -maxdepth 1 -name 'test_*' -type f -executable | sort)

if wants tests; then
    for test in $tests; do
        queue "$(basename "$test")" timeout "$limit" "$build/tests/$(basename "$test")"
    done
    wait
fi

if wants examples; then
    for example in $(find "$build/examples" -maxdepth 1 -type f -executable | sort); do
        name=$(basename "$example")
        case $name in
        terrain) check example-terrain sh "$root/tests/terrain.sh" "$example" "$root" ;;
        mandelbrot) check example-mandelbrot "$example" "$out/mandelbrot.png" ;;
        *) check "example-$name" timeout "$limit" "$example" ;;
        esac
    done
fi

# Runs a test's own process under the sanitizer: errors in its children are intended, and tests of bad
# input make calls that the driver rejects. 77 if nothing is launched.
sanitize() { # TOOL, TEST
    local output status
    output=$(QUARRY_TEST_REDUCED=1 timeout "$limit" "$sanitizer" --tool "$1" --error-exitcode 99 \
        --target-processes application-only --report-api-errors no "$2" 2>&1)
    status=$?
    echo "$output"
    case $output in
    *"terminated before first instrumented API call"*) return 77 ;;
    esac
    return $status
}

for tool in memcheck racecheck initcheck; do
    if wants $tool && [ ! -x "$sanitizer" ]; then
        echo "$tool: skipped: compute-sanitizer is not installed"
    elif wants $tool; then
        for test in ${SANITIZE:-$tests}; do
            if [ $tool = racecheck ] && [ "$(basename "$test")" = test_threads ]; then
                echo "racecheck-test_threads: skipped: it cannot follow launches of several threads"
                continue
            fi
            queue "$tool-$(basename "$test")" sanitize $tool "$build/tests/$(basename "$test")"
        done
        wait
    fi
done

if wants bench; then
    # shellcheck disable=SC2086 # the arguments are separate words
    check bench "$build/bench/quarry-bench" --json "$out/bench.json" ${BENCH_ARGS-}
    cat "$out/bench.log"
fi

passed=$(grep -c '^ok ' "$out/verdicts")
failed=$(grep -c '^FAILED ' "$out/verdicts")
skipped=$(grep -c '^skipped ' "$out/verdicts")
sed -n 's/^FAILED /failed: /p' "$out/verdicts"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
