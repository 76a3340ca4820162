"""A whole session of every host, through real hooks and a real daemon, and what the next gets."""

from __future__ import annotations

import pytest
from recalld.client.hooks import hosts

from tests.harness.daemons import Daemon
from tests.hooks.conftest import Hooks
from tests.hooks.scripted import Scripted

MISSING = "npm ERR! missing script: test"
REFUSED = "Error: connect ECONNREFUSED 127.0.0.1:5433"
NEVER = "Never commit without running the tests first."
LEFT = "The importer still fails.\n\nNext steps:\n- start postgres on 5433\n- rerun it\n"


def work(session: Scripted) -> None:
    """Store, fail, fix, ask again, compact, resume, delegate, end."""
    session.hooks.cli.ok("store", "Deploy with ./ship.sh", "--kind", "devops")
    assert "Deploy with ./ship.sh" in session.start()
    session.prompt(f"Make the importer run. {NEVER}")
    session.wants("npm test")
    session.fails("npm test", MISSING)
    session.works("pnpm test")
    session.prompt("Now run the importer.")
    session.fails("node import.js", REFUSED)
    session.prompt("still broken")
    compacted = session.compacts()
    if session.host in ("claude-code", "codex"):
        assert NEVER in compacted
        assert NEVER in session.delegates()
    else:
        session.delegates()
    assert "Deploy with ./ship.sh" in session.start("resume")
    session.stops(LEFT)
    session.ends()


@pytest.mark.parametrize("host", hosts.NAMES)
def test_the_next_session_knows(hooks: Hooks, daemon: Daemon, host: str) -> None:
    """Store, fail, fix, ask again, compact, resume, sub-agent, end: then rules, fix, checkpoint."""
    assert daemon.published
    work(Scripted(hooks, host))
    following = Scripted(hooks, host)
    told = following.start()
    for known in ("Deploy with ./ship.sh", NEVER, "start postgres on 5433", "`node import.js`"):
        assert known in told
    fix = following.fails("npm test", MISSING)
    if host == "cursor":
        fix = following.works("ls")
    elif host == "kiro":
        fix = following.prompt("What now?")
    assert "What worked: `pnpm test`" in fix
    totals = hooks.cli.json("outcomes")["totals"]
    assert (totals["failures"], totals["reasks"]) == (3, 1)
    assert hooks.spooled() == []
    assert hooks.log() == ""


@pytest.mark.parametrize("host", hosts.NAMES)
def test_a_hard_rule_is_said_once(hooks: Hooks, daemon: Daemon, host: str) -> None:
    """Every host that can refuse a call refuses it once a session, with the rule as the reason."""
    assert daemon.published
    rule = hooks.cli.json("store", "Never push to main", "--kind", "correction")["id"]
    hooks.cli.ok("rules", "harden", str(rule), "--pattern", "git push*main*")
    session = Scripted(hooks, host)
    session.start()
    assert session.wants("git status") == {}
    said = str(session.wants("git push origin main"))
    assert ("Never push to main" in said) == (host != "kiro")
    assert session.wants("git push origin main") == {}


@pytest.mark.parametrize("host", ["claude-code", "codex", "cursor", "gemini"])
def test_rules_come_back_after_a_compaction(hooks: Hooks, daemon: Daemon, host: str) -> None:
    """Where the host starts no session anew, what was lost comes at the next occasion, once."""
    assert daemon.published
    hooks.cli.ok("store", "Deploy with ./ship.sh", "--kind", "devops")
    session = Scripted(hooks, host)
    session.start()
    told = [session.compacts(), session.prompt("Rename foo to bar"), session.works("ls")]
    told += [session.prompt("Rename bar to foo"), session.works("ls")]
    assert sum("Deploy with ./ship.sh" in one for one in told) == 1


@pytest.mark.parametrize("host", hosts.NAMES)
def test_a_start_the_daemon_missed_is_made_up_for(hooks: Hooks, daemon: Daemon, host: str) -> None:
    """A host that told of no start gives its agent the rules as soon as it takes anything, once."""
    assert daemon.published
    hooks.cli.ok("store", "Deploy with ./ship.sh", "--kind", "devops")
    session = Scripted(hooks, host)
    told = [session.prompt("Rename foo to bar"), session.works("ls")]
    told += [session.prompt("Rename bar to foo"), session.works("ls")]
    assert ["Deploy with ./ship.sh" in one for one in told] == (
        [host != "cursor", host == "cursor", False, False]
    )
