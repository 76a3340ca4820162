"""Hooks carry their checkout's grant, and get one at the first use without a word."""

from __future__ import annotations

import json
from pathlib import Path

from recalld.auth import tokens

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
    """Agents remove worktrees they are in: the repository around it counts, then the project."""
    other, third = checkout("other"), checkout("third")
    hooks("claude-code", "Stop", cwd=str(third / "trees" / "gone"))
    stdin = json.dumps(payload("claude-code", "Stop", str(tmp_path / "gone" / "src"))).encode()
    hooks.raw("claude-code", stdin, env={"CLAUDE_PROJECT_DIR": str(other)})
    assert fake.checkouts == [str(third), str(other)]


def test_another_checkout_never_gets_the_event(
    hooks: Hooks, fake: FakeDaemon, tmp_path: Path
) -> None:
    """What happened in a folder that nothing knows any more waits, and is not about ours."""
    gone = str(tmp_path / "gone")
    hooks("claude-code", "Stop", cwd=gone)
    assert fake.events == []
    (path,) = (Path(hooks.cli.env["RECALLD_HOME"]) / "spool").glob("*.json")
    assert json.loads(path.read_bytes())["checkout"] == gone


def test_a_payload_without_a_folder_is_about_ours(hooks: Hooks, fake: FakeDaemon) -> None:
    """Where the host started the hook counts only when it says nothing else."""
    hooks("claude-code", "Stop", cwd="")
    assert fake.checkouts == [str(hooks.cwd)]


def test_a_token_given_by_hand_is_used(hooks: Hooks, fake: FakeDaemon) -> None:
    """Outside any checkout the environment may carry the token; nothing is minted then."""
    fake.tokens.add("rk_by_hand")
    stdin = json.dumps(payload("claude-code", "Stop", str(hooks.cwd))).encode()
    hooks.raw("claude-code", stdin, env={"RECALLD_TOKEN": "rk_by_hand"})
    assert len(fake.events) == 1
    assert fake.grants == []


def test_a_token_given_by_hand_goes_along_into_the_spool(
    hooks: Hooks, fake: FakeDaemon, data: Path
) -> None:
    """Only its digest is written, by which the daemon finds whose event it was."""
    fake.silent = True
    stdin = json.dumps(payload("claude-code", "Stop", str(hooks.cwd))).encode()
    hooks.raw("claude-code", stdin, env={"RECALLD_TOKEN": " rk_by_hand\n"})
    (path,) = (data / "spool").glob("*.json")
    assert json.loads(path.read_bytes())["token_sha256"] == tokens.digest("rk_by_hand")
    assert b"rk_by_hand" not in path.read_bytes()


def test_a_readable_token_is_not_used(hooks: Hooks, fake: FakeDaemon) -> None:
    """A token file others can read is refused; the event waits, and the log says why."""
    hooks("claude-code", "Stop")
    (hooks.cwd / ".recalld" / "token").chmod(0o644)
    hooks("claude-code", "Stop")
    assert len(fake.events) == 1
    assert len(hooks.spooled()) == 1
    assert "unsafe_permissions" in hooks.log()
