"""From a record to a proven connection: what is trusted, what is replaced, what is left alone."""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from recalld.auth.errors import (
    Busy,
    ClientTooOld,
    DaemonSilent,
    DaemonUnreachable,
    StartFailed,
    UnsafePermissions,
)
from recalld.auth.paths import Layout
from recalld.client.connection import lock, starting
from recalld.client.connection.channel import Channel
from recalld.client.connection.connect import connect
from recalld.client.connection.deadline import Deadline
from recalld.client.connection.discovery import Absent, Live, look
from recalld.client.connection.request import Request
from recalld.client.connection.spawn import Killed, daemon_environment

from tests.client.fakes import Asked, FakeDaemon, refusal, sequence
from tests.harness.cli import Cli
from tests.harness.daemons import Daemon
from tests.harness.jsontypes import JsonObject
from tests.harness.waiting import eventually

Fakes = Callable[..., FakeDaemon]
OK = (200, {"status": "ok"})


@pytest.fixture
def talk(place: Layout) -> Iterator[Channel]:
    """A channel that never starts a daemon."""
    made = Channel(place, {}, Deadline(5), start=False)
    yield made
    made.close()


def test_a_proven_daemon_is_used(talk: Channel, fake: Fakes) -> None:
    """One hello, then the request, both on the same connection."""
    daemon = fake(sequence(OK))
    assert talk.call(Request("GET", "/v1/x", token="rk_secret")) == {"status": "ok"}
    assert [asked.path for asked in daemon.asked] == ["/v1/hello", "/v1/x"]
    assert "authorization" not in daemon.asked[0].headers
    assert daemon.asked[1].headers["authorization"] == "Bearer rk_secret"


def test_a_dishonest_daemon_sees_nothing_but_a_nonce(talk: Channel, fake: Fakes) -> None:
    """Whoever cannot prove to know the record's secret gets neither token nor text."""
    daemon = fake(sequence(OK), honest=False)
    with pytest.raises(DaemonUnreachable, match="not our daemon"):
        talk.call(Request("POST", "/v1/x", b'"text"', token="rk_secret"))
    assert {asked.path for asked in daemon.asked} == {"/v1/hello"}
    assert not any("authorization" in asked.headers for asked in daemon.asked)


def test_a_channel_outlives_its_connection(talk: Channel, fake: Fakes) -> None:
    """A connection the daemon closed meanwhile is replaced by one that is proven like the first."""
    daemon = fake(sequence(OK))
    request = Request("GET", "/v1/x", token="rk_secret")
    for _ in range(3):
        assert talk.call(request) == {"status": "ok"}
        daemon.hang_up()
    assert len(daemon.calls("/v1/hello")) == len(daemon.calls("/v1/x")) == 3


def test_without_a_record_nothing_is_started_unless_asked(place: Layout) -> None:
    """With `start` off, a missing daemon is an error that names the remedy."""
    with pytest.raises(DaemonUnreachable) as caught:
        connect(place, {}, Deadline(1), start=False)
    assert caught.value.hint == "Run: recalld start"
    assert not os.path.exists(place.data)


def test_a_closed_port_is_given_up_at_once(place: Layout, fake: Fakes) -> None:
    """A dead daemon's record costs a refused connection, not a time-out."""
    fake(sequence(OK)).close()
    began = time.monotonic()
    found = look(place, Deadline(10))
    assert isinstance(found, Absent)
    assert found.phase == "connect"
    assert time.monotonic() - began < 1.0


def test_a_deaf_port_costs_no_more_than_the_patience(place: Layout, fake: Fakes) -> None:
    """A listener that never answers a hello is given up after the patience asked for."""
    daemon = fake(sequence(OK))
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        daemon.record = daemon.record._replace(port=deaf.getsockname()[1])
        daemon.publish()
        found = look(place, Deadline(10), patience=0.2)
    assert isinstance(found, Absent)
    assert (found.phase, found.record) == ("hello", daemon.record)


def test_a_newer_daemon_is_never_ended(place: Layout, fake: Fakes) -> None:
    """An API beyond ours is ClientTooOld, with no stop request and no second daemon."""
    daemon = fake(sequence(OK), api=(7, 9))
    with pytest.raises(ClientTooOld, match="7-9"):
        connect(place, {}, Deadline(5))
    assert daemon.calls("/v1/stop") == []


@pytest.mark.parametrize("api", [None, "1", [1], [2, 1], ["1", "1"], {}])
def test_an_api_nobody_can_read_is_an_error_not_a_restart(
    place: Layout, fake: Fakes, api: object
) -> None:
    """A proven daemon that does not say what it speaks is left alone."""
    daemon = fake(sequence(OK), api=api)
    with pytest.raises(DaemonUnreachable, match="API"):
        connect(place, {}, Deadline(5))
    assert daemon.calls("/v1/stop") == []


def test_an_older_daemon_is_replaced_once(
    place: Layout, fake: Fakes, clean_env: dict[str, str], any_daemon: Daemon
) -> None:
    """An API below ours is asked to stop, once, and its successor is used from then on."""
    older = fake(sequence((202, {})), api=(0, 0))
    connect(place, clean_env, Deadline(20)).wire.close()
    live = connect(place, clean_env, Deadline(20))
    live.wire.close()
    assert len(older.calls("/v1/stop")) == 1
    assert older.calls("/v1/stop")[0].headers["authorization"].startswith("Owner ")
    assert any_daemon.pids() == [live.record.pid]


@pytest.mark.parametrize("often", [2, 100])
def test_a_start_that_is_killed_is_tried_again(
    place: Layout, fake: Fakes, monkeypatch: pytest.MonkeyPatch, often: int
) -> None:
    """What ended the new daemon from outside may spare the next, but not for ever."""
    tries: list[object] = []

    def spawned(*_: object) -> None:
        tries.append(None)
        if len(tries) <= often:
            raise Killed(StartFailed("The daemon died while it was starting (signal 9)."))
        fake(sequence(OK))

    monkeypatch.setattr(starting, "spawn", spawned)
    if often == 2:
        connect(place, {}, Deadline(20)).wire.close()
        assert len(tries) == 3
        return
    with pytest.raises(StartFailed, match="signal 9"):
        connect(place, {}, Deadline(20))
    assert 2 < len(tries) < 10


def test_an_older_daemon_under_a_manager_is_not_replaced(place: Layout, fake: Fakes) -> None:
    """What somebody else supervises is theirs to restart; the message says how."""
    older = fake(sequence((202, {})), api=(0, 0), managed_by="systemd")
    with pytest.raises(DaemonUnreachable, match="systemd") as caught:
        connect(place, {}, Deadline(5))
    assert caught.value.hint == "Run: recalld restart"
    assert older.calls("/v1/stop") == []


@pytest.mark.parametrize("key", [None, "k1"])
def test_a_broken_connection_repeats_only_what_may_be_repeated(
    talk: Channel, fake: Fakes, key: str | None
) -> None:
    """A keyed write is sent again with the same key, an unkeyed one never."""
    daemon = fake(sequence(None, OK))
    request = Request("POST", "/v1/memories", b"{}", token="t", key=key)
    if key is None:
        with pytest.raises(DaemonUnreachable, match="unknown whether"):
            talk.call(request)
    else:
        assert talk.call(request) == {"status": "ok"}
    sent = [asked.headers.get("idempotency-key") for asked in daemon.calls("/v1/memories")]
    assert sent == ([None] if key is None else [key, key])


def test_a_read_survives_several_broken_connections(talk: Channel, fake: Fakes) -> None:
    """A second and a third daemon may be ended like the first."""
    daemon = fake(sequence(None, None, None, OK))
    assert talk.call(Request("GET", "/v1/x")) == {"status": "ok"}
    assert len(daemon.calls("/v1/x")) == 4


def test_a_read_is_not_repeated_for_ever(talk: Channel, fake: Fakes) -> None:
    """A request that breaks every connection is an error after a handful of them."""
    daemon = fake(sequence(None))
    with pytest.raises(DaemonUnreachable, match="broke"):
        talk.call(Request("GET", "/v1/x"))
    assert 2 < len(daemon.calls("/v1/x")) < 10


def test_draining_is_retried_for_any_verb(talk: Channel, fake: Fakes) -> None:
    """503 draining means not executed, so even an unkeyed write is sent again."""
    daemon = fake(sequence(refusal("draining", 503), OK))
    assert talk.call(Request("POST", "/v1/stop", b"{}")) == {"status": "ok"}
    assert len(daemon.calls("/v1/hello")) == 2


def test_busy_is_retried_after_the_time_asked_for(talk: Channel, fake: Fakes) -> None:
    """429 is asked again on the same connection."""
    daemon = fake(sequence(refusal("busy", 429), OK))
    assert talk.call(Request("GET", "/v1/x")) == {"status": "ok"}
    assert len(daemon.calls("/v1/hello")) == 1


def test_busy_for_ever_is_told(talk: Channel, fake: Fakes) -> None:
    """A daemon that stays busy is given up on, with its own words."""
    fake(sequence(refusal("busy", 429, 1)))
    with pytest.raises(Busy, match="Not now"):
        talk.call(Request("GET", "/v1/x"))


def test_a_silent_request_names_pid_and_log(place: Layout, fake: Fakes) -> None:
    """A daemon that takes a request and says nothing ends in a sentence within the deadline."""

    def slow(_asked: Asked) -> tuple[int, JsonObject]:
        time.sleep(1.0)  # longer than the client's deadline; nobody waits for it
        return OK

    waiting = fake(slow, pid=4711)
    with pytest.raises(DaemonSilent) as caught:
        Channel(place, {}, Deadline(0.3), start=False).call(Request("GET", "/v1/x"))
    assert "4711" in caught.value.message
    assert place.log in caught.value.message
    assert len(waiting.calls("/v1/x")) == 1


def test_one_client_starts_and_the_others_use_it(
    place: Layout, clean_env: dict[str, str], any_daemon: Daemon
) -> None:
    """While another process holds spawn.lock, whoever waits takes the daemon that appears."""
    program = (
        "import os, sys; from recalld.auth.paths import layout;"
        "from recalld.client.connection.deadline import Deadline;"
        "from recalld.client.connection.connect import connect;"
        "connect(layout(os.environ), os.environ, Deadline(20)).wire.close()"
    )
    crowd = [subprocess.Popen([sys.executable, "-c", program], env=clean_env) for _ in range(6)]
    assert [one.wait() for one in crowd] == [0] * 6
    assert len(any_daemon.pids()) == 1


def test_a_stuck_lock_holder_does_not_hide_a_running_daemon(
    place: Layout, daemon: Daemon, clean_env: dict[str, str]
) -> None:
    """A stopped process with spawn.lock in its hands stops nobody once a daemon is there."""
    record = daemon.record_path.read_bytes()
    daemon.record_path.unlink()
    fd = lock.opened(place.spawn_lock)
    assert lock.tried(fd)
    waiting = subprocess.Popen(
        [sys.executable, "-m", "recalld", "start"], env=clean_env, stdout=subprocess.PIPE
    )
    daemon.record_path.write_bytes(record)
    daemon.record_path.chmod(0o600)
    said, _ = waiting.communicate(timeout=20)
    os.close(fd)
    assert waiting.returncode == 0, said


def test_a_stopped_daemon_ends_in_a_sentence(recalld: Cli, daemon: Daemon) -> None:
    """SIGSTOP: the verb ends within its deadline, names pid, log and remedy, and starts nothing."""
    os.kill(daemon.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        done = recalld("status", "--timeout", "1.5")
        again = recalld("recall", "x", "--timeout", "1.5")
        assert time.monotonic() - began < 12
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    for said in (done, again):
        assert said.returncode in {69, 75}, said
    assert str(daemon.pid) in again.stderr
    assert "daemon.log" in again.stderr
    assert f"kill -CONT {daemon.pid}" in again.stderr
    eventually(lambda: daemon.pids() == [daemon.pid])


def test_a_daemon_that_is_still_starting_is_not_called_dead(
    recalld: Cli, place: Layout, any_daemon: Daemon
) -> None:
    """After an upgrade a large store is copied first: the sentence says to wait, not to kill."""
    os.makedirs(place.run, mode=0o700)
    os.chmod(place.data, 0o700)
    with open(place.lock, "w", encoding="ascii") as held:
        os.chmod(place.lock, 0o600)
        held.write(f"{os.getpid()}\n")
        held.flush()
        fcntl.flock(held, fcntl.LOCK_EX)
        done = recalld("recall", "x", "--timeout", "1.5")
    assert done.returncode == 75, done
    assert "brought up to date" in done.stderr
    assert "daemon.log" in done.stderr
    assert "kill -9" not in done.stderr
    assert any_daemon.pids() == []


def test_a_failing_start_is_told_with_its_reason(
    recalld: Cli, place: Layout, any_daemon: Daemon
) -> None:
    """What the new daemon reports reaches the caller at once, with its own exit code."""
    os.makedirs(place.data, mode=0o700)
    with open(place.config, "w", encoding="utf-8") as file:
        file.write("workers = 0\n")
    os.chmod(place.config, 0o600)
    done = recalld("recall", "x")
    assert done.returncode == 78, done
    assert "workers" in done.stderr
    eventually(lambda: any_daemon.pids() == [])


def test_a_dying_start_shows_the_end_of_the_log(
    place: Layout, clean_env: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    """A process that ends without a word is reported with its status and the log's last line."""
    script = os.path.join(str(tmp_path), "python")
    with open(script, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\necho 'the last words' >&2\nexit 3\n")
    os.chmod(script, 0o755)
    monkeypatch.setattr(sys, "executable", script)
    with pytest.raises(StartFailed, match=r"exit status 3.*the last words"):
        connect(place, clean_env, Deadline(10))


def test_a_loose_folder_is_refused(place: Layout, fake: Fakes) -> None:
    """A run folder that others can read is not trusted, and the message has the chmod."""
    fake(sequence(OK))
    os.chmod(place.run, 0o755)
    with pytest.raises(UnsafePermissions) as caught:
        look(place, Deadline(1))
    assert f"chmod 700 {place.run}" in (caught.value.hint or "")
    os.chmod(place.run, 0o700)
    found = look(place, Deadline(1))
    assert isinstance(found, Live)
    found.wire.close()


def test_the_daemon_inherits_an_allow_list() -> None:
    """Paths and locale pass; keys, proxies, Python's own variables and tokens do not."""
    given = {
        "HOME": "/h",
        "PATH": "/p",
        "LC_ALL": "C",
        "XDG_DATA_HOME": "/d",
        "RECALLD_HOME": "/r",
        "XDG_RUNTIME_DIR": "/run/x",
        "RECALLD_TOKEN": "rk_x",
        "AWS_SECRET_ACCESS_KEY": "s",
        "HTTP_PROXY": "http://p",
        "PYTHONPATH": "/evil",
        "LD_PRELOAD": "/evil.so",
        "VIRTUAL_ENV": "/v",
    }
    kept = {"HOME", "PATH", "LC_ALL", "XDG_DATA_HOME", "RECALLD_HOME"}
    linux = sys.platform.startswith("linux")
    added = {"PYTHONMALLOC", "MALLOC_ARENA_MAX"} if linux else set[str]()
    assert set(daemon_environment(given)) == kept | added
