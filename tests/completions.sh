#!/usr/bin/env bash
# Completes in each shell that is installed, and compares the table with --help:
# completions.sh QUARRY TABLE BASH ZSH FISH.
set -u

quarry=$(realpath "$1") table=$(realpath "$2") in_bash=$(realpath "$3") in_zsh=$(realpath "$4") in_fish=$(realpath "$5")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
touch x.npy y.csv z.txt
wrong=0

expect() { # WHAT FOUND WANTED: both as lines, in any order
    [ "$(sort <<< "$2" | xargs)" = "$(sort <<< "$3" | xargs)" ] && return
    echo "completions.sh: $1: $(xargs <<< "$2"); expected: $(xargs <<< "$3")"
    wrong=$((wrong + 1))
}

# Every option of --help is in the table, and no other.
for command in info eval show cache bench; do
    helped=$("$quarry" $command --help | grep -oE '^  (-[a-z], )?--[a-z]+' | grep -oE -e '--[a-z]+' | grep -v help)
    tabled=$(sed -n "/^$command:/,/^\$/p" "$table" | grep -oE '^(-[a-z], )?--[a-z]+' | grep -oE -e '--[a-z]+')
    expect "the options of $command" "$tabled" "$helped"
done

# shellcheck source=/dev/null
source "$in_bash"
completes() { # WANTED WORD...: the last word is completed
    local wanted=$1
    shift
    COMP_WORDS=(quarry "$@")
    COMP_CWORD=$#
    _quarry 2> /dev/null
    expect "bash: quarry $*" "$(printf '%s\n' "${COMPREPLY[@]}")" "$(tr ' ' '\n' <<< "$wanted")"
}
completes "eval" ev
completes "list clear" cache ""
completes "x.npy" eval x x = x
completes "x.npy y.csv" eval x -o ""
completes "x.npy y.csv z.txt" show ""
completes "float16 float32 float64 float8_e4m3fn float8_e5m2" eval x --dtype float
completes "--json --precision --device --help" show --

if ! command -v zsh > /dev/null; then
    echo "completions.sh: skipped zsh: it is not installed"
elif ! python3 -c 'import pty; pty.openpty()' 2> /dev/null; then
    echo "completions.sh: skipped zsh: this system gives no terminal (is /dev/pts mounted?)"
else
    mkdir zsh && cp "$in_zsh" zsh/_quarry
    zsh -n zsh/_quarry || wrong=$((wrong + 1))
    cat > zsh/complete << 'END'
zmodload zsh/zpty
TERM=dumb zpty shell zsh -f -i
zpty -w shell "PROMPT=; fpath=($PWD/zsh \$fpath); autoload -Uz compinit; compinit -u -D; print REA''DY"
while zpty -r shell line; do [[ $line == *READY* ]] && break; done
zpty -n -w shell "$1"$'\t\C-aprint -r -- \'found \C-e\'\n'
while zpty -r shell line; do print -r -- "$line"; [[ $line == *"found quarry ca"* ]] && break; done
zpty -d shell
END
    timeout 20 zsh -f zsh/complete "quarry ca" > found 2>&1
    grep -q 'found quarry cache' found || expect "zsh: quarry ca" "$(cat -v found)" "quarry cache"
fi

if command -v fish > /dev/null; then
    export HOME=$work
    found() { fish -c "source $in_fish; complete -C '$1'" | cut -f1; }
    expect "fish: quarry ev" "$(found "quarry ev")" eval
    expect "fish: quarry eval --pre" "$(found "quarry eval --pre")" --precision
    expect "fish: quarry show x" "$(found "quarry show x")" x.npy
else
    echo "completions.sh: skipped fish: it is not installed"
fi

[ $wrong = 0 ] && echo "completions.sh: OK"
[ $wrong = 0 ]
