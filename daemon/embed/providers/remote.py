"""An embedder that is asked over HTTP, whatever the provider's dialect."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..protocol import TextRefused, VectorsUnavailable
from . import answers
from .post import Place, Poster

if TYPE_CHECKING:
    from ..protocol import Vectors

BATCH = 32
_PROBE = "recalld"
_PROBE_SECONDS = 5.0
_SHORTEST = 200
"""A text this short was not refused for its length."""


class Dialect(NamedTuple):
    """How a kind of provider is asked: where, with what, and where the vectors are.

    `vectors` raises VectorsUnavailable for an answer of another form.
    """

    name: str
    path: str
    body: Callable[[str, Sequence[str]], dict[str, object]]
    vectors: Callable[[dict[str, object]], object]


class Model(NamedTuple):
    """What to ask for. `dimension` 0 asks the provider; `longest` is in characters."""

    name: str
    dimension: int = 0
    document_prefix: str = ""
    query_prefix: str = ""
    longest: int = 8000
    seconds: float = 20.0


class Remote:
    """Vectors from a provider, checked and scaled to length 1.

    Its space is known once `load` has asked for the dimension, and stays what it was then: answers
    of another dimension are refused until the daemon starts anew.
    """

    batch = BATCH
    trouble = None
    close_reader = None

    def __init__(self, dialect: Dialect, place: Callable[[], Place], model: Model) -> None:
        self._dialect = dialect
        self._place = place
        self._asked = model
        self._loading = threading.Lock()
        self._poster: Poster | None = None
        self._longest = model.longest
        self._accepted = 0
        self.dimension = model.dimension
        self.model = f"{dialect.name}:{model.name}"
        self.prefix = model.document_prefix

    @property
    def space(self) -> str:
        """Model, dimension, normalisation and both prefixes."""
        prefixes = f"{self._asked.document_prefix}\0{self._asked.query_prefix}"
        digest = hashlib.sha256(prefixes.encode()).hexdigest()[:8]
        return f"{self.model}-{self.dimension}-unit-{digest}"

    def load(self) -> None:
        """Ask once, to learn the dimension and that it works. Raises VectorsUnavailable."""
        with self._loading:
            if self._poster is None:
                poster = Poster(self._place(), self.model)
                probe = self._ask(poster, [_PROBE], _PROBE_SECONDS)
                self.dimension = probe.shape[1]
                self._poster = poster

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors, shape (len(texts), dimension); texts are cut to the model's limit.

        Raises TextRefused if the provider refuses a text on its own, else VectorsUnavailable.
        """
        cut = [text[: self._longest] for text in texts]
        try:
            made = self._ask(self._loaded(), cut, self._asked.seconds)
        except TextRefused:
            if len(cut) > 1:
                raise
            return self._shortened(cut[0])
        self._accepted = max(self._accepted, *map(len, cut))
        return made

    def query(self, text: str) -> Vectors:
        """The unit vector of a question. Raises VectorsUnavailable."""
        asked = (self._asked.query_prefix + text)[: self._longest]
        vector: Vectors = self._ask(self._loaded(), [asked], _PROBE_SECONDS)[0]
        return vector

    def _shortened(self, text: str) -> Vectors:
        """Half of the text as often as it takes; what fits is the limit from now on.

        Raises TextRefused if length is not what it was refused for.
        """
        while len(text) > _SHORTEST:
            text = text[: len(text) // 2]
            try:
                made = self._ask(self._loaded(), [text], self._asked.seconds)
            except TextRefused:
                continue
            # Unless longer ones did fit: then it was something else in the half that was cut off.
            self._longest = max(len(text), self._accepted)
            return made
        raise TextRefused(f"{self.model} refuses a text, however short it is cut.")

    def _loaded(self) -> Poster:
        if self._poster is None:
            self.load()
        if self._poster is None:
            raise VectorsUnavailable(f"{self.model} is not loaded yet.")
        return self._poster

    def _ask(self, poster: Poster, texts: Sequence[str], seconds: float) -> Vectors:
        # Half a surrogate pair cannot be sent; cutting may have made one.
        sent = [
            text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for text in texts
        ]
        raw = poster.post(self._dialect.path, self._dialect.body(self._asked.name, sent), seconds)
        lists = self._dialect.vectors(answers.decoded(raw, self.model))
        return answers.unit_vectors(lists, len(texts), self.dimension, self.model)
