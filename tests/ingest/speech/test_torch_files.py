"""Files of torch.save: their tensors are read, and nothing in them runs."""

from __future__ import annotations

import io
import os
import pickle
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest.speech.torch_files import NotTensors, read_tensors


class _Global:
    """Pickles as a name of some module, called with arguments."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self._function, self._arguments = function, arguments

    def __reduce__(self) -> tuple[Any, ...]:
        return self._function, self._arguments


class _Stored:
    def __init__(self, kind: Any, key: str, count: int) -> None:
        self.pid = ("storage", kind, key, "cpu", count)


class _Pickler(pickle.Pickler):
    def persistent_id(self, obj: Any) -> Any:
        return obj.pid if isinstance(obj, _Stored) else None


@pytest.fixture
def torch_names(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """Stand-ins with torch's names, so that a file can be written without torch."""
    torch, hidden, odd = types.ModuleType("torch"), types.ModuleType("torch._utils"), types.ModuleType("odd")

    def _rebuild_tensor_v2(*_: Any) -> None: ...

    names = types.SimpleNamespace(rebuild=_rebuild_tensor_v2)
    _rebuild_tensor_v2.__module__, _rebuild_tensor_v2.__qualname__ = "torch._utils", "_rebuild_tensor_v2"
    hidden._rebuild_tensor_v2 = _rebuild_tensor_v2  # type: ignore[attr-defined]
    for module, name in ((torch, "FloatStorage"), (torch, "LongStorage"), (odd, "Callback")):
        made = type(name, (), {"__module__": module.__name__})
        setattr(module, name, made)
        setattr(names, name, made)
    for module in (torch, hidden, odd):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return names


def write(path: Path, content: Any, **storages: np.ndarray) -> Path:
    pickled = io.BytesIO()
    _Pickler(pickled, protocol=2).dump(content)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", pickled.getvalue())
        for key, array in storages.items():
            archive.writestr(f"model/data/{key}", array.tobytes())
    return path


def test_tensors_are_read_by_name_with_their_shapes_and_strides(
    tmp_path: Path, torch_names: types.SimpleNamespace
) -> None:
    numbers = np.arange(12, dtype=np.float32)
    storage = _Stored(torch_names.FloatStorage, "a", 12)
    counts = _Stored(torch_names.LongStorage, "b", 2)
    content = {
        "state": OrderedDict(
            rows=_Global(torch_names.rebuild, storage, 0, (3, 4), (4, 1), False, OrderedDict()),
            turned=_Global(torch_names.rebuild, storage, 2, (2, 3), (1, 4), False, OrderedDict()),
        ),
        "counts": _Global(torch_names.rebuild, counts, 0, (2,), (1,), False, OrderedDict()),
        "callback": _Global(torch_names.Callback, "x", 1),
        "epoch": 7,
    }
    found = read_tensors(write(tmp_path / "m.bin", content, a=numbers, b=np.array([5, 6])))
    assert set(found) == {"state.rows", "state.turned", "counts"}
    assert np.array_equal(found["state.rows"], numbers.reshape(3, 4))
    assert np.array_equal(found["state.turned"], numbers.reshape(3, 4)[:, 2:].T[:2])
    assert found["counts"].tolist() == [5, 6]


def test_nothing_that_a_file_names_is_run(tmp_path: Path) -> None:
    witness = tmp_path / "ran"
    content = {"a": _Global(os.system, f"touch {witness}"), "b": _Global(exec, f"open({str(witness)!r}, 'w')")}
    assert read_tensors(write(tmp_path / "m.bin", content)) == {}
    assert not witness.exists()


def test_a_tensor_outside_of_its_storage_is_refused(tmp_path: Path, torch_names: types.SimpleNamespace) -> None:
    storage = _Stored(torch_names.FloatStorage, "a", 4)
    for offset, shape, stride in (
        (0, (5,), (1,)),
        (2, (3,), (1,)),
        (0, (3,), (2,)),
        (-1, (2,), (1,)),
        (3, (2,), (-1,)),
    ):
        tensor = _Global(torch_names.rebuild, storage, offset, shape, stride, False, OrderedDict())
        with pytest.raises(NotTensors):
            read_tensors(write(tmp_path / "m.bin", {"t": tensor}, a=np.zeros(4, np.float32)))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"\x80\x02}q\x00."])
def test_what_is_no_such_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.bin").write_bytes(content)
    with pytest.raises(NotTensors):
        read_tensors(tmp_path / "m.bin")


def test_a_broken_pickle_is_refused(tmp_path: Path) -> None:
    for pickled in (b"", b"\x80\x02", b"\x80\x02cos\nsystem\n", b"\x80\x02]q\x00K\x01K\x02s."):
        with zipfile.ZipFile(tmp_path / "m.bin", "w") as archive:
            archive.writestr("m/data.pkl", pickled)
        with pytest.raises(NotTensors):
            read_tensors(tmp_path / "m.bin")
