"""The retrieval sets: what is stored, what is asked, what should be found. Never trained on."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .places import PARAPHRASE, Places

Record = dict[str, Any]  # each set has records of its own shape


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the namespace it is asked in, and the positions of right answers."""

    text: str
    space: str
    gold: frozenset[int]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """Stored texts with their namespaces; with `groups`, the answer is a group of texts."""

    name: str
    texts: Sequence[str]
    spaces: Sequence[str]
    questions: Sequence[Question]
    groups: Sequence[int] | None = None


def benchmarks(places: Places) -> Iterable[Benchmark]:
    """The sets that are at hand."""
    for name, load in _LOADERS.items():
        folder = PARAPHRASE if name == "paraphrase" else places.benchmarks / name
        if folder.is_dir():
            yield load(folder)


def _records(path: Path) -> list[Record]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def _flat(name: str, texts: Sequence[str], docs: list[Record], asked: list[Record]) -> Benchmark:
    """A set whose records name their answers by id, some of them in conversations of their own."""
    at = {doc["id"]: position for position, doc in enumerate(docs)}
    questions = [
        Question(
            record["question"],
            record.get("conv", ""),
            frozenset(at[gold] for gold in record["gold"] if gold in at),
        )
        for record in asked
    ]
    spaces = [doc.get("conv", "") for doc in docs]
    return Benchmark(name, texts, spaces, [question for question in questions if question.gold])


def _paraphrase(folder: Path) -> Benchmark:
    docs = _records(folder / "paraphrase.docs.jsonl")
    asked = _records(folder / "paraphrase.queries.jsonl")
    return _flat("paraphrase", [doc["text"] for doc in docs], docs, asked)


def _cosqa(folder: Path) -> Benchmark:
    docs = _records(folder / "corpus.jsonl")
    asked = _records(folder / "dev.queries.jsonl")
    return _flat("cosqa", [doc["text"] for doc in docs], docs, asked)


def _cacm(folder: Path) -> Benchmark:
    docs = _records(folder / "corpus.jsonl")
    texts = [f"{doc['title']}. {doc['text']} {doc['keywords']}".strip() for doc in docs]
    return _flat("cacm", texts, docs, _records(folder / "dev.queries.jsonl"))


def _beam(folder: Path) -> Benchmark:
    docs = _records(folder / "dev.docs.jsonl")
    asked = _records(folder / "dev.queries.jsonl")
    return _flat("beam", [doc["text"] for doc in docs], docs, asked)


def _locomo(folder: Path) -> Benchmark:
    """The names of the two speakers are in every turn, so they are taken out of the question."""
    docs = _records(folder / "dev.docs.jsonl")
    speakers: dict[str, set[str]] = {}
    for doc in docs:
        speakers.setdefault(doc["conv"], set()).add(doc["speaker"])
    asked = [record for record in _records(folder / "dev.queries.jsonl") if record["category"] != 5]
    for record in asked:
        names = "|".join(map(re.escape, sorted(speakers[record["conv"]])))
        without = re.sub(rf"\b(?:{names})(?:'s|s')?(?!\w)", "", record["question"])
        record["question"] = " ".join(without.split())
    return _flat("locomo", [doc["text"] for doc in docs], docs, asked)


def _longmemeval(folder: Path) -> Benchmark:
    docs = [
        {"id": f"{session['id']}#{number}", "text": turn["content"]}
        for session in _records(folder / "dev.docs.jsonl")
        for number, turn in enumerate(session["turns"])
    ]
    asked = [
        {"question": record["question"], "gold": record["gold_turns"]}
        for record in _records(folder / "dev.queries.jsonl")
        if not record["abstention"] and record["gold_turns"]
    ]
    return _flat("longmemeval", [doc["text"] for doc in docs], docs, asked)


def _entire(folder: Path) -> Benchmark:
    """Sessions are found through their turns; the question is the subject of a later commit."""
    texts, groups = list[str](), list[int]()
    sessions = _records(folder / "docs.jsonl")
    for number, session in enumerate(sessions):
        for turn in session["turns"]:
            if turn["text"].strip() and not turn["compact_summary"]:
                texts.append(turn["text"])
                groups.append(number)
    at = {session["id"]: number for number, session in enumerate(sessions)}
    questions = [
        Question(record["question"], "", frozenset(at[gold] for gold in record["gold"]))
        for record in _records(folder / "dev.queries.jsonl")
        if not record["verbatim_in_raw"]
    ]
    return Benchmark("entire-sessions", texts, [""] * len(texts), questions, groups)


_LOADERS: dict[str, Callable[[Path], Benchmark]] = {
    "paraphrase": _paraphrase,
    "cosqa": _cosqa,
    "entire-sessions": _entire,
    "beam": _beam,
    "cacm": _cacm,
    "longmemeval": _longmemeval,
    "locomo": _locomo,
}
