"""Every verb of the command explains itself."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from recalld.client.cli import main
from recalld.client.cli.catalogue import VERBS
from recalld.client.cli.command import load

from tests.harness.sources import product

TOLD = re.compile(r"(?:`|\b[Rr]un:? )recalld ([a-z]+)(?![a-z'])")
"""How messages and hints tell somebody to run a verb."""
TYPED = re.compile(r"(?:`|^(?:\$ )?)recalld ([a-z]+)(?= |$)", re.MULTILINE)
"""How documents do."""


@pytest.mark.parametrize("name", sorted(VERBS))
def test_every_verb_has_help_with_an_example(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`recalld VERB --help` works without a daemon, and shows how the verb is called."""
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("usage:")
    assert load(name).example in shown
    assert f"recalld {name}" in load(name).example
    assert "--json" in shown


def test_the_overview_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    """`recalld --help` has a line for each verb."""
    assert main(["--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = {line.split()[0] for line in lines if line.startswith("  ")}
    assert set(VERBS) <= listed


def test_every_command_that_is_told_exists(repository: Path) -> None:
    """No message, hint or document tells anybody to run a verb there is not."""
    told = [
        (source.name, verb)
        for source in product(repository)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for verb in TOLD.findall(node.value)
    ]
    for path in repository.glob("*.md"):
        blocks = path.read_text().split("```")[1::2]
        told += [(path.name, verb) for block in blocks for verb in TYPED.findall(block)]
    assert {"doctor", "grant", "stop"} <= {verb for _, verb in told}
    assert [(name, verb) for name, verb in told if verb not in VERBS] == []
