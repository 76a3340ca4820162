"""What a call that cannot work says: one sentence that names what happened and what to do."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from recalld.client.cli import calling
from recalld.client.service.installation import insistence
from recalld.daemon.http.access import Need
from recalld.daemon.http.table import ROUTES

from tests.connect.wired import tree
from tests.harness.checkouts import Checkouts
from tests.harness.cli import Cli, program


@pytest.mark.parametrize("words", [("",), (" ", "\t"), ("-",)], ids=repr)
def test_storing_nothing(recalld: Cli, words: tuple[str, ...]) -> None:
    """Blank text is refused with an example, before any daemon is asked."""
    done = recalld("store", *words, stdin=" \n")
    assert done.returncode == 64
    assert re.fullmatch(r"recalld: There is nothing to store: .*\. For example: .*\n", done.stderr)
    assert "git log" in done.stderr if words == ("-",) else "'Tests need" in done.stderr
    assert not Path(recalld.env["RECALLD_HOME"]).exists()


def test_a_budget_too_small_for_the_best_hit(recalld: Cli) -> None:
    """It names the hit and what it takes, and that is enough; nothing found is something else."""
    recalld.ok("store", "The staging cluster runs on port 7443. " * 5 + "\u6f22\u5b57")
    done = recalld("recall", "staging port", "--budget", "9")
    assert "too small" in done.stderr
    assert done.stdout == ""
    budget = int(done.stderr.rsplit("--budget ", 1)[1])
    assert "7443" in recalld.ok("recall", "staging port", "--budget", str(budget))
    assert "too small" in recalld("recall", "staging port", "--budget", str(budget - 1)).stderr
    other = recalld("recall", "staging port", "--budget", "9", "--kind", "solution")
    assert other.stderr == "recalld: nothing found\n"


def test_owner_rights_where_a_token_is_wanted(recalld: Cli) -> None:
    """`--owner` on a route for grants is what is wrong, and leaving it out is the remedy."""
    done = recalld("api", "GET", "/v1/stats", "--owner")
    assert done.returncode == 77
    assert "--owner" in done.stderr
    assert "grant" not in done.stderr
    recalld.ok(*done.stderr.rsplit("recalld ", 1)[1].split())


def test_what_only_the_owner_may_call_is_called_as_the_owner() -> None:
    """`api` knows every route that takes no token."""
    owned = [route.path for route in ROUTES if route.need is Need.OWNER]
    assert [path for path in owned if not path.startswith(calling.OWNED)] == []


def test_connecting_a_command_that_may_not_last(recalld: Cli, tmp_path: Path) -> None:
    """It is refused with --force as the remedy, by a dry run too; what suggests it has --force."""
    os.symlink(program()[0], tmp_path / "recalld")
    path = f"{tmp_path}:{recalld.env['PATH']}"
    passing = Cli(recalld.env | {"PATH": path, "TMPDIR": str(tmp_path.parent)}, recalld.cwd)
    refused = passing.shell("recalld connect claude-code")
    assert refused.returncode == 64
    assert "--force" in refused.stderr
    dry = passing.shell("recalld connect claude-code --dry-run")
    assert (dry.returncode, dry.stdout, dry.stderr) == (64, "", refused.stderr)
    forced = passing.shell("recalld connect claude-code --dry-run --force")
    assert forced.returncode == 0, forced.stderr
    assert "+++" in forced.stdout
    assert "Nothing was written" in forced.stderr
    (Path(recalld.env["HOME"]) / ".claude").mkdir()
    seen = passing.shell("recalld doctor").stdout.splitlines()
    (told,) = [line for line in seen if line.startswith("claude-code")]
    assert passing.shell(told.rpartition("Run: ")[2]).returncode == 0
    for scope in ("", " --scope project"):
        passing.shell(f"recalld connect claude-code --force{scope}")
        gone = passing.shell(f"recalld disconnect claude-code{scope}")
        again = gone.stderr.rpartition("to undo: ")[2]
        assert again == f"recalld connect claude-code{scope} --force\n"
        assert passing.shell(again).returncode == 0


@pytest.mark.parametrize(
    ("before", "gone", "again"),
    [
        (["kiro --agent mine"], "kiro", ["kiro --agent mine"]),
        (["kiro --agent mine", "kiro"], "kiro", ["kiro", "kiro --agent mine"]),
        (["kiro --agent mine"], "kiro --agent other", ["kiro --agent mine"]),
        (["kiro --agent 'm\N{LATIN SMALL LETTER O WITH DIAERESIS}'"], "kiro", None),
        (["gemini --scope project"], "gemini", ["gemini --scope project"]),
        (["gemini", "gemini --scope project"], "gemini", ["gemini", "gemini --scope project"]),
        (["gemini", "gemini --scope project"], "gemini --scope user", ["gemini"]),
        (["gemini --rules-file"], "gemini", ["gemini --rules-file"]),
        (
            ["gemini", "gemini --scope project --rules-file"],
            "gemini",
            ["gemini", "gemini --scope project --rules-file"],
        ),
    ],
)
def test_what_disconnecting_took_out_is_named(
    recalld: Cli, before: list[str], gone: str, again: list[str] | None
) -> None:
    """One command for every scope and agent that lost something; they bring all of it back."""
    if any("--rules-file" in words for words in before):
        recalld.ok("store", "Use pnpm in this repository, not npm.", "--kind", "correction")
    for words in before:
        assert recalld.shell(f"recalld connect {words} --force").returncode == 0
    had = tree(Path(recalld.env["HOME"])), tree(recalld.cwd)
    told = _undoing(recalld, gone)
    forced = insistence(program()[0], recalld.env)
    assert told == [f"recalld connect {words}{forced}" for words in again or before]
    for command in told:
        assert recalld.shell(command).returncode == 0
    assert (tree(Path(recalld.env["HOME"])), tree(recalld.cwd)) == had


def test_disconnecting_in_other_checkouts_is_undone_there(
    recalld: Cli, checkout: Checkouts
) -> None:
    """A checkout that lost its settings from elsewhere is named in a way a shell understands."""
    there = checkout("it's there")
    recalld.ok("connect", "gemini", "--force", "--scope", "project", cwd=there)
    (told,) = _undoing(recalld, "gemini")
    assert not (there / ".gemini").exists()
    assert recalld.shell(told).returncode == 0
    assert (there / ".gemini" / "settings.json").exists()


def _undoing(recalld: Cli, host: str) -> list[str]:
    """The commands that `recalld disconnect` says would undo it."""
    lines = recalld.shell(f"recalld disconnect {host}").stderr.splitlines()
    return [line.partition("to undo: ")[2] for line in lines if "to undo: " in line]


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("recall", "Missing: QUERY. Run: recalld recall --help"),
        ("grant isue", "There is no 'isue', only "),
        ("list --kind poem", "--kind cannot be 'poem', only "),
        ("list --limit", "--limit needs a value."),
        (
            "list --limt 5",
            "There is no --limt here. Did you mean --limit? Run: recalld list --help",
        ),
        ("show a b", "What is meant by b is not clear."),
        ("list --limit x", "--limit: 'x' is not a whole number from 1 to 200."),
        ("store x --supersedes y", "--supersedes: 'y' is not the id of a memory"),
        ("show 01JZ5W3V9Q8Y7X6W5V4T3S2R1Q", "There is no such memory. Run: recalld list"),
        ("list --tag none", "no memory fits that"),
        ("list", "there are no memories here yet"),
    ],
)
def test_it_is_said_plainly(recalld: Cli, typed: str, said: str) -> None:
    """What a stranger reads is a sentence about what was typed, not about our parser."""
    assert said in recalld(*typed.split()).stderr


def test_a_file_called_like_our_folder(recalld: Cli) -> None:
    """A checkout whose `.recalld` is a file is told so; another data folder would not help."""
    (recalld.cwd / ".recalld").write_text("somebody's own")
    for verb in (("store", "x"), ("list",), ("where",)):
        done = recalld(*verb)
        assert done.returncode == 78
        assert ".recalld is a file, not a folder" in done.stderr
        assert "RECALLD_HOME" not in done.stderr
    assert recalld.shell(done.stderr.rpartition("Move it away: ")[2]).returncode == 0
    recalld.ok("store", "x")


def test_a_secret_that_was_kept_is_told(recalld: Cli) -> None:
    """People read its kind and how to forget it, on stderr; machines have the flags."""
    token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
    done = recalld("store", f"deploy with {token}")
    assert done.stdout.startswith("Stored ")
    (told,) = [line for line in done.stderr.splitlines() if "carries a secret" in line]
    assert "github-token" in told
    assert token not in done.stderr
    again = recalld("store", f"now deploy with {token}", "--json")
    assert json.loads(again.stdout)["flags"] == ["secret:github-token"]
    assert again.stderr == ""
    assert recalld("store", "deploy with a token").stderr == ""
    recalld.ok(*told.rpartition("recalld ")[2].split())


def test_a_change_is_told_in_a_line(recalld: Cli) -> None:
    """What was done, to what, and what it is now; not everything that is known about it."""
    ident = str(recalld.json("store", "Redis listens on 6380", "--tag", "redis")["id"])
    edited = recalld.ok("edit", ident, "--content", "Redis listens on 6381\nsince May")
    on_one_line = "Redis listens on 6381\\nsince May"
    assert edited == f"Edited {ident} (version 2, note, active): #redis {on_one_line}\n"
    undone = recalld.ok("undo", ident)
    assert undone == f"Undone {ident} (version 3, note, active): #redis Redis listens on 6380\n"
    recalld.ok("forget", ident)
    assert recalld.ok("undo", ident).startswith(f"Undone {ident} (version 5")
    long = recalld.ok("edit", ident, "--content", "word " * 1000)
    assert len(long) < 400


def test_undoing_what_was_never_changed(recalld: Cli) -> None:
    """It is the call that makes no sense, at the first version and after the last undo alike."""
    ident = str(recalld.json("store", "Redis listens on 6380")["id"])
    for _ in range(2):
        done = recalld("undo", ident)
        assert done.returncode == 64
        assert done.stderr == (
            "recalld: There is nothing to undo: the memory is as it was first stored."
            " To see every version of it: recalld history ID\n"
        )
        recalld.ok("edit", ident, "--content", "Redis listens on 6381")
        recalld.ok("undo", ident)


def test_the_digits_of_a_token_are_called_its_fingerprint(recalld: Cli) -> None:
    """`where` calls them as the list of grants does, and they are the same."""
    assert recalld.json("where")["fingerprint"] is None
    recalld.ok("store", "x")
    (grant,) = recalld.json("grant", "list")["grants"]
    assert f"\nfingerprint: {grant['fingerprint']} " in recalld.ok("where")
