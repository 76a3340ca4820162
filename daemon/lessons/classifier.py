"""The optional second reader of prompts: a language model finds wishes our patterns miss.

Off by default, and never in anybody's way: prompts wait in a short queue that a thread works off
after they were answered. The model only points at sentences. What it names is kept only if it is,
word for word, one of the prompt's own sentences; anything else it says is dropped. Whatever goes
wrong, the patterns' result stands.
"""

from __future__ import annotations

import json
import logging
import queue
import re
import threading
import time
from typing import Final, NamedTuple, cast

from ...storage.engine import Store
from ...storage.faults import StorageFault
from ...storage.transaction import Transaction
from ..caller import Caller
from ..intake.capture import MOST_CAPTURED, Captured, capture
from ..intake.event import Event
from ..intake.sentences import sentences
from ..moments.prompt import keep
from ..settings import Settings
from .assistants import AssistantFailed, Said, assistant, end_running

KINDS: Final = ("preference", "correction", "devops", "project-knowledge")
LONGEST: Final = 4_000
"""Characters of a prompt worth asking about; longer ones are documents."""
MOST_WAITING: Final = 8
INSTRUCTION: Final = (
    "Below is what a user told a coding agent. List the sentences that state a lasting rule, "
    "preference or fact about how to work in this project; leave out tasks, questions and what "
    "holds only now. Copy each sentence exactly, character for character. Answer with JSON only: "
    '{"rules": [{"sentence": "…", "kind": "preference|correction|devops|project-knowledge"}]}'
)
# A prompt without any such word states no rule; asking about it would cost and find nothing.
_HINTS: Final = re.compile(
    r"(?i)\b(?:never|always|prefer\w*|should\w*|must\w*|instead|rather|remember|rules?|convention\w*|"
    r"please|don['\u2019]?t|do not|we use|we do|stick to|avoid|hate|like|want|need\w*|only|every|"
    r"habit|style|policy|expect\w*|supposed|required?)\b"
)

log = logging.getLogger("recalld.classifier")


class _Question(NamedTuple):
    caller: Caller
    event: Event


class Classifier:
    """Asks about prompts, one at a time, at most so often a day; counts what that costs."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._ask = assistant(settings.llm, model=settings.llm_model, url=settings.llm_url)
        self._ending = False
        self._waiting: queue.Queue[_Question] = queue.Queue(MOST_WAITING)
        self._thread: threading.Thread | None = None
        self._day: str = ""
        self._today = 0
        self._calls = self._kept = self._skipped = self._tokens_in = self._tokens_out = 0
        self._last_error: str | None = None

    def offer(self, caller: Caller, event: Event) -> None:
        """Have a prompt read again, if it is worth it and there is room. Called on the loop."""
        if not (event.by_user and _is_worth_asking(event.text)):
            return
        try:
            self._waiting.put_nowait(_Question(caller, event))
        except queue.Full:
            self._skipped += 1
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="classifier", daemon=True)
            self._thread.start()

    def state(self) -> dict[str, object]:
        """What it did and cost so far, for `status`."""
        return {
            "provider": self._settings.llm,
            "calls": self._calls,
            "calls_today": self._today,
            "tokens_in": self._tokens_in,
            "tokens_out": self._tokens_out,
            "kept": self._kept,
            "skipped": self._skipped,
            "waiting": self._waiting.qsize(),
            "last_error": self._last_error,
        }

    def stop(self) -> None:
        """Give up what waits and the call under way."""
        self._ending = True
        end_running()

    def _work(self) -> None:
        while not self._ending:
            question = self._waiting.get()
            try:
                self._answer(question)
            except AssistantFailed as error:
                self._last_error = str(error)
                log.warning("the assistant gave no answer", extra={"reason": str(error)})
            except StorageFault as fault:
                self._last_error = type(fault).__name__
            except Exception as error:
                self._last_error = type(error).__name__
                log.exception("a prompt could not be classified")

    def _answer(self, question: _Question) -> None:
        if not self._may_ask():
            self._skipped += 1
            return
        self._calls += 1
        said = self._ask(INSTRUCTION, question.event.text, self._settings.llm_timeout_s)
        self._count(said)
        found = named(said.text, question.event.text)
        if found:
            self._store.writer.submit(lambda tx: self._keep(tx, question, found)).result()
            self._kept += len(found)

    def _may_ask(self) -> bool:
        today = time.strftime("%Y-%m-%d", time.gmtime())
        if today != self._day:
            self._day, self._today = today, 0
        if self._today >= self._settings.llm_calls_per_day:
            return False
        self._today += 1
        return True

    def _count(self, said: Said) -> None:
        self._tokens_in += said.tokens_in
        self._tokens_out += said.tokens_out

    def _keep(self, tx: Transaction, question: _Question, found: list[Captured]) -> None:
        for captured in found:
            keep(tx, question.caller, question.event, captured, by=self._settings.llm)


def named(said: str, prompt: str) -> list[Captured]:
    """The sentences of the prompt that the answer names, whole and word for word; others are not.

    Raises AssistantFailed for an answer without the JSON that was asked for.
    """
    own = set(sentences(prompt))
    found: dict[str, Captured] = {}
    for rule in _rules(said):
        sentence, kind = str(rule.get("sentence", "")).strip(), rule.get("kind")
        if sentence in own and isinstance(kind, str) and kind in KINDS:
            found.setdefault(sentence, Captured(sentence, kind))
    return list(found.values())[:MOST_CAPTURED]


def _rules(said: str) -> list[dict[str, object]]:
    """The `rules` of the first JSON object in an answer that may have words around it."""
    start = said.find("{")
    try:
        value: object = json.JSONDecoder().raw_decode(said, start)[0] if start >= 0 else None
    except (ValueError, RecursionError):
        value = None
    listed = cast("dict[str, object]", value).get("rules") if isinstance(value, dict) else None
    if not isinstance(listed, list):
        raise AssistantFailed("The answer is not the JSON it should be.")
    rules = cast("list[object]", listed)
    return [cast("dict[str, object]", one) for one in rules if isinstance(one, dict)]


def _is_worth_asking(prompt: str) -> bool:
    """Whether our patterns found nothing, and something could be there."""
    return len(prompt) <= LONGEST and bool(_HINTS.search(prompt)) and not capture(prompt)
