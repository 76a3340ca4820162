"""The one table of tools: what hosts are told about each, and what it runs.

Few, because every host sends the whole list with every conversation: a test keeps it under 8 kB.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import get_args

from ..http.call import Call
from ..http.fields import Kind
from . import changing, finding, learned, standing
from .arguments import Argument, Given
from .packing import MOST_BYTES, Row

KINDS: tuple[str, ...] = get_args(Kind)
STORABLE = tuple(kind for kind in KINDS if kind != "conversation")


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool; `writes` tells hosts whether calling it changes anything."""

    name: str
    description: str
    run: Callable[[Call, Given], Awaitable[Row]]
    arguments: tuple[Argument, ...] = ()
    writes: bool = field(default=False)


QUERY = Argument("query", "string", "What to look for: a question or words.", required=True)
BUDGET = Argument("budget_bytes", "integer", "Most bytes to answer with (8192).", most=MOST_BYTES)
FILTERS = (
    Argument("kinds", "array", "Only these kinds.", choices=KINDS),
    Argument("tags", "array", "Only memories with all these tags."),
    Argument("since", "string", "Not older than this ISO date or time."),
    Argument("until", "string", "Older than this ISO date or time."),
    Argument("cursor", "string", "The `more` of an earlier answer, to read on."),
    BUDGET,
)

TOOLS = (
    Tool(
        "memory_recall",
        "Recall what is remembered about a question: decisions, fixes, preferences, facts of this "
        "project and of the user. Use it before solving a problem that may have been solved before "
        "and whenever the user refers to the past. Best first; long texts are shortened, "
        "memory_fetch has all of one.",
        finding.recall,
        (QUERY, Argument("limit", "integer", "Hits (10).", most=100), *FILTERS),
    ),
    Tool(
        "memory_search",
        "First of three steps to look around cheaply: an index of memories, one line each, best "
        "first. Then memory_timeline shows what surrounds one, and memory_fetch its details.",
        finding.search,
        (QUERY, Argument("limit", "integer", "Lines (20).", most=100), *FILTERS),
    ),
    Tool(
        "memory_timeline",
        "What was stored right before and after a memory, one line each, oldest first. Without an "
        "id: what was stored last.",
        finding.around,
        (
            Argument("id", "string", "The memory to look around."),
            Argument("before", "integer", "Lines before it (5)."),
            Argument("after", "integer", "Lines after it (5)."),
            BUDGET,
        ),
    ),
    Tool(
        "memory_fetch",
        "Memories in full by id: text, detail, source, dates. `cut` gives the length of a text "
        "that was shortened; `offset` reads on in it.",
        finding.fetch,
        (
            Argument("ids", "array", "1 to 20 ids.", required=True),
            Argument("offset", "integer", "Characters of the text to skip.", most=10_000_000),
            BUDGET,
        ),
    ),
    Tool(
        "memory_store",
        "Remember something beyond this session, in the user's words where possible: a preference "
        "or correction, a decision, a failure with its fix, how something is deployed. One fact a "
        "memory, understandable on its own, no secrets. Answers a status: stored, duplicate, "
        "superseded, merged, quarantined, blocked or invalid, with the reason.",
        changing.store,
        (
            Argument("content", "string", "The fact, in one or two sentences.", required=True),
            Argument("kind", "string", "Default: note.", choices=STORABLE),
            Argument("scope", "string", "Default: project; user only if it is true everywhere.",
                     choices=("project", "user")),
            Argument("tags", "array"),
            Argument("importance", "number", "0 to 1 (0.5)."),
            Argument("detail", "string", "Longer background, shown on fetch."),
            Argument("supersedes", "string", "Id of the memory this one replaces."),
            Argument("namespace", "string", "Another granted namespace, such as org:NAME."),
        ),
        writes=True,
    ),
    Tool(
        "memory_forget",
        "Forget a memory the user no longer wants or that is wrong. To correct one, store the "
        "right fact with `supersedes` instead. The user can undo it.",
        changing.forget,
        (Argument("id", "string", "Its id.", required=True),),
        writes=True,
    ),
    Tool(
        "load_rules",
        "The rules of this project and user: corrections, solutions, preferences, operations, "
        "known failures, the most used first. Call it once at the start of a session, unless they "
        "stand in your context already.",
        learned.load_rules,
        (BUDGET,),
    ),
    Tool(
        "save_checkpoint",
        "Say where work stands, so that another session can go on: at the end of a session, before "
        "the context is compacted, or when the user pauses. Replaces the current checkpoint.",
        learned.save_checkpoint,
        (
            Argument("remaining", "string", "What is left to do.", required=True),
            Argument("completed", "string", "What is done."),
            Argument("blockers", "string", "What is in the way."),
            Argument("notes", "string", "What else to know: files, commands, decisions."),
        ),
        writes=True,
    ),
    Tool(
        "load_checkpoint",
        "Where work stood when the last session left it: what is done, left and in the way.",
        learned.load_checkpoint,
        (BUDGET,),
    ),
    Tool(
        "lessons",
        "What failed here before and what made it work, newest first. Look here when a command "
        "fails in a way that looks familiar.",
        learned.lessons,
        (
            Argument("status", "string", choices=("candidate", "promoted", "archived")),
            Argument("limit", "integer", "Lessons (10).", most=200),
            BUDGET,
        ),
    ),
    Tool(
        "memory_status",
        "What is remembered where: counts by namespace and kind, and whether the memory is well.",
        standing.status,
    ),
)  # fmt: skip

BY_NAME = {tool.name: tool for tool in TOOLS}
