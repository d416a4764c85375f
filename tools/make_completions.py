"""Makes a shell's completions of the quarry command: make_completions.py bash|zsh|fish TABLE DTYPE_DEF OUTPUT.

TABLE is cli/completions.txt; the names of dtypes come from include/quarry/dtype.def.
"""
import re
import sys
from dataclasses import dataclass, field


@dataclass
class Option:
    letter: str
    name: str
    kind: str
    text: str


@dataclass
class Command:
    name: str
    text: str
    takes: str = ""
    options: list = field(default_factory=list)
    words: list = field(default_factory=list)


def read_table(path):
    commands = []
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    for line in lines:
        head, _, text = (part.strip() for part in line.partition(": "))
        if head.startswith("*"):
            commands[-1].takes = head[1:].strip()
        elif head.startswith("="):
            commands[-1].words.append((head[1:].strip(), text))
        elif head.startswith("-"):
            letter, name, kind = re.fullmatch(r"(?:-(\w), )?--([\w-]+) (\w+)", head).groups()
            commands[-1].options.append(Option(letter or "", name, kind, text))
        else:
            commands.append(Command(head, text))
    for command in commands:
        command.options.append(Option("h", "help", "none", "prints help"))
    return commands


def read_dtypes(path):
    with open(path, encoding="utf-8") as file:
        return re.findall(r'^GA_DTYPE\(\w+, "(\w+)"', file.read(), flags=re.M)


# ---- bash ----

def bash_choice(kind, words):
    """What completes a value or an argument of this kind."""
    if kind in words:
        return f"_quarry_words '{' '.join(words[kind])}'"
    return {"output": "_quarry_files 'npy|csv'", "file": "_quarry_files",
            "argument": "_quarry_argument", "number": ":", "": ":"}[kind]


def bash_command(command, words):
    out = [f"    {command.name})", "        case $previous in"]
    for option in command.options:
        if option.kind != "none":
            names = " | ".join(([f"-{option.letter}"] if option.letter else []) + [f"--{option.name}"])
            out.append(f"        {names}) {bash_choice(option.kind, words)}; return ;;")
    options = " ".join(f"--{option.name}" for option in command.options)
    first = " ".join(word for word, _ in command.words)
    rest = f"_quarry_words '{first}'" if first else bash_choice(command.takes, words)
    return out + ["        esac", f"        if [[ $word == -* ]]; then _quarry_words '{options}'; else {rest}; fi",
                  "        ;;"]


def bash(commands, words):
    names = " ".join(command.name for command in commands)
    out = ["# Completion of the quarry command for bash (tools/make_completions.py).", "",
           "_quarry_words() { mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$word\"); }", "",
           "_quarry_files() # SUFFIX, or none for all files",
           "{",
           "    compopt -o filenames 2> /dev/null",
           "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\" |",
           "        while IFS= read -r name; do",
           "            [[ -z ${1-} || -d $name || $name =~ \\.($1)$ ]] && printf '%s\\n' \"$name\"",
           "        done)",
           "}", "",
           "_quarry_argument() # NAME=FILE; bash splits the word at the =",
           "{",
           "    if [ \"$previous\" = = ] || [[ $word == =* ]]; then",
           "        word=${word#=}",
           "        _quarry_files 'npy|csv'",
           "    fi",
           "}", "",
           "_quarry()",
           "{",
           "    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}",
           "    COMPREPLY=()",
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then",
           f"        _quarry_words '{names} --help --version'",
           "        return",
           "    fi",
           "    case ${COMP_WORDS[1]} in"]
    for command in commands:
        out += bash_command(command, words)
    return out + ["    esac", "}", "", "complete -F _quarry quarry"]


# ---- zsh ----

def zsh_value(kind, words):
    if kind in words:
        return f":{kind}:({' '.join(words[kind])})"
    return {"none": "", "output": ":file:_files -g '*.(npy|csv)'",
            "file": ":file:_files", "number": ":value: "}[kind]


def zsh_quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def zsh_option(option, words):
    text = re.sub(r"([\[\]:])", r"\\\1", option.text)
    value = zsh_value(option.kind, words)
    one = f"--{option.name}{'=' if value else ''}[{text}]{value}"
    if not option.letter:
        return zsh_quote(one)
    both = f"(-{option.letter} --{option.name})"
    return f"{zsh_quote(f'{both}-{option.letter}[{text}]{value}')} {zsh_quote(both + one)}"


def zsh(commands, words):
    out = ["#compdef quarry", "# Completion of the quarry command for zsh (tools/make_completions.py).", "",
           "_quarry_argument()", "{",
           "    if compset -P '*='; then _files -g '*.(npy|csv)'; else _message 'NAME=FILE'; fi", "}", "",
           "_quarry() {",
           "    local context state state_descr line",
           "    typeset -A opt_args",
           "    _arguments -C '(- *)--help[prints the help]' '(- *)--version[prints the version]' "
           "'1: :->command' '*:: :->rest'",
           "    case $state in",
           "    command)",
           "        local -a commands=("]
    out += [f"            {zsh_quote(f'{command.name}:{command.text}')}" for command in commands]
    out += ["        )", "        _describe command commands", "        ;;", "    rest)", "        case $line[1] in"]
    for command in commands:
        arguments = [zsh_option(option, words) for option in command.options]
        if command.words:
            pairs = " ".join(f"{word}\\:{zsh_quote(text)}" for word, text in command.words)
            arguments.append(zsh_quote(f"1:action:(({pairs}))"))
        elif command.takes:
            taken = {"argument": "1:expression: ' '*:argument:_quarry_argument", "file": "*:file:_files"}[command.takes]
            arguments.append(f"'{taken}'")
        out.append(f"        {command.name}) _arguments {' '.join(arguments)} ;;")
    return out + ["        esac", "        ;;", "    esac", "}", "", "_quarry \"$@\""]


# ---- fish ----

def fish_quote(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_value(kind, words):
    if kind in words:
        return f" -x -a '{' '.join(words[kind])}'"
    return {"none": "", "number": " -x"}.get(kind, " -r -F")


def fish(commands, words):
    names = " ".join(command.name for command in commands)
    out = ["# Completion of the quarry command for fish (tools/make_completions.py).", "", "complete -c quarry -f",
           f"set -l none 'not __fish_seen_subcommand_from {names}'",
           "complete -c quarry -n $none -l help -d 'prints the help'",
           "complete -c quarry -n $none -l version -d 'prints the version'"]
    for command in commands:
        seen = f"'__fish_seen_subcommand_from {command.name}'"
        out.append(f"complete -c quarry -n $none -a {command.name} -d {fish_quote(command.text)}")
        if command.takes:
            out.append(f"complete -c quarry -n {seen} -F")
        for word, text in command.words:
            out.append(f"complete -c quarry -n {seen} -a {word} -d {fish_quote(text)}")
        for option in command.options:
            letter = f" -s {option.letter}" if option.letter else ""
            out.append(f"complete -c quarry -n {seen}{letter} -l {option.name}{fish_value(option.kind, words)} "
                       f"-d {fish_quote(option.text)}")
    return out


def main():
    shell, table, dtypes, output = sys.argv[1:]
    words = {"device": ["cpu", "cuda", "cuda:0"], "size": ["16M", "64M", "256M", "1G"], "dtype": read_dtypes(dtypes)}
    make = {"bash": bash, "zsh": zsh, "fish": fish}[shell]
    if shell == "zsh":
        words["device"] = [name.replace(":", "\\:") for name in words["device"]]
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(make(read_table(table), words)) + "\n")


main()
