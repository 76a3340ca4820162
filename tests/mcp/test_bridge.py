"""The stdio bridge: one answer an id whatever happens, and gone when its host is."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from recalld.auth.paths import layout
from recalld.client.connection import lock

from tests.client.fakes import Asked, FakeDaemon, refusal, sequence
from tests.harness import processes
from tests.harness.checkouts import Checkouts
from tests.harness.cli import Cli, program
from tests.harness.daemons import Daemon
from tests.harness.jsontypes import JsonObject, decode
from tests.harness.waiting import eventually
from tests.mcp.bridged import Bridged, ids

GONE_S = 2.0
"""How long a bridge may outlive its host."""
SLACK_S = 2.0
"""What a machine under load adds to that."""

HOST = """
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:])
print(child.pid, file=sys.stderr, flush=True)
time.sleep(60)
"""

Starter = Callable[..., Bridged]


@pytest.fixture
def bridge(recalld: Cli, any_daemon: Daemon) -> Iterator[Starter]:
    """Starts bridges in the test's checkout; all are ended afterwards."""
    begun: list[Bridged] = []

    def start(*options: str, **env: str) -> Bridged:
        begun.append(Bridged(recalld.env | env, recalld.cwd, *options))
        return begun[-1]

    yield start
    for one in begun:
        one.end()


def test_nothing_but_messages_on_stdout(bridge: Starter, recalld: Cli, tmp_path: Path) -> None:
    """Warnings, notices and prints at import go to stderr, also while the daemon starts."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "class Chatty:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.endswith('bridge.calls'): print('imported', name, flush=True)\n"
        "sys.meta_path.insert(0, Chatty())\n"
    )
    one = bridge(PYTHONWARNINGS="always", PYTHONPATH=str(tmp_path), RECALLD_LOG_LEVEL="debug")
    for number in range(5):
        one.ask(number, "ping")
    one.use("s", "memory_store", content="noise")
    assert ids(one.collect(6)) == sorted([*map(str, range(5)), '"s"'])
    one.close_input()
    assert one.process.wait(GONE_S + SLACK_S) == 0
    assert one.process.stderr
    said = one.process.stderr.read().decode()
    assert "imported" in said
    assert "granted" in said


def test_odd_lines_are_answered_under_their_ids(bridge: Starter) -> None:
    """Halves, batches, nulls, nonsense: an error under the id where there is one."""
    one = bridge()
    one.raw(b'{"jsonrpc":"2.0","id":1,')
    one.raw(b'"method":"ping"}\r\n\n  \n')
    one.collect(1)
    one.raw(b'{"jsonrpc":"2.0","id":2,"method":\n')
    one.raw(b'{"jsonrpc":"2.0","id":"\\u00fc","method":"ping","params":{"x":NaN}}\n')
    one.raw(b'{"jsonrpc":"2.0","id":4,"method":"ping","params":{"x":"\xff"}}\n')
    one.raw(b'[{"jsonrpc":"2.0","id":5,"method":"ping"},{"jsonrpc":"2.0","id":6}]\n')
    one.raw(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    one.raw(b'{"jsonrpc":"2.0","id":7,"result":{}}\n')
    one.raw(b'{"jsonrpc":"2.0","id":8,"method":"ping"}\n')
    one.collect(7)
    one.quiet(0.3)
    assert ids(one.answers) == sorted(["1", "2", '"\\u00fc"', "4", "5", "6", "8"])
    good = {answer["id"] for answer in one.answers if "result" in answer}
    assert good == {1, 5, 8}


def test_only_what_has_no_id_is_answered_without_one(bridge: Starter) -> None:
    """JSON-RPC says null there, and says it once."""
    one = bridge()
    lines = [b"null", b"[]", b"5", b'{"id":null,"method":"ping"}', b"\x00", b"[[]]", b"[" * 100_000]
    for number, line in enumerate(lines, 1):
        one.raw(line + b"\n")
        assert one.collect(number)[-1]["id"] is None


@pytest.mark.parametrize("last", [False, True])
def test_a_huge_line_is_answered_and_forgotten(bridge: Starter, last: bool) -> None:
    """Twenty megabytes in one line: an error under its id, and no trouble for the next one."""
    one = bridge()
    filler = (
        b'"params":{"name":"memory_store","arguments":{"content":"' + b"x" * (20 << 20) + b'"}}'
    )
    parts = [b'"method":"tools/call"', filler, b'"id":"big"']
    one.raw(b'{"jsonrpc":"2.0",' + b",".join(parts if last else parts[::-1]) + b"}\n")
    one.ask(2, "ping")
    assert ids(one.collect(2)) == ['"big"', "2"]
    assert processes.resident_bytes(one.process.pid) < 120_000_000


def test_more_than_the_daemon_takes_is_told_so(bridge: Starter) -> None:
    """Over a megabyte the daemon refuses, and the id hears about it."""
    one = bridge()
    one.use(1, "memory_store", content="x" * (2 << 20))
    (answer,) = one.collect(1)
    assert answer["error"]["data"]["code"] == "payload_too_large"


def test_a_cancelled_call_is_not_answered(bridge: Starter, any_daemon: Daemon) -> None:
    """The host has stopped waiting: by the protocol its id gets nothing."""
    one = bridge()
    one.ask(1, "ping")
    one.collect(1)
    processes.send(any_daemon.pid, signal.SIGSTOP)
    try:
        one.ask(2, "ping")
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 2}}
        one.raw(json.dumps({"jsonrpc": "2.0", **cancel}).encode() + b"\n")
    finally:
        processes.send(any_daemon.pid, signal.SIGCONT)
    one.ask(3, "ping")
    one.collect(2)
    one.quiet(0.5)
    assert ids(one.answers) == ["1", "3"]


def test_a_killed_daemon_costs_no_answer(bridge: Starter, any_daemon: Daemon, recalld: Cli) -> None:
    """Fifty calls, kill -9 in the middle: each id once, no write lost, none doubled."""
    one = bridge()
    one.ask("first", "ping")
    one.collect(1)
    port = any_daemon.port
    for number in range(50):
        name = number if number % 2 else f"s{number}"
        one.use(name, "memory_store", content=f"Fact number {number} of the kill test.")
        if number == 25:
            any_daemon.kill()
    answers = one.collect(51, within=60)
    one.quiet(0.5)
    assert len(one.answers) == 51
    assert len(set(ids(answers))) == 51
    assert all("result" in answer for answer in answers), answers
    assert any_daemon.port != port
    listed = recalld.json("list", "--limit", "100")["items"]
    assert len(listed) == len({item["content"] for item in listed}) == 50


def test_a_silent_daemon_costs_no_answer(bridge: Starter, any_daemon: Daemon) -> None:
    """Stopped in its tracks: every id gets its error within the deadline, then all is well."""
    warm = bridge()
    warm.ask("first", "ping")
    warm.collect(1)
    one = bridge("--timeout", "2")
    one.ask("first", "ping")
    one.collect(1)
    processes.send(any_daemon.pid, signal.SIGSTOP)
    try:
        for number in range(40):  # more than there are threads
            one.ask(number, "ping")
        answers = one.collect(41, within=12)
    finally:
        processes.send(any_daemon.pid, signal.SIGCONT)
    assert len(set(ids(answers))) == 41
    assert sum("error" in answer for answer in answers) == 40
    one.ask("again", "ping")
    assert one.collect(42)[-1] == {"jsonrpc": "2.0", "id": "again", "result": {}}


def test_a_daemon_that_cannot_start_is_an_answer(bridge: Starter, data: Path) -> None:
    """Settings that make no sense: the id gets the reason and the remedy."""
    data.mkdir(mode=0o700)
    (data / "config.toml").write_text("nonsense = true\n")
    one = bridge("--timeout", "10")
    one.ask(1, "ping")
    (answer,) = one.collect(1)
    assert "nonsense" in answer["error"]["message"]
    (data / "config.toml").unlink()
    one.ask(2, "ping")
    assert one.collect(2)[1]["result"] == {}


def test_a_slow_call_holds_up_nobody(bridge: Starter, recalld: Cli) -> None:
    """While some calls wait, others are answered."""
    release = threading.Event()

    def script(asked: Asked) -> tuple[int, JsonObject]:
        said = decode(asked.body)
        if said["method"] == "slow":
            release.wait(20)
        return 200, {"jsonrpc": "2.0", "id": said["id"], "result": {}}

    fake = FakeDaemon(layout(recalld.env), script, pid=os.getpid())
    try:
        one = bridge(RECALLD_TOKEN="rk_any")
        for number in range(4):
            one.ask(f"slow {number}", "slow")
        for number in range(20):
            one.ask(number, "ping")
        assert {type(answer["id"]) for answer in one.collect(20)} == {int}
        release.set()
        assert len(set(ids(one.collect(24)))) == 24
    finally:
        release.set()
        fake.close()


def test_answers_without_sense_become_errors(bridge: Starter, recalld: Cli) -> None:
    """Whatever comes back, the id hears: nonsense, another's id, errors of the daemon."""
    told: dict[str, tuple[int, JsonObject]] = {
        "other id": (200, {"jsonrpc": "2.0", "id": 99, "result": {}}),
        "nonsense": (200, {"hello": "world"}),
        "error": (400, {"jsonrpc": "2.0", "id": None, "error": {"code": -32022, "message": "x"}}),
        "refused": (403, {"error": {"code": "forbidden", "message": "No.", "hint": "Ask."}}),
        "empty": (202, {}),
    }
    fake = FakeDaemon(layout(recalld.env), lambda asked: told[decode(asked.body)["id"]])
    try:
        one = bridge(RECALLD_TOKEN="rk_any")
        for number, name in enumerate(told, 1):
            one.ask(name, "ping")
            one.collect(number)
        found = {answer["id"]: answer for answer in one.answers}
        assert found.keys() == told.keys()
        assert found["other id"]["result"] == {}
        assert found["error"]["error"]["code"] == -32022
        assert found["refused"]["error"]["data"]["code"] == "forbidden"
        assert "error" in found["nonsense"]
        assert "error" in found["empty"]
        keys = [asked.headers["idempotency-key"] for asked in fake.calls("/mcp")]
        assert len(set(keys)) == len(keys) == len(told)
    finally:
        fake.close()


def test_a_broken_call_is_sent_again_under_its_key(bridge: Starter, recalld: Cli) -> None:
    """Broken connections and a draining daemon: the same bytes and key again, until it works."""
    answers = sequence(
        None, refusal("draining", 503), None, (200, {"jsonrpc": "2.0", "id": 1, "result": {}})
    )
    fake = FakeDaemon(layout(recalld.env), answers)
    try:
        one = bridge(RECALLD_TOKEN="rk_any")
        one.ask(1, "ping")
        assert one.collect(1)[0]["result"] == {}
        sent = {(asked.headers["idempotency-key"], asked.body) for asked in fake.calls("/mcp")}
        assert len(sent) == 1
        assert len(fake.calls("/mcp")) == 4
    finally:
        fake.close()


def test_a_rotated_token_is_picked_up(bridge: Starter, recalld: Cli, any_daemon: Daemon) -> None:
    """Rotation while the bridge runs costs nothing; a revoked grant is told with its remedy."""
    one = bridge()
    one.use(1, "memory_status")
    one.collect(1)
    (grant,) = recalld.json("grant", "list")["grants"]
    recalld.ok("grant", "rotate", grant["id"])
    one.use(2, "memory_status")
    assert "result" in one.collect(2)[1]
    recalld.ok("grant", "revoke", grant["id"])
    one.use(3, "memory_status")
    refused = one.collect(3)[2]["error"]
    assert refused["data"]["code"] == "unauthenticated"
    assert "grant issue" in refused["message"]


def test_another_folder_can_be_named(bridge: Starter, recalld: Cli, checkout: Checkouts) -> None:
    """Hosts that start servers at home name the project."""
    other = checkout("elsewhere")
    one = bridge("--folder", str(other))
    one.use(1, "memory_store", content="elsewhere")
    text = one.collect(1)[0]["result"]["content"][0]["text"]
    where = recalld.json("where", str(other))["namespace"]
    assert json.loads(text)["namespace"] == where


def ends(one: Bridged) -> None:
    """The bridge goes in time, and by itself."""
    one.process.wait(GONE_S + SLACK_S)


def test_it_ends_with_its_input(bridge: Starter, any_daemon: Daemon) -> None:
    """Closed at once, when idle, and with a call in flight; the daemon stays."""
    bridge().close_input()
    one = bridge()
    one.ask(1, "ping")
    one.collect(1)
    one.close_input()
    ends(one)
    busy = bridge()
    busy.ask(1, "ping")
    busy.collect(1)
    processes.send(any_daemon.pid, signal.SIGSTOP)
    try:
        busy.ask(2, "ping")
        busy.close_input()
        ends(busy)
        assert busy.collect(2)[1]["error"]["code"] == -32000
        assert_given_up(busy)
    finally:
        processes.send(any_daemon.pid, signal.SIGCONT)
    assert any_daemon.published


def assert_given_up(one: Bridged) -> None:
    """One line says what was left open, and so does the exit code."""
    assert one.process.returncode == 75
    assert one.process.stderr
    said = one.process.stderr.read().decode()
    assert said.count("1 call got no answer") == 1, said


def test_input_that_ends_before_a_daemon_is_there(recalld: Cli, any_daemon: Daemon) -> None:
    """A pipe into a cold start: the daemon is started, each id answered, the memory stored."""
    store = {"name": "memory_store", "arguments": {"content": "From a pipe."}}
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "pipe", "version": "1"},
    }
    lines: list[JsonObject] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": store},
    ]
    said = "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in lines)
    assert not any_daemon.published
    done = recalld("mcp", stdin=said)
    assert done.returncode == 0, done
    answers = [decode(line.encode()) for line in done.stdout.splitlines()]
    assert ids(answers) == ["1", "2"]
    assert all("result" in answer for answer in answers), answers
    (kept,) = recalld.json("list")["items"]
    assert kept["content"] == "From a pipe."


def test_input_that_ends_without_any_daemon(recalld: Cli) -> None:
    """A start that does not come to anything: the time of a call, then an error under each id."""
    held = lock.opened(layout(recalld.env).spawn_lock)
    assert lock.tried(held)
    said = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    try:
        done = recalld("mcp", "--timeout", "2", stdin=said)
    finally:
        os.close(held)
    (answer,) = [decode(line.encode()) for line in done.stdout.splitlines()]
    assert answer["id"] == 1
    assert "did not" in answer["error"]["message"]
    assert done.returncode == 75, done


def test_it_ends_with_its_output(bridge: Starter) -> None:
    """A host that closed only its reading end is gone too."""
    one = bridge()
    one.ask(1, "ping")
    one.collect(1)
    one.close_output()
    ends(one)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_it_ends_when_told_to(bridge: Starter, number: signal.Signals) -> None:
    """Signals end it, whatever is under way."""
    one = bridge()
    one.ask(1, "ping")
    one.collect(1)
    processes.send(one.process.pid, number)
    ends(one)


def test_it_ends_with_its_parent(recalld: Cli, any_daemon: Daemon) -> None:
    """A host that was killed leaves no orphan behind, although the pipes stay open."""
    parent = subprocess.Popen(
        [sys.executable, "-c", HOST, *program(), "mcp"],
        cwd=recalld.cwd, env=recalld.env,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert parent.stderr
    assert parent.stdin
    assert parent.stdout
    child = int(parent.stderr.readline())
    parent.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    parent.stdin.flush()
    assert b'"id":1' in parent.stdout.readline()
    parent.kill()
    parent.wait()
    eventually(lambda: processes.gone(child), within=GONE_S + SLACK_S)
    assert any_daemon.published
    for pipe in (parent.stdin, parent.stdout, parent.stderr):
        pipe.close()


def test_an_idle_bridge_is_idle(bridge: Starter) -> None:
    """It waits without turning: hardly any processor time in a second and a half."""
    one = bridge()
    one.ask(1, "ping")
    one.collect(1)
    before = spent(one.process.pid)
    one.quiet(1.5)
    assert spent(one.process.pid) - before <= 0.05


def spent(pid: int) -> float:
    """Seconds of processor time of a process (Linux)."""
    fields = (processes.PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_host_that_does_not_read_blocks_nothing(bridge: Starter) -> None:
    """A full pipe neither loses an answer nor keeps the bridge from ending."""
    one = bridge()
    one.use("s", "memory_store", content="z" * 20_000)
    one.collect(1)
    for number in range(300):
        one.ask(number, "tools/list")
    assert len(set(ids(one.collect(301)))) == 301
    for number in range(300):
        one.ask(number, "tools/list")
    one.close_input()
    ends(one)
