"""Hooks carry their checkout's grant, and get one at the first use without a word."""

from __future__ import annotations

import json
from pathlib import Path

from tests.harness.checkouts import Checkouts
from tests.harness.crowd import released_together
from tests.harness.fake_daemon import FakeDaemon
from tests.harness.waiting import eventually
from tests.hooks.conftest import Hooks
from tests.hooks.payloads import payload


def test_the_first_use_mints_in_silence(hooks: Hooks, fake: FakeDaemon) -> None:
    """The grant is bound to the checkout, kept there, and used from then on."""
    hooks("claude-code", "SessionStart")
    hooks("claude-code", "Stop")
    assert [grant["checkout"] for grant in fake.grants] == [str(hooks.cwd)]
    assert (hooks.cwd / ".recalld" / "token").read_text().strip() in fake.tokens
    assert fake.checkouts == [str(hooks.cwd)] * 2


def test_a_crowd_mints_one_grant(hooks: Hooks, fake: FakeDaemon) -> None:
    """Hooks run in parallel; the checkout gets one token all the same."""
    calls = [["hook", "claude-code", "Stop"]] * 8
    assert {ran.returncode for ran in released_together(hooks.cli, calls)} == {0}
    eventually(lambda: len({*fake.ids(), *(event["id"] for event in hooks.spooled())}) == 8)
    assert len(fake.grants) == 1


def test_the_folder_in_the_payload_decides(
    hooks: Hooks, fake: FakeDaemon, checkout: Checkouts
) -> None:
    """An agent may work in another checkout than the hook was started in."""
    other = checkout("other")
    (other / "src").mkdir()
    hooks("claude-code", "Stop", cwd=str(other / "src"))
    hooks("cursor", "stop", workspace_roots=[str(other), "/elsewhere"])
    assert fake.checkouts == [str(other), str(other)]


def test_a_folder_that_is_gone_falls_back(
    hooks: Hooks, fake: FakeDaemon, checkout: Checkouts, tmp_path: Path
) -> None:
    """Agents remove worktrees they are in: then the project's folder counts, then our own."""
    gone = str(tmp_path / "gone")
    hooks("claude-code", "Stop", cwd=gone)
    stdin = json.dumps(payload("claude-code", "Stop", gone)).encode()
    hooks.raw("claude-code", stdin, env={"CLAUDE_PROJECT_DIR": str(checkout("other"))})
    assert fake.checkouts == [str(hooks.cwd), str(checkout("other"))]


def test_a_token_given_by_hand_is_used(hooks: Hooks, fake: FakeDaemon) -> None:
    """Outside any checkout the environment may carry the token; nothing is minted then."""
    fake.tokens.add("rk_by_hand")
    stdin = json.dumps(payload("claude-code", "Stop", str(hooks.cwd))).encode()
    hooks.raw("claude-code", stdin, env={"RECALLD_TOKEN": "rk_by_hand"})
    assert len(fake.events) == 1
    assert fake.grants == []


def test_a_readable_token_is_not_used(hooks: Hooks, fake: FakeDaemon) -> None:
    """A token file others can read is refused; the event waits, and the log says why."""
    hooks("claude-code", "Stop")
    (hooks.cwd / ".recalld" / "token").chmod(0o644)
    hooks("claude-code", "Stop")
    assert len(fake.events) == 1
    assert len(hooks.spooled()) == 1
    assert "unsafe_permissions" in hooks.log()
