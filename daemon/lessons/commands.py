"""Shell commands read just far enough to say what kind of command one is.

`cd /app && NODE_ENV=test sudo npm run build -- -v | tail` is `npm run build`: two attempts of one
class are the same attempt in other words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from . import shell

_VERB: Final = re.compile(r"^[a-z][a-z0-9:_-]*$")

_SETUP_WORDS: Final = (
    "cd : export source . echo printf set unset pwd true sleep pushd popd alias umask clear"
)
SETUP: Final = frozenset(_SETUP_WORDS.split())
"""Programs that only prepare a shell or speak; a command line is about something else."""
_VERBED_WORDS: Final = (
    "git npm pnpm yarn bun deno cargo go docker docker-compose podman kubectl helm pip pip3 uv"
    " poetry pipenv pdm hatch conda make just terraform gh aws gcloud az systemctl apt apt-get brew"
    " dnf apk dotnet gradle ./gradlew mvn rails bundle rake composer alembic flyway prisma nx turbo"
    " lerna mix flutter swift django-admin rustup nvm asdf mise npx pnpx bunx uvx"
)
# Programs whose next word says what they do.
_VERBED: Final = frozenset(_VERBED_WORDS.split())
_NESTED_WORDS: Final = "run exec compose dlx x tool manage stack container image plugin"
# … and whose word after that does, too.
_NESTED: Final = frozenset(_NESTED_WORDS.split())
_MOST_VERBS: Final = 3
_RUNNER_WORDS: Final = "python python3 node ruby bash sh zsh run exec py js ts"
_RUNNERS: Final = _VERBED | frozenset(_RUNNER_WORDS.split())
_TESTER_WORDS: Final = "pytest tox nox jest vitest mocha rspec phpunit ctest tsc"
_TESTERS: Final = frozenset(_TESTER_WORDS.split())
_PARTS: Final = re.compile(r"[^\w]+|_")


def segments(command: str) -> list[list[str]]:
    """The commands of a chain as words, without set-up, wrappers, redirections and paging."""
    found = [list(part.words) for part in shell.parts(command)]
    return [words for words in found if words[0] not in SETUP]


def class_of(words: Sequence[str]) -> str:
    """What kind of command the words are: the program, and its verbs where it has such."""
    if not words:
        return ""
    program = words[0].rsplit("/", 1)[-1]
    if program.startswith("python") and len(words) > 2 and words[1] == "-m":
        return class_of(words[2:])
    name = [re.sub(r"^(python|pip)[\d.]+$", r"\1", program)]
    if program in _VERBED or words[0] in _VERBED:
        name += _verbs(shell.verb_on(words)[1:])
    return " ".join(name)


def classify(command: str, error: str = "") -> str:
    """The class of a whole command line: of the part its error names, else of its last part."""
    parts = segments(command)
    if not parts:
        return ""
    head = error[:400]
    named = [words for words in parts if re.search(rf"(?<![\w-]){re.escape(_name(words))}\b", head)]
    return class_of((named or parts)[-1])


def classes(command: str) -> list[str]:
    """The class of every part of a command line, in order."""
    return [class_of(words) for words in segments(command)]


def runs_something(words: Sequence[str]) -> bool:
    """Whether the command runs a program, a script or a task, so that its success shows something.

    Git moves files about; that it worked says nothing of what is in them.
    """
    return words[0] != "git" and (words[0] in _RUNNERS or "/" in words[0] or words[0] in _TESTERS)


def words_of(command: str) -> frozenset[str]:
    """The words that say what a command is about: no flags, no set-up, identifiers by part.

    Runners are left out: `npm install` and `npm test` have nothing in common.
    """
    found = [word for words in segments(command) for word in words if not word.startswith("-")]
    parts = {part.lower() for word in found for part in _PARTS.split(word) if len(part) > 1}
    return frozenset(parts - _RUNNERS)


def tidy(command: str) -> str:
    """The command on one line, without changes of folder before it and paging behind it."""
    text = " ".join(shell.bare(command).split())
    return re.sub(r"^(?:cd\s+\S+\s*(?:&&|;)\s*)+", "", text).strip()


def _name(words: Sequence[str]) -> str:
    return words[0].rsplit("/", 1)[-1]


def _verbs(words: Sequence[str]) -> list[str]:
    found: list[str] = []
    for word in words:
        if word.startswith("-"):
            continue
        if not _VERB.match(word):
            break
        found.append(word)
        if word not in _NESTED or len(found) == _MOST_VERBS:
            break
    return found
