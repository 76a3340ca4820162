"""One store a set, filled once through a real daemon and kept with what each memory answers."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import NamedTuple

from recalld.daemon.embed.shipped.alignment import Alignment
from recalld.daemon.embed.shipped.layered import Layered
from recalld.daemon.embed.shipped.minilm import MiniLm
from recalld.daemon.embed.shipped.static import StaticEmbedder

from tests.bench.judged import Judged
from tests.bench.retrieval import EMBEDDING_SECONDS, fill
from tests.bench.stage import staged
from tests.harness import vectors
from tests.harness.waiting import eventually


class Filled(NamedTuple):
    """The database, and for every memory in it what gold names it by."""

    path: Path
    answers: dict[str, list[str]]


def filled(judged: Judged, work: Path) -> Filled:
    """The store of a set: the one of before, or a new one once all its notes are read."""
    folder = work / f"{judged.name}-{_digest(judged)}"
    path, named = folder / "memory.db", folder / "answers.json"
    if not named.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o700, parents=True)
        made = folder / "answers.making"
        made.write_text(json.dumps(_fill(judged, path)))
        made.rename(named)
    return Filled(path, json.loads(named.read_text()))


def _digest(judged: Judged) -> str:
    """What must be the same for a store to be of use: all there is in it, and the vectors."""
    space = Layered(StaticEmbedder(), MiniLm(), Alignment()).space
    return hashlib.sha256(repr((space, judged.items)).encode()).hexdigest()[:12]


def _fill(judged: Judged, path: Path) -> dict[str, list[str]]:
    with staged() as stage:
        namespaces = dict.fromkeys(sorted({item.namespace for item in judged.items}), "admin")
        grant = stage.daemon.grant(namespaces=namespaces, label=judged.name)
        http = stage.daemon.http(str(grant["token"]), keep=True)
        answers = fill(http, judged.items)
        http.close()
        owner = stage.daemon.owner()
        eventually(
            lambda: vectors.settled(owner),
            within=max(600, len(judged.items) * EMBEDDING_SECONDS),
            what="all notes read",
        )
        stage.http.close()
        stage.cli.ok("stop")
        shutil.copyfile(stage.folder / "data" / "memory.db", path)
        path.chmod(0o600)
    return answers
