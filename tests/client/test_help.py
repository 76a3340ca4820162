"""Help: what it says is there, and every example in it works as it stands."""

from __future__ import annotations

import re
import shlex

import pytest
from recalld.client.cli.catalogue import VERBS
from recalld.client.cli.command import load
from recalld.client.cli.completing import parsers
from recalld.client.cli.verb import parser

from tests.harness.cli import Cli
from tests.harness.daemons import Daemon

MEMORY = re.compile(r"\b01JZ5W3V9Q8Y7X6W5V4T3S2R1Q\b")
GRANT = re.compile(r"\bg_1f2e3d4c5b6a7988\b")
OUTSIDE = ("recalld serve", "recalld service")
"""What runs for ever, or talks to the service manager of whoever runs the tests."""


def examples() -> list[str]:
    """Every example of every help text, once."""
    helps = [one for verb in VERBS for one in parsers(verb, parser(verb, load(verb))).values()]
    assert [one.prog for one in helps if "example:\n" not in (one.epilog or "")] == []
    lines = [line.strip() for one in helps for line in (one.epilog or "").splitlines()[1:]]
    return list(dict.fromkeys(lines))


def test_every_example_works(recalld: Cli, daemon: Daemon) -> None:
    """Typed as it stands, with the ids of a memory and of a grant, each ends with exit code 0."""
    assert daemon.published
    (home := recalld.cwd.parents[1] / "home").joinpath("work", "app").mkdir(parents=True)
    recalld.cwd.joinpath("event.json").write_text('{"hook_event_name": "SessionStart"}')
    failed: dict[str, str] = {}
    for number, example in enumerate(examples()):
        if example.startswith(OUTSIDE):
            continue
        text = f"never push {number} to main, use a branch"
        memory = str(recalld.json("store", text, "--kind", "correction")["id"])
        wide = ("grant", "issue", "--anywhere", "--namespace", "org:acme", "--json")
        grant = recalld.json(*wide)["id"] if GRANT.search(example) else ""
        if "rules soften" in example:
            recalld.ok("rules", "harden", memory, "--pattern", "x*")
        if "recalld undo" in example:
            recalld.ok("forget", memory)
        typed = shlex.quote(GRANT.sub(str(grant), MEMORY.sub(memory, example)))
        done = recalld.shell(f"bash -c {typed}")
        if done.returncode and "--force" not in done.stderr:  # a test run from a temporary place
            failed[example] = done.stderr
    assert failed == {}
    assert home.is_dir()


@pytest.mark.parametrize("deed", ["issue", "list", "revoke", "rotate"])
def test_help_of_a_deed(recalld: Cli, deed: str) -> None:
    """`help VERB DEED` is `VERB DEED --help`."""
    said = recalld.ok("help", "grant", deed)
    assert said == recalld.ok("grant", deed, "--help")
    assert f"recalld grant {deed}" in said


@pytest.mark.parametrize(
    ("typed", "meant"),
    [(("recal",), "'recall'"), (("help", "sotre"), "'store'"), (("grants",), "'grant'")],
)
def test_a_mistyped_verb_finds_its_neighbour(
    recalld: Cli, typed: tuple[str, ...], meant: str
) -> None:
    """The nearest verb is named."""
    done = recalld(*typed)
    assert done.returncode == 64
    assert f"Did you mean {meant}?" in done.stderr


def test_options_before_the_verb(recalld: Cli) -> None:
    """Where options go is said."""
    assert "follow" in recalld("--json", "list").stderr + recalld("--json", "list").stdout
    assert "Did you mean" not in recalld("qqqqqq").stderr
