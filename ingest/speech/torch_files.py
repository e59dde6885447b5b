"""Reads the tensors of a file that torch.save wrote, without torch, as data: nothing that the file names is run.

Such a file is a zip with a pickle (`*/data.pkl`), which says how tensors lie in raw storages (`*/data/KEY`). Only
dictionaries and tensors are understood; every other class that the pickle asks for becomes an inert stand-in.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy.typing as npt

_DTYPES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "BoolStorage": "?",
}
_MOST_PICKLE_BYTES = 64 * 1024 * 1024


class NotTensors(Exception):
    """The file is no torch zip, or its tensors do not fit their storages."""


def read_tensors(path: Path) -> dict[str, npt.NDArray[Any]]:
    """Every named tensor of the file, names of nested dictionaries joined by dots. Raises NotTensors, OSError."""
    try:
        with zipfile.ZipFile(path) as archive:
            inside = [name for name in archive.namelist() if name.endswith("/data.pkl")]
            if len(inside) != 1 or archive.getinfo(inside[0]).file_size > _MOST_PICKLE_BYTES:
                raise NotTensors("not one pickle of a bearable size in the file")
            folder = inside[0].removesuffix("data.pkl")
            found = _Reader(io.BytesIO(archive.read(inside[0]))).load()
            return {name: tensor.read(archive, folder) for name, tensor in _named(found, "")}
    # A broken pickle makes the unpickler raise nearly anything.
    except (zipfile.BadZipFile, pickle.UnpicklingError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise NotTensors(f"tensors cannot be read: {error}") from error
    except (AttributeError, EOFError, ImportError, MemoryError, RecursionError) as error:
        raise NotTensors(f"tensors cannot be read: {error}") from error


@dataclass(frozen=True, slots=True)
class _Storage:
    key: str
    dtype: str


class _Tensor:
    """Where a tensor lies: offset, shape and strides count elements of its storage."""

    def __init__(self, storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> None:
        self._storage, self._offset, self._shape, self._strides = storage, offset, shape, strides

    def read(self, archive: zipfile.ZipFile, folder: str) -> npt.NDArray[Any]:
        import numpy as np

        if not isinstance(self._storage, _Storage):
            raise NotTensors("a tensor without a storage")
        flat = np.frombuffer(archive.read(f"{folder}data/{self._storage.key}"), self._storage.dtype)
        offset, shape, strides = int(self._offset), _whole(self._shape), _whole(self._strides)
        last = offset + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
        if min((offset, *shape, *strides)) < 0 or (0 not in shape and last >= flat.size):
            raise NotTensors("a tensor that reaches outside of its storage")
        view: npt.NDArray[Any] = np.lib.stride_tricks.as_strided(
            flat[offset:], shape, [stride * flat.itemsize for stride in strides], writeable=False
        )
        return np.ascontiguousarray(view)


class _Inert:
    """Stands for any class the pickle names; takes whatever is done to it and does nothing."""

    def __init__(self, *_: Any, **__: Any) -> None: ...
    def __setstate__(self, state: Any) -> None: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def append(self, value: Any) -> None: ...
    def extend(self, values: Any) -> None: ...


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _Tensor
        if module == "torch" and name in _DTYPES:
            return type(name, (_Inert,), {"dtype": _DTYPES[name]})
        return type("Inert", (_Inert,), {})

    def persistent_load(self, pid: Any) -> _Storage:
        kind, storage, key, *_ = pid
        dtype = getattr(storage, "dtype", None)
        if kind != "storage" or not isinstance(dtype, str) or not isinstance(key, str):
            raise NotTensors("a storage of an unknown kind")
        return _Storage(key, dtype)


def _whole(values: Any) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def _named(value: Any, prefix: str) -> Iterator[tuple[str, _Tensor]]:
    if isinstance(value, _Tensor):
        yield prefix, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _named(inner, f"{prefix}.{name}" if prefix else str(name))
