"""The list of packages: downloading them with the ordinary clients, checking their licences."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .licences import declared, permissive
from .places import SOURCES, Places


class LicenceChangedError(Exception):
    """A package that no longer declares a permissive licence, or not the one listed."""


@dataclass(frozen=True, slots=True)
class Package:
    """One line of sources.tsv."""

    registry: str
    name: str
    version: str
    licence: str

    def folder(self, places: Places) -> Path:
        """Where the archive is kept."""
        return places.archives / self.registry

    def archive(self, places: Places) -> Path | None:
        """The downloaded file of this very version, if it is there."""
        return next(iter(sorted(self.folder(places).glob(self._pattern()))), None)

    def _pattern(self) -> str:
        if self.registry == "pypi":
            return f"{self.name.replace('-', '_')}-{self.version}-*.whl"
        if self.registry == "npm":
            return f"{self.name.removeprefix('@').replace('/', '-')}-{self.version}.tgz"
        return f"{self.name}_{self.version.replace(':', '%3a')}_*.deb"

    def command(self) -> list[str]:
        """What downloads it into the current folder, running none of its code."""
        if self.registry == "pypi":
            client = ["python3", "-m", "pip", "download", "--quiet", "--no-deps"]
            return [*client, "--only-binary=:all:", f"{self.name}=={self.version}"]
        if self.registry == "npm":
            return ["npm", "pack", "--silent", "--ignore-scripts", f"{self.name}@{self.version}"]
        return ["apt-get", "download", "--quiet", f"{self.name}={self.version}"]


def listed() -> Iterator[Package]:
    """The packages of sources.tsv, in its order."""
    for line in SOURCES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            registry, name, version, licence = line.split("\t")
            yield Package(registry, name, version, licence)


def download(places: Places) -> None:
    """Fetch what is not there yet; a package that cannot be had is named and left out."""
    missing: list[str] = []
    for package in listed():
        if package.archive(places) is None:
            package.folder(places).mkdir(parents=True, exist_ok=True)
            subprocess.run(
                package.command(), cwd=package.folder(places), check=False, capture_output=True
            )
            if package.archive(places) is None:
                missing.append(f"{package.registry} {package.name} {package.version}")
    for line in missing:
        print("not to be had any more:", line)


def checked(places: Places) -> Iterator[tuple[Package, Path]]:
    """The archives at hand whose declared licence is the listed one; writes the licence list."""
    rows: list[str] = []
    for package in listed():
        archive = package.archive(places)
        if archive is None:
            continue
        licence = declared(archive)
        if licence != package.licence or not permissive(licence):
            message = f"{package.name} {package.version} declares {licence!r}"
            raise LicenceChangedError(f"{message}, sources.tsv says {package.licence!r}")
        rows.append(f"{package.registry}\t{package.name}\t{package.version}\t{licence}\n")
        yield package, archive
    places.licences.write_text("".join(rows), encoding="utf-8")
