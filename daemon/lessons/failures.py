"""What went wrong: the line that tells it, its signature, and whether it is worth keeping."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from ..intake.event import Event
from .attempts import Attempt

LONGEST: Final = 300
"""Characters kept of the line that tells what went wrong."""

_EXIT: Final = re.compile(
    r"(?i)^\W{0,3}(?:process )?exit(?:ed)?[ _](?:with )?(?:code|status):?\s+-?\d+\W*$"
)
# What hosts write around a command's own output: Gemini CLI's labels, Codex's wall time.
_COMMAND_LABEL: Final = re.compile(
    r"\A\s*Command: .*?(?:^Directory: [^\n]*$|^(?=Output:|Stdout:)|\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_FRAME: Final = re.compile(
    r"^(?:[A-Za-z][A-Za-z ]{0,24}: \((?:none|empty)\)|"
    r"(?:Directory|Signal|Background PIDs|Process Group PGID|Wall time|Chunk ID|"
    r"Total output lines|Original token count): .*)$"
)
_LABEL: Final = re.compile(r"^(?:Output|Stdout|Stderr):\s*")
_EXCEPTION: Final = re.compile(
    r"^(?:E\s+)?[\w.]*(?:Error|Exception|Exit|Interrupt|Warning)\b:?.*\S"
)
_TELLS: Final = re.compile(
    r"(?i)\b(?:error|fatal|exception|panic(?:ked)?|err!|failed|failure|cannot|can't|could not|"
    r"couldn't|unable|not found|no such|denied|refused|missing|undefined|unknown|invalid|"
    r"unexpected|timed? ?out|unsupported|conflict|rejected|requires?|must be|unreachable|"
    r"forbidden|expired|unauthori[sz]ed|unresolved|unrecogni[sz]ed|illegal|abort(?:ed|ing)?|"
    r"mismatch|incompatible|expected|too (?:many|large|old|new)|econn\w+|eaddr\w+|"
    r"no (?:rule|module|matching|space left|route|upstream|default|tests? (?:ran|found))|"
    r"already (?:in use|exists)|does not (?:exist|match)|not (?:installed|permitted|allowed))\b"
)
# "0 errors found" is good news, and a summary counts without saying what happened.
_NO_NEWS: Final = re.compile(
    r"(?i)\b(?:0|no|zero) (?:errors?|failures?|failed|problems?|issues?|warnings?|"
    r"vulnerabilities)\b|"
    r"\bfailed: 0\b|\berrors?: 0\b|^\W*(?:=+|-+|\d+ (?:failed|passed|tests?|errors?)\b)|"
    r"complete log of this run|short test summary|"
    r"^\s*(?:at |\^|File \"|npm (?:err|error)!? (?:code|path|errno|a complete))"
)
_STATUS_WORDS: Final = (
    "which type test [ grep rg egrep diff cmp ls cat find pgrep kill pkill stat head tail jq wc"
    " git-grep lsof ping"
)
# Their exit status is an answer, not a failure.
_ANSWERS_BY_STATUS: Final = frozenset(_STATUS_WORDS.split())
_QUIET: Final = re.compile(r"2>\s?/dev/null|&>\s?/dev/null|\|\|\s*(?:true|:|echo)\b")
_STOPPED: Final = re.compile(
    r"(?i)\b(?:interrupted by (?:the )?user|user (?:doesn't|does not|didn't) want|user rejected|"
    r"request interrupted|permission to use \S+ (?:has been|was) denied|operation (?:was )?"
    r"cancell?ed|haven't granted)\b"
)
# An agent's own slips with its tools; they teach nothing about the project.
_SLIPS: Final = re.compile(
    r"(?i)\b(?:eisdir|file does not exist|string to replace not found|has not been read yet|"
    r"has been (?:modified|unexpectedly modified) since|matches of the string|no changes to make|"
    r"old_string|file not found: |exceeds maximum allowed tokens|inputvalidationerror|"
    r"no such tool)\b"
)
_NORMAL: Final = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?Z?"), "<time>"),
    (re.compile(r"\b0x[0-9a-fA-F]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b"), "<hash>"),
    (re.compile(r"(?<![\w.])(?:~|\.{1,2})?/(?:[\w@.+-]+/)+"), ""),
    (re.compile(r"(?::\d+){1,2}(?=[:,)\s]|$)(?<!\w\.\d)"), ":<n>"),
    (re.compile(r"\b\d+(?:\.\d+)?(?:ms|s|kb|mb|gb)\b", re.IGNORECASE), "<n>"),
    (re.compile(r"\b(?:pid|line|col(?:umn)?|attempt) \d+", re.IGNORECASE), "<n>"),
)
# A port says which service it was; `file.ts:12` is a line.
_ADDRESS: Final = re.compile(r"(?:\d{1,3}(?:\.\d{1,3}){3}|localhost|://[\w.-]+|\]):\d{2,5}\b")


def telling(error: str) -> str:
    """The one line that says what went wrong, or "" when none does."""
    lines = [line.strip() for line in _COMMAND_LABEL.sub("", error).splitlines()]
    lines = [_LABEL.sub("", line) for line in lines if not _FRAME.match(line)]
    lines = [line for line in lines if line and not _EXIT.match(line) and not _NO_NEWS.search(line)]
    raised = [line for line in lines if _EXCEPTION.match(line)]
    if raised:
        return raised[-1].removeprefix("E ").strip()[:LONGEST]
    told = [line for line in lines if _TELLS.search(line)]
    return next(iter(told or lines[-1:]), "")[:LONGEST]


def is_noise(event: Event, made: Attempt) -> bool:
    """Whether the failure says nothing that could help anybody later."""
    if event.reason == "interrupt" or _STOPPED.search(event.error) or _SLIPS.search(event.error):
        return True
    line = telling(event.error)
    if not line or (not _TELLS.search(line) and not _EXCEPTION.match(line)):
        return True
    if not made.shell:
        return not made.command_class
    program = made.command_class.split(" ", 1)[0]
    return not program or program in _ANSWERS_BY_STATUS or bool(_QUIET.search(event.input))


def normal(line: str) -> str:
    """The line without what changes from run to run: times, hashes, folders, line numbers."""
    held = _ADDRESS.findall(line)
    for number, address in enumerate(held):
        line = line.replace(address, f"\ue000{chr(0xE100 + number)}", 1)
    for pattern, put in _NORMAL:
        line = pattern.sub(put, line)
    for number, address in enumerate(held):
        line = line.replace(f"\ue000{chr(0xE100 + number)}", address, 1)
    return " ".join(line.split()).lower()


def signature(made: Attempt, line: str) -> str:
    """What two failures of one cause have in common, whichever agent and run met them."""
    kind = "shell" if made.shell else made.tool
    told = "\0".join((kind, made.command_class, normal(line)))
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:16]


def likeness(one: str, other: str) -> float:
    """How alike two telling lines are, 0 to 1: the share of words they have in common."""
    mine, theirs = words_of(one), words_of(other)
    return len(mine & theirs) / len(mine | theirs) if mine and theirs else 0.0


def words_of(line: str) -> frozenset[str]:
    """The words of a telling line that do not change from run to run."""
    return frozenset(re.findall(r"[^\W_]{2,}", normal(line)))
