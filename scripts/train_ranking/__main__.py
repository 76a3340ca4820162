"""Fill, ask, learn, write, and say how well it does on questions it was not taught."""

from __future__ import annotations

import argparse
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean, stdev

from recalld.daemon.recall.rerank import FILE, Reranker

from tests.bench.judged import Judged
from tests.bench.scores import Outcome, mcnemar, score
from tests.bench.taught import FOLDS, LEARNED, every, folds

from .asking import asked
from .learning import Lesson, learned
from .stores import Filled, filled

VIEWS = {"layered": True, "words only": False}
"""Recall as it is by default, and without vectors: the trees must not depend on them."""


def main() -> None:
    """Teach and judge, or judge only what is shipped."""
    arguments = _parser().parse_args()
    stores = {judged.name: (judged, filled(judged, arguments.work)) for judged in every()}
    if arguments.step == "judge":
        shipped = Reranker.shipped()
        _judge(stores, dict.fromkeys(range(FOLDS), shipped), "shipped, as taught")
        return
    lessons = _lessons(stores)
    of_folds: dict[int, Reranker] = {}
    for left_out in range(FOLDS):
        print(f"teaching without part {left_out + 1} of {FOLDS}", flush=True)
        others = [one for part, some in lessons.items() if part != left_out for one in some]
        of_folds[left_out] = Reranker(learned(others))
    _judge(stores, of_folds, "by trees that were not taught the question")
    trees = learned([one for some in lessons.values() for one in some])
    os.makedirs(os.path.dirname(FILE), exist_ok=True)
    trees.save(FILE)
    print(f"{len(trees.columns)} trees written to {FILE}")


def _lessons(stores: Mapping[str, tuple[Judged, Filled]]) -> Mapping[int, Sequence[Lesson]]:
    """Everything there is to learn from, by the part it is in."""
    lessons: defaultdict[int, list[Lesson]] = defaultdict(list)
    for name in LEARNED:
        judged, store = stores[name]
        parts = folds(judged)
        for with_vectors in VIEWS.values():
            with asked(judged, store, with_vectors=with_vectors) as under:
                for question in judged.questions:
                    example = under.example(question)
                    if example is not None:
                        lessons[parts[question.id]].append(Lesson(name, example))
        print(f"{name}: {len(judged.questions)} questions", flush=True)
    return lessons


def _judge(
    stores: Mapping[str, tuple[Judged, Filled]], of_folds: Mapping[int, Reranker], title: str
) -> None:
    """Every set without trees and with them; held-out sets are new to all of them."""
    print(f"\n{title}: hit@5, hit@10, MRR before and after; hit@10 won, lost, p; MRR gained")
    nothing = Reranker(None)
    for view, with_vectors in VIEWS.items():
        for judged, store in stores.values():
            parts = folds(judged)
            with asked(judged, store, with_vectors=with_vectors) as under:
                before = [under.outcome(one, nothing) for one in judged.questions]
                after = [under.outcome(one, of_folds[parts[one.id]]) for one in judged.questions]
            _print(view, judged.name, before, after)
    print()


def _print(view: str, name: str, before: Sequence[Outcome], after: Sequence[Outcome]) -> None:
    was, now, paired = score(before), score(after), mcnemar(after, before)
    kind = "" if name in LEARNED else "held out"
    gained = [b.reciprocal() - a.reciprocal() for a, b in zip(before, after, strict=True)]
    mean, error = fmean(gained), stdev(gained) / len(gained) ** 0.5
    print(
        f"{view:<11}{name:<17}{kind:<9}{was.hits[5]:>7.3f}{now.hits[5]:>6.3f}"
        f"{was.hits[10]:>8.3f}{now.hits[10]:>6.3f}{was.mrr:>8.3f}{now.mrr:>6.3f}"
        f"{paired.won:>6}{paired.lost:>4}{paired.p:>7.3f}{100 * mean:>7.1f} +-{100 * error:.1f}",
        flush=True,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/train_ranking/run", description=__doc__)
    parser.add_argument("step", nargs="?", default="all", choices=("all", "judge"))
    parser.add_argument("--work", type=Path, required=True, help="folder for what is kept")
    return parser


if __name__ == "__main__":
    main()
