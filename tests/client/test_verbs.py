"""Every verb as a person and as a machine meets it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from recalld.client.cli.catalogue import VERBS

from tests.client.screens import on_terminal
from tests.harness.cli import Cli, program
from tests.harness.daemons import Daemon
from tests.harness.waiting import eventually

NASTY = "red \x1b[31m title \x1b]0;x\x07 bidi \u202e c1 \x9b2J nul-free\tend"


def stored(recalld: Cli, *args: str) -> str:
    """Store something and return its id."""
    return str(recalld.json("store", *args)["id"])


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_an_example_and_needs_no_daemon(recalld: Cli, verb: str) -> None:
    """`--help` prints usage, the common options and an example, on stdout, with exit code 0."""
    said = recalld.ok(verb, "--help")
    assert f"usage: recalld {verb}" in said
    assert "--json" in said
    assert "example:\n  " in said
    assert not (Path(recalld.env["RECALLD_HOME"])).exists()


def test_the_overview_names_every_verb(recalld: Cli) -> None:
    """`recalld --help`, `recalld help` and `recalld` alone list all verbs."""
    said = recalld.ok("--help")
    assert said == recalld.ok() == recalld.ok("help")
    assert [verb for verb in VERBS if f"\n  {verb} " not in said] == []
    assert recalld.ok("--version").startswith("recalld ")


@pytest.mark.parametrize(
    "args",
    [
        ("nonsense",),
        ("--nonsense",),
        ("store",),
        ("recall", "x", "--limit", "many"),
        ("recall", "x", "--limit", "0"),
        ("recall", "x", "--since", "yesterweek"),
        ("store", "x", "--kind", "poem"),
        ("store", "x", "--importance", "nan"),
        ("store", "x", "--namespace", "../etc"),
        ("edit", "01JZ5W3V9Q8Y7X6W5V4T3S2R1Q"),
        ("grant",),
        ("grant", "issue", "--anywhere"),
        ("grant", "issue", "--namespace", "org:a=king"),
        ("api", "GET", "/v1/with space"),
        ("stats", "--timeout", "-1"),
    ],
    ids=" ".join,
)
def test_a_wrong_call_is_one_sentence(recalld: Cli, args: tuple[str, ...]) -> None:
    """Usage errors say what is wrong and what to run, on one line, with exit code 64."""
    done = recalld(*args)
    assert done.returncode == 64, done
    assert done.stdout == ""
    assert done.stderr.startswith("recalld: ")
    assert done.stderr.count("\n") == 1
    machine = recalld(*args, "--json")
    assert machine.returncode == 64
    assert json.loads(machine.stdout)["error"]["code"] in {"invalid_request", "invalid_namespace"}


def test_the_life_of_a_memory(recalld: Cli) -> None:
    """Store, find, show, edit, look back, forget and undo, all as JSON."""
    ident = stored(recalld, "Redis listens on 6380", "--kind", "devops", "--tag", "redis")
    assert recalld.json("show", ident)["tags"] == ["redis"]
    assert [hit["id"] for hit in recalld.json("search", "redis")["hits"]] == [ident]
    assert [hit["id"] for hit in recalld.json("recall", "redis port")["hits"]] == [ident]
    assert [item["id"] for item in recalld.json("list", "--kind", "devops")["items"]] == [ident]
    assert recalld.json("edit", ident, "--content", "Redis listens on 6381")["version"] == 2
    assert recalld("edit", ident, "--content", "x", "--if-version", "1").returncode == 65
    assert recalld.json("forget", ident)["result"] == "forgotten"
    assert recalld("show", ident).returncode == 66
    assert recalld.json("undo", ident)["content"] == "Redis listens on 6381"
    versions = recalld.json("history", ident)["versions"]
    assert [version["op"] for version in versions] == ["store", "edit", "forget", "undo"]
    (mine,) = [one for one in recalld.json("stats")["namespaces"] if one["memories"]]
    assert mine["kinds"] == {"devops": 1}


def test_people_get_lines(recalld: Cli) -> None:
    """Piped output is one line a memory, tab-separated, whatever the memory contains."""
    ident = stored(recalld, "first line\nsecond\tline")
    for verb in (("recall", "second line"), ("search", "second"), ("list",)):
        (line,) = recalld.ok(*verb).splitlines()
        assert line.startswith(f"{ident}\t")
        assert line.endswith("\tfirst line\\nsecond\\tline")
    assert "first line\nsecond\tline" in recalld.ok("show", ident)
    assert recalld("recall", "nothing like that exists", "--kind", "solution").stdout == ""


@pytest.mark.parametrize(
    ("turn", "line"),
    [
        ({"speaker": "Bob", "role": "user", "at": "2026-05-01"}, "Bob, 2026-05-01: Ship it"),
        ({"role": "assistant"}, "assistant: Ship it"),
        ({"at": "2026-05-01"}, "2026-05-01: Ship it"),
        ({}, "Ship it"),
    ],
)
def test_a_turn_is_told_with_its_speaker_and_date(
    recalld: Cli, turn: dict[str, str], line: str
) -> None:
    """Lines put before what was said who said it and when; `show` names each."""
    body = json.dumps({"session": "s1", "turns": [{"text": "Ship it", **turn}]})
    said = json.loads(recalld.ok("api", "POST", "/v1/conversations", body))
    ident = said["results"][0]["id"]
    for verb in (("recall", "ship"), ("search", "ship"), ("list",), ("history", ident)):
        assert recalld.ok(*verb).endswith(f"\t{line}\n"), verb
    shown = recalld.ok("show", ident)
    assert "session: s1" in shown
    assert ("speaker: Bob" in shown) == ("speaker" in turn)
    (hit,) = recalld.json("recall", "ship")["hits"]
    assert (hit["session"], hit.get("speaker")) == ("s1", turn.get("speaker"))


@pytest.mark.parametrize("how", ["--json", "show", "recall", "list", "history"])
def test_control_characters_never_reach_a_terminal(recalld: Cli, how: str) -> None:
    """Escape sequences, C1 controls and bidi overrides in stored text are shown, not obeyed."""
    ident = stored(recalld, NASTY)
    verbs = {"--json": ("recall", "title", "--json"), "recall": ("recall", "title")}
    said = on_terminal(recalld, *verbs.get(how, (how, ident) if how != "list" else ("list",)))
    assert "title" in said
    assert "\x1b]" not in said
    assert "\x1b[31m" not in said
    assert not set(said) & set("\x07\x9b\u202e")


def test_json_round_trips_what_terminals_must_not_see(recalld: Cli) -> None:
    """Escaping for terminals changes nothing for machines."""
    ident = stored(recalld, NASTY)
    assert recalld.json("show", ident)["content"] == NASTY


def test_text_comes_from_stdin_too(recalld: Cli) -> None:
    """`-` reads stdin, without the line end that echo adds, and refuses a flood."""
    ident = str(json.loads(recalld.ok("store", "-", "--json", stdin="from a pipe\n"))["id"])
    assert recalld.json("show", ident)["content"] == "from a pipe"
    flood = recalld("store", "-", stdin="x" * 1_100_000)
    assert flood.returncode == 64
    assert "1 MiB" in flood.stderr


def test_an_edit_reads_stdin_too(recalld: Cli) -> None:
    """`edit --content -` takes the new text from stdin, and nothing from one that is empty."""
    ident = stored(recalld, "as it was")
    assert recalld.json("edit", ident, "--content", "-", stdin="from a pipe\n")["version"] == 2
    empty = recalld("edit", ident, "--content", "-", stdin="\n")
    assert (empty.returncode, empty.stdout) == (64, "")
    assert "stdin is empty" in empty.stderr
    assert recalld.json("show", ident)["content"] == "from a pipe"


def test_text_that_looks_like_an_option(recalld: Cli) -> None:
    """After `--` anything is text."""
    ident = str(json.loads(recalld.ok("store", "--json", "--", "--limit is an option"))["id"])
    assert recalld.json("show", ident)["content"] == "--limit is an option"


def test_a_closed_pipe_is_silent(recalld: Cli) -> None:
    """A reader that goes away ends the verb without a word, as SIGPIPE would."""
    for number in range(3):
        stored(recalld, f"{number} " + "long text " * 4000)
    command = [*program(), "list", "--json"]
    with subprocess.Popen(
        command, cwd=recalld.cwd, env=recalld.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as verb:
        assert verb.stdout is not None
        assert verb.stderr is not None
        verb.stdout.close()
        assert verb.stderr.read() == b""
    assert verb.returncode == 141


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_under_stdout_is_a_sentence(recalld: Cli, daemon: Daemon) -> None:
    """Output that cannot be written is an error with an exit code, not a stack trace."""
    assert daemon.published
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*program(), "status"],
            cwd=recalld.cwd,
            env=recalld.env,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 74
    assert done.stderr.startswith(b"recalld: The output could not be written")
    assert done.stderr.count(b"\n") == 1


def test_interrupting_is_silent(recalld: Cli, daemon: Daemon) -> None:
    """Ctrl-C during a wait ends with 130 and no stack trace."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a suite run in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)
    verb = recalld.start("logs", "--follow")
    assert verb.stdout is not None
    assert "ready" in verb.stdout.readline() + daemon.log()
    verb.send_signal(signal.SIGINT)
    _, said = verb.communicate(timeout=10)
    assert (verb.returncode, said) == (130, "")


def test_recall_explains_its_hits(recalld: Cli) -> None:
    """`--explain` adds a line per hit that names what each signal gave it."""
    recalld.ok("store", "The staging cluster runs on port 7443")
    lines = recalld.ok("recall", "staging port", "--explain").splitlines()
    identity, why = lines[-1].split("\t")
    assert lines[0].startswith(identity)
    assert "words +" in why


def test_status_start_stop(recalld: Cli, any_daemon: Daemon) -> None:
    """The daemon's life: status starts nothing, start and stop do what they say, twice is fine."""
    assert recalld("status").returncode == 69
    assert json.loads(recalld("status", "--json").stdout)["error"]["code"] == "daemon_unreachable"
    assert not any_daemon.published
    pid = recalld.json("start")["pid"]
    assert recalld.json("start")["pid"] == pid
    told = recalld.json("status")
    wanted = "pid port version api uptime_s managed_by memories namespaces queue wal_bytes"
    assert set(wanted.split()) <= set(told)
    assert {"model", "dim", "pending", "state"} <= set(told["embedding"])
    assert recalld.json("restart")["pid"] != pid
    assert recalld.json("stop")["stopped"] is True
    assert any_daemon.pids() == []
    assert recalld.json("stop") == {"stopped": False, "pid": None}


def test_serve_runs_in_the_foreground(recalld: Cli, any_daemon: Daemon) -> None:
    """`serve` becomes the daemon itself: same pid, allow-listed environment, ends on SIGTERM."""
    process = recalld.start("serve", env={"SECRET_OF_THE_CALLER": "x"})
    eventually(lambda: any_daemon.published)
    assert any_daemon.pid == process.pid
    assert recalld.json("status")["managed_by"] == "foreground"
    environ = Path(f"/proc/{process.pid}/environ")
    if environ.exists():
        assert b"SECRET_OF_THE_CALLER" not in environ.read_bytes()
    process.terminate()
    assert process.wait(timeout=10) == 0
    process.communicate()


def test_where_explains_itself_without_a_daemon(recalld: Cli, any_daemon: Daemon) -> None:
    """`where` names namespace and reason, from any sub-folder, and starts nothing."""
    inside = recalld.cwd / "deep" / "down"
    inside.mkdir(parents=True)
    told = json.loads(recalld.ok("where", "--json", cwd=inside))
    assert told["root"] == str(recalld.cwd)
    assert told["namespace"].startswith("project:project-")
    assert told["reason"].endswith(".")
    assert told["namespace"] in recalld.ok("where")
    assert not any_daemon.published


def test_api_reaches_any_route(recalld: Cli) -> None:
    """`api` takes care of grant and owner's rights, and passes errors on."""
    ident = stored(recalld, "through the api")
    assert json.loads(recalld.ok("api", "get", f"memories/{ident}"))["id"] == ident
    body = json.dumps({"query": "api"})
    assert json.loads(recalld.ok("api", "POST", "/v1/search", body))["hits"]
    assert json.loads(recalld.ok("api", "POST", "/v1/search", "-", stdin=body))["hits"]
    assert json.loads(recalld.ok("api", "GET", "/v1/grants"))["grants"]
    assert recalld("api", "GET", "/v1/nowhere").returncode == 66
    assert recalld("api", "POST", "/v1/recall", "{").returncode == 64


def test_api_follows_the_stream(recalld: Cli, daemon: Daemon, tmp_path: Path) -> None:
    """`api GET /v1/stream` prints events line by line as they come, until the daemon ends it."""
    stored(recalld, "before")
    told = tmp_path / "told"
    command = [*program(), "api", "GET", "/v1/stream", "--timeout", "10"]
    with told.open("w") as out:
        following = subprocess.Popen(command, cwd=recalld.cwd, env=recalld.env, stdout=out)
    try:
        eventually(lambda: told.read_text() == ": connected\n\n", within=8)
        ident = stored(recalld, "while somebody listens")
        eventually(lambda: f'data: {{"id":"{ident}"' in told.read_text(), within=8)
        assert "event: change\n" in told.read_text()
        recalld.ok("stop")
        assert following.wait(10) == 0
    finally:
        following.kill()
        following.wait()


def test_api_says_why_there_is_no_stream(recalld: Cli) -> None:
    """A refused stream is an error like any other."""
    assert recalld("api", "GET", "/v1/stream?namespace=org:not-mine").returncode == 77
    assert recalld("api", "GET", "/v1/stream?nonsense=1").returncode == 64


def test_doctor_finds_loose_modes(recalld: Cli, daemon: Daemon) -> None:
    """A healthy installation passes; a loose file fails with the chmod to run."""
    assert recalld.json("doctor")["ok"] is True
    (daemon.data / "memory.db").chmod(0o644)
    done = recalld("doctor", "--json")
    assert done.returncode == 78
    (failure,) = [one for one in json.loads(done.stdout)["checks"] if one["state"] == "failure"]
    assert f"chmod 600 {daemon.data / 'memory.db'}" in failure["fix"]


LIGHT = {"dataclasses", "httpx", "logging", "pathlib", "pydantic", "rich", "shutil", "subprocess"}


@pytest.mark.parametrize(
    "args", [("where",), ("status",), ("list",), ("recall", "x")], ids=" ".join
)
def test_warm_verbs_stay_light(recalld: Cli, args: tuple[str, ...]) -> None:
    """A warm verb imports argparse and our own modules, and none of what costs."""
    stored(recalld, "warm")
    code = (
        "import sys; from recalld.client.cli import main; code = main(sys.argv[1:]);"
        "print(*sys.modules, file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *args],
        cwd=recalld.cwd,
        env=recalld.env,
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(done.stderr.split()) & LIGHT == set()
