"""A crowd of sockets: those served before come first, nobody is forgotten, workers step aside."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from recalld.daemon.network.fair import HELD_BACK, PORTION, Crowd, FairLoop, FairSelector

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pairs() -> Iterator[list[Pair]]:
    """Three portions of connected sockets."""
    with contextlib.ExitStack() as stack:
        made = [socket.socketpair() for _ in range(3 * PORTION)]
        for one, other in made:
            stack.enter_context(one)
            stack.enter_context(other)
        yield made


def _ready(selector: FairSelector) -> list[int]:
    return [key.fd for key, _ in selector.select(0)]


def test_those_served_before_come_first(pairs: list[Pair]) -> None:
    """In a crowd a favoured socket is reported at once, others in portions until all were."""
    with FairSelector(Crowd()) as selector:
        for one, other in pairs:
            selector.register(one, selectors.EVENT_READ)
            other.send(b"x")
        last = pairs[-1][0]
        selector.favour(last.fileno())
        first = _ready(selector)
        assert first[0] == last.fileno()
        assert len(first) == PORTION + 1
        waiting = {one.fileno(): one for one, _ in pairs}
        while ready := _ready(selector):
            for fd in ready:
                waiting.pop(fd).recv(1)
        assert waiting == {}


def test_a_crowd_that_keeps_talking_keeps_nobody_out(pairs: list[Pair]) -> None:
    """Portions go round: sockets that stay ready do not hide those the system reports later."""
    with FairSelector(Crowd()) as selector:
        for one, other in pairs:
            selector.register(one, selectors.EVENT_READ)
            other.send(b"x")
        turns = -(-len(pairs) // PORTION)
        served = {fd for _ in range(turns) for fd in _ready(selector)}
        assert served == {one.fileno() for one, _ in pairs}


def test_a_forgotten_number_is_a_stranger_again(pairs: list[Pair]) -> None:
    """The number of a closed connection means nothing when somebody else gets it."""
    with FairSelector(Crowd()) as selector:
        for one, other in pairs:
            selector.register(one, selectors.EVENT_READ)
            other.send(b"x")
        fd = pairs[-1][0].fileno()
        selector.favour(fd)
        selector.forget(fd)
        assert fd not in _ready(selector)[:1]
        assert len(_ready(selector)) == PORTION


def test_workers_wait_while_there_is_a_crowd(pairs: list[Pair]) -> None:
    """A worker steps aside for as long as the crowd lasts, but not for ever."""
    crowd = Crowd()
    crowd.let_pass()
    with FairSelector(crowd) as selector:
        for one, other in pairs:
            selector.register(one, selectors.EVENT_READ)
            other.send(b"x")
        _ready(selector)
        begun = time.monotonic()
        crowd.let_pass()
        assert time.monotonic() - begun >= HELD_BACK * 0.9
        worker = threading.Thread(target=crowd.let_pass)
        worker.start()
        for one, _ in pairs:
            one.recv(1)
        _ready(selector)
        worker.join(10)
        assert not worker.is_alive()


def test_the_loop_hears_its_threads_in_a_crowd(pairs: list[Pair]) -> None:
    """What a thread hands to the loop is done while strangers are still waiting."""
    loop = FairLoop(Crowd())
    try:
        heard = threading.Event()
        for one, other in pairs:
            loop.add_reader(one, lambda: None)  # never read: the crowd does not end
            other.send(b"x")
        thread = threading.Thread(target=loop.run_forever)
        thread.start()
        loop.call_soon_threadsafe(heard.set)
        assert heard.wait(10)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
    finally:
        for one, _ in pairs:
            loop.remove_reader(one)
        loop.close()
