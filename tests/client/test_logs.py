"""`recalld logs`: sentences for people, the lines themselves for machines."""

from __future__ import annotations

import json
import re

from tests.client.screens import on_terminal
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon


def test_people_read_sentences(recalld: Cli, daemon: Daemon) -> None:
    """On a terminal a line is its time, level, message and fields, and no JSON."""
    assert daemon.published
    with (daemon.data / "run" / "daemon.log").open("a") as log:
        entry = {"at": "2026-05-01T12:00:00.000Z", "level": "warning", "logger": "recalld.x"}
        log.write(json.dumps(entry | {"message": "disk full", "free": 3, "error": {"at": ["a"]}}))
        log.write("\nFatal Python error: x\x1b[31m\n")
    *_, told, fatal = on_terminal(recalld, "logs").splitlines()
    assert re.fullmatch(
        r"2026-0\d-\d\d [\d:]{8} warning disk full  free=3  error=at:\[\"a\"\]", told
    )
    assert fatal == "Fatal Python error: x\\x1b[31m"


def test_machines_read_the_lines_themselves(recalld: Cli, daemon: Daemon) -> None:
    """In a pipe, and with --json on a terminal, a line is the JSON the daemon wrote."""
    assert daemon.published
    for said in (recalld.ok("logs", "-n", "1"), on_terminal(recalld, "logs", "-n", "1", "--json")):
        (line,) = said.splitlines()
        assert json.loads(line)["message"]


def test_following_waits_for_more(recalld: Cli, daemon: Daemon) -> None:
    """`-f` prints what there is and then what comes."""
    assert daemon.published
    following = recalld.start("logs", "-f")
    try:
        assert following.stdout is not None
        while json.loads(following.stdout.readline())["message"] != "ready":
            pass
        with (daemon.data / "run" / "daemon.log").open("a") as log:
            log.write(json.dumps({"message": "added"}) + "\n")
        assert json.loads(following.stdout.readline())["message"] == "added"
    finally:
        following.kill()
        following.communicate()
