"""Parts of the process by themselves: lifecycle, workers, settings, log lines, buffers."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from recalld.auth.errors import Busy, DeadlineExceeded, Draining, InvalidSettings, UnsafePermissions
from recalld.daemon.deadline import Deadline
from recalld.daemon.life.environment import scrub
from recalld.daemon.life.lifecycle import Lifecycle, Phase
from recalld.daemon.life.side_threads import SideThreads
from recalld.daemon.logs import Collapse, JsonLines
from recalld.daemon.network.buffers import Buffers
from recalld.daemon.settings import Settings, load, unknown_variables
from recalld.daemon.workers import Workers
from recalld.storage.engine import Store
from recalld.storage.reader import Reader


async def forever() -> None:
    """A client that never leaves."""
    await asyncio.Event().wait()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """An open store."""
    folder = tmp_path / "store"
    folder.mkdir(mode=0o700)
    opened = Store.open(str(folder / "memory.db"), signer=lambda data: data)
    yield opened
    opened.close()


def test_draining_refuses_new_work_and_waits_for_old() -> None:
    """Work begun before is counted until it ends; later work is refused."""

    async def scenario() -> None:
        lifecycle = Lifecycle()
        lifecycle.phase = Phase.READY
        seen: list[str] = []
        lifecycle.on_drain(lambda: seen.append(lifecycle.reason))
        with lifecycle.work():
            assert lifecycle.drain("first")
            assert not lifecycle.drain("second")
            assert not await lifecycle.settled(0.01)
            with pytest.raises(Draining), lifecycle.work():
                pass
        assert await lifecycle.settled(0.01)
        assert seen == ["first"]

    asyncio.run(scenario())


def test_a_failing_step_does_not_stop_the_way_out() -> None:
    """Every step of the way out is taken, whatever an earlier one raises."""

    async def scenario() -> None:
        lifecycle = Lifecycle()
        taken: list[str] = []

        def fail() -> None:
            raise PermissionError("read-only")

        lifecycle.on_drain(fail)
        lifecycle.on_drain(lambda: taken.append("the end"))
        assert lifecycle.drain("stop")
        assert taken == ["the end"]

    asyncio.run(scenario())


def test_draining_cuts_off_bodies() -> None:
    """A body that is still arriving times out the moment draining begins."""

    async def scenario() -> None:
        lifecycle = Lifecycle()
        asyncio.get_running_loop().call_soon(lifecycle.drain, "stop")

        async def body() -> None:
            async with asyncio.timeout(60) as timeout:
                with lifecycle.reading(timeout):
                    await forever()

        with pytest.raises(TimeoutError):
            await body()

    asyncio.run(scenario())


def test_workers_refuse_what_does_not_fit(store: Store) -> None:
    """One running, one waiting, and the third is told to come back."""

    async def scenario() -> None:
        workers = Workers(store.reader, count=1, waiting=1)
        workers.start()
        release = threading.Event()

        def job(_reader: Reader, _deadline: Deadline) -> str:
            release.wait(10)
            return "done"

        tasks = [
            asyncio.create_task(workers.run(job, Deadline.after(10), forever())) for _ in range(2)
        ]
        await asyncio.sleep(0)
        with pytest.raises(Busy):
            await workers.run(job, Deadline.after(10), forever())
        release.set()
        assert await asyncio.gather(*tasks) == ["done", "done"]
        assert workers.admitted == 0
        workers.stop(1)

    asyncio.run(scenario())


def test_stuck_workers_are_left_behind_together(store: Store) -> None:
    """Four jobs stuck outside SQLite cost the way out one time limit, not four."""

    async def scenario() -> None:
        workers = Workers(store.reader, count=4, waiting=0)
        workers.start()
        release, begun_all = threading.Event(), threading.Barrier(5)

        def job(_reader: Reader, _deadline: Deadline) -> None:
            begun_all.wait(10)
            release.wait(30)

        jobs = [
            asyncio.create_task(workers.run(job, Deadline.after(30), forever())) for _ in range(4)
        ]
        await asyncio.to_thread(begun_all.wait, 10)
        workers.cancel_all()
        begun = time.monotonic()
        workers.stop(0.5)
        assert time.monotonic() - begun < 1.0
        release.set()
        await asyncio.gather(*jobs)
        workers.stop(5)

    asyncio.run(scenario())


def test_a_stuck_side_thread_is_not_waited_for() -> None:
    """Work handed to a thread that never returns does not hold up the end of the loop."""
    release = threading.Event()

    async def scenario() -> None:
        asyncio.get_running_loop().set_default_executor(SideThreads(lambda: 0.2))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await asyncio.to_thread(release.wait, 30)

    begun = time.monotonic()
    asyncio.run(scenario())
    assert time.monotonic() - begun < 5
    release.set()


def test_the_process_ends_beside_a_stuck_thread() -> None:
    """A thread that nothing can end does not keep the process, nor change its exit code."""
    program = (
        "import threading\n"
        "from recalld.daemon.life.exits import leave\n"
        "threading.Thread(target=threading.Event().wait).start()\n"
        "leave(7)\n"
    )
    done = subprocess.run([sys.executable, "-P", "-c", program], timeout=20, check=False)
    assert done.returncode == 7


def test_a_running_query_ends_with_its_client(store: Store) -> None:
    """When the client leaves, SQLite is interrupted and the worker is free again."""

    async def scenario() -> None:
        workers = Workers(store.reader, count=1, waiting=1)
        workers.start()
        ended = threading.Event()

        def endless(reader: Reader, _deadline: Deadline) -> None:
            try:
                reader.connection.execute(
                    "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
                    "SELECT count(*) FROM n"
                ).fetchall()
            finally:
                ended.set()

        with pytest.raises(DeadlineExceeded):
            await workers.run(endless, Deadline.after(60), asyncio.sleep(0.05))
        assert await asyncio.to_thread(ended.wait, 5)
        answer = workers.run(lambda reader, _: 42, Deadline.after(5), forever())
        assert await answer == 42
        workers.stop(1)

    asyncio.run(scenario())


def test_a_job_that_waits_too_long_is_never_begun(store: Store) -> None:
    """What nobody waits for any more is dropped from the queue."""

    async def scenario() -> None:
        workers = Workers(store.reader, count=1, waiting=5)
        workers.start()
        release, begun = threading.Event(), threading.Event()
        first = asyncio.create_task(
            workers.run(lambda _reader, _deadline: release.wait(10), Deadline.after(10), forever())
        )
        await asyncio.sleep(0)
        with pytest.raises(DeadlineExceeded):
            await workers.run(
                lambda _reader, _deadline: begun.set(), Deadline.after(0.02), forever()
            )
        release.set()
        assert await first
        await workers.run(lambda _reader, _deadline: None, Deadline.after(5), forever())
        assert not begun.is_set()
        workers.stop(1)

    asyncio.run(scenario())


def test_settings_come_from_file_and_environment(tmp_path: Path) -> None:
    """The environment wins over the file, the file over the defaults."""
    config = tmp_path / "config.toml"
    config.write_text("workers = 2\nwaiting = 7\n")
    settings = load(str(config), {"RECALLD_WORKERS": "3", "RECALLD_HOME": "/x"})
    assert (settings.workers, settings.waiting) == (3, 7)
    assert settings.idle_exit_s == Settings().idle_exit_s
    assert load(str(tmp_path / "absent.toml"), {}) == Settings()
    assert unknown_variables({"RECALLD_HOME": "", "RECALLD_WORKERS": "", "HOME": ""}) == [
        "RECALLD_HOME"
    ]


@pytest.mark.parametrize("text", ["workers = 0", "wrokers = 4", "workers =", "\xff"])
def test_wrong_settings_are_named(tmp_path: Path, text: str) -> None:
    """An unknown name, an impossible value or a broken file is an error that names it."""
    config = tmp_path / "config.toml"
    config.write_bytes(text.encode("latin-1"))
    with pytest.raises(InvalidSettings) as caught:
        load(str(config), {})
    assert caught.value.exit_code == 78
    assert "config.toml" in f"{caught.value.message}{caught.value.hint}"


def test_settings_that_are_no_file(tmp_path: Path) -> None:
    """A folder or a pipe in their place is refused at once, whatever its mode."""
    (tmp_path / "folder.toml").mkdir(mode=0o700)
    os.mkfifo(tmp_path / "pipe.toml", 0o600)
    for name in ("folder.toml", "pipe.toml"):
        with pytest.raises(UnsafePermissions, match="not a regular file"):
            load(str(tmp_path / name), {})


@pytest.mark.parametrize(
    ("platform", "mode", "refused"),
    [
        ("linux", 0o664, False),
        ("linux", 0o602, True),
        ("darwin", 0o644, False),
        ("darwin", 0o664, True),
        ("darwin", 0o602, True),
    ],
)
def test_settings_that_anybody_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, mode: int, refused: bool
) -> None:
    """They are not obeyed; on macOS, where all users share a group, its right counts as well."""
    config = tmp_path / "config.toml"
    config.write_text("workers = 2\n")
    config.chmod(mode)
    monkeypatch.setattr(sys, "platform", platform)
    if not refused:
        assert load(str(config), {}).workers == 2
        return
    with pytest.raises(UnsafePermissions, match=f"by anybody \\(mode {mode:o}\\)") as caught:
        load(str(config), {})
    assert caught.value.hint == f"Run: chmod 600 {config}"


def test_repeated_warnings_collapse() -> None:
    """The second of a kind within a minute is counted, not written."""
    collapse = Collapse()
    told = {"msg": "disk full", "levelno": logging.ERROR}
    records = [logging.makeLogRecord(told) for _ in range(9)]
    for seconds, record in enumerate(records):
        record.created = 1000.0 + seconds
    assert [collapse.filter(record) for record in records].count(True) == 1
    later = logging.makeLogRecord(told)
    later.created = 1100.0
    assert collapse.filter(later)
    assert '"repeated": 8' in JsonLines().format(later)


def test_an_error_is_logged_by_place_not_by_text() -> None:
    """An exception's message may quote a memory; its class and place do not."""
    try:
        raise ValueError("the launch code")
    except ValueError as error:
        record = logging.makeLogRecord({"msg": "failed", "exc_info": (type(error), error, None)})
    line = JsonLines().format(record)
    assert "ValueError" in line
    assert "launch code" not in line


@pytest.mark.parametrize(
    "said",
    [
        "Task exception was never retrieved\nfuture: <Task exception=ValueError('launch code')>",
        "Exception in callback Feed.spread('launch code')\nhandle: <Handle>",
        "unhandled exception in <Task 'launch code'>",
    ],
)
def test_asyncio_is_quoted_without_what_it_holds(said: str) -> None:
    """The reports of asyncio contain callbacks and exceptions by repr; their first words stay."""
    line = JsonLines().format(logging.makeLogRecord({"name": "asyncio", "msg": said}))
    assert "launch code" not in line
    assert said[:10] in line


def test_buffers_have_a_bound() -> None:
    """What does not fit is refused, and what is given back fits again."""
    buffers = Buffers(10)
    buffers.take(8)
    with pytest.raises(Busy):
        buffers.take(3)
    buffers.give_back(8)
    buffers.take(10)
    assert buffers.held == 10


def test_the_environment_is_scrubbed() -> None:
    """Names, places and language stay; keys, proxies and PYTHON* go."""
    kept = {"HOME": "/h", "LC_ALL": "C", "XDG_DATA_HOME": "/d"}
    environ = {**kept, "API_KEY": "x", "PYTHONPATH": "y", "HTTPS_PROXY": "z"}
    scrub(environ)
    assert kept.items() < environ.items()
    assert not {"API_KEY", "PYTHONPATH", "HTTPS_PROXY"} & set(environ)
