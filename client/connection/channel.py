"""A conversation with the daemon that heals itself: connect, ask, and ask again where that is safe.

One Channel serves one verb: its deadline covers the cold start, every retry and the answer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from ...auth.errors import Draining, from_wire
from ...auth.paths import Layout
from .connect import connect
from .deadline import Deadline
from .discovery import Live
from .documents import Document, document, parse
from .http1 import Answer
from .request import Request
from .retry import Retries
from .wire import Broken, Silence


class Channel:
    """Asks the daemon of one data folder, over one connection as long as that lives."""

    def __init__(
        self,
        layout: Layout,
        environ: Mapping[str, str],
        deadline: Deadline,
        *,
        start: bool = True,
    ) -> None:
        self.layout = layout
        self.deadline = deadline
        self._environ = environ
        self._start = start
        self._live: Live | None = None

    def live(self) -> Live:
        """The proven connection, made now if there is none that can be used."""
        if self._live is None or not self._live.wire.reusable:
            self.close()
            self._live = connect(self.layout, self._environ, self.deadline, start=self._start)
        return self._live

    def call(self, request: Request) -> Document:
        """Ask and return the JSON object; raises the error the daemon answered with."""
        return document(parse(self.ask(request).body))

    def ask(self, request: Request) -> Answer:
        """Ask and return the answer as it came; raises the error the daemon answered with."""
        retries = Retries(repeatable=request.repeatable())
        while True:
            try:
                answer = self._once(request)
            except Broken as error:
                again = retries.after_break()
                if again is None or self.deadline.left() <= again:
                    raise request.lost() from error
                time.sleep(again)
                continue
            if answer.status < 400:
                return answer
            refusal = from_wire(parse(answer.body), answer.status)
            pause = retries.after_refusal(refusal)
            if pause is None or self.deadline.left() <= pause:
                raise refusal
            if isinstance(refusal, Draining):
                self.close()
            time.sleep(pause)

    def follow(self, request: Request, hear: Callable[[bytes], None]) -> None:
        """Ask for an event stream and hand its pieces to `hear` until the daemon ends it.

        It is asked for once: what happened since a break would be missing without a word.
        """
        try:
            answer = self._once(request, hear)
        except Broken as error:
            raise request.lost() from error
        if answer.status >= 400:
            raise from_wire(parse(answer.body), answer.status)

    def _once(self, request: Request, hear: Callable[[bytes], None] | None = None) -> Answer:
        live = self.live()
        try:
            return live.wire.ask(
                request.method,
                request.target,
                headers=request.headers(live.record.secret),
                body=request.body,
                deadline=self.deadline,
                hear=hear,
            )
        except Silence as error:
            self.close()
            pid, seconds = live.record.pid, self.deadline.seconds
            raise request.unanswered(pid, seconds, self.layout.log) from error
        except Broken:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the connection."""
        if self._live is not None:
            self._live.wire.close()
            self._live = None
