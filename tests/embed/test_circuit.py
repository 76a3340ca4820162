"""When a provider is asked at all, and how long a question waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pytest
from recalld.daemon.embed.protocol import VectorsUnavailable
from recalld.daemon.embed.providers.circuit import FIRST_PAUSE, LONGEST_PAUSE, Circuit
from recalld.daemon.embed.providers.guarded import Guarded
from recalld.daemon.embed.shipped.static import StaticEmbedder


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Seconds."""
        return self.now


def test_a_failure_opens_it_for_a_while() -> None:
    """After a failure nobody asks until the pause is over, then one caller, then all."""
    clock = Clock()
    circuit = Circuit(clock)
    assert circuit.admits()
    circuit.failed("It is away.")
    assert (circuit.admits(), circuit.trouble) == (False, "It is away.")
    clock.now += FIRST_PAUSE
    assert [circuit.admits() for _ in range(3)] == [True, False, False]
    circuit.succeeded()
    assert [circuit.admits() for _ in range(3)] == [True, True, True]
    assert circuit.trouble is None


def test_pauses_double_up_to_a_limit() -> None:
    """Every failed try doubles the pause, and it never grows beyond the longest one."""
    clock = Clock()
    circuit = Circuit(clock)
    pauses: list[float] = []
    for _ in range(8):
        circuit.failed("It is away.")
        begun = clock.now
        while not circuit.admits():
            clock.now += 0.25
        pauses.append(clock.now - begun)
    assert pauses[:3] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert max(pauses) == pauses[-1] == LONGEST_PAUSE


def test_failures_at_the_same_time_count_once() -> None:
    """Callers that were let in together and all failed cause one pause, not a doubled one."""
    clock = Clock()
    circuit = Circuit(clock)
    for _ in range(4):
        circuit.failed("It is away.")
    clock.now += FIRST_PAUSE
    assert circuit.admits()


def test_a_sign_of_life_shortens_the_pause() -> None:
    """When documents get their vectors again the next question may try at once."""
    circuit = Circuit(Clock())
    circuit.failed("It is away.")
    circuit.may_have_recovered()
    assert circuit.admits()


class Slow(StaticEmbedder):
    """An embedder whose questions hang until they are let go."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = threading.Event()
        self.asked = 0

    def query(self, text: str) -> npt.NDArray[np.float32]:
        """Hang, then answer."""
        self.asked += 1
        self.let_go.wait(60)
        return super().query(text)


@pytest.fixture
def slow() -> Iterator[Slow]:
    """A slow embedder, let go at the end."""
    made = Slow()
    yield made
    made.let_go.set()


def test_a_question_waits_its_patience_only(slow: Slow) -> None:
    """The first question gives up after its patience, those after it do not even ask."""
    guarded = Guarded(slow, 0.05)
    guarded.load()
    with pytest.raises(VectorsUnavailable, match="longer than 50 ms"):
        guarded.query("tabs")
    begun = time.monotonic()
    for _ in range(20):
        with pytest.raises(VectorsUnavailable):
            guarded.query("tabs")
    assert time.monotonic() - begun < 0.5
    assert slow.asked == 1
    assert guarded.trouble is not None


def test_it_recovers(slow: Slow) -> None:
    """Once documents are embedded again, so are questions."""
    guarded = Guarded(slow, 0.05)
    guarded.load()
    with pytest.raises(VectorsUnavailable):
        guarded.query("tabs")
    slow.let_go.set()
    guarded.documents(["tabs"])
    guarded = Guarded(slow, 30)
    guarded.load()
    assert guarded.query("tabs").shape == (256,)
    assert guarded.trouble is None


def test_before_it_is_loaded(slow: Slow) -> None:
    """A question never waits for a model to load."""
    with pytest.raises(VectorsUnavailable, match="not loaded yet"):
        Guarded(slow, 30).query("tabs")
    assert slow.asked == 0


class Wild(StaticEmbedder):
    """An embedder with errors of its own."""

    def query(self, text: str) -> npt.NDArray[np.float32]:
        """Fail in a way nobody planned for."""
        raise KeyError(text)

    def documents(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Work."""
        return super().documents(texts)


def test_an_unplanned_error_is_told_and_survived() -> None:
    """Whatever the embedder throws becomes VectorsUnavailable, and the thread lives on."""
    guarded = Guarded(Wild(), 30)
    guarded.load()
    for _ in range(6):
        with pytest.raises(VectorsUnavailable, match="KeyError"):
            guarded.query("tabs")
        guarded.documents(["tabs"])
