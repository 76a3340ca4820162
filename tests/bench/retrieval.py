"""How well a real daemon finds what answers a question, on judged sets, with BM25 as the floor.

scripts/bench retrieval                              every development set, one table
scripts/bench retrieval locomo beam                  some of them
scripts/bench retrieval --docs FILE --queries FILE   any set in the common format
scripts/bench retrieval --against results/old.json   paired with a saved run
scripts/bench retrieval --embedder minilm            with another embedder
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.bench import keywords
from tests.bench.figures import RESULTS, percentile
from tests.bench.judged import Item, Judged, Line, read
from tests.bench.scores import Outcome, Scores, mcnemar, score, wilson
from tests.bench.stage import Stage, staged
from tests.harness import vectors
from tests.harness.http import Http
from tests.harness.waiting import eventually

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SETS = {
    "locomo": ("locomo/dev.docs.jsonl", "locomo/dev.queries.jsonl"),
    "longmemeval": ("longmemeval/dev.docs.jsonl", "longmemeval/dev.queries.jsonl"),
    "entire-sessions": ("entire-sessions/docs.jsonl", "entire-sessions/dev.queries.jsonl"),
    "beam": ("beam/dev.docs.jsonl", "beam/dev.queries.jsonl"),
    "cosqa": ("cosqa/corpus.jsonl", "cosqa/dev.queries.jsonl"),
    "cacm": ("cacm/corpus.jsonl", "cacm/dev.queries.jsonl"),
}
PARAPHRASE = Path(__file__).parent / "data"
BATCH_ITEMS = 500
BATCH_LETTERS = 400_000
DEPTH = 100
EMBEDDING_SECONDS = 0.5
"""For one memory at most: MiniLM takes 0.1 s for a long turn, more on a busy machine."""


class Run(NamedTuple):
    """One set answered: outcomes, wall milliseconds a question, CPU milliseconds of the daemon."""

    judged: Judged
    outcomes: list[Outcome]
    times: list[float]
    cpu: float


def main() -> None:
    """Parse the options, run, print, write."""
    options = _options()
    runs: list[Run] = []
    print(HEAD)
    with staged() as stage:
        if options.embedder:
            _embed_by(stage, options.embedder)
        for judged in _chosen(options):
            runs.append(run(stage, judged))
            _print(runs[-1])
        stage.http.close()
    if options.against:
        _compare(runs, json.loads(Path(options.against).read_text()))
    path = Path(options.json) if options.json else RESULTS / "retrieval.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({one.judged.name: _document(one) for one in runs}, indent=1))
    print(f"\nWritten to {path}")


def _embed_by(stage: Stage, embedder: str) -> None:
    """Start the daemon again with this embedder in its settings."""
    stage.cli.ok("stop")
    config = stage.folder / "data" / "config.toml"
    config.write_text(f'embedder = "{embedder}"\n')
    config.chmod(0o600)
    stage.cli.ok("start")


def run(stage: Stage, judged: Judged) -> Run:
    """Store a set in namespaces of its own, wait for its vectors, ask every question."""
    namespaces = sorted({item.namespace for item in judged.items})
    grant = stage.daemon.grant(namespaces=dict.fromkeys(namespaces, "admin"), label=judged.name)
    http = stage.daemon.http(str(grant["token"]), keep=True)
    answers = fill(http, judged.items)
    owner = stage.daemon.owner()
    eventually(
        lambda: vectors.settled(owner),
        within=max(600, len(judged.items) * EMBEDDING_SECONDS),
        what="all vectors written",
    )
    http.close()
    _warm(stage, http, judged)
    before = _cpu_seconds(stage.daemon.pid)
    asked = [_ask(http, question.text, question.namespace) for question in judged.questions]
    cpu = (_cpu_seconds(stage.daemon.pid) - before) * 1000 / max(1, len(asked))
    http.close()
    outcomes: list[Outcome] = []
    for question, (ids, _) in zip(judged.questions, asked, strict=True):
        ranked = list(dict.fromkeys(answer for one in ids for answer in answers.get(one, ())))
        places = tuple(at for at, answer in enumerate(ranked) if answer in question.gold)
        outcomes.append(Outcome(question.id, question.group, len(question.gold), places))
    return Run(judged, outcomes, [taken for _, taken in asked], cpu)


def fill(http: Http, items: Iterable[Item]) -> dict[str, list[str]]:
    """Store everything: turns as conversations, the rest as notes; what each memory answers."""
    grouped: defaultdict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        grouped[item.namespace, item.session].append(item)
    answers: defaultdict[str, list[str]] = defaultdict(list)
    for (namespace, session), members in grouped.items():
        for part in _portions(members):
            ids = _store(http, namespace, session, part)
            for ulid, item in zip(ids, part, strict=True):
                answers[ulid].append(item.answers)
    return answers


def _portions(items: Sequence[Item]) -> Iterable[list[Item]]:
    part: list[Item] = []
    letters = 0
    for item in items:
        if part and (len(part) >= BATCH_ITEMS or letters + len(item.text) > BATCH_LETTERS):
            yield part
            part, letters = [], 0
        part.append(item)
        letters += len(item.text)
    if part:
        yield part


def _store(http: Http, namespace: str, session: str, items: Sequence[Item]) -> list[str]:
    if session:
        turns = [
            _present({"text": i.text, "speaker": i.speaker, "role": i.role, "at": i.at})
            for i in items
        ]
        body: dict[str, object] = {"namespace": namespace, "session": session, "turns": turns}
        reply = http.post("/v1/conversations", body)
    else:
        notes = [{"content": item.text, "namespace": namespace} for item in items]
        reply = http.post("/v1/memories/batch", {"items": notes})
    assert reply.status in {200, 201}, reply.body[:500]
    results = reply.json["results"]
    assert all("id" in one for one in results), [one for one in results if "id" not in one][:3]
    return [str(one["id"]) for one in results]


def _present(fields: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in fields.items() if value is not None}


def _warm(stage: Stage, http: Http, judged: Judged) -> None:
    """Ask once in each namespace, then wait until the daemon has read it and is quiet."""
    for question in {question.namespace: question for question in judged.questions}.values():
        _ask(http, question.text, question.namespace)
    eventually(lambda: _is_quiet(stage.daemon.pid), within=120, what="a quiet daemon")
    http.close()  # the daemon may have closed it while we waited; the next call opens another


def _is_quiet(pid: int) -> bool:
    before = _cpu_seconds(pid)
    time.sleep(0.5)
    return _cpu_seconds(pid) - before < 0.03


def _ask(http: Http, query: str, namespace: str) -> tuple[list[str], float]:
    started = time.perf_counter()
    reply = http.post(
        "/v1/recall", {"query": query[:4000], "limit": DEPTH, "namespaces": [namespace]}
    )
    taken = (time.perf_counter() - started) * 1000
    assert reply.status == 200, reply.body[:500]
    return [str(hit["id"]) for hit in reply.json["hits"]], taken


def _cpu_seconds(pid: int) -> float:
    """User and system time of a process (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


HEAD = (
    f"{'set':<17}{'who':<9}{'n':>5}  {'hit@1':>6}{'hit@5':>7}{'hit@10 (95 % interval)':>25}"
    f"{'hit@50':>8}{'rec@10':>8}{'MRR':>7}{'nDCG10':>8}{'p50 ms':>8}{'p95':>7}{'cpu ms':>8}"
)


def _print(one: Run) -> None:
    """Floor and daemon, and each group of a set that has groups."""
    name = one.judged.name
    print(_row(name, "BM25", score(keywords.outcomes(one.judged))))
    speed = f"{percentile(one.times, 0.5):>8.1f}{percentile(one.times, 0.95):>7.1f}{one.cpu:>8.2f}"
    print(_row(name, "recalld", score(one.outcomes)) + speed)
    groups = sorted({outcome.group for outcome in one.outcomes} - {""})
    for group in groups if len(groups) > 1 else []:
        members = [outcome for outcome in one.outcomes if outcome.group == group]
        print(_row(f"  {group[:14]}", "recalld", score(members)))


def _row(name: str, who: str, s: Scores) -> str:
    low, high = wilson(s.hits[10], s.questions)
    within = f"{s.hits[10]:.3f} ({low:.3f} to {high:.3f})"
    return (
        f"{name:<17}{who:<9}{s.questions:>5}  {s.hits[1]:>6.3f}{s.hits[5]:>7.3f}{within:>25}"
        f"{s.hits[50]:>8.3f}{s.recall10:>8.3f}{s.mrr:>7.3f}{s.ndcg10:>8.3f}"
    )


def _document(one: Run) -> dict[str, object]:
    s = score(one.outcomes)
    return {
        "scores": {**s._asdict(), "hit10_interval": wilson(s.hits[10], s.questions)},
        "p50_ms": percentile(one.times, 0.5),
        "p95_ms": percentile(one.times, 0.95),
        "cpu_ms": one.cpu,
        "outcomes": [outcome._asdict() for outcome in one.outcomes],
    }


def _compare(runs: Sequence[Run], saved: dict[str, dict[str, list[Line]]]) -> None:
    """Question by question against a saved run: won, lost, and whether that can be chance."""
    print("\nAgainst the saved run, hit@10: won, lost, p (exact McNemar); MRR before and now")
    for one in runs:
        if one.judged.name not in saved:
            continue
        before = [_outcome(line) for line in saved[one.judged.name]["outcomes"]]
        paired = mcnemar(one.outcomes, before)
        was, now = score(before).mrr, score(one.outcomes).mrr
        print(
            f"  {one.judged.name:<17}{paired.won:>4}{paired.lost:>5}   p={paired.p:.3f}"
            f"   {was:.3f} {now:.3f}"
        )


def _outcome(line: Line) -> Outcome:
    places: list[int] = line["places"]
    return Outcome(str(line["id"]), str(line["group"]), int(line["gold"]), tuple(places))


def _chosen(options: argparse.Namespace) -> Iterable[Judged]:
    if options.docs:
        docs, queries = Path(options.docs), Path(options.queries)
        yield read(options.name or docs.stem, docs, queries, pooled=options.pooled)
        return
    for name in options.sets or [*SETS, "paraphrase"]:
        if name == "paraphrase":
            docs, queries = (PARAPHRASE / f"paraphrase.{k}.jsonl" for k in ("docs", "queries"))
        else:
            docs, queries = (DATA / path for path in SETS[name])
        if not docs.exists():
            print(f"{name:<17}left out: {docs} is not there")
            continue
        yield read(name, docs, queries, pooled=options.pooled)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="scripts/bench retrieval",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sets", nargs="*", help=f"of {', '.join(SETS)}, paraphrase")
    parser.add_argument("--docs", help="documents of a set of your own")
    parser.add_argument("--queries", help="its questions")
    parser.add_argument("--name", help="what to call it")
    parser.add_argument("--pooled", action="store_true", help="all documents in one namespace")
    parser.add_argument("--against", help="a file an earlier run has written")
    parser.add_argument(
        "--embedder", choices=("static", "minilm", "none"), help="instead of layered"
    )
    parser.add_argument("--json", help="where to write (tests/bench/results/retrieval.json)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
