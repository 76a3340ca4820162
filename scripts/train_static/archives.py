"""The files inside a wheel, an npm tarball or a Debian package, read one by one."""

import gzip
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LARGEST_MEMBER = 45_000_000


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive, already unpacked where it was gzipped on its own."""

    path: str
    data: bytes

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rsplit("/", 1)[-1]

    def text(self) -> str:
        """The content as text; what is not UTF-8 is read as Latin-1."""
        try:
            return self.data.decode("utf-8")
        except UnicodeDecodeError:
            return self.data.decode("latin-1")


def members(archive: Path) -> Iterator[Member]:
    """Every regular file of an archive that is not absurdly large."""
    if archive.suffix == ".whl":
        yield from _zipped(archive)
    elif archive.suffix == ".deb":
        yield from _debian(archive)
    else:
        with tarfile.open(archive, mode="r|gz") as packed:
            yield from _tarred(packed)


def _zipped(archive: Path) -> Iterator[Member]:
    with zipfile.ZipFile(archive) as packed:
        for entry in packed.infolist():
            if not entry.is_dir() and entry.file_size <= LARGEST_MEMBER:
                yield _member(entry.filename, packed.read(entry))


def _debian(archive: Path) -> Iterator[Member]:
    command = ["dpkg-deb", "--fsys-tarfile", str(archive)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as unpacking,
        tarfile.open(fileobj=unpacking.stdout, mode="r|") as packed,
    ):
        yield from _tarred(packed)


def _tarred(packed: tarfile.TarFile) -> Iterator[Member]:
    for entry in packed:
        if not entry.isfile() or entry.size > LARGEST_MEMBER:
            continue
        content = packed.extractfile(entry)
        if content is not None:
            yield _member(entry.name.removeprefix("./"), content.read())


def _member(path: str, data: bytes) -> Member:
    if path.endswith(".gz") and data[:2] == b"\x1f\x8b":
        return Member(path.removesuffix(".gz"), gzip.decompress(data))
    return Member(path, data)
