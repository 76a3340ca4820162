"""Paragraphs with the headings above them, out of HTML, Markdown, reStructuredText, man pages."""

import html
import re
from collections.abc import Iterator
from typing import NamedTuple


class Block(NamedTuple):
    """A paragraph; `heading` is set only on the first one below that heading."""

    heading: str
    text: str


_SPACE = re.compile(r"\s+")
_TAG = re.compile(r"<[^>]+>")
_NOT_PROSE = re.compile(r"(?is)<(script|style|pre|nav|footer|head|svg|table)\b.*?</\1>")
_HTML_BLOCK = re.compile(
    r"(?is)<(h[1-5]|p|dd|li|dt)\b[^>]*>(.*?)(?=</\1>|<(?:h[1-5]|p|dd|li|dt|ul|ol|div)\b)"
)
_NUMBERED = re.compile(r"^[\d.]+\s+")


def squeeze(text: str) -> str:
    """The text on one line, single-spaced."""
    return _SPACE.sub(" ", text).strip()


def plain(fragment: str) -> str:
    """HTML without its tags and entities."""
    return squeeze(html.unescape(_TAG.sub("", fragment))).replace("\xb6", "").strip()


def html_blocks(page: str) -> Iterator[Block]:
    """The paragraphs and list items of an HTML page."""
    heading = ""
    for found in _HTML_BLOCK.finditer(_NOT_PROSE.sub(" ", page)):
        text = plain(found[2])
        if found[1][0].lower() == "h" or found[1].lower() == "dt":
            heading = _NUMBERED.sub("", text)
        elif text:
            yield Block(heading, text)
            heading = ""


_UNDERLINE = re.compile(r"[=\-~^\"'#*+`.]{3,}")
_HASHES = re.compile(r"\s{0,3}#{1,5}\s+(.*?)[\s#]*$")
_FENCE = re.compile(r"(?ms)^\s*(```|~~~).*?^\s*\1\s*$|^---\n.*?^---$")
_NOT_TEXT = ("..", "    ", "\t", "|", ">>>", "$", "<!--", "[!", "![", ":")
_MARKUP = (
    (re.compile(r":[\w:+-]+:`~?([^`<]*?)(?:\s*<[^>]*>)?`"), r"\1"),
    (re.compile(r"`([^`<]+?)\s*<[^>]*>`_+"), r"\1"),
    (re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])"), r"\1"),
    (re.compile(r"`+|\*\*|__|https?://\S+|<[^>]+>"), ""),
    (re.compile(r"^[\s*+\->0-9.)]+"), ""),
)
_ITEM = re.compile(r"\n\s*(?:[*+-]|\d+[.)]) ")


def unmarked(text: str) -> str:
    """Markdown or reStructuredText without its inline markup."""
    for pattern, instead in _MARKUP:
        text = pattern.sub(instead, text)
    return squeeze(text)


def markup_blocks(source: str) -> Iterator[Block]:
    """The paragraphs and list items of a Markdown or reStructuredText file."""
    heading = ""
    for chunk in re.split(r"\n\s*\n", _FENCE.sub("\n", source.replace("\r", ""))):
        lines = chunk.strip("\n").split("\n")
        if hashes := _HASHES.match(lines[0]):
            heading = unmarked(hashes[1])
            lines = lines[1:]
        elif len(lines) > 1 and _UNDERLINE.fullmatch(lines[1].strip()):
            heading = unmarked(lines[0])
            lines = lines[2:]
        if not lines or "\n".join(lines).startswith(_NOT_TEXT):
            continue
        for item in _ITEM.split("\n".join(lines)):
            if text := unmarked(item):
                yield Block(heading, text)
                heading = ""


_SECTION = re.compile(r"\.\s*(?:SH|Sh|SS|Ss)\b\s*(.*)")
_BREAK = re.compile(r"\.\s*(?:PP|P|LP|Pp|TP|IP|It|HP|sp|br|RS|RE|nf|fi|EX|EE|Bl|El)\b")
_REQUEST = re.compile(r"\.\s*([A-Z][A-Za-z]?)\b\s*(.*)")
_FONTS = "B I BR IR RB BI IB RI Nm Nd Ar Fl Xr Pa Cm Dq Sq Em Li Va Fn Ev"
_SHOWN = frozenset(_FONTS.split())
_ESCAPES = (
    (re.compile(r"\\f[BIRPC]|\\f\(..|\\&|\\/|\\,|\\\||\\:"), ""),
    (re.compile(r"\\-"), "-"),
    (re.compile(r"\\\(aq"), "'"),
    (re.compile(r"\\e"), "\\\\"),
    (re.compile(r"\\\(..|\\\[.*?\]|\\s[-+]?\d|\\\*\(.."), ""),
)


def man_blocks(page: str) -> Iterator[Block]:
    """The paragraphs of a man page; what NAME says is the heading of the description."""
    subject = ""
    for section, text in _man_paragraphs(page):
        if section.upper() == "NAME":
            subject = re.split(r"\s-+\s|\sNd\s", text, maxsplit=1)[-1]
        elif section.upper() == "DESCRIPTION":
            yield Block(subject, text)
            subject = ""
        else:
            yield Block("", text)


def _man_paragraphs(page: str) -> Iterator[tuple[str, str]]:
    section, lines = "", list[str]()
    for line in page.split("\n"):
        opened = _SECTION.match(line)
        if opened or _BREAK.match(line):
            if lines:
                yield section, squeeze(" ".join(lines))
            section, lines = (opened[1].strip(' "') if opened else section), []
        elif (shown := _man_line(line)) is not None:
            lines.append(shown)
    if lines:
        yield section, squeeze(" ".join(lines))


def _man_line(line: str) -> str | None:
    """One line as a reader would see it, None for requests and comments."""
    if line.startswith((".", "'")):
        request = _REQUEST.match(line)
        if request is None or request[1] not in _SHOWN:
            return None
        line = request[2].replace('"', "")
        line = f"- {line}" if request[1] == "Nd" else line
    for pattern, instead in _ESCAPES:
        line = pattern.sub(instead, line)
    return line


_BULLET = re.compile(r"(?m)^\s{0,6}[*+-] (.+(?:\n\s{3,}(?![*+-] ).+)*)")
_REFERENCE = re.compile(r"\(?(?:closes|fixes|lp):? #?\d+(?:, #\d+)*\)?\.?|\(\[.*?\]\(.*?\)\)", re.I)


def change_entries(changelog: str) -> Iterator[str]:
    """The entries of a changelog, without ticket numbers and links."""
    for bullet in _BULLET.finditer(changelog[:400_000]):
        yield unmarked(re.sub(r"^\[[^\]]+\]\s*", "", _REFERENCE.sub("", squeeze(bullet[1]))))
