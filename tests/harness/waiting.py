"""Waiting for a condition with a deadline; tests never sleep to synchronise."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

STEP_S = 0.02


def eventually(condition: Callable[[], T], *, within: float = 10.0, what: str = "") -> T:
    """The first true-ish answer of `condition`, asked every 20 ms; fails after `within` seconds."""
    deadline = time.monotonic() + within
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise AssertionError(f"Not within {within} s: {what or condition}; last: {answer!r}")
        time.sleep(STEP_S)


def never(condition: Callable[[], object], *, during: float = 0.5, what: str = "") -> None:
    """Fail as soon as `condition` turns true-ish within `during` seconds."""
    deadline = time.monotonic() + during
    while time.monotonic() < deadline:
        answer = condition()
        if answer:
            raise AssertionError(f"Happened but must not: {what or condition}: {answer!r}")
        time.sleep(STEP_S)
