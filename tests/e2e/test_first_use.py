"""The first thing anybody does: store a note, and ask for it at once in other words."""

from __future__ import annotations

from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.environment import rounds

NOTE = "We moved from Jenkins to GitHub Actions because the build machine kept running out of disk."


def test_a_note_is_found_by_meaning_by_the_very_next_command(
    recalld: Cli, any_daemon: Daemon
) -> None:
    """Cold or warm, the question after a store sees what was stored, in other words too."""
    for turn in range(rounds(3)):
        recalld.ok("store", f"{NOTE} ({turn})")
        assert "Jenkins" in recalld.ok("recall", "why did our CI pipeline change?", "--limit", "1")
        recalld.ok("store", f"The office dog is called Bruno ({turn})")
        assert "Bruno" in recalld.ok("recall", "name of the pet at work", "--limit", "1")
        any_daemon.kill()
