"""Reads a large JSON file piece by piece: objects and arrays are walked, single values are read whole."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TextIO

from ingest.messages.reading import Unreadable

MAX_VALUE_CHARACTERS = 16 * 1024 * 1024
_MAX_DEPTH = 200
_PIECE = 1024 * 1024
_SPACE = re.compile(r"[ \t\r\n]*+")
_SKIPPED = re.compile(r'[^"{}\[\]]++')
_STRING_END = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_SCALAR = re.compile(r"[^,\]}\s]*+")


class JsonStream:
    """The value that comes next is looked at with `peek`, then walked, read or skipped. Raises Unreadable."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._at = 0
        self._ended = False
        self._decoder = json.JSONDecoder(parse_int=_number)

    def peek(self) -> str:
        """The next character that is no space; empty at the end."""
        while True:
            match = _SPACE.match(self._text, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def members(self) -> Iterator[str]:
        """The names of an object's members; the value of each is to be read before the next is asked for."""
        self._expect("{")
        if self._accept("}"):
            return
        while True:
            if self.peek() != '"':
                raise _broken()
            name = self.value()
            self._expect(":")
            yield str(name)
            if self._accept("}"):
                return
            self._expect(",")

    def items(self) -> Iterator[None]:
        """Comes to each item of an array; it is to be read before the next is asked for."""
        self._expect("[")
        if self._accept("]"):
            return
        while True:
            yield None
            if self._accept("]"):
                return
            self._expect(",")

    def value(self) -> Any:
        """The next value as a whole."""
        first = self.peek()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._at)
            except (ValueError, IndexError) as error:
                self._need_more(error)
                continue
            except RecursionError as error:
                raise _broken() from error
            # A number, or a word, may go on in what is not read yet.
            if end == len(self._text) and first not in '"{[' and self._more():
                continue
            self._at = end
            return value

    def skip(self) -> None:
        """Passes the next value without keeping it."""
        first = self.peek()
        if first not in ("{", "["):
            self._skip_string() if first == '"' else self._skip_scalar()
            return
        depth = 0
        while True:
            character = self.peek()
            if not character:
                raise _broken()
            if character == '"':
                self._skip_string()
                continue
            if character in "{[":
                depth += 1
                if depth > _MAX_DEPTH:
                    raise _broken()
            elif character in "}]":
                depth -= 1
            else:
                match = _SKIPPED.match(self._text, self._at)
                self._at = match.end() if match else self._at + 1
                continue
            self._at += 1
            if depth == 0:
                return

    def _skip_string(self) -> None:
        while True:
            match = _STRING_END.match(self._text, self._at + 1)
            if match:
                self._at = match.end()
                return
            self._need_more(None)

    def _skip_scalar(self) -> None:
        while True:
            match = _SCALAR.match(self._text, self._at)
            end = match.end() if match else self._at
            if end < len(self._text) or not self._more():
                break
        if end == self._at:
            raise _broken()
        self._at = end

    def _expect(self, character: str) -> None:
        if self.peek() != character:
            raise _broken()
        self._at += 1

    def _accept(self, character: str) -> bool:
        if self.peek() != character:
            return False
        self._at += 1
        return True

    def _need_more(self, error: Exception | None) -> None:
        """Reads as much again as is waiting, so that a long value is looked at few times. A value that is broken in
        the middle is read up to the limit before it is known to be."""
        waiting = len(self._text) - self._at
        if waiting > MAX_VALUE_CHARACTERS or not self._more(max(_PIECE, waiting)):
            raise _broken() from error

    def _more(self, size: int = 0) -> bool:
        if self._ended:
            return False
        piece = self._file.read(size or _PIECE)
        if not piece:
            self._ended = True
            return False
        self._text = self._text[self._at :] + piece
        self._at = 0
        return True


def _number(digits: str) -> int:
    """A number of thousands of digits takes long to read, and none means anything here."""
    return int(digits) if len(digits) < 40 else 0


def _broken() -> Unreadable:
    return Unreadable("The JSON in it is broken.")
