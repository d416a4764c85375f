# Completion of the quarry command for bash.

_quarry_eval()
{
    local word=$1 previous=$2 name=
    case $previous in
    -d | --device)
        mapfile -t COMPREPLY < <(compgen -W 'cpu cuda' -- "$word")
        return
        ;;
    -c | --chunk)
        mapfile -t COMPREPLY < <(compgen -W '16M 64M 256M 1G' -- "$word")
        return
        ;;
    =) ;; # bash splits NAME=FILE at the =
    -o | --output) ;;
    *)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W '--file --output --dtype --precision --device --chunk --explain --help' -- "$word")
            return
        fi
        [[ $word == =* ]] || return
        name='='
        ;;
    esac
    compopt -o filenames 2> /dev/null
    mapfile -t COMPREPLY < <(compgen -o plusdirs -f -X '!*.npy' -- "${word#"$name"}")
}

_quarry()
{
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W 'info eval show cache bench --help --version' -- "$word")
        return
    fi
    case ${COMP_WORDS[1]} in
    info) mapfile -t COMPREPLY < <(compgen -W '--help' -- "$word") ;;
    eval) _quarry_eval "$word" "$previous" ;;
    show)
        if [[ $word == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W '--json --precision --device --help' -- "$word")
        else
            compopt -o default 2> /dev/null
        fi
        ;;
    cache) mapfile -t COMPREPLY < <(compgen -W 'list clear --help' -- "$word") ;;
    bench)
        if [ "$previous" = --json ]; then
            compopt -o default 2> /dev/null
        else
            mapfile -t COMPREPLY < <(compgen -W '--json --cases --n --list --help' -- "$word")
        fi
        ;;
    esac
}

complete -F _quarry quarry
