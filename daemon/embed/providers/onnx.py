"""Any sentence-embedding model in a local folder, in ONNX form, as the sentence-transformers
project lays it out.

Read from the folder: `model.onnx` (or `onnx/model.onnx`), `tokenizer.json`, and if they are there
`1_Pooling/config.json` (mean or first token) and `sentence_bert_config.json` (longest input). Needs
`onnxruntime` and `tokenizers`, which `pip install 'recalld[onnx]'` brings.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from ..protocol import VectorsUnavailable

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..protocol import Vectors
    from .remote import Model

    Ids = npt.NDArray[np.int64]

_LONGEST = 512
"""Tokens read when the folder does not say."""
_AT_ONCE = 8
_MODELS = ("model.onnx", os.path.join("onnx", "model.onnx"))


class _Named(Protocol):
    name: str


class _Session(Protocol):
    """The part of onnxruntime.InferenceSession that is used."""

    def get_inputs(self) -> Sequence[_Named]: ...
    def get_outputs(self) -> Sequence[_Named]: ...
    def run(self, names: Sequence[str], given: Mapping[str, Ids]) -> Sequence[Vectors]: ...


class _Encoding(Protocol):
    ids: list[int]
    attention_mask: list[int]


class _Tokenizer(Protocol):
    """The part of tokenizers.Tokenizer that is used."""

    def enable_truncation(self, max_length: int) -> None: ...
    def enable_padding(self) -> None: ...
    def encode_batch(self, texts: Sequence[str]) -> Sequence[_Encoding]: ...


class _Loaded:
    """Session, tokenizer and how tokens become one vector."""

    def __init__(self, folder: str) -> None:
        path = _model_file(folder)
        self.digest = _digest(path)
        self._session = _session(path)
        self._tokenizer = _tokenizer(os.path.join(folder, "tokenizer.json"), _longest(folder))
        self._inputs = [one.name for one in self._session.get_inputs()]
        outputs = [one.name for one in self._session.get_outputs()]
        self._pooled = "sentence_embedding" in outputs
        self._output = "sentence_embedding" if self._pooled else outputs[0]
        self._first_token = _first_token(folder)

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of a few texts."""
        import numpy as np

        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([one.ids for one in encoded], np.int64)
        mask = np.array([one.attention_mask for one in encoded], np.int64)
        known = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        given = {name: known[name] for name in self._inputs}
        states = self._session.run([self._output], given)[0]
        made = states if self._pooled else self._one_each(states, mask)
        lengths = np.sqrt(np.square(made).sum(axis=1, keepdims=True))
        unit: Vectors = (made / np.where(lengths > 0, lengths, 1)).astype(np.float32)
        if not np.isfinite(unit).all():
            raise VectorsUnavailable("The ONNX model answered with numbers that are none.")
        return unit

    def _one_each(self, states: Vectors, mask: Ids) -> Vectors:
        import numpy as np

        if self._first_token:
            return states[:, 0]
        weights = mask[..., np.newaxis].astype(np.float32)
        mean: Vectors = (states * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1)
        return mean


class Onnx:
    """The model in the folder `model.name`; its space depends on the bytes of the model file."""

    batch = _AT_ONCE
    trouble = None
    close_reader = None

    def __init__(self, model: Model) -> None:
        self._asked = model
        self._loading = threading.Lock()
        self._loaded: _Loaded | None = None
        self.model = f"onnx:{os.path.basename(os.path.normpath(model.name))}"
        self.dimension = model.dimension
        self.prefix = model.document_prefix

    @property
    def space(self) -> str:
        """The model's bytes, dimension, normalisation and both prefixes."""
        prefixes = f"{self._asked.document_prefix}\0{self._asked.query_prefix}"
        digest = hashlib.sha256(prefixes.encode()).hexdigest()[:8]
        weights = "unknown" if self._loaded is None else self._loaded.digest
        return f"{self.model}-{self.dimension}-unit-{weights}-{digest}"

    def load(self) -> None:
        """Read the model, which may take seconds, once. Raises VectorsUnavailable."""
        with self._loading:
            if self._loaded is not None:
                return
            try:
                loaded = _Loaded(self._asked.name)
                found = loaded.vectors(["recalld"]).shape[1]
            except ImportError as error:
                raise VectorsUnavailable(
                    f"{error.name} is missing; run: pip install 'recalld[onnx]'"
                ) from error
            except VectorsUnavailable:
                raise
            except Exception as error:  # onnxruntime and tokenizers have errors of their own
                raise VectorsUnavailable(f"The ONNX model cannot be loaded: {error}") from error
            if self.dimension not in {0, found}:
                raise VectorsUnavailable(
                    f"{self.model} makes {found} numbers a vector instead of {self.dimension}."
                )
            self.dimension = found
            self._loaded = loaded

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of documents, cut to the model's limit. Raises VectorsUnavailable."""
        self.load()
        loaded = cast("_Loaded", self._loaded)
        cut = [text[: self._asked.longest] for text in texts]
        try:
            return loaded.vectors(cut)
        except VectorsUnavailable:
            raise
        except Exception as error:
            raise VectorsUnavailable(f"The ONNX model failed: {type(error).__name__}.") from error

    def query(self, text: str) -> Vectors:
        """The unit vector of a question. Raises VectorsUnavailable."""
        vector: Vectors = self.documents([self._asked.query_prefix + text])[0]
        return vector


def _model_file(folder: str) -> str:
    for name in _MODELS:
        path = os.path.join(folder, name)
        if os.path.isfile(path):
            return path
    raise VectorsUnavailable(f"There is no model.onnx in {folder}.")


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:8]


def _session(path: str) -> _Session:
    runtime = import_module("onnxruntime")  # optional, and 0.2 s
    options = runtime.SessionOptions()
    # As numpy: threads of its own would take from the workers more than they gain here.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    session: _Session = runtime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session


def _tokenizer(path: str, longest: int) -> _Tokenizer:
    tokenizer: _Tokenizer = import_module("tokenizers").Tokenizer.from_file(path)
    tokenizer.enable_truncation(max_length=longest)
    tokenizer.enable_padding()
    return tokenizer


def _longest(folder: str) -> int:
    value = _config(folder, "sentence_bert_config.json").get("max_seq_length")
    return value if isinstance(value, int) and value > 0 else _LONGEST


def _first_token(folder: str) -> bool:
    config = _config(folder, os.path.join("1_Pooling", "config.json"))
    return config.get("pooling_mode_cls_token") is True


def _config(folder: str, name: str) -> dict[str, object]:
    """A JSON file of the folder; empty if it is not there."""
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            found: object = json.load(file)
    except FileNotFoundError:
        return {}
    return cast("dict[str, object]", found) if isinstance(found, dict) else {}
