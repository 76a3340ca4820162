"""The error tree: complete, unambiguous, and drawn in its docstring as it is."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from recalld.auth import errors
from recalld.auth.errors import RecalldError, every_error

from tests.harness.sources import product

LINE = re.compile(r"^(?P<bars>[ |]*(?:[|`]- )?)(?P<name>\w+) +(?P<code>\w+) +(?P<status>\d{3})")
EXIT = re.compile(r"exit (\d+)")


def classes() -> list[type[RecalldError]]:
    """Every class of the tree."""
    found: list[type[RecalldError]] = [RecalldError]
    for cls in found:
        found.extend(cls.__subclasses__())
    return [cls for cls in found if cls.__module__ == errors.__name__]


def drawn() -> dict[str, tuple[str | None, str, int, int]]:
    """What the docstring draws: name to (parent, code, status, exit code)."""
    found: dict[str, tuple[str | None, str, int, int]] = {}
    above: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        match = LINE.match(line)
        if not match or not line.startswith("    "):
            continue
        depth = len(match["bars"])
        above = [(column, name) for column, name in above if column < depth]
        parent = above[-1][1] if above else None
        said = EXIT.search(line)
        code = int(said[1]) if said else found[parent or ""][3]
        found[match["name"]] = (parent, match["code"], int(match["status"]), code)
        above.append((depth, match["name"]))
    return found


def test_the_docstring_is_the_tree() -> None:
    """The drawing at the top of the module shows exactly the classes, codes, statuses and exits."""
    actual = {
        cls.__name__: (
            None if cls is RecalldError else cls.__bases__[0].__name__,
            cls.code,
            cls.status,
            cls.exit_code,
        )
        for cls in classes()
    }
    assert drawn() == actual


def test_codes_are_unique() -> None:
    """Every class has a wire code of its own, so an answer maps to exactly one class."""
    codes = [cls.code for cls in classes()]
    assert sorted(codes) == sorted(set(codes))
    assert {cls.code: cls for cls in classes()} == every_error()


def test_statuses_and_exit_codes_make_sense() -> None:
    """Statuses are errors, and no failure exits 0 or with a code of the shell's own."""
    for cls in classes():
        assert 400 <= cls.status <= 599, cls
        assert 64 <= cls.exit_code <= 78, cls
        assert cls.__doc__, cls


def test_every_error_survives_the_wire() -> None:
    """What the daemon sends is what the client raises."""
    for cls in classes():
        sent = cls("What happened.", hint="What to do.", retry_after_ms=5)
        got = errors.from_wire(sent.to_wire(), cls.status)
        assert type(got) is cls
        assert (got.message, got.hint, got.retry_after_ms) == ("What happened.", "What to do.", 5)


def test_errors_on_the_wire_live_in_one_tree(repository: Path) -> None:
    """No other module derives a public error with a wire code."""
    elsewhere = [
        f"{source.path}: {node.name}"
        for source in product(repository)
        if source.name != "auth.errors"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef)
        for line in node.body
        if isinstance(line, ast.Assign)
        and any(isinstance(t, ast.Name) and t.id == "exit_code" for t in line.targets)
    ]
    assert elsewhere == []
