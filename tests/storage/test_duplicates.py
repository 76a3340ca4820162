"""The same text stored again: when it is a repetition, and when it says something new."""

from __future__ import annotations

import pytest
from recalld.storage import drafts, history
from recalld.storage.drafts import Draft

from tests.storage.opened import HERE, SCOPE, Opened

TEXT = "the staging password rotates on fridays"
PAST, FUTURE = "2020-01-01T00:00:00.000Z", "2920-01-01T00:00:00.000Z"


@pytest.mark.parametrize(
    ("first", "again", "result"),
    [
        ({"valid_to": PAST}, {}, "superseded"),
        ({"valid_from": FUTURE}, {}, "superseded"),
        ({"valid_to": FUTURE}, {}, "duplicate"),
        ({"valid_from": PAST}, {}, "duplicate"),
        ({"valid_to": PAST}, {"valid_to": PAST}, "duplicate"),
        ({"valid_to": PAST}, {"valid_to": FUTURE}, "superseded"),
        ({}, {"valid_to": FUTURE}, "superseded"),
        ({}, {}, "duplicate"),
    ],
)
def test_a_text_stored_again_holds_when_it_says_so(
    opened: Opened, first: dict[str, str], again: dict[str, str], result: str
) -> None:
    """A row that does not hold for the time meant is replaced, never strengthened."""
    old = opened.add(Draft(HERE, TEXT, **first))  # type: ignore[arg-type]  # only times
    new = opened.add(Draft(HERE, TEXT, **again))  # type: ignore[arg-type]  # only times
    assert new.result == result
    kept = opened.get(new.ulid)
    assert kept.status == "active"
    if result == "superseded":
        assert (kept.valid_from, kept.valid_to) == (again.get("valid_from"), again.get("valid_to"))
        assert kept.supersedes == old.ulid
        assert opened.get(old.ulid).superseded_by == new.ulid
    assert opened.add(Draft(HERE, TEXT, **again)).result == "duplicate"  # type: ignore[arg-type]  # only times


def test_a_duplicates_new_tags_are_kept(opened: Opened) -> None:
    """Tags of a repetition join the row's as an edit; importance stays what it was."""
    first = opened.add(Draft(HERE, TEXT, tags=("a",), importance=0.9))
    again = opened.add(Draft(HERE, TEXT, tags=("b", "a")))
    assert (again.ulid, again.result, again.version) == (first.ulid, "duplicate", 2)
    kept = opened.get(first.ulid)
    assert (kept.tags, kept.importance, kept.evidence) == (("a", "b"), 0.9, 2)
    assert opened.add(Draft(HERE, TEXT, tags=("b",))).version == 2
    told = opened.read(lambda c: history.versions(c, SCOPE, first.ulid))
    assert [entry.op for entry in told.entries] == ["store", "edit"]


def test_a_row_gathers_only_so_many_tags(opened: Opened) -> None:
    """Repetitions with ever new tags do not make a row grow without end."""
    ulid = opened.add(Draft(HERE, TEXT)).ulid
    for number in range(drafts.MOST_TAGS + 5):
        opened.add(Draft(HERE, TEXT, tags=(f"t{number}",)))
    assert len(opened.get(ulid).tags) == drafts.MOST_TAGS


def test_repeating_anothers_text_changes_none_of_their_rows(opened: Opened) -> None:
    """With only own rows to change, neither tags are added nor an expired row retired."""
    tagged = opened.add(Draft(HERE, "tagged"), by="them").ulid
    expired = opened.add(Draft(HERE, "expired", valid_to=PAST), by="them").ulid

    def store(draft: Draft) -> str:
        return opened.write(lambda tx: drafts.insert(tx, draft, by="me", only_own=True)).result

    assert store(Draft(HERE, "tagged", tags=("mine",))) == "duplicate"
    assert opened.get(tagged).tags == ()
    assert store(Draft(HERE, "expired")) == "stored"
    assert opened.get(expired).status == "active"
    assert store(Draft(HERE, "expired")) == "duplicate"
