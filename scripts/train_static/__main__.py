"""The steps of making the table, one after another or one alone."""

import argparse
from collections.abc import Callable
from pathlib import Path

from . import (
    alignment,
    corpus,
    evaluation,
    packages,
    projection,
    selection,
    teacher,
    training,
    tuning,
)
from .places import REPOSITORY, Places


def main() -> None:
    """Run the steps asked for, all of them unless one is named."""
    arguments = _parser().parse_args()
    places = Places(work=arguments.work.resolve(), shared=arguments.shared.resolve())
    places.work.mkdir(parents=True, exist_ok=True)
    table: Path = arguments.table or places.table
    steps: dict[str, Callable[[], None]] = {
        "download": lambda: packages.download(places),
        "gather": lambda: corpus.gather(places),
        "choose": lambda: selection.choose(places),
        "teach": lambda: teacher.teach(places, arguments.minutes),
        "train": lambda: training.train(places, training.Recipe()),
        "align": lambda: alignment.align(places),
        "tune": lambda: tuning.tune(places),
        "project": lambda: projection.project(places),
        "evaluate": lambda: evaluation.evaluate(places, table),
    }
    for name, step in steps.items():
        if arguments.step in ("all", name):
            print(f"--- {name}", flush=True)
            step()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/train_static/run", description=__doc__)
    steps = (
        "all", "download", "gather", "choose", "teach", "train", "align", "tune", "project",
        "evaluate",
    )  # fmt: skip
    parser.add_argument("step", nargs="?", default="all", choices=steps)
    parser.add_argument(
        "--work",
        type=Path,
        default=Path.home() / ".cache" / "recalld-train-static",
        help="folder for archives and everything made from them (about 700 MB)",
    )
    parser.add_argument(
        "--shared",
        type=Path,
        default=REPOSITORY.parent / "shared",
        help="folder with assets (start table, teacher, vocabulary) and data (benchmarks)",
    )
    parser.add_argument(
        "--minutes", type=float, default=35, help="the time the teacher may take at most"
    )
    parser.add_argument("--table", type=Path, help="evaluate this table, not the one just made")
    return parser


if __name__ == "__main__":
    main()
