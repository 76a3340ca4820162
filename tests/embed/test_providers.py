"""A daemon and a provider of vectors, in every way the provider can fail."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from tests.embed.conftest import Provide
from tests.embed.providing import Household, Provider, ask, contents, remember
from tests.harness.http import Http
from tests.harness.waiting import eventually

ROWS = 20
QUICK = 0.5
"""Seconds within which a recall answers, whatever the provider does (its patience is 0.25 s)."""


def _settings(provider: Provider, kind: str = "ollama") -> dict[str, object]:
    url = provider.url + ("/v1" if kind == "openai" else "")
    return {
        "embedder": kind,
        "embed_model": "fake-a",
        "embed_url": url,
        "embed_timeout_s": 1.0,
    }


def _texts(first: int = 0) -> list[str]:
    return [f"Service number {n} listens on port {9000 + n}" for n in range(first, first + ROWS)]


def _timed(http: Http, query: str) -> float:
    begun = time.perf_counter()
    ask(http, query)
    return time.perf_counter() - begun


@pytest.mark.parametrize("kind", ["ollama", "openai"])
def test_a_provider_gives_meaning(household: Household, provide: Provide, kind: str) -> None:
    """With a provider that works every row gets its vector, and nothing is degraded."""
    http = household.start(_settings(provide(), kind))
    remember(http, *_texts())
    told = household.drained()
    assert (told["model"], told["dim"], told["questions"]) == (f"{kind}:fake-a", 384, "ok")
    answer = ask(http, "which service is number 7?")
    assert answer["degraded"] == []
    assert contents(answer)[0] == _texts()[7]


@pytest.mark.parametrize(
    "mode",
    [
        "slow=60",
        "http=400",
        "http=500",
        "flaky=50",
        "drop",
        "never",
        "wrong_dim",
        "nan",
        "short",
        "html",
    ],
)
def test_a_failing_provider_costs_meaning_only(
    household: Household, provide: Provide, mode: str
) -> None:
    """Storing and recalling stay quick, the trouble is seen, and it all drains afterwards."""
    provider = provide()
    http = household.start(_settings(provider))
    remember(http, "The first note, before the trouble")
    household.drained()
    provider.become(mode)
    begun = time.perf_counter()
    remember(http, *_texts())
    assert (time.perf_counter() - begun) / ROWS < 0.3
    times = sorted(_timed(http, f"service number {n}") for n in range(ROWS))
    assert times[-2] < QUICK
    answer = ask(http, "service number 7")
    assert _texts()[7] in contents(answer)
    if mode != "flaky=50":
        assert "vectors_unavailable" in answer["degraded"]
        told = household.until(lambda now: now["last_error"])
        assert told["pending"] == ROWS
        assert told["questions"] == "failing"
    provider.become("ok")
    assert household.drained()["refused"] == 0
    eventually(lambda: ask(http, "service number 7")["degraded"] == [], within=20)
    assert household.embedding()["last_error"] is None


def test_a_provider_that_is_not_there(household: Household, provide: Provide) -> None:
    """Without the provider the daemon starts, stores and recalls by words, and says why."""
    gone = provide()
    gone.end()
    http = household.start(_settings(gone))
    remember(http, *_texts())
    answer = ask(http, "service number 7")
    assert _texts()[7] in contents(answer)
    assert answer["degraded"] == ["vectors_unavailable"]
    told = household.until(lambda now: now["state"] == "failed")
    assert "cannot be reached" in told["last_error"]
    provide(port=gone.port)
    household.drained()
    assert ask(http, "service number 7")["degraded"] == []


def test_a_text_too_long_is_cut(household: Household, provide: Provide) -> None:
    """A text longer than the provider takes is cut until it fits; the others are not held up."""
    provider = provide(limit=1000)
    http = household.start(_settings(provider))
    remember(http, *_texts(), "long " * 700)
    assert household.drained()["refused"] == 0
    assert ask(http, "service number 7")["degraded"] == []


def test_workers_stay_free(household: Household, provide: Provide) -> None:
    """With a provider that never answers and more recalls than workers, all answer in time."""
    provider = provide()
    http = household.start(_settings(provider))
    remember(http, *_texts())
    household.drained()
    provider.become("never")
    with ThreadPoolExecutor(8) as pool:
        times = list(pool.map(partial(_timed, http), ["service number 7"] * 32))
    assert sorted(times)[len(times) // 2] < QUICK
    assert max(times) < 2
