"""The `model.bin` of CTranslate2: named tensors of a Whisper model, read and written without its converters.

CTranslate2 can only load such a file into its own engine; its Python converters need torch and transformers. Layout of
binary version 6: the model's name and revision, then each variable (name, shape, type, bytes), then names that stand
for another variable.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import numpy.typing as npt

    Tensor = npt.NDArray[Any]

NAME, REVISION = "WhisperSpec", 3
_VERSION = 6
_TYPES = ("float32", "int8", "int16", "int32", "float16")  # their place is their number in the file
_BFLOAT16 = 5


class NotAModel(ValueError):
    """A file is not what its name says. The message is for people."""


def read(path: Path) -> dict[str, Tensor]:
    """The variables of a Whisper model, views into the file where they can be. Raises NotAModel, OSError."""
    import numpy as np

    with path.open("rb") as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    cursor = _Cursor(data)
    try:
        (version,) = cursor.take("I")
        name = cursor.text() if 4 <= version <= _VERSION else ""
        if name != NAME:
            raise NotAModel(f"{path} is not a Whisper model of CTranslate2")
        cursor.take("I")
        variables: dict[str, Tensor] = {}
        for _ in range(cursor.take("I")[0]):
            key = cursor.text()
            (rank,) = cursor.take("B")
            shape = cursor.take(f"{rank}I")
            kind, size = cursor.take("BI")
            if kind == _BFLOAT16:  # the upper half of a float32
                values = (np.frombuffer(cursor.raw(size), np.uint16).astype(np.uint32) << 16).view(np.float32)
            else:
                values = np.frombuffer(cursor.raw(size), _TYPES[kind])
            variables[key] = values.reshape(shape)
        for _ in range(cursor.take("I")[0]):
            alias = cursor.text()
            variables[alias] = variables[cursor.text()]
    except (struct.error, IndexError, KeyError, UnicodeDecodeError) as error:
        raise NotAModel(f"{path} is damaged ({error})") from error
    return variables


def write(path: Path, variables: Mapping[str, Tensor], aliases: Mapping[str, str]) -> None:
    """Writes a Whisper model; `aliases` are names that stand for the variable of another."""
    with path.open("wb") as file:
        file.write(struct.pack("<I", _VERSION))
        _put(file, NAME)
        file.write(struct.pack("<II", REVISION, len(variables)))
        for key, values in sorted(variables.items()):
            _put(file, key)
            file.write(struct.pack(f"<B{values.ndim}I", values.ndim, *values.shape))
            file.write(struct.pack("<BI", _TYPES.index(values.dtype.name), values.nbytes))
            file.write(values.tobytes())
        file.write(struct.pack("<I", len(aliases)))
        for alias, key in sorted(aliases.items()):
            _put(file, alias)
            _put(file, key)


class _Cursor:
    """Takes values off the front of a file in memory."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._at = 0

    def take(self, form: str) -> tuple[int, ...]:
        values = struct.unpack_from("<" + form, self._data, self._at)
        self._at += struct.calcsize("<" + form)
        return values

    def raw(self, size: int) -> memoryview:
        if self._at + size > len(self._data):
            raise IndexError("it ends too early")
        self._at += size
        return self._data[self._at - size : self._at]

    def text(self) -> str:
        (size,) = self.take("H")
        return bytes(self.raw(size)[:-1]).decode()  # the last byte is a NUL


def _put(file: BinaryIO, text: str) -> None:
    data = text.encode() + b"\0"
    file.write(struct.pack("<H", len(data)) + data)
