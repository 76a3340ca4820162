"""Files and functions stay small enough to be read whole."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

from tests.harness.sources import functions, product

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
MEDIAN_FUNCTION = 10
NINETIETH_FUNCTION = 30


def test_no_file_is_long(repository: Path) -> None:
    """No module of the product is over 400 lines."""
    sizes = {str(source.path): source.text.count("\n") for source in product(repository)}
    assert {path: size for path, size in sizes.items() if size > LONGEST_FILE} == {}


def test_functions_are_short(repository: Path) -> None:
    """Half of all functions have at most 10 lines, nine tenths at most 30, none more than 60."""
    sizes = dict(pair for source in product(repository) for pair in functions(source))
    assert {name: size for name, size in sizes.items() if size > LONGEST_FUNCTION} == {}
    lengths = sorted(sizes.values())
    assert statistics.median(lengths) <= MEDIAN_FUNCTION
    assert lengths[len(lengths) * 9 // 10] <= NINETIETH_FUNCTION


def test_modules_are_named_by_nouns(repository: Path) -> None:
    """No module hides behind a name that says nothing."""
    vague = ("util", "helper", "manager", "misc", "common")
    names = [source.path.stem for source in product(repository)]
    assert [name for name in names if any(word in name for word in vague)] == []


def test_every_module_says_what_it_is(repository: Path) -> None:
    """Every module begins with a docstring."""
    silent = [str(s.path) for s in product(repository) if s.text and not ast.get_docstring(s.tree)]
    assert silent == []
