"""Command lines taken apart: chains, pipes, subshells, `bash -c`, and wrappers of programs.

Not a shell: just enough of its grammar to find the programs that a line starts, and by which
operator each follows the one before.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

_QUOTED: Final = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'[^']*'", re.DOTALL)
_HEREDOC: Final = re.compile(
    r"<<-?\s*['\"]?(\w+)['\"]?.*?(?:^\s*\1\s*$|\Z)", re.DOTALL | re.MULTILINE
)
_CONTINUED: Final = re.compile(r"\\\n\s*")
_CHAIN: Final = re.compile(r"(&&|\|\||;|\n|&(?!>|\d))")
_REDIRECT: Final = re.compile(r"\s(?:\d|&)?>{1,2}\s?(?:&\d|[^\s|;&]+)")
_TAIL: Final = re.compile(
    r"\|(?!\|)\s*(?:tail|head|less|more|cat|tee|grep|rg|sed|awk|sort|wc)\b[^|&;\n]*"
)
_SUBSHELL: Final = re.compile(r"(?<![^\s;&|(])\(")
_SUBSHELL_END: Final = re.compile(r"\)(?=[\s;&|)]|$)")
_SUBSTITUTED: Final = re.compile(r"[$<>]\(([^()]*)\)|`([^`]*)`")
_ASSIGNMENT: Final = re.compile(r"^[A-Za-z_]\w*=")
_HELD: Final = re.compile("\ue000(\\d+)\ue001")
_MARKS: Final = str.maketrans("", "", "\ue000\ue001")

_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "ksh"})
_SCRIPT_FLAG: Final = re.compile(r"^-[a-z]*c$")
_LEADING: Final = frozenset({"(", "{", "!", "if", "then", "elif", "else", "while", "until", "do"})
_CLOSING: Final = frozenset({"}", ")", "done", "fi", "esac", "for", "case", "select", "function"})
_DEEPEST: Final = 4
"""Levels of shells in shells that are opened; nobody nests deeper for a reason."""

# Programs that start the one after them, and those of their options that take a value.
_WRAPPERS: Final[Mapping[str, frozenset[str]]] = {
    "sudo": frozenset({"-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U", "--user", "--group"}),
    "doas": frozenset({"-u", "-C"}),
    "env": frozenset({"-u", "-C", "--unset", "--chdir"}),
    "xargs": frozenset({"-n", "-I", "-P", "-L", "-d", "-a", "-s", "-E"}),
    "time": frozenset({"-f", "-o"}),
    "timeout": frozenset({"-s", "-k", "--signal", "--kill-after"}),
    "nice": frozenset({"-n"}),
    "ionice": frozenset({"-c", "-n"}),
    "stdbuf": frozenset({"-i", "-o", "-e"}),
    "exec": frozenset({"-a"}),
    "flock": frozenset({"-w", "-E"}),
    "watch": frozenset({"-n"}),
    "xvfb-run": frozenset({"-s", "-n"}),
    "nohup": frozenset(),
    "command": frozenset(),
    "builtin": frozenset(),
    "setsid": frozenset(),
    "unbuffer": frozenset(),
}
_TAKES_VALUE: Final = frozenset({"timeout", "flock"})

# Options between a program and its verb that take a value: `git -C sub push` is `git push`.
_GLOBAL_VALUES: Final[Mapping[str, frozenset[str]]] = {
    "git": frozenset({"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"}),
    "npm": frozenset({"-C", "--prefix", "-w", "--workspace"}),
    "pnpm": frozenset({"-C", "--dir", "-F", "--filter"}),
    "yarn": frozenset({"--cwd"}),
    "docker": frozenset({"-c", "--context", "-H", "--host"}),
    "kubectl": frozenset({"-n", "--namespace", "--context", "--kubeconfig"}),
    "make": frozenset({"-C", "-f", "-j"}),
}


class Part(NamedTuple):
    """One command of a line: the operator before it (`""` for the first, a newline counts as `;`),
    its text as written, and its words from the program itself on, quotes kept.
    """

    operator: str
    text: str
    words: tuple[str, ...]


def parts(command: str) -> list[Part]:
    """The commands of a chain in order, without redirections and paging."""
    return list(_parts(command, pipes=False, depth=0))


def started(command: str) -> list[list[str]]:
    """Every command the line starts, in pipes and substitutions too, its words without quotes."""
    return _started(command, 0)


def bare(command: str) -> str:
    """The line without redirections and paging."""
    return _REDIRECT.sub(" ", _TAIL.sub("", command))


def verb_on(words: Sequence[str]) -> list[str]:
    """The words with the program's name alone, and without its options before the verb."""
    program = words[0].lstrip("\\").rsplit("/", 1)[-1]
    values = _GLOBAL_VALUES.get(program)
    rest = words[1:] if values is None else _after_options(words[1:], values)
    return [program, *rest]


def is_background(command: str) -> bool:
    """Whether the line ends in the background, where its status says nothing."""
    return command.rstrip().endswith("&") and not command.rstrip().endswith("&&")


def _started(command: str, depth: int) -> list[list[str]]:
    if depth > _DEEPEST:
        return []
    inner = _substitutions(_HEREDOC.sub("", command))
    found: list[list[str]] = []
    for part in _parts(command, pipes=True, depth=depth):
        words = [_unquoted(word) for word in part.words]
        found.append(words)
        for flag in ("-exec", "-execdir", "-ok"):
            if words[0] == "find" and flag in words:
                run = words[words.index(flag) + 1 :]
                found.append(_unwrapped(run[:-1] if run and run[-1] in {"\\", "+"} else run))
    for text in inner:
        found += _started(text, depth + 1)
    return [words for words in found if words]


def _substitutions(command: str) -> list[str]:
    """What is inside `$(…)`, `<(…)` and backticks, inner ones first; single quotes keep theirs."""
    text = _QUOTED.sub(lambda match: "" if match.group().startswith("'") else match[0], command)
    found: list[str] = []
    for _ in range(_DEEPEST):
        inner = [match[1] or match[2] or "" for match in _SUBSTITUTED.finditer(text)]
        if not inner:
            break
        found += inner
        text = _SUBSTITUTED.sub(" ", text)
    return found


def _parts(command: str, *, pipes: bool, depth: int) -> Iterator[Part]:
    held: list[str] = []

    def hold(match: re.Match[str]) -> str:
        held.append(match.group())
        return f"\ue000{len(held) - 1}\ue001"

    text = _CONTINUED.sub(" ", _HEREDOC.sub("", command.translate(_MARKS)))
    text = _QUOTED.sub(hold, text)
    while _SUBSTITUTED.search(text):
        text = _SUBSTITUTED.sub(hold, text)
    if not pipes:
        text = _TAIL.sub("", text)
    text = _opened(text)
    for operator, piece in _pieces(_REDIRECT.sub(" ", f" {text}"), pipes=pipes):
        words = _unwrapped([_restored(word, held) for word in piece.split()])
        if words and words[0] not in _CLOSING:
            part = Part(operator, " ".join(_restored(piece, held).split()), tuple(words))
            yield from _inside(part, pipes=pipes, depth=depth)


def _opened(text: str) -> str:
    """The text with subshells as ordinary parts of the chain."""
    if not _SUBSHELL.search(text):
        return text
    return _SUBSHELL_END.sub(" ", _SUBSHELL.sub(" ", text))


def _pieces(text: str, *, pipes: bool) -> Iterator[tuple[str, str]]:
    split = _CHAIN.split(text)
    operators = ["", *split[1::2]]
    for operator, piece in zip(operators, split[::2], strict=True):
        piped = piece.split("|")
        yield ";" if operator == "\n" else operator, piped[0]
        for later in piped[1:] if pipes else ():
            yield "|", later


def _inside(part: Part, *, pipes: bool, depth: int) -> Iterator[Part]:
    """The part, or the commands of the script it hands to a shell."""
    script = _script(part.words) if depth < _DEEPEST else ""
    inner = list(_parts(script, pipes=pipes, depth=depth + 1)) if script else []
    if not inner:
        yield part
        return
    yield inner[0]._replace(operator=part.operator)
    yield from inner[1:]


def _script(words: Sequence[str]) -> str:
    program = words[0].rsplit("/", 1)[-1]
    if program == "eval":
        return " ".join(map(_unquoted, words[1:]))
    if program in _SHELLS:
        for position, word in enumerate(words[1:-1], 1):
            if _SCRIPT_FLAG.match(word):
                return _unquoted(words[position + 1])
            if not word.startswith("-"):
                break
    return ""


def _restored(text: str, held: Sequence[str]) -> str:
    while _HELD.search(text):  # a substitution holds quoted words, and those nothing younger
        text = _HELD.sub(lambda match: held[int(match[1])], text)
    return text


def _unquoted(word: str) -> str:
    if not any(mark in word for mark in "'\"\\"):
        return word
    try:
        return " ".join(shlex.split(word))
    except ValueError:
        return word.strip("'\"")


def _unwrapped(words: Sequence[str]) -> list[str]:
    """The words from the program itself on."""
    left = list(words)
    while left:
        first = left[0].lstrip("\\").rsplit("/", 1)[-1]
        if left[0] in _LEADING or _ASSIGNMENT.match(left[0]):
            left = left[1:]
        elif first in _WRAPPERS:
            left = _after_options(left[1:], _WRAPPERS[first])
            left = left[1:] if first in _TAKES_VALUE else left
        else:
            return left
    return left


def _after_options(words: Sequence[str], values: frozenset[str]) -> list[str]:
    left = list(words)
    while left and left[0].startswith("-") and left[0] != "-":
        left = left[2:] if left[0] in values else left[1:]
    return left
