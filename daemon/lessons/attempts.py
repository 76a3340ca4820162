"""What a tool call tried: a command or the use of a tool, in words and by class."""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple, cast

from ..intake.event import Event
from . import commands, shell

LONGEST: Final = 400
"""Characters of a command that can be quoted as a fix; a longer one is a script."""

_COMMAND_KEYS: Final = ("command", "cmd", "script")
_PATH_KEYS: Final = (
    "file_path",
    "path",
    "filePath",
    "target_file",
    "notebook_path",
    "absolute_path",
)
_EDITS: Final = re.compile(r"(?i)edit|write|replace|patch|create|insert|notebook")
_CUT_COMMAND: Final = re.compile(r'"(?:command|cmd|script)"\s*:\s*"((?:[^"\\]|\\.)*)')
_TEST: Final = re.compile(
    r"(?:^|\s)(?:pytest|unittest|jest|vitest|mocha|rspec|phpunit|ctest|tox|nox|"
    r"(?:npm|pnpm|yarn|bun|deno|cargo|go|dotnet|mvn|gradle|gradlew|make|just|mix|swift|rails|"
    r"flutter|django)(?: run)? tests?)(?:$|[\s:])"
)


class Attempt(NamedTuple):
    """`text` is the command or path, `shell` says that it is a command, `edits` the file written.

    `command_class` is what `commands.classify` makes of a command, else the tool's name.
    """

    tool: str
    text: str
    command_class: str
    shell: bool
    edits: str

    @property
    def is_test(self) -> bool:
        """Whether it runs tests."""
        return self.shell and any(_TEST.search(found) for found in commands.classes(self.text))


def attempt(event: Event) -> Attempt:
    """What the tool call of this event tried."""
    fields = _fields(event.input)
    command = next((text for key in _COMMAND_KEYS if (text := _text(fields.get(key)))), "")
    if command:
        tidy = commands.tidy(command)
        return Attempt(event.tool, tidy, commands.classify(command, event.error), True, "")
    path = next((text for key in _PATH_KEYS if (text := _text(fields.get(key)))), "")
    edits = path.replace("\\", "/").rsplit("/", 1)[-1] if _EDITS.search(event.tool) else ""
    return Attempt(event.tool, path, event.tool, False, edits)


def subjects(event: Event) -> list[str]:
    """What a hard rule's pattern is matched against: the command and all it starts, or the path."""
    made = attempt(event)
    fields = _fields(event.input)
    if not made.shell:
        return [made.text] if made.text else [text for v in fields.values() if (text := _text(v))]
    whole = next((text for key in _COMMAND_KEYS if (text := _text(fields.get(key)))), made.text)
    found = [made.text]
    for words in shell.started(whole):
        found += [" ".join(words), " ".join(shell.verb_on(words))]
    return list(dict.fromkeys(found))


def _fields(raw: str) -> dict[str, object]:
    """The tool's input as an object; of one that was cut in the middle only the command is left."""
    try:
        value: object = json.loads(raw) if raw else {}
    except (ValueError, RecursionError):
        cut = _CUT_COMMAND.search(raw)
        return {"command": _unescaped(cut[1])} if cut else {}
    if isinstance(value, dict):
        return cast("dict[str, object]", value)
    return {"command": value} if isinstance(value, str) else {}


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def _text(value: object) -> str:
    """A text, or a command given as a list of words (`["bash", "-lc", "…"]` is its script)."""
    if isinstance(value, list):
        words = [str(word) for word in cast("list[object]", value)]
        if len(words) == 3 and words[1].startswith("-") and words[1].endswith("c"):
            return words[2]
        return " ".join(words)
    return value if isinstance(value, str) else ""
