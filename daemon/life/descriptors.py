"""File descriptors: how many the process may have, and how many of them connections get."""

from __future__ import annotations

import contextlib
import resource

WANTED = 8192
"""Soft limit asked for: twice the connections a machine full of agents opens (D-31)."""
RESERVE = 96
"""Kept for the store, its readers, snapshots, logs and listeners (about 35 in use), and for up to
40 connections beyond the cap: the overdraft, those just accepted, and those being closed."""


def raise_limit() -> int:
    """Raise the soft limit as far as min(hard, 8192); the limit in force."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED if hard == resource.RLIM_INFINITY else min(hard, WANTED)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return WANTED if soft == resource.RLIM_INFINITY else soft
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def connections_within(limit: int, most: int) -> int:
    """How many connections fit under `limit` descriptors, at most `most`, at least 8."""
    return max(8, min(most, limit - RESERVE))
