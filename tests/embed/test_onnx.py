"""Models in ONNX folders. `data/tiny` holds one with a fixed vector for each of eight words."""

from __future__ import annotations

import importlib.util
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from recalld.daemon.embed.protocol import VectorsUnavailable
from recalld.daemon.embed.providers.onnx import Onnx
from recalld.daemon.embed.providers.remote import Model

TINY = Path(__file__).parent / "data" / "tiny"
INSTALLED = all(importlib.util.find_spec(name) for name in ("onnxruntime", "tokenizers"))
needs_runtime = pytest.mark.skipif(not INSTALLED, reason="recalld[onnx] is not installed")


def _model(folder: Path = TINY, dimension: int = 0) -> Onnx:
    return Onnx(Model(str(folder), dimension))


@pytest.mark.skipif(INSTALLED, reason="recalld[onnx] is installed")
def test_without_the_extra() -> None:
    """Without onnxruntime the trouble says what to install."""
    with pytest.raises(VectorsUnavailable, match=r"pip install 'recalld\[onnx\]'"):
        _model().load()


def test_an_empty_folder(tmp_path: Path) -> None:
    """A folder without a model is said to be one."""
    with pytest.raises(VectorsUnavailable, match=r"no model\.onnx"):
        _model(tmp_path).load()


@needs_runtime
def test_vectors_are_the_mean_of_the_words() -> None:
    """Padding does not count; vectors have length 1; the dimension is the model's own."""
    model = _model()
    model.load()
    one, other = model.documents(["tabs", "tabs makefiles"])
    assert model.dimension == 4
    assert one == pytest.approx([1, 0, 0, 0])
    assert other == pytest.approx(np.array([0.8, 0, 0.4, 0]) / np.hypot(0.8, 0.4), abs=1e-6)


@needs_runtime
def test_the_folder_says_how_to_pool_and_cut(tmp_path: Path) -> None:
    """First-token pooling and the longest input are read from the folder's own files."""
    folder = tmp_path / "tiny"
    shutil.copytree(TINY, folder)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 1}))
    assert _model(folder).query("spaces tabs tabs") == pytest.approx([0, 1, 0, 0])


@needs_runtime
def test_other_bytes_are_another_space(tmp_path: Path) -> None:
    """Two models in folders of one name do not share a space."""
    folder = tmp_path / "tiny"
    shutil.copytree(TINY, folder)
    path = folder / "model.onnx"
    raw = path.read_bytes()
    path.write_bytes(raw.replace(b"eight words", b"other words"))
    models = [_model(), _model(folder)]
    for model in models:
        model.load()
    assert len({model.space for model in models}) == 2
    assert len({model.model for model in models}) == 1


@needs_runtime
def test_trouble_is_said(tmp_path: Path) -> None:
    """A broken model and a dimension that is not the declared one are refused."""
    folder = tmp_path / "broken"
    shutil.copytree(TINY, folder)
    (folder / "model.onnx").write_bytes(b"nonsense")
    with pytest.raises(VectorsUnavailable, match="cannot be loaded"):
        _model(folder).load()
    with pytest.raises(VectorsUnavailable, match="4 numbers a vector instead of 8"):
        _model(dimension=8).load()
