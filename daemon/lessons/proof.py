"""What the success of a command proves: that something works, or nothing of the kind.

Reading a file, asking for help, running less of the check or around it all succeed without anything
having been put right. Taken for fixes they would teach agents to skip the check.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from . import commands, shell

_READER_WORDS: Final = (
    "cat bat head tail less more nl ls ll tree grep egrep fgrep rg ag ack find fd wc file stat"
    " which type whereis test [ [[ diff cmp jq yq awk cut sort uniq xxd hexdump strings printenv"
    " history date whoami hostname uname id ps pgrep top df du lsof man tldr help readlink realpath"
    " basename dirname exit return wait open code"
)
_READERS: Final = frozenset(_READER_WORDS.split())
# Verbs that only tell, or record what is there, and never put anything right.
_READING_VERBS: Final[Mapping[str, str]] = {
    "git": "diff status log show add blame annotate grep ls-files ls-tree ls-remote rev-parse"
    " rev-list describe shortlog reflog cat-file whatchanged help version",
    "npm": "ls list view info show outdated help search why explain root",
    "pnpm": "ls list view info outdated why help root",
    "yarn": "list info why outdated help",
    "pip": "list show freeze help index",
    "cargo": "tree metadata search help",
    "go": "list env version doc help",
    "docker": "ps logs images inspect version info top stats help",
    "kubectl": "get describe logs explain version top",
    "helm": "list status get history show template",
    "terraform": "show output version",
    "gh": "search status",
    "brew": "list info search",
    "systemctl": "status list-units is-active show",
    "apt": "list show search policy",
}
_IN_PLACE: Final = re.compile(r"^(?:-i|--in-place|-[a-z]*i)")

# Asking instead of doing.
_INFORMATION: Final = (
    r"--help|--version|--dry-run|--dryrun|--collect-only|--co|--list|--list-\w+|--listTests|"
    r"--setup-plan|--fixtures|--print-config|--show-config|--what-if|--check-only|--no-run|"
    r"--syntax-check"
)
# Less of the check than before; the value says which part of it.
_NARROWING: Final = (
    r"--deselect|--ignore|--ignore-(?:glob|path|pattern)|--lf|--last-failed|--ff|--sw|--stepwise|--testNamePattern|"
    r"--testPathPattern|--testPathIgnorePatterns|--filter|--only|--only-changed|--exclude\S*|--grep|--tests|"
    r"--changed\S*|--onlyChanged|--findRelatedTests|--shard|-run"
)
# The check switched off, or its answer thrown away.
_SUPPRESSING: Final = (
    r"--no-verify|--force|--force-with-lease|--ignore-errors|--skip\S*|--no-check\S*|--no-lint|--no-hooks|--exit-zero|--exit-0|"
    r"--passWithNoTests|--pass-with-no-tests|--allow-failure|--no-fail(?!-fast)\S*|--no-error\S*|"
    r"--no-strict|--insecure|--no-typecheck|--skipLibCheck|--disable-(?:check|warning|lint|rule|error|hook)\S*|--suppress\S*|"
    r"--transpile-only|-D(?:skip\S*|maven\.test\S*|test)\b\S*|core\.hooksPath\S*|"
    r"http\.sslVerify\S*"
)
_EVASIVE: Final = re.compile(rf"^(?:{_INFORMATION}|{_NARROWING}|{_SUPPRESSING})(?:=.*)?$")
_EVASIVE_SETTING: Final = re.compile(
    r"(?:^|\s)((?:SKIP\w*|\w+_SKIP\w*|HUSKY\w*|\w*NO_VERIFY\w*|LEFTHOOK|DISABLE_\w+|"
    r"NODE_TLS_REJECT_UNAUTHORIZED)=\S+)"
)
_PYTEST_FILTERS: Final = frozenset({"-k", "-m", "-t"})
_PYTEST: Final = frozenset({"pytest", "py.test", "unittest", "tox", "nox"})
# What a single letter means depends on the program.
_LETTERS: Final[Mapping[str, str]] = {
    "git": r"-[a-zA-Z]*[nf][a-zA-Z]*",
    "make": "-[nkit]",
    "npm": "-[ft]",
    "pnpm": "-[ft]",
    "yarn": "-[ft]",
    "bun": "-[ft]",
    "npx": "-t",
    "jest": "-[to]",
    "vitest": "-t",
    "mocha": "-[gf]",
    "gradle": "-x",
    "gradlew": "-x",
    "ctest": "-[REN]",
    "curl": "-k",
}
_HOST_WORDS: Final = (
    "psql pg_dump pg_restore pg_isready createdb dropdb mysql mysqldump mysqladmin redis-cli"
    " mongosh ssh df du ls"
)
# Their `-h` is a host or a unit.
_HOST_BY_H: Final = frozenset(_HOST_WORDS.split())
_HARMLESS_FORCE: Final = frozenset({"rm", "cp", "mv", "ln", "kill", "pkill"})


def reads_only(words: Sequence[str]) -> bool:
    """Whether the command only tells what there is, or asks about itself."""
    found = shell.verb_on(words)
    program, rest = found[0], found[1:]
    if program in _READERS:
        return True
    if program == "sed":
        return not any(_IN_PLACE.match(word) for word in rest)
    verb = next((word for word in rest if not word.startswith("-")), "")
    return verb in _READING_VERBS.get(re.sub(r"^pip[\d.]+$", "pip", program), "").split()


def decisive(command: str) -> list[list[str]]:
    """The commands that must have worked when the whole line did; reading ones are left out.

    Before a `;` anything may have failed, and `|| true` forgives whatever came before it.
    """
    if shell.is_background(command):
        return []
    found: list[list[str]] = []
    strict = False
    for part in shell.parts(command):
        words = list(part.words)
        strict = strict or (words[0] == "set" and words[-1].startswith("-") and "e" in words[-1])
        silent = words[0] in commands.SETUP or reads_only(words)
        if part.operator == ";" and not strict:
            found = []
        elif part.operator == "||" and not _gives_up(words):
            found = [] if silent else found[:-1]
        found += [] if silent else [words]
    return found


def proves(success: str, failed: str) -> bool:
    """Whether this success says that what failed works now, or tells a way that does."""
    if success == failed:
        return True
    return bool(decisive(success)) and not evasions(success) - evasions(failed)


def evasions(command: str) -> frozenset[str]:
    """Flags and settings of a line by which a command says, checks or minds less; with values."""
    found = set(_EVASIVE_SETTING.findall(command))
    for words in commands.segments(command):
        for position in range(1, len(words)):
            if _evades(words, position):
                found.add(" ".join(words[position : position + 2]))
    return frozenset(found)


def core(command: str) -> str:
    """The line without the commands that only read, for comparing and for quoting."""
    found = shell.parts(command)
    kept = [part for part in found if not reads_only(part.words)]
    if len(kept) in {0, len(found)}:
        return command
    text = "".join(f" {part.operator or '&&'} {part.text}" for part in kept)
    return re.sub(r"^ \S+ ", "", text)


def _gives_up(words: Sequence[str]) -> bool:
    """Whether it passes the failure on: `|| exit 1`."""
    return words[0] in {"exit", "return", "false"} and words[1:2] != ["0"]


def _evades(words: Sequence[str], position: int) -> bool:
    word, program = words[position], words[0].rsplit("/", 1)[-1]
    if word == "-h":
        return program not in _HOST_BY_H
    if word.startswith("--force") and program in _HARMLESS_FORCE:
        return False
    if _EVASIVE.match(word) or re.fullmatch(_LETTERS.get(program, "-"), word):
        return True
    tested = any(before.rsplit("/", 1)[-1] in _PYTEST for before in words[:position])
    return tested and word in _PYTEST_FILTERS
