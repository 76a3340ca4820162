"""How well secrets are told from the rest, by kind, on the labelled development set.

A line counts as found when anything in it was redacted. Kinds are the set's own labels; a few of
them are wrong, and shapes of personal data are counted apart, since redaction is about secrets.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple, TypedDict

from recalld.auth.redaction import redact

_SET = Path(__file__).resolve().parents[3] / "shared" / "data" / "secrets" / "dev.jsonl"


class Line(TypedDict):
    """One labelled line of the set."""

    text: str
    label: str
    kind: str


class Count(NamedTuple):
    """Found and all lines of one kind."""

    found: int
    all: int


class Scores(TypedDict):
    """The figures over all kinds; seconds per megabyte is of the whole set as one text."""

    precision: float
    recall: float
    f1: float
    personal_data_touched: str
    seconds_per_mb: float


def load(path: Path) -> list[Line]:
    """The labelled lines of a .jsonl file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def count(lines: list[Line]) -> dict[tuple[str, str], Count]:
    """Found and all by (label, kind)."""
    counts: dict[tuple[str, str], Count] = defaultdict(lambda: Count(0, 0))
    for line in lines:
        key = (line["label"], line["kind"])
        hit = bool(redact(line["text"])[1])
        counts[key] = Count(counts[key].found + hit, counts[key].all + 1)
    return dict(counts)


def score(lines: list[Line], counts: dict[tuple[str, str], Count]) -> Scores:
    """Precision, recall and F1 over all lines that are not personal data."""
    total = {
        label: Count(
            sum(c.found for (of, _), c in counts.items() if of == label),
            sum(c.all for (of, _), c in counts.items() if of == label),
        )
        for label in ("secret", "benign", "pii")
    }
    found, wrong = total["secret"].found, total["benign"].found
    precision, recall = found / max(1, found + wrong), found / max(1, total["secret"].all)
    whole = "\n".join(line["text"] for line in lines)
    redact(whole)  # compiles
    began = time.perf_counter()
    redact(whole)
    return Scores(
        precision=round(precision, 4),
        recall=round(recall, 4),
        f1=round(2 * precision * recall / max(1e-9, precision + recall), 4),
        personal_data_touched=f"{total['pii'].found}/{total['pii'].all}",
        seconds_per_mb=round((time.perf_counter() - began) / len(whole) * 1e6, 3),
    )


def main() -> None:
    """Print the figures by kind, the lines judged otherwise than labelled, and the sums."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", type=Path, default=_SET, help="a .jsonl of text, label, kind")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--lines", action="store_true", help="print each line judged wrongly")
    options = parser.parse_args()
    lines = load(options.set)
    counts = count(lines)
    print(f"{'label':7} {'kind':38} redacted")
    for (label, kind), c in sorted(counts.items()):
        print(f"{label:7} {kind:38} {c.found}/{c.all}")
    if options.lines:
        for line in lines:
            text, kinds = redact(line["text"])
            if bool(kinds) != (line["label"] == "secret"):
                print(f"{line['label']} {line['kind']} {kinds}: {text[:160]}")
    scores = score(lines, counts)
    print(json.dumps(scores))
    if options.json is not None:
        by_kind = {f"{label}/{kind}": [c.found, c.all] for (label, kind), c in counts.items()}
        options.json.write_text(json.dumps({"scores": scores, "kinds": by_kind}, indent=1) + "\n")


if __name__ == "__main__":
    main()
