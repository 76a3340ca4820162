"""A checkout that was moved: a project of its own, and told where it was before."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.client.screens import on_terminal
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.jsontypes import JsonObject, decode


@pytest.fixture
def moved(recalld: Cli, tmp_path: Path) -> tuple[Path, str]:
    """Where the checkout lies now, and the namespace it had."""
    recalld.ok("store", "kept at the old place")
    before = str(recalld.json("where")["namespace"])
    target = tmp_path / "elsewhere" / recalld.cwd.name
    target.parent.mkdir()
    shutil.move(recalld.cwd, target)
    return target, before


def command(said: str) -> list[str]:
    """The words of the command that a line of a message ends with."""
    (line,) = [line for line in said.splitlines() if "recalld grant issue" in line]
    return line.rsplit("recalld ", 1)[1].split()


def test_the_first_use_tells_of_the_old_place(recalld: Cli, moved: tuple[Path, str]) -> None:
    """The namespace is named with the command that opens it, and that command works."""
    here, before = moved
    done = recalld("recall", "old place", cwd=here)
    assert "kept at the old place" not in done.stdout
    assert f"granted {here}" in done.stderr
    assert "moved or copied" in done.stderr
    assert command(done.stderr) == ["grant", "issue", "--namespace", before]
    assert done.stderr.count(before) == 2
    recalld.ok(*command(done.stderr), cwd=here)
    after = recalld("recall", "old place", cwd=here)
    assert "kept at the old place" in after.stdout
    assert after.stderr == ""


def test_what_is_certain_is_told_to_anybody(recalld: Cli, moved: tuple[Path, str]) -> None:
    """A token that came along says where it was made; `where` tells until it is replaced."""
    here, before = moved
    assert command(recalld("where", cwd=here).stderr)[-1] == before
    assert command(recalld("search", "old", cwd=here).stderr)[-1] == before
    assert recalld("search", "old", cwd=here).stderr == "recalld: nothing found\n"


def hook(recalld: Cli, here: Path) -> str:
    """What the hook of a session that starts there answers."""
    event = {"hook_event_name": "SessionStart", "session_id": "s1", "source": "startup"}
    sent = json.dumps({**event, "cwd": str(here)})
    return recalld("hook", "claude-code", cwd=here, stdin=sent).stdout


def test_a_hook_that_comes_first_uses_nothing_up(recalld: Cli, moved: tuple[Path, str]) -> None:
    """The first command after it names the old namespace once, `where` and `doctor` go on to."""
    here, before = moved
    assert before not in hook(recalld, here)
    assert "kept at the old place" not in recalld("where", cwd=here).stderr
    assert command(recalld("where", cwd=here).stderr)[-1] == before
    assert command(recalld("search", "old", cwd=here).stderr)[-1] == before
    assert recalld("search", "old", cwd=here).stderr == "recalld: nothing found\n"
    assert command(recalld("where", cwd=here).stderr)[-1] == before
    assert seen_by_doctor(recalld, here)["fix"].endswith(f"grant issue --namespace {before}")


def test_a_granted_namespace_is_named_no_more(
    recalld: Cli, moved: tuple[Path, str], any_daemon: Daemon
) -> None:
    """Neither `where`, with or without a daemon, nor `doctor` speaks of what is open again."""
    here, before = moved
    hook(recalld, here)
    any_daemon.kill()
    told = command(recalld("where", cwd=here).stderr)
    assert told[-1] == before
    recalld.ok(*told, cwd=here)
    assert recalld("where", cwd=here).stderr == ""
    assert "kept at the old place" in recalld.ok("recall", "old place", cwd=here)
    assert seen_by_doctor(recalld, here) == {}
    any_daemon.kill()
    assert recalld("where", cwd=here).stderr == ""


def test_another_grant_leaves_the_hint(recalld: Cli, moved: tuple[Path, str]) -> None:
    """Opening something else says nothing about the old namespace."""
    here, before = moved
    recalld.ok("grant", "issue", "--namespace", "org:acme", cwd=here)
    hook(recalld, here)
    recalld.ok("grant", "issue", "--namespace", "org:other", cwd=here)
    assert command(recalld("where", cwd=here).stderr)[-1] == before


def seen_by_doctor(recalld: Cli, here: Path) -> JsonObject:
    """What `doctor` says of the place before."""
    checks = decode(recalld("doctor", "--json", cwd=here).stdout)["checks"]
    found: list[JsonObject] = [check for check in checks if check["name"] == "former place"]
    return found[0] if found else {}


def test_a_guess_is_told_at_the_first_use(recalld: Cli, moved: tuple[Path, str]) -> None:
    """Without the token there is only the name: said once, when a token is minted."""
    here, before = moved
    shutil.rmtree(here / ".recalld")
    said = recalld("recall", "old place", cwd=here).stderr
    assert "if this checkout once lay at" in said
    assert command(said)[-1] == before
    for verb in (("list",), ("recall", "old place"), ("search", "old"), ("where",)):
        assert "recalld grant issue" not in recalld(*verb, cwd=here).stderr, verb


def test_a_guess_is_told_by_where_on_a_terminal(
    recalld: Cli, moved: tuple[Path, str], tmp_path: Path
) -> None:
    """To people, until the old namespace is open here; never to a pipe."""
    here, before = moved
    recalld.ok("stats", cwd=here)
    assert command(on_screen(recalld, here, tmp_path))[-1] == before
    recalld.ok("grant", "issue", "--namespace", before, cwd=here)
    assert on_screen(recalld, here, tmp_path) == ""


def test_a_checkout_older_than_the_other_did_not_come_from_there(
    recalld: Cli, tmp_path: Path
) -> None:
    """It had its memory when the one that is gone got its own, so nothing is guessed."""
    recalld.ok("store", "mine from the start")
    other = tmp_path / "elsewhere" / recalld.cwd.name
    other.mkdir(parents=True)
    recalld.ok("store", "kept in the other one", cwd=other)
    shutil.rmtree(other)
    for verb in (("where",), ("list",), ("search", "other"), ("recall", "x", "--kind", "note")):
        assert "recalld grant issue" not in recalld(*verb).stderr
    assert on_screen(recalld, recalld.cwd, tmp_path) == ""


def on_screen(recalld: Cli, here: Path, tmp_path: Path) -> str:
    """What `where` says on stderr to somebody at a terminal."""
    with (tmp_path / "said").open("w+b") as errors:
        on_terminal(recalld, "where", cwd=here, errors=errors)
        errors.seek(0)
        return errors.read().decode()


def test_others_of_the_same_name_are_none_of_its_business(
    recalld: Cli, tmp_path: Path, any_daemon: Daemon
) -> None:
    """A checkout that still lies where it lay was not moved, whatever it is called."""
    recalld.ok("store", "kept at the old place")
    other = tmp_path / "elsewhere" / recalld.cwd.name
    other.mkdir(parents=True)
    for verb in (("where",), ("list",)):
        assert "recalld grant issue" not in recalld(*verb, cwd=other).stderr
    any_daemon.kill()
    assert recalld("where", cwd=other).stderr == ""
    assert not any_daemon.published or not any_daemon.pids()
