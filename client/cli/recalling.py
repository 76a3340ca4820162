"""`recalld recall` and `recalld search`: by meaning and words, or by words alone."""

from __future__ import annotations

import argparse

from ..connection.documents import Document, document, number, rows, strings, text
from . import options, tables, terminal
from .turns import said
from .verb import Context, Verb

DEGRADED = {
    "vectors_behind": "some memories have no vector yet and were looked for by words only",
    "vectors_unavailable": "it was found by words only; recalld doctor says why",
    "reembedding": "new vectors are being made, older ones or words serve; see recalld status",
    "embedding_failed": "no vectors can be made, older ones serve; recalld doctor says why",
    "reading_unavailable": "nothing can be read closely; recalld doctor says why",
    "ranking_unavailable": "the learned ranking cannot be loaded; install recalld anew",
    "words_unavailable": "it was found by meaning only while the index of words is written anew",
}
"""What the reasons that an answer is degraded for mean, and where to look."""


def _recall_arguments(parser: argparse.ArgumentParser) -> None:
    options.words(parser, "query", "what you want to know")
    parser.add_argument(
        "--limit", type=options.whole(1, 100), default=10, metavar="N", help="default: 10"
    )
    options.filters(parser)
    parser.add_argument("--as-of", type=options.moment, metavar="TIME", help="as it was known then")
    parser.add_argument(
        "--budget",
        type=options.whole(1, 1_000_000),
        metavar="TOKENS",
        help="cut to about this many",
    )
    parser.add_argument("--explain", action="store_true", help="say why each one was found")


def _recall(context: Context, args: argparse.Namespace) -> int:
    body = options.present(
        **_asked(args),
        as_of=args.as_of,
        budget=args.budget,
        explain=args.explain or None,
        timeout_ms=max(1, min(60_000, int(context.deadline.left() * 1000))),
    )
    answer = context.ask("POST", "/v1/recall", body)
    if context.json:
        terminal.say(terminal.as_json(answer))
        return 0
    if args.budget is not None and not rows(answer.get("hits")):
        _tell_of_budget(context, body)
        return 0
    _print_hits(context, answer)
    for reason in strings(answer.get("degraded")):
        meaning = f" ({DEGRADED[reason]})" if reason in DEGRADED else ""
        terminal.notice(f"this answer is degraded: {reason}{meaning}")
    return 0


def _tell_of_budget(context: Context, body: Document) -> None:
    """Say what the best hit would have taken: nothing found is something else."""
    unbounded = {name: value for name, value in body.items() if name != "budget"}
    best = rows(context.ask("POST", "/v1/recall", {**unbounded, "limit": 1}).get("hits"))
    if not best:
        terminal.notice("nothing found")
        return
    needed = _tokens(text(best[0], "content"))
    terminal.notice(
        f"a budget of {body['budget']} tokens is too small: the best hit,"
        f" {text(best[0], 'id')}, takes {needed}; add --budget {needed}"
    )


def _tokens(content: str) -> int:
    """What the daemon counts for a hit of this text: its letters, and what stands around them."""
    wide = sum(char > "\u2e80" for char in content)
    return wide + -(-(len(content) - wide) // 4) + 8


def _search_arguments(parser: argparse.ArgumentParser) -> None:
    options.words(parser, "query", "words that must all occur")
    parser.add_argument(
        "--limit", type=options.whole(1, 100), default=10, metavar="N", help="default: 10"
    )
    parser.add_argument(
        "--offset", type=options.whole(0, 10_000), default=0, metavar="N", help="skip this many"
    )
    options.filters(parser)


def _search(context: Context, args: argparse.Namespace) -> int:
    body = options.present(**_asked(args), offset=args.offset)
    answer = context.ask("POST", "/v1/search", body)
    if context.json:
        terminal.say(terminal.as_json(answer))
    else:
        _print_hits(context, answer)
    return 0


def _asked(args: argparse.Namespace) -> dict[str, object]:
    """What both verbs ask for: the query and what it is narrowed to."""
    return {
        "query": " ".join(args.query),
        "limit": args.limit,
        "kinds": args.kind,
        "tags": args.tag,
        "since": args.since,
        "until": args.until,
        "namespaces": args.namespace,
    }


def _print_hits(context: Context, answer: Document) -> None:
    hits = rows(answer.get("hits"))
    if not hits:
        terminal.notice("nothing found")
        return
    columns = ("id", "namespace", "kind", "score", "content")
    tables.table(columns, [_cells(hit) for hit in hits], once="namespace")
    explained = [(text(hit, "id"), _why(document(hit["why"]))) for hit in hits if "why" in hit]
    if explained:
        tables.table(("id", "why"), explained)


def _why(shares: Document) -> str:
    """What each signal gave the hit, in the daemon's order: the largest first."""
    return ", ".join(f"{name} {number(shares, name):+.2f}" for name in shares)


def _cells(hit: Document) -> tuple[str, ...]:
    score = f"{number(hit, 'score'):.3f}"
    return text(hit, "id"), text(hit, "namespace"), text(hit, "kind"), score, said(hit)


VERBS = {
    "recall": Verb(
        _recall_arguments,
        _recall,
        "Recall memories by meaning and by words, best first.",
        "recalld recall 'how do I run the tests' --limit 5",
    ),
    "search": Verb(
        _search_arguments,
        _search,
        "Find memories that contain every word.",
        "recalld search redis port",
    ),
}
