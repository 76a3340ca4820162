"""What source code says in words: docstrings with their functions, documented declarations."""

import ast
import json
import re
import warnings
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple, cast

from .prose import plain, squeeze, unmarked

LONGEST_FUNCTION = 40
MOST_COMPLETIONS = 80
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[_\-]+")
_FIELDS = re.compile(r"\n\s*\n|\n\s*(?::param|:return|@param|Args:|Param|Returns)")


class Documented(NamedTuple):
    """A documented piece of code: what it does, what it looks like, and what else is said."""

    summary: str
    code: str
    details: str


def spelled(identifier: str) -> str:
    """`getUserName` as "get user name"."""
    return squeeze(_CAMEL.sub(" ", identifier)).lower()


def python_functions(source: str) -> Iterator[Documented]:
    """Every documented function and class of a module; no code for those that are too long."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    lines = source.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            docstring = ast.get_docstring(node)
            if docstring and docstring.isascii():
                parts = _FIELDS.split(docstring)
                details = parts[1] if len(parts) > 1 and "----" not in parts[1] else ""
                yield Documented(unmarked(parts[0]), _code(node, lines), unmarked(details))


def _code(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, lines: list[str]) -> str:
    """Signature and body without the docstring."""
    if isinstance(node, ast.ClassDef) or node.name.startswith("test") or len(node.body) < 2:
        return ""
    first = node.body[1].lineno - 1
    end = node.end_lineno or first
    if end - first > LONGEST_FUNCTION:
        return ""
    signature = lines[node.lineno - 1 : node.body[0].lineno - 1]
    return squeeze(" ".join([*signature, *lines[first:end]]))


_COMMENTED = re.compile(r"/\*\*((?:(?!\*/).)*)\*/\s*\n([^\n]{4,240})", re.DOTALL)
_STARS = re.compile(r"(?m)^\s*\*\s?")
_TAGS = re.compile(r"\n\s*@|\n\s*\n")
_LINK = re.compile(r"\{@\w+\s+([^}]*)\}")


def typescript_declarations(source: str) -> Iterator[Documented]:
    """The documented members of a declaration file."""
    for found in _COMMENTED.finditer(source):
        comment = _LINK.sub(r"\1", _STARS.sub("", found[1])).strip()
        if comment and comment.isascii() and not comment.startswith("@"):
            parts = _TAGS.split(comment)
            details = parts[1] if len(parts) > 1 and not comment.count("\n@") else ""
            yield Documented(unmarked(parts[0]), squeeze(found[2]), unmarked(details))


_COMMAND = re.compile(r'name:(?:"([\w-]+)"|\["([\w-]+)"[^\]]*\]),description:"((?:[^"\\]|\\.)+)"')


def completion_specs(command: str, source: str) -> Iterator[tuple[str, str]]:
    """A command's subcommands and what each does, out of a compiled completion spec."""
    for found in islice(_COMMAND.finditer(source), MOST_COMPLETIONS):
        name = found[1] or found[2]
        yield squeeze(f"{command} {name if name != command else ''}"), squeeze(found[3])


def service_operations(service: str, model: str) -> Iterator[tuple[str, str]]:
    """The operations of a botocore service model: spelled name and first paragraph."""
    operations = cast("dict[str, dict[str, dict[str, object]]]", json.loads(model))["operations"]
    for name, operation in operations.items():
        documentation = operation.get("documentation")
        if isinstance(documentation, str):
            first = documentation.split("</p>", 1)[0]
            yield f"{spelled(name)} in {service}", plain(first)
