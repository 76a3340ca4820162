"""Which memories may be found at all."""

from __future__ import annotations

from datetime import UTC, datetime

from tests.recall.remembered import Remembered, until


def test_kinds_and_tags(either: Remembered) -> None:
    """One of the kinds is needed, and all of the tags."""
    either.remember("deploy with care", kind="preference", tags=("ops", "prod"))
    either.remember("deploy failed", kind="failure", tags=("ops",))
    assert either.found("deploy", kinds=("failure",)) == ["deploy failed"]
    assert len(either.found("deploy", kinds=("failure", "preference"))) == 2
    assert either.found("deploy", tags=("ops", "prod")) == ["deploy with care"]
    assert either.found("deploy", tags=("OPS",)) == []
    assert either.found("deploy", kinds=("solution",)) == []


def test_only_active_memories(either: Remembered) -> None:
    """Archived and quarantined memories are not recalled; bringing them back finds them again."""
    ulid = either.remember("deploy with care")
    either.edit(ulid, {"status": "archived"})
    assert either.found("deploy") == []
    either.edit(ulid, {"status": "active"})
    assert either.found("deploy") == ["deploy with care"]
    either.remember("deploy at night", status="quarantined")
    assert either.found("deploy") == ["deploy with care"]


def test_a_superseded_memory_gives_way(either: Remembered) -> None:
    """The successor is found, the old one only by asking for the time before."""
    old = either.remember("deploy on Tuesday")
    between = _now()
    until(lambda: _now() > between)
    either.remember("deploy on Thursday", supersedes=old)
    assert either.found("deploy") == ["deploy on Thursday"]
    assert either.found("deploy", as_of=between) == ["deploy on Tuesday"]


def test_the_past_has_its_own_text(either: Remembered) -> None:
    """Asked as of an earlier time, an edited memory says what it said then."""
    ulid = either.remember("the limit for deploys is 10")
    between = _now()
    until(lambda: _now() > between)
    either.edit(ulid, {"content": "the limit for deploys is 20"})
    assert either.found("limit for deploys") == ["the limit for deploys is 20"]
    assert either.found("limit for deploys", as_of=between) == ["the limit for deploys is 10"]
    assert either.found("limit for deploys", as_of=between - 3_600_000) == []


def test_validity(either: Remembered) -> None:
    """A memory is found while it is valid: from the start on, and no longer at the end."""
    either.remember(
        "the code freeze holds",
        valid_from="2025-01-01T00:00:00.000Z",
        valid_to="2025-02-01T00:00:00.000Z",
    )
    assert either.found("code freeze") == []
    assert either.found("code freeze", as_of=_ms(2024, 12, 31)) == []
    either.remember("the code freeze is over", valid_from="2099-01-01T00:00:00.000Z")
    assert either.found("code freeze") == []


def test_when_it_happened(either: Remembered) -> None:
    """The start is included and the end is not; what was observed earlier counts from then."""
    either.remember("met Anna", observed_at="2024-05-01T12:00:00.000Z")
    either.remember("met Anna again")
    may, june = _ms(2024, 5, 1), _ms(2024, 6, 1)
    assert either.found("met Anna", since=may, until=june) == ["met Anna"]
    assert either.found("met Anna", since=june) == ["met Anna again"]
    noon = may + 12 * 3_600_000
    assert either.found("met Anna", since=noon, until=noon + 1) == ["met Anna"]
    assert either.found("met Anna", until=noon) == []


def _now() -> int:
    return int(datetime.now(tz=UTC).timestamp() * 1000)


def _ms(year: int, month: int, day: int) -> int:
    return int(datetime(year, month, day, tzinfo=UTC).timestamp() * 1000)
