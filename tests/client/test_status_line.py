"""What `recalld status` and `recalld doctor` say of the vectors, in every state of the embedder."""

from __future__ import annotations

import pytest
from recalld.client.cli.recalling import DEGRADED
from recalld.client.service.vectors import finding
from recalld.daemon.embed import standing
from recalld.daemon.recall import question, rerank, unshelved

TOLD: dict[str, object] = {
    "embedder": "layered",
    "model": "m, notes by n",
    "serving": "m, notes by n",
    "pending": 0,
    "total": 9,
    "state": "ready",
    "questions": "ok",
}
READY = "layered (m, notes by n) is ready: 9 of 9 memories have their vector"
READ: dict[str, object] = {"unread": 0, "state": "done", "last_error": None}
OLLAMA: dict[str, object] = TOLD | {"embedder": "ollama", "model": "ollama:x"}
AWAY: dict[str, object] = OLLAMA | {"state": "failed", "pending": 4, "last_error": "It is away."}
NOTHING: dict[str, object] = {"model": None, "pending": 0}


@pytest.mark.parametrize(
    ("told", "state", "seen"),
    [
        (TOLD, "ok", READY),
        (
            TOLD | {"reading": READ},
            "ok",
            "layered (m, notes by n) is ready: 9 of 9 memories have their vector",
        ),
        (
            TOLD | {"reading": READ | {"unread": 7}},
            "ok",
            f"{READY}, 7 memories to be read closely",
        ),
        (
            TOLD | {"reading": READ | {"unread": 1, "last_error": "No memory."}},
            "warning",
            (
                "layered (m, notes by n) is ready: 9 of 9 memories have their vector,"
                " 1 memory to be read closely, close reading fails"
                " (No memory) and the vectors made at once serve"
            ),
        ),
        (
            OLLAMA | {"pending": 3, "refused": 2, "last_error": "Too long.", "serving": "ollama:x"},
            "ok",
            (
                "ollama:x is at work: 4 of 9 memories have their vector, 2 are refused one"
                " (Too long)"
            ),
        ),
        (
            OLLAMA | {"pending": 3, "state": "working", "serving": "old"},
            "ok",
            (
                "ollama:x is at work: 6 of 9 memories have their vector,"
                " recall goes on with older vectors (old)"
            ),
        ),
        (
            OLLAMA | {"pending": 3, "state": "working", "serving": None},
            "ok",
            "ollama:x is at work: 6 of 9 memories have their vector, recall goes by words only",
        ),
        (
            OLLAMA | {"questions": "failing", "last_error": "Too slow.", "serving": None},
            "warning",
            (
                "ollama:x is ready: 9 of 9 memories have their vector,"
                " the last question got no vector (Too slow) and was answered by"
                " words only"
            ),
        ),
        (
            AWAY | {"serving": "old"},
            "warning",
            (
                "ollama:x gives no vectors (It is away), 4 of 9 memories wait for theirs,"
                " recall goes on with older vectors (old)"
            ),
        ),
        (
            AWAY | {"serving": None, "pending": 0},
            "warning",
            "ollama:x gives no vectors (It is away), recall goes by words only",
        ),
        (
            AWAY | {"serving": "ollama:x", "pending": 0},
            "warning",
            "ollama:x gives no vectors (It is away), recall goes on with the vectors there are",
        ),
        (
            NOTHING | {"embedder": "minilm", "state": "loading"},
            "note",
            "minilm is being loaded, recall waits for it",
        ),
        (
            NOTHING | {"embedder": "none", "state": "loading"},
            "note",
            'recall is being loaded, by words only (embedder = "none")',
        ),
        (
            OLLAMA | {"state": "loading", "serving": "old"},
            "note",
            "ollama:x is being loaded, recall goes on with older vectors (old)",
        ),
        (
            NOTHING | {"embedder": "static", "state": "failed", "last_error": "OSError"},
            "failure",
            "recall could not be loaded (OSError) and does not answer",
        ),
        (
            {"embedder": "none", "model": "none", "state": "off"},
            "ok",
            'switched off (embedder = "none"), recall goes by words only',
        ),
        (
            TOLD | {"state": "unavailable", "serving": None},
            "warning",
            "the vector extension (sqlite-vec) could not be loaded, recall goes by words only",
        ),
    ],
)
def test_what_is_said_of_every_state(told: dict[str, object], state: str, seen: str) -> None:
    """What is at work, what is left, what is wrong and what serves meanwhile; and then a remedy."""
    found = finding(told, "/data/config.toml")
    assert (found.state, found.seen) == (state, seen)
    assert bool(found.fix) == (state in {"warning", "failure"})


def test_the_remedy_names_what_to_correct() -> None:
    """The settings that may be wrong, and the file they are in."""
    for embedder, setting in (("ollama", "embed_url"), ("openai", "key_file"), ("onnx", "model")):
        fix = finding(AWAY | {"embedder": embedder}, "/data/config.toml").fix
        assert setting in fix
        assert "in /data/config.toml and run: recalld restart" in fix
    assert finding(AWAY | {"embedder": "static"}, "/c").fix == "Run: recalld logs"


def test_every_reason_for_a_degraded_answer_is_explained() -> None:
    """People are told what each word means."""
    reasons = {
        value
        for module in (standing, question, unshelved)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str)
    }
    assert {"reembedding", "embedding_failed", "words_unavailable"} <= reasons
    assert set(DEGRADED) == reasons | {rerank.UNAVAILABLE}
