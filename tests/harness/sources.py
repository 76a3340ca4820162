"""The product's own source files, parsed."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PACKAGES = ("auth", "storage", "daemon", "client")


class Source(NamedTuple):
    """One module: its dotted name below `recalld`, its path, text and syntax tree."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def package(self) -> str:
        """The top folder it belongs to."""
        return self.name.partition(".")[0]


def product(repository: Path) -> list[Source]:
    """Every module of the four packages."""
    found: list[Source] = []
    for package in PACKAGES:
        for path in sorted((repository / package).rglob("*.py")):
            parts = path.relative_to(repository).with_suffix("").parts
            text = path.read_text(encoding="utf-8")
            found.append(Source(".".join(parts), path, text, ast.parse(text)))
    return found


def imports(source: Source) -> Iterator[tuple[str, int]]:
    """Every imported module, as an absolute dotted name, with its line.

    Relative imports come out below `recalld`: `from ..auth import x` is `recalld.auth.x`.
    """
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(source, node)
            yield base, node.lineno
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)


def _base(source: Source, node: ast.ImportFrom) -> str:
    if node.level == 0:
        return node.module or ""
    own = ["recalld", *source.name.split(".")]
    if source.path.name == "__init__.py":
        own[-1:] = []
    else:
        own.pop()
    kept = own[: len(own) - (node.level - 1)]
    return ".".join([*kept, *([node.module] if node.module else [])])


def functions(source: Source) -> Iterator[tuple[str, int]]:
    """Every function with its length in lines, decorators and docstring left out."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            yield f"{source.name}.{node.name}", (node.end_lineno or first.lineno) - first.lineno + 1
