"""What a package declares about its licence, and whether its text may be learned from."""

import json
import re
from collections import Counter
from email.parser import HeaderParser
from pathlib import Path
from typing import cast

from .archives import members

# Declared names, as the registries spell them. Copyleft and unstated licences stay out.
PERMISSIVE = re.compile(
    r"mit([ -]0|[ -]license)?|expat|isc|0bsd|zlib|(new |modified )?bsd([ -].*)?"
    r"|apache.*|psf.*|python.*|cc0([ -].*)?|wordnet.*",
    re.IGNORECASE,
)
_BOTH = re.compile(r"\s+and\s+|\s*;\s*", re.IGNORECASE)
_EITHER = re.compile(r"\s+or\s+|\s*/\s*", re.IGNORECASE)


def permissive(declared: str) -> bool:
    """Whether every part that applies, or one of each choice, is a permissive licence."""
    parts = [part for part in _BOTH.split(declared.strip("() ")) if part]
    return bool(parts) and all(
        any(PERMISSIVE.fullmatch(choice.strip("() ")) for choice in _EITHER.split(part))
        for part in parts
    )


def declared(archive: Path) -> str:
    """The licence an archive states for its main content; empty when it states none."""
    if archive.suffix == ".whl":
        return _wheel(_first(archive, ".dist-info/METADATA"))
    if archive.suffix == ".deb":
        return _debian(_first(archive, "/copyright"))
    return _npm(_first(archive, "/package.json", depth=2))


def _first(archive: Path, ending: str, depth: int = 0) -> str:
    for member in members(archive):
        parts = member.path.count("/") + 1
        if member.path.endswith(ending) and (not depth or parts == depth):
            return member.text()
    return ""


def _wheel(metadata: str) -> str:
    headers = HeaderParser().parsestr(metadata)
    if expression := headers.get("License-Expression"):
        return str(expression)
    classifiers = [str(value) for value in headers.get_all("Classifier") or []]
    named = [value for value in classifiers if value.startswith("License ::")]
    if named:
        return "; ".join(value.rsplit("::", 1)[-1].strip() for value in named)
    return str(headers.get("License") or "").partition("\n")[0].strip()


def _npm(manifest: str) -> str:
    licence = cast("dict[str, object]", json.loads(manifest or "{}")).get("license")
    return licence if isinstance(licence, str) else ""


def _debian(copyright_file: str) -> str:
    """The licence of `Files: *`, else the PSF's if quoted, else what most stanzas name."""
    seen: Counter[str] = Counter()
    for stanza in re.split(r"\n\s*\n", copyright_file):
        files = re.search(r"(?m)^Files:((?:.|\n[ \t])*)", stanza)
        licence = re.search(r"(?m)^License:[ \t]*(\S.*)", stanza)
        if files and licence:
            if "*" in files[1].split():
                return licence[1].strip()
            seen[licence[1].strip()] += 1
    if "PYTHON SOFTWARE FOUNDATION LICENSE" in copyright_file:
        return "PSF-2.0"
    return seen.most_common(1)[0][0] if seen else ""
