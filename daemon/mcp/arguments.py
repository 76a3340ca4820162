"""The arguments of tools: one description that hosts can read and calls are checked against.

Hosts differ in the JSON Schema they take: references, unions, constants, lists of types and boolean
schemas are each refused by one of them. What is published here is the part all of them take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple, cast

from ...auth.errors import InvalidRequest

Type = Literal["string", "integer", "number", "array"]
Given = Mapping[str, object]
"""Checked arguments by name; those that were not given are absent."""


class Argument(NamedTuple):
    """One argument. `most` bounds whole numbers, which are clamped: agents ask for "all" as 9999.

    Numbers sent as text are taken, and one text for a list: language models do both.
    """

    name: str
    type: Type
    description: str = ""
    required: bool = False
    choices: tuple[str, ...] = ()
    most: int = 1_000_000

    def schema(self) -> dict[str, object]:
        """Its JSON schema."""
        told: dict[str, object] = {"type": self.type}
        if self.description:
            told["description"] = self.description
        choices = {"enum": list(self.choices)} if self.choices else {}
        if self.type == "array":
            told["items"] = {"type": "string", **choices}
            return told
        return told | choices

    def read(self, value: object) -> object:
        """The value as its type. Raises InvalidRequest."""
        found: object
        match self.type:
            case "string":
                found = value if isinstance(value, str) else None
            case "integer":
                found = self._whole(value)
            case "number":
                found = _number(value)
            case "array":
                found = _texts(value)
        if found is None:
            raise InvalidRequest(f"Argument {self.name!r} must be {_A[self.type]}.")
        self._check_choice(found)
        return found

    def _whole(self, value: object) -> int | None:
        number = _number(value)
        return None if number is None else max(0, min(int(number), self.most))

    def _check_choice(self, value: object) -> None:
        chosen = cast("list[str]", value) if isinstance(value, list) else [value]
        if self.choices and not set(chosen) <= set(self.choices):
            raise InvalidRequest(f"Argument {self.name!r} must be one of {_list(self.choices)}.")


_A: dict[Type, str] = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "array": "a list of texts",
}


def schema(arguments: Iterable[Argument]) -> dict[str, object]:
    """The JSON schema of a tool with these arguments."""
    listed = tuple(arguments)
    told: dict[str, object] = {
        "type": "object",
        "properties": {one.name: one.schema() for one in listed},
    }
    required = [one.name for one in listed if one.required]
    return {**told, "required": required} if required else told


def check(arguments: Iterable[Argument], given: Given | None) -> Given:
    """What was given, checked; null counts as absent.

    Raises:
        InvalidRequest: one is missing, unknown or of the wrong type; the sentence names it.
    """
    known = {one.name: one for one in arguments}
    sent = {name: value for name, value in (given or {}).items() if value is not None}
    for name in sent:
        if name not in known:
            raise InvalidRequest(f"There is no argument {name[:60]!r}; there are {_list(known)}.")
    for name, one in known.items():
        if one.required and name not in sent:
            raise InvalidRequest(f"Argument {name!r} is missing.")
    return {name: known[name].read(value) for name, value in sent.items()}


def _number(value: object) -> float | None:
    if isinstance(value, str) and len(value) < 20:
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**53:
        return None
    return value


def _texts(value: object) -> list[str] | None:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        return None
    texts = [text for text in cast("list[object]", value) if isinstance(text, str)]
    return texts if len(texts) == len(cast("list[object]", value)) else None


def _list(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
