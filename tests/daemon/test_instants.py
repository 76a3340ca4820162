"""Times as clients send them: one width, so that text order is time order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from recalld.daemon.http.fields import EARLIEST, LATEST, Instant

from tests.daemon.started import Started
from tests.harness.http import Http

ZONES = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
TIMES = st.datetimes(timezones=st.none() | ZONES)
_INSTANT: TypeAdapter[str] = TypeAdapter(Instant)


def _utc(when: datetime) -> datetime | None:
    """The moment in UTC, None when there is none in the calendar."""
    try:
        return when.replace(tzinfo=when.tzinfo or UTC).astimezone(UTC)
    except OverflowError:
        return None


def _kept(text: str) -> str | None:
    try:
        return _INSTANT.validate_python(text)
    except ValidationError:
        return None


@given(TIMES)
def test_every_time_is_kept_at_one_width_or_refused(when: datetime) -> None:
    """Whatever the calendar holds: 24 characters that mean the same moment, or a refusal."""
    kept, utc = _kept(when.isoformat()), _utc(when)
    assert (kept is not None) == (utc is not None and EARLIEST <= utc.year <= LATEST)
    if kept is not None and utc is not None:
        assert len(kept) == 24
        assert datetime.fromisoformat(kept) == utc.replace(
            microsecond=utc.microsecond // 1000 * 1000
        )


@given(TIMES, TIMES)
def test_text_order_is_time_order(one: datetime, other: datetime) -> None:
    """Of two times that are kept the earlier one is the smaller text."""
    first, second = _kept(one.isoformat()), _kept(other.isoformat())
    if first is not None and second is not None:
        told = (datetime.fromisoformat(first), datetime.fromisoformat(second))
        assert (first < second) == (told[0] < told[1])


@pytest.mark.parametrize("year", ["0001", "0009", "0010", "0999", "9999"])
@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/v1/recall", "since"), ("/v1/recall", "until"), ("/v1/recall", "as_of"),
        ("/v1/search", "since"), ("/v1/search", "until"),
        ("/v1/memories", "observed_at"), ("/v1/memories", "valid_from"),
        ("/v1/memories", "valid_to"),
    ],
)  # fmt: skip
def test_years_out_of_range_are_refused(client: Http, year: str, path: str, field: str) -> None:
    """No field takes such a year, and none answers 500."""
    text = {"content": "x"} if path == "/v1/memories" else {"query": "x"}
    reply = client.post(path, text | {field: f"{year}-01-01"})
    assert (reply.status, reply.code) == (400, "invalid_request"), reply.body


def test_the_owner_names_no_such_year_either(served: Started) -> None:
    """The end of a grant and the filters of a list are times like all others."""
    body = {"namespaces": {"org:t": "viewer"}, "expires_at": "0001-01-01T00:00:00Z"}
    assert served.owner().post("/v1/grants", body).status < 500
