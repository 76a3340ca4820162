"""Closing a stretch of work: what the outcomes since the last stop add up to."""

from __future__ import annotations

from collections.abc import Sequence

from ...storage import episodes, outcomes
from ...storage.episodes import Episode
from ...storage.outcomes import Outcome
from ...storage.scope import Scope
from ...storage.transaction import Transaction


def close(tx: Transaction, namespace: str, session: str, goal: str) -> Episode | None:
    """Make an episode of the session's loose outcomes; None when nothing happened."""
    loose = outcomes.unclosed(tx.connection, Scope([namespace]), session)
    if not loose:
        return None
    episode = _summed(loose, session, goal)
    episodes.close(tx, namespace, episode)
    return episode


def _summed(loose: Sequence[Outcome], session: str, goal: str) -> Episode:
    failed = [one for one in loose if one.kind == "failure"]
    fixes = sum(one.fix is not None for one in failed)
    reasks = sum(one.kind == "reask" for one in loose)
    passed = sum(one.test == "passed" for one in loose)
    red = sum(one.test == "failed" for one in loose)
    times = [one.at for one in loose]
    return Episode(
        session=session,
        started_at=min(times),
        ended_at=max(times),
        goal=goal,
        outcome=_ending(len(failed), fixes, reasks, loose),
        failures=len(failed),
        fixes=fixes,
        reasks=reasks,
        tests_passed=passed,
        tests_failed=red,
    )


def _ending(failed: int, fixes: int, reasks: int, loose: Sequence[Outcome]) -> str:
    if not (failed or reasks):
        return "succeeded" if any(one.test == "passed" for one in loose) else "quiet"
    if fixes >= failed and not reasks:
        return "succeeded"
    return "mixed" if fixes else "failed"
