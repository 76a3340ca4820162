"""What connecting and disconnecting do to the text of each kind of file, and what can be wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from ...auth.errors import InvalidSettings
from . import rules_block, settings_json, settings_toml
from .json_editor import Path, Unfit
from .jsonc import Broken
from .markers import Misplaced
from .target import Target

Made = Sequence[Path] | None
"""The containers that connecting added; None when nobody remembers."""


class Format(NamedTuple):
    """`merged` adds what is ours, `without` takes it away, `is_left_over` tells whether the rest is
    worth a file.
    """

    merged: Callable[[str, Target], tuple[str, list[Path]]]
    without: Callable[[str, str, Made], str]
    is_left_over: Callable[[str, Sequence[Path]], bool]


def _json(text: str, target: Target) -> tuple[str, list[Path]]:
    return settings_json.merged(text, target.wanted)


def _toml(text: str, target: Target) -> tuple[str, list[Path]]:
    return settings_toml.merged(text, target.wanted), []


def _rules(text: str, target: Target) -> tuple[str, list[Path]]:
    return rules_block.merged(text, target.body), []


def _without_toml(text: str, _host: str, _made: Made) -> str:
    return settings_toml.without(text)


def _without_rules(text: str, _host: str, _made: Made) -> str:
    return rules_block.without(text)


def _is_blank(text: str, _made: Sequence[Path]) -> bool:
    return not text.strip()


FORMATS = {
    "json": Format(_json, settings_json.without, settings_json.is_left_over),
    "toml": Format(_toml, _without_toml, _is_blank),
    "rules": Format(_rules, _without_rules, _is_blank),
}
"""By a target's kind."""


@contextmanager
def judged(path: str) -> Generator[None]:
    """What is wrong with this file, as an error of ours; the file has not been touched then."""
    try:
        yield
    except (Broken, tomllib.TOMLDecodeError) as error:
        raise InvalidSettings(
            f"{path} is broken: {error}.", hint="Mend it and run this again; nothing was changed."
        ) from error
    except (Unfit, Misplaced) as error:
        raise InvalidSettings(
            f"{path} cannot be changed: {error}.", hint="Mend that and run this again."
        ) from error
