"""Every verb of the command explains itself."""

from __future__ import annotations

import pytest
from recalld.client.cli import load, main
from recalld.client.cli.catalogue import VERBS


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
