"""The daemon's log: JSON lines in a file of bounded size, never a memory's text, never a token.

The standard library's logging does all of it; structlog would cost 224 ms of every cold start.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from logging.handlers import RotatingFileHandler

from .settings import Settings

_PLAIN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
REPEAT_WINDOW = 60.0
"""Seconds in which the same line is written once and then only counted (D-30)."""


class JsonLines(logging.Formatter):
    """One JSON object a line: time, level, logger, message, and whatever was passed as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, without its end."""
        line: dict[str, object] = {
            "at": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
        }
        line.update({k: v for k, v in vars(record).items() if k not in _PLAIN})
        if record.exc_info and record.exc_info[1] is not None:
            line["error"] = _describe(record.exc_info[1])
        return json.dumps(line, default=str)


class Collapse(logging.Filter):
    """Lets a repeated line through once a minute, saying how many were left out meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, int, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write the record."""
        if len(self._seen) > 1000:
            self._seen.clear()
        # The template, not the finished text: ids in the arguments must not defeat the purpose.
        key = (record.name, record.levelno, str(record.msg))
        since, left_out = self._seen.get(key, (0.0, 0))
        if record.levelno >= logging.WARNING and record.created - since < REPEAT_WINDOW:
            self._seen[key] = (since, left_out + 1)
            return False
        self._seen[key] = (record.created, 0)
        if left_out:
            record.repeated = left_out
        return True


class CappedFile(RotatingFileHandler):
    """A rotating file, 0600, that also takes what the process prints as it dies.

    With `adopt` the standard streams point at the current file, so a crash report lands in it and
    counts towards its bound instead of filling the file a client opened for us.
    """

    def __init__(self, path: str, *, size: int, files: int, adopt: bool) -> None:
        self._adopt = adopt
        super().__init__(path, maxBytes=size, backupCount=files - 1, delay=False)
        self._redirect()

    def doRollover(self) -> None:  # noqa: N802 - the library's name
        """Start a new file and take the standard streams along."""
        super().doRollover()
        self._redirect()

    def _redirect(self) -> None:
        stream = self.stream
        if self._adopt and stream is not None:  # pyright: ignore[reportUnnecessaryComparison]
            fd = stream.fileno()
            os.dup2(fd, 1)
            os.dup2(fd, 2)


def configure(path: str, settings: Settings, *, foreground: bool) -> None:
    """Send everything logged to the file, and to stderr as well when in the foreground."""
    handlers: list[logging.Handler] = [
        CappedFile(path, size=settings.log_bytes, files=settings.log_files, adopt=not foreground)
    ]
    if foreground:
        handlers.append(logging.StreamHandler(sys.stderr))
    for handler in handlers:
        handler.setFormatter(JsonLines())
        handler.addFilter(Collapse())
    logging.basicConfig(level=settings.log_level.upper(), handlers=handlers, force=True)
    # asyncio repeats accept errors every second, uvicorn announces each start: not at info.
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
    logging.raiseExceptions = False  # a full disk must not print a traceback for every line


def _message(record: logging.LogRecord) -> str:
    """What is said; of asyncio only what it says first.

    Its reports go on with the repr of callbacks, tasks and their exceptions, and so with whatever
    those hold of a user's words.
    """
    whole = record.getMessage()
    if record.name != "asyncio":
        return whole
    return whole.partition("\n")[0].partition("(")[0].partition("<")[0].strip()


def _describe(error: BaseException) -> dict[str, object]:
    """Class and places of an error; not its text, which may quote what a user wrote."""
    places: list[str] = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{os.path.basename(code.co_filename)}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return {"class": type(error).__name__, "at": places[-8:]}
