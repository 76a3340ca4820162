"""Which package may import which, and what nobody may import."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.harness.sources import PACKAGES, imports, product

ALLOWED = {
    "auth": {"auth"},
    "storage": {"storage"},
    "client": {"client", "auth"},
    "daemon": {"daemon", "auth", "storage"},
}
ROOMS = {
    "shipped": {"shipped", "protocol"},
    "providers": {"providers", "protocol"},
    "background": {"background", "protocol", "standing"},
    "protocol": set[str](),
    "none": {"protocol"},
    "standing": {"none", "protocol"},
}
"""What of `daemon.embed` its parts may import; `choice` alone knows the embedders by name."""


def test_packages_import_only_along_the_arrows(repository: Path) -> None:
    """`auth` and `storage` know nobody, `client` knows `auth`, `daemon` knows both."""
    wrong: list[str] = []
    for source in product(repository):
        for name, line in imports(source):
            parts = name.split(".")
            known = len(parts) > 1 and parts[0] == "recalld" and parts[1] in PACKAGES
            if known and parts[1] not in ALLOWED[source.package]:
                wrong.append(f"{source.path}:{line} imports {name}")
    assert wrong == []


def test_the_rooms_of_embed_do_not_know_each_other(repository: Path) -> None:
    """Embedders, wherever they come from, know the protocol, and so does the work with them."""
    wrong: list[str] = []
    seen: set[str] = set()
    for source in product(repository):
        own = source.name.split(".")
        if own[:2] != ["daemon", "embed"] or own[2] not in ROOMS:
            continue
        seen.add(own[2])
        for name, line in imports(source):
            parts = name.split(".")
            inside = parts[:3] == ["recalld", "daemon", "embed"] and len(parts) > 3
            if inside and parts[3] not in ROOMS[own[2]]:
                wrong.append(f"{source.path}:{line} imports {name}")
    assert seen == set(ROOMS)
    assert wrong == []


def test_imports_inside_the_product_are_relative(repository: Path) -> None:
    """No module names `recalld` or a bare package: that would load a second copy of it."""
    wrong: list[str] = []
    for source in product(repository):
        for node in ast.walk(source.tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
                if [alias.name for alias in node.names] == ["__version__"]:
                    continue  # the root package holds nothing else, so there is nothing to double
            heads = {name.partition(".")[0] for name in names}
            if heads & {"recalld", *PACKAGES}:
                wrong.append(f"{source.path}: {names}")
    assert wrong == []


@pytest.mark.parametrize("forbidden", ["sqlite3", "sqlite_vec", "pysqlite3", "multiprocessing"])
def test_nobody_imports(repository: Path, forbidden: str) -> None:
    """A second SQLite in the process drops the locks of the first, and a fork keeps them alive."""
    wrong = [
        f"{source.path}:{line}"
        for source in product(repository)
        for name, line in imports(source)
        if name.partition(".")[0] == forbidden
    ]
    assert wrong == []


def test_only_storage_speaks_sql(repository: Path) -> None:
    """All SQL there is lives in `storage`, where the namespace condition cannot be forgotten."""
    wrong = [
        f"{source.path}:{node.lineno}"
        for source in product(repository)
        if source.package != "storage"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and node.attr in {"execute", "executemany"}
    ]
    assert wrong == []
