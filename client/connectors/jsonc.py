"""JSON as people write it, comments and trailing commas included, read with every position kept.

The standard library's reader forgets where things were and refuses comments, and writing a document
back from its values would lose both.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from ..connection.documents import Document

MOST_DEPTH = 200
"""Levels of nesting; settings have five."""

_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_SCALAR = re.compile(
    rf"{_STRING.pattern}|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null"
)
_CLOSING = {"{": "}", "[": "]"}


class Broken(ValueError):
    """The text is not JSON; `str()` says where and what is wrong."""

    def __init__(self, text: str, position: int, what: str) -> None:
        line = text.count("\n", 0, position) + 1
        column = position - text.rfind("\n", 0, position)
        super().__init__(f"line {line}, column {column}: {what}")


class Child(NamedTuple):
    """One member (`key` is its name) or element (`key` is empty) of a container.

    `start` is where its text begins, the key included; `comma` where the comma behind it is, or -1.
    """

    key: str
    start: int
    node: Node
    comma: int


class Node(NamedTuple):
    """One value and the span of its text; `kind` is "{", "[" or "" for everything else."""

    kind: str
    start: int
    end: int
    children: tuple[Child, ...] = ()

    def place(self, key: str | int) -> int | None:
        """Which child this key or index means; of members with one name the last, as in JSON."""
        if isinstance(key, int):
            return key if self.kind == "[" and key < len(self.children) else None
        if self.kind == "{":
            for at in range(len(self.children) - 1, -1, -1):
                if self.children[at].key == key:
                    return at
        return None


def parse(text: str) -> Node:
    """The document's root; raises Broken."""
    reader = _Reader(text)
    root = reader.value(reader.skip(0), 0)
    end = reader.skip(root.end)
    if end < len(text):
        raise Broken(text, end, "something follows the end of the document")
    return root


def value(text: str, node: Node) -> object:
    """The node's value as `json` would read it."""
    if node.kind == "{":
        found: Document = {child.key: value(text, child.node) for child in node.children}
        return found
    if node.kind == "[":
        return [value(text, child.node) for child in node.children]
    read: object = json.loads(text[node.start : node.end])
    return read


class _Reader:
    """Reads values at positions of one text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def skip(self, position: int) -> int:
        """The first position that is neither white space nor comment."""
        match = _TRIVIA.match(self._text, position)
        return match.end() if match else position

    def value(self, position: int, depth: int) -> Node:
        """The value that begins here."""
        kind = self._text[position : position + 1]
        if kind in _CLOSING:
            if depth == MOST_DEPTH:
                raise Broken(self._text, position, "it is nested too deeply")
            return self._container(kind, position, depth)
        match = _SCALAR.match(self._text, position)
        if match is None:
            raise Broken(self._text, position, "a value is expected")
        return Node("", position, match.end())

    def _container(self, kind: str, start: int, depth: int) -> Node:
        closing, children = _CLOSING[kind], list[Child]()
        position = self.skip(start + 1)
        while not self._text.startswith(closing, position):
            if children and children[-1].comma < 0:
                raise Broken(self._text, position, f"',' or '{closing}' is expected")
            children.append(self._child(kind, position, depth))
            last = children[-1]
            position = self.skip(last.node.end if last.comma < 0 else last.comma + 1)
        return Node(kind, start, position + 1, tuple(children))

    def _child(self, kind: str, start: int, depth: int) -> Child:
        key, position = ("", start) if kind == "[" else self._key(start)
        node = self.value(position, depth + 1)
        after = self.skip(node.end)
        return Child(key, start, node, after if self._text.startswith(",", after) else -1)

    def _key(self, start: int) -> tuple[str, int]:
        """A member's name, and where its value begins."""
        match = _STRING.match(self._text, start)
        if match is None:
            raise Broken(self._text, start, "a name in double quotes is expected")
        colon = self.skip(match.end())
        if not self._text.startswith(":", colon):
            raise Broken(self._text, colon, "':' is expected")
        return str(json.loads(match.group())), self.skip(colon + 1)
