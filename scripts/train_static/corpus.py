"""Texts and title/body pairs out of the archives of all packages."""

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from pathlib import Path
from typing import TypeVar, cast

from . import code, conversations, prose, wordnet
from .archives import Member, members
from .packages import Package, checked
from .places import Places

MOST_TEXTS = 6000  # of one kind from one package, so that no package drowns the others
MOST_PAIRS = 3500
BODY_WORDS = 64
_ONE_SOURCE = ("wordnet", "dialogue")
_T = TypeVar("_T")
_SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`\"'(])")


def readable(text: str, least: int = 5, most: int = 60) -> bool:
    """Whether a text is a sentence or two of English, not a table, a URL or a list of options."""
    letters = sum(character.isalpha() for character in text)
    return (
        least <= len(text.split()) <= most
        and len(text) < 500
        and text.isascii()
        and letters > 0.6 * len(text.replace(" ", ""))
    )


class Harvest:
    """What one package yields, by kind."""

    def __init__(self) -> None:
        self.texts: dict[str, set[str]] = defaultdict(set)
        self.pairs: dict[str, set[tuple[str, str]]] = defaultdict(set)

    def text(self, kind: str, paragraph: str) -> None:
        """Keep a paragraph if it is short, and its sentences if it is long."""
        if readable(paragraph):
            self.texts[kind].add(paragraph)
        if len(paragraph.split()) >= 25:
            self.texts[kind].update(part for part in _SENTENCE.split(paragraph) if readable(part))

    def pair(self, kind: str, title: str, body: str) -> None:
        """Keep a title and the beginning of its body."""
        title, body = prose.squeeze(title), " ".join(body.split()[:BODY_WORDS])
        words = len(title.split())
        least = 1 if kind == "wordnet" else 2
        told = len(body.split()) >= 5 and title.lower() != body.lower()
        if told and least <= words <= 30 and (title + body).isascii():
            self.pairs[kind].add((title, body))

    def blocks(self, kind: str, found: Iterable[prose.Block]) -> None:
        """Keep paragraphs, and those below a heading as pairs too."""
        for block in found:
            self.text(kind, block.text)
            if len(block.text.split()) >= 6:
                self.pair(kind, block.heading, block.text)

    def documented(self, kind: str, found: Iterable[code.Documented]) -> None:
        """Keep what is said about code, the code, and both together."""
        for item in found:
            if not readable(item.summary, 4, 40):
                continue
            self.text("docstring", item.summary)
            if item.code:
                self.pair(kind, item.summary, item.code)
                self.code(f'{item.code.split(":", 1)[0]}: """{item.summary}"""')
                self.code(item.code)
            if readable(item.details):
                self.text("docstring", item.details)
                self.pair("details", item.summary, item.details)

    def code(self, text: str) -> None:
        """Keep a piece of code that is short enough for the teacher to read whole."""
        if 5 <= len(text.split()) <= 60 and len(text) < 500 and text.isascii():
            self.texts["code"].add(text)

    def titled(self, kind: str, found: Iterable[tuple[str, str]]) -> None:
        """Keep name and description pairs, and the descriptions as texts."""
        for title, body in found:
            self.text(kind, body)
            self.pair(kind, title, body)


_SKIPPED = re.compile(
    r"genindex|/search\.html|py-modindex|_modules/|_sources/|/tests?/|_vendor/|/node_modules/"
    r"|/manual/(da|de|es|fr|ja|ko|pt-br|ru|tr|zh-cn)/"  # Apache's translations
    r"|/aws/|/(az|gcloud)/"  # thousands of completions of one command
    r"|\.min\.|/testdata/|changelog\.Debian|src/.*\.rs\.html|LICEN[CS]E|copyright",
)
_CHANGELOG = re.compile(r"(?i)(^|/)(changelog|changes|history|news|whatsnew)[^/]*$")


def read(package: Package, member: Member, harvest: Harvest) -> None:
    """Take from one file what its kind has to give."""
    if _SKIPPED.search(f"/{member.path}"):
        return
    for pattern, reader in _READERS:
        if pattern.search(f"/{member.path}"):
            reader(package, member, harvest)
            return


def _man(package: Package, member: Member, harvest: Harvest) -> None:
    del package
    harvest.blocks("man", prose.man_blocks(member.text()))


def _page(package: Package, member: Member, harvest: Harvest) -> None:
    del package
    harvest.blocks("docs", prose.html_blocks(member.text()))


def _markup(package: Package, member: Member, harvest: Harvest) -> None:
    if _CHANGELOG.search(member.path):
        for entry in prose.change_entries(member.text()):
            harvest.text("changes", entry)
    else:
        kind = "docs" if package.registry == "debian" else "readme"
        harvest.blocks(kind, prose.markup_blocks(member.text()))


def _python(package: Package, member: Member, harvest: Harvest) -> None:
    del package
    if "/test_" not in member.path:
        harvest.documented("python", code.python_functions(member.text()))


def _declarations(package: Package, member: Member, harvest: Harvest) -> None:
    if package.name == "@withfig/autocomplete":
        command = member.name.removesuffix(".js")
        harvest.titled("command", code.completion_specs(command, member.text()))
    elif member.data.count(b"\n") * 400 > len(member.data):  # minified files have few lines
        harvest.documented("typescript", code.typescript_declarations(member.text()))


def _metadata(package: Package, member: Member, harvest: Harvest) -> None:
    del package
    head, _, body = member.text().partition("\n\n")
    summary = re.search(r"(?m)^Summary: (.*)$", head)
    _described(summary[1] if summary else "", body, harvest)


def _manifest(package: Package, member: Member, harvest: Harvest) -> None:
    del package
    description = cast("dict[str, object]", json.loads(member.data)).get("description")
    harvest.text("readme", description if isinstance(description, str) else "")


def _described(summary: str, body: str, harvest: Harvest) -> None:
    blocks = list(prose.markup_blocks(body))
    harvest.blocks("readme", blocks)
    harvest.text("readme", summary)
    first = next((block.text for block in blocks if readable(block.text, 10)), "")
    harvest.pair("summary", summary, first)


def _service(package: Package, member: Member, harvest: Harvest) -> None:
    del package
    service = member.path.split("/")[-3]
    harvest.titled("operation", code.service_operations(service, member.text()))


def _wordnet(package: Package, member: Member, harvest: Harvest) -> None:
    del package
    for names, text in wordnet.glosses(member.text()):
        harvest.text("wordnet", text)
        harvest.pair("wordnet", names, text)


def _dialogue(package: Package, member: Member, harvest: Harvest) -> None:
    read_turns = conversations.chats if member.name == "dataset.json" else conversations.dialogues
    del package
    for turns in read_turns(member.text()):
        for turn in turns:
            harvest.text("dialogue", turn)
        for asked, said in conversations.answers(turns):
            harvest.pair("dialogue", asked, said)


_Reader = Callable[[Package, Member, Harvest], None]
_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (re.compile(r"/man/man\d/[^/]+$"), _man),
    (re.compile(r"/wordnet/data\.\w+$"), _wordnet),
    (re.compile(r"/chatterbot_corpus/data/english/.*\.yml$"), _dialogue),
    (re.compile(r"/chitchat_dataset/dataset\.json$"), _dialogue),
    (re.compile(r"/botocore/data/.*/service-2\.json$"), _service),
    (re.compile(r"\.dist-info/METADATA$"), _metadata),
    (re.compile(r"^/package/package\.json$"), _manifest),
    (re.compile(r"/doc.*\.html?$"), _page),
    (re.compile(r"\.(md|rst|mdx)$|/(doc|help).*\.txt$"), _markup),
    (re.compile(r"(?i)/(changelog|changes|history|readme)(\.txt)?$"), _markup),
    (re.compile(r"\.py$"), _python),
    (re.compile(r"\.(js|mjs|ts)$"), _declarations),
)


def gather(places: Places) -> None:
    """Write `texts`, `pairs` and the licence list."""
    seen: set[str] = set()
    with (
        places.texts.open("w", encoding="utf-8") as texts,
        places.pairs.open("w", encoding="utf-8") as pairs,
    ):
        for package, archive in checked(places):
            harvest = harvested(package, archive)
            print(f"{package.name}: {_sizes(harvest.texts)} | pairs {_sizes(harvest.pairs)}")
            for kind, text in _sample(package, harvest.texts, MOST_TEXTS):
                if text not in seen:
                    seen.add(text)
                    texts.write(json.dumps({"kind": kind, "text": text}) + "\n")
            for kind, (title, body) in _sample(package, harvest.pairs, MOST_PAIRS):
                if f"{title}\n{body}" not in seen:
                    seen.add(f"{title}\n{body}")
                    pairs.write(json.dumps({"kind": kind, "title": title, "body": body}) + "\n")


def harvested(package: Package, archive: Path) -> Harvest:
    """Everything one package gives."""
    harvest = Harvest()
    for member in members(archive):
        read(package, member, harvest)
    return harvest


def _sizes(kinds: Mapping[str, Sized]) -> str:
    return " ".join(f"{kind} {len(found)}" for kind, found in sorted(kinds.items()))


def _sample(package: Package, kinds: Mapping[str, set[_T]], most: int) -> Iterator[tuple[str, _T]]:
    """At most so many of each kind, the same ones in every run."""
    for kind, found in sorted(kinds.items()):
        limit = most * (20 if kind in _ONE_SOURCE else 1)
        chance = random.Random(f"{package.name}/{kind}")
        ordered = sorted(found, key=repr)
        for item in chance.sample(ordered, min(limit, len(ordered))):
            yield kind, item
