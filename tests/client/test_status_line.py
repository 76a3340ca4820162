"""What `recalld status` says of the vectors."""

from __future__ import annotations

from recalld.client.cli.running import embedding_line

TOLD: dict[str, object] = {"model": "m", "pending": 0, "total": 9, "state": "ready"}
READ: dict[str, object] = {"unread": 0, "state": "done", "last_error": None}


def test_a_line_for_every_state() -> None:
    """What is left and what is wrong are said, what is well is not."""
    assert embedding_line(TOLD) == "m, 0 pending, ready"
    assert embedding_line(TOLD | {"reading": None}) == "m, 0 pending, ready"
    assert embedding_line(TOLD | {"reading": READ}) == "m, 0 pending, ready"
    left = {"reading": READ | {"unread": 7}}
    assert embedding_line(TOLD | left) == "m, 0 pending, ready, 7 to be read closely"
    failed = {"reading": READ | {"unread": 7, "last_error": "No memory."}}
    assert embedding_line(TOLD | failed) == (
        "m, 0 pending, ready, 7 to be read closely, close reading fails (No memory.)"
    )
    behind = {"pending": 3, "refused": 2}
    assert embedding_line(TOLD | behind) == "m, 3 of 9 pending, ready, 2 refused"
