"""A checkout that was moved: a project of its own, and told where it was before."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.harness.cli import Cli
from tests.harness.daemons import Daemon


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


def test_where_and_empty_answers_tell_of_it(recalld: Cli, moved: tuple[Path, str]) -> None:
    """Before and after the first use, until the old namespace is open here."""
    here, before = moved
    assert command(recalld("where", cwd=here).stderr)[-1] == before
    recalld.ok("stats", cwd=here)
    for verb in (("where",), ("list",), ("recall", "old place"), ("search", "old")):
        said = recalld(*verb, cwd=here).stderr
        assert command(said)[-1] == before, verb
        assert str(recalld.cwd) in said
    recalld.ok("grant", "issue", "--namespace", before, cwd=here)
    assert recalld("where", cwd=here).stderr == ""
    assert recalld("recall", "x", "--kind", "solution", cwd=here).stderr.count("\n") == 1


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
