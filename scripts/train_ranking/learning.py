"""Gradient boosting of small trees on the order of answers (LambdaMART), with LightGBM.

Burges, From RankNet to LambdaRank to LambdaMART: An Overview (MSR-TR-2010-82).
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from recalld.daemon.recall.evidence import NAMES
from recalld.daemon.recall.trees import QUESTIONS, Trees

from .asking import Example

TREES = 300
FIRST_SCORE = 5.0
"""How much the first score counts from the start; what trees add is divided by it in the end."""
_PARAMETERS = {
    "objective": "lambdarank",
    "num_leaves": QUESTIONS + 1,
    "learning_rate": 0.05,
    "min_data_in_leaf": 50,
    "lambda_l2": 5,
    "lambdarank_norm": False,
    "feature_fraction": 0.6,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "seed": 1,
    "deterministic": True,
    "num_threads": 1,
    "verbose": -1,
}


class Lesson(NamedTuple):
    """An example, and the set it is from."""

    source: str
    example: Example


def learned(lessons: Sequence[Lesson]) -> Trees:
    """Trees from all lessons that have a right answer. A large set counts more than a small one,
    but only by the square root of its size.
    """
    lightgbm: Any = importlib.import_module("lightgbm")
    useful = [one for one in lessons if one.example.right.any()]
    sizes = Counter(one.source for one in useful)
    examples = [one.example for one in useful]
    groups = [len(one.right) for one in examples]
    weights = np.repeat([sizes[one.source] ** -0.5 for one in useful], groups)
    data = lightgbm.Dataset(
        np.concatenate([one.seen for one in examples]),
        np.concatenate([one.right for one in examples]).astype(int),
        group=groups,
        weight=weights / weights.mean(),
        init_score=FIRST_SCORE * np.concatenate([one.score for one in examples]),
        feature_name=list(NAMES),
    )
    model = lightgbm.train(_PARAMETERS, data, TREES)
    return _tables(one["tree_structure"] for one in model.dump_model()["tree_info"])


def _tables(structures: Iterator[dict[str, Any]]) -> Trees:
    columns: list[list[int]] = []
    limits: list[list[float]] = []
    worth: list[list[float]] = []
    for structure in structures:
        asked = list(_questions(structure))
        if not asked:
            continue
        padded = [*asked, *[asked[-1]] * (QUESTIONS - len(asked))]
        columns.append([node["split_feature"] for node in padded])
        limits.append([_at_most(node["threshold"]) for node in padded])
        numbers = {id(node): number for number, node in enumerate(asked)}
        worth.append(
            [_leaf(structure, numbers, answers) / FIRST_SCORE for answers in range(1 << QUESTIONS)]
        )
    return Trees(
        np.array(columns, np.int32), np.array(limits, np.float32), np.array(worth, np.float32)
    )


def _questions(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "split_feature" in node:
        yield node
        yield from _questions(node["left_child"])
        yield from _questions(node["right_child"])


def _leaf(node: dict[str, Any], numbers: dict[int, int], answers: int) -> float:
    while "split_feature" in node:
        is_yes = answers >> numbers[id(node)] & 1
        node = node["left_child"] if is_yes else node["right_child"]
    return float(node["leaf_value"])


def _at_most(limit: float) -> float:
    """The largest single-precision number that is no larger: the same numbers stay below it."""
    near = np.float32(limit)
    return float(near if near <= limit else np.nextafter(near, np.float32(-np.inf)))
