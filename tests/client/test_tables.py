"""Lists as a person sees them, on terminals wide and narrow, and as a pipe gets them."""

from __future__ import annotations

import re

import pytest
from recalld.client.cli import tables, terminal

from tests.client.screens import on_terminal
from tests.harness.cli import Cli

LONG = "The build machine kept running out of disk because nobody ever removed the old images."
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def test_a_terminal_gets_a_table(recalld: Cli) -> None:
    """On a terminal there is a header, and square brackets are text, not markup."""
    recalld.ok("store", "[bold]not markup[/bold]")
    said = on_terminal(recalld, "list")
    assert "created" in said
    assert "[bold]not markup[/bold]" in said


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_the_text_of_a_memory_has_room(recalld: Cli, columns: int) -> None:
    """However narrow the terminal, a line of text is at least as long as the words allow for."""
    recalld.ok("store", LONG, "--kind", "project-knowledge")
    for verb in (("list",), ("recall", "old images")):
        said = on_terminal(recalld, *verb, columns=columns)
        words = [line for line in said.splitlines() if any(word in line for word in LONG.split())]
        assert len(words) <= 1 + len(LONG) // 26, said
        assert max(map(len, words)) <= columns


def test_a_namespace_all_share_is_said_once(recalld: Cli) -> None:
    """What is the same on every line stands above them; a pipe gets it on every line."""
    for number in range(3):
        recalld.ok("store", f"note {number} about tables")
    namespace = str(recalld.json("where")["namespace"])
    for verb in (("list",), ("recall", "note about tables"), ("search", "tables")):
        assert on_terminal(recalld, *verb).count(namespace) == 1
        assert recalld.ok(*verb).count(namespace) == 3
    recalld.ok("store", "another note about tables", "--namespace", "user:local")
    assert on_terminal(recalld, "list").count(namespace) == 3


def test_times_are_short_on_a_terminal_and_exact_elsewhere(recalld: Cli) -> None:
    """People read how long ago, machines an RFC 3339 time."""
    recalld.ok("store", "now")
    said = on_terminal(recalld, "list")
    assert re.search(r"\d+[sm] ago|now", said)
    assert not ISO.search(said)
    assert ISO.search(recalld.ok("list"))


@pytest.mark.parametrize(
    ("age", "said"),
    [(5, "5s ago"), (3700, "1h ago"), (200_000, "2d ago"), (-7300, "in 2h"), (1e8, "20")],
)
def test_how_long_ago(monkeypatch: pytest.MonkeyPatch, age: float, said: str) -> None:
    """The largest unit that fits, and the day itself after a month."""
    from datetime import UTC, datetime, timedelta

    monkeypatch.setattr(terminal, "on_terminal", lambda: True)
    moment = (datetime.now(UTC) - timedelta(seconds=age)).isoformat()
    assert tables.when(moment).startswith(said)
    assert tables.when("no time") == "no time"
