"""Changing a JSON document as text: only what is inserted, replaced or removed changes at all."""

from __future__ import annotations

import json

from . import jsonc
from .jsonc import Child, Node

Path = tuple[str | int, ...]
"""Member names and element indices from the root to a value."""

_BLANK = " \t\r\n"
_UNIT = "  "


class Unfit(ValueError):
    """The document holds a value of another type where an object or array of ours has to go."""


class Editor:
    """A document being changed; `made` are the paths of the containers that were not there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.made: list[Path] = []
        self._root = jsonc.parse(text)
        if self._root.kind != "{":
            raise Unfit("it holds no JSON object")
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._unit = self._indentation()
        # One line with something in it is how a program writes; anything else is for people.
        self._one_line = not set("\r\n") & set(text.strip()) and bool(self._root.children)
        self._tight = self._one_line and '": ' not in text

    def _indentation(self) -> str:
        for child in self._root.children[:1]:
            lead = self._lead(child.start)
            if lead and self._begins_line(child.start):
                return lead
        return _UNIT

    @property
    def names(self) -> list[str]:
        """The names of the document's members."""
        return [child.key for child in self._root.children]

    def find(self, path: Path) -> Node | None:
        """The node at this path."""
        node = self._root
        for key in path:
            at = node.place(key)
            if at is None:
                return None
            node = node.children[at].node
        return node

    def value(self, path: Path) -> object:
        """The value at this path; None when there is none (or a null)."""
        node = self.find(path)
        return None if node is None else jsonc.value(self.text, node)

    def set(self, path: Path, value: object) -> None:
        """Replace the value at this path, or add it at the end of its object."""
        node = self.find(path)
        if node is not None:
            lead = self._lead(node.start)
            self._splice((node.start, node.end, self._rendered(value, lead)))
            return
        if self.find(path[:-1]) is None:  # with what is missing above it, in one go
            self.made.append(path[:-1])
            self.set(path[:-1], {path[-1]: value})
            return
        parent = self._container(path[:-1], "{")
        self._insert(parent, value, f"{json.dumps(path[-1], ensure_ascii=False)}: ")

    def append(self, path: Path, value: object) -> None:
        """Add an element at the end of the array at this path, which is added if need be."""
        if self.find(path) is None:
            self.made.append(path)
            self.set(path, [value])
            return
        self._insert(self._container(path, "["), value, "")

    def remove(self, path: Path) -> None:
        """Take away a member or element, with its comma and the white space that came with it."""
        parent = self.find(path[:-1])
        at = None if parent is None else parent.place(path[-1])
        if parent is None or at is None:
            return
        if len(parent.children) == 1:
            self._remove_only(parent)
        elif at == len(parent.children) - 1:
            self._remove_last(parent)
        else:
            self._remove_inner(parent.children[at])

    def _container(self, path: Path, kind: str) -> Node:
        """The object or array at this path; raises Unfit when it is something else."""
        node = self.find(path)
        if node is None or node.kind != kind:
            where, wanted = ".".join(map(str, path)), "object" if kind == "{" else "array"
            raise Unfit(f"{where} is not an {wanted}")
        return node

    def _insert(self, parent: Node, value: object, name: str) -> None:
        """A new last child, behind whatever comment follows the present one."""
        close = parent.end - 1
        anchor = len(self.text[:close].rstrip(_BLANK))
        last = parent.children[-1] if parent.children else None
        name = name.rstrip() if self._tight else name
        tail = "," if last and last.comma >= 0 else ""
        if self._inline(parent):
            gap = " " if last and not self._tight else ""
            item = f"{gap}{name}{self._rendered(value, None)}{tail}"
        else:
            item = self._on_lines(parent, value, name, self.text[anchor:close], tail)
        comma = (last.node.end, last.node.end, ",") if last and last.comma < 0 else None
        self._splice(*((comma,) if comma else ()), (anchor, anchor, item))

    def _on_lines(self, parent: Node, value: object, name: str, rest: str, tail: str) -> str:
        outer = self._lead(parent.start)
        first = parent.children[0].start if parent.children else -1
        own_line = first >= 0 and self._begins_line(first)
        lead = self._lead(first) if own_line else outer + self._unit
        end = "" if "\n" in rest else self._newline + outer
        return f"{self._newline}{lead}{name}{self._rendered(value, lead)}{tail}{end}"

    def _inline(self, parent: Node) -> bool:
        """Whether a new child belongs on the same line, as in `{"a": 1}`."""
        if set("\r\n") & set(self.text[parent.start : parent.end]):
            return False
        return bool(parent.children) or self._one_line

    def _rendered(self, value: object, lead: str | None) -> str:
        """The value as text, on lines that begin with `lead`, or on one line without it."""
        if lead is None or self._one_line:
            separators = (",", ":") if self._tight else (", ", ": ")
            return json.dumps(value, ensure_ascii=False, separators=separators)
        lines = json.dumps(value, ensure_ascii=False, indent=self._unit).split("\n")
        return (self._newline + lead).join(lines)

    def _remove_only(self, parent: Node) -> None:
        child, first, close = parent.children[0], parent.start + 1, parent.end - 1
        start, end = self._before(first, child, close), child.node.end
        rest = self.text[first:start] + self.text[end:close]
        if child.comma >= 0:
            rest = self.text[first:start] + self._without_comma(child, close)
        self._splice((first, close, rest if rest.strip(_BLANK) else ""))

    def _remove_last(self, parent: Node) -> None:
        previous, child = parent.children[-2:]
        start = self._before(previous.comma + 1, child, parent.end - 1)
        if child.comma >= 0:  # the file likes its trailing comma
            end = child.comma
            kept = self.text[child.node.end : child.comma]
            self._splice((start, end + 1, kept))
            return
        self._splice((previous.comma, previous.comma + 1, ""), (start, child.node.end, ""))

    def _without_comma(self, child: Child, close: int) -> str:
        return self.text[child.node.end : child.comma] + self.text[child.comma + 1 : close]

    def _before(self, first: int, child: Child, close: int) -> int:
        """Where the white space in front of a last child begins.

        It stays when it ends a line comment and nothing else would: the comment must not swallow
        the closing bracket.
        """
        between = self.text[first : child.start]
        behind = self.text[child.node.end : close]
        if "//" in between and not behind.lstrip(" \t").startswith(("\r", "\n")):
            return child.start
        return first + len(between.rstrip(_BLANK))

    def _remove_inner(self, child: Child) -> None:
        start, end = child.start, child.comma + 1
        while self.text[end] in " \t":
            end += 1
        if self._begins_line(start) and self.text[end] in "\r\n":
            start -= len(self._lead(start))
            end += 2 if self.text.startswith("\r\n", end) else 1
        kept = self.text[child.node.end : child.comma]  # a comment between value and comma
        self._splice((start, end, kept if kept.strip(_BLANK) else ""))

    def _lead(self, position: int) -> str:
        """The white space at the beginning of this position's line."""
        line = self.text[self._line(position) : position]
        return line[: len(line) - len(line.lstrip(" \t"))]

    def _begins_line(self, position: int) -> bool:
        start = self._line(position)
        return start > 0 and not self.text[start:position].strip(" \t")

    def _line(self, position: int) -> int:
        return self.text.rfind("\n", 0, position) + 1

    def _splice(self, *pieces: tuple[int, int, str]) -> None:
        """Replace these spans, given in order, and read the document anew."""
        text, done = "", 0
        for start, end, piece in pieces:
            text += self.text[done:start] + piece
            done = end
        self.text = text + self.text[done:]
        self._root = jsonc.parse(self.text)
