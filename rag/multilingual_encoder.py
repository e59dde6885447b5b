"""Universal Sentence Encoder multilingual v3 (Yang et al. 2020, arXiv:1907.04307) as a forward pass in numpy.

The encoder is the small convolutional one: SentencePiece pieces, three stacks of n-gram convolutions beside the
raw embeddings, a sum over the pieces divided by the root of their number, and four dense layers. It reads the 8-bit
weights named `use-multilingual-v3` in the catalogue of model files; nothing here needs torch or onnxruntime.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

DIMENSION = 512
_TABLE_PARTS = 17  # piece `i` is row `i // 17` of part `i % 17`; each part has a scale and an offset of its own
_HIDDEN = 256
_ORDERS = (2, 3, 5)
_GAP = 2  # zero rows around each text: the widest n-gram (5) looks two pieces to each side
_MAX_PIECES = 4096  # of one text; what follows is not read, so that one text cannot take all memory
_BATCH_PIECES = 512  # rows of one pass: few enough for the cache, enough to make use of each weight matrix


def _relu(x: Matrix) -> Matrix:
    return np.maximum(x, 0, out=x)


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A text with its marks of begin and end. `part_ends` are places in `ids`, one after the last piece of a part."""

    ids: list[int]
    part_ends: list[int]


class MultilingualEncoder:
    """Texts to unit vectors of 512 numbers. Safe to call from many threads: a pass changes no state."""

    def __init__(self, folder: Path) -> None:
        """`folder` holds sp.model and weights.npz. Raises OSError, KeyError or ValueError where they are not that."""
        from sentencepiece import SentencePieceProcessor

        self._pieces = SentencePieceProcessor(model_proto=(folder / "sp.model").read_bytes())
        with np.load(folder / "weights.npz", allow_pickle=False) as stored:
            parts = [f"q{part + 1}" for part in range(_TABLE_PARTS)]
            rows = stored[parts[0]].shape[0]
            self._table: NDArray[np.uint8] = np.empty((rows * _TABLE_PARTS, DIMENSION), dtype=np.uint8)
            for part, name in enumerate(parts):
                self._table[part::_TABLE_PARTS] = stored[name]
            self._weights: dict[str, Matrix] = {
                name: stored[name].astype(np.float32) for name in stored.files if name not in parts
            }
        self._vocabulary = self._table.shape[0]
        w = self._weights
        self._project = np.hstack([w[f"proj{order}"] for order in _ORDERS])
        self._project_bias = np.hstack([w[f"proj_b{order}"] for order in _ORDERS])
        self._ngram_gain = np.hstack([w[f"ln_g{order}"] for order in _ORDERS])
        self._ngram_bias = np.hstack([w[f"ln_b{order}"] for order in _ORDERS])
        # One kernel an n-gram place: (order, 256, 256).
        self._kernels = {
            (order, depth): w[f"w{depth}_{order}"].reshape(order, _HIDDEN, _HIDDEN)
            for order in _ORDERS
            for depth in (1, 2)
        }

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Returns (len(texts), 512), each row of length 1. An empty text has a vector too, close to no other."""
        rows = [vectors[0] for vectors in self.encode_parts([[text] for text in texts])]
        return np.stack(rows) if rows else np.empty((0, DIMENSION), dtype=np.float32)

    def encode_parts(self, texts: Sequence[Sequence[str]]) -> list[Matrix]:
        """Of each text, given as its consecutive parts: the vector of the whole and then, if several, of each part.

        Returns arrays (1, 512) or (1 + parts, 512). The text passes the convolutions once: a part's vector is made of
        its own pieces as they were read in the text, so it costs next to nothing and knows its neighbours.
        """
        found: list[Matrix] = []
        for batch in self._batches(texts):
            found += self._forward(batch)
        assert len(found) == len(texts)
        return found

    def _batches(self, texts: Sequence[Sequence[str]]) -> Iterator[list[_Pieces]]:
        batch: list[_Pieces] = []
        size = 0
        for parts in texts:
            text = self._read(parts)
            if batch and size + len(text.ids) > _BATCH_PIECES:
                yield batch
                batch, size = [], 0
            batch.append(text)
            size += len(text.ids)
        if batch:
            yield batch

    def _read(self, parts: Sequence[str]) -> _Pieces:
        ids: list[int] = [self._pieces.bos_id()]
        ends: list[int] = []
        for part in parts:
            ids += self._pieces.encode(part)
            ids = ids[: _MAX_PIECES - 1]
            ends.append(len(ids))
        return _Pieces([*ids, self._pieces.eos_id()], ends)

    def _forward(self, batch: list[_Pieces]) -> list[Matrix]:
        features = self._features([text.ids for text in batch])
        sums: list[Matrix] = []
        counts: list[int] = []
        start = 0
        for text in batch:
            rows = features[start : start + len(text.ids)]
            start += len(text.ids)
            whole = rows.sum(axis=0)
            sums.append(whole)
            counts.append(len(text.ids))
            if len(text.part_ends) > 1:
                marks = rows[0] + rows[-1]
                for first, last in pairwise([1, *text.part_ends]):
                    sums.append(rows[first:last].sum(axis=0) + marks)
                    counts.append(last - first + 2)
        w = self._weights
        count: Matrix = np.array(counts, dtype=np.float32)[:, None]
        roots: Matrix = np.sqrt(count)
        projected: Matrix = np.stack(sums) @ w["cnn_W"] + count * w["cnn_b"]
        vectors = self._head(projected / roots)
        sizes = [1 + len(text.part_ends) if len(text.part_ends) > 1 else 1 for text in batch]
        return np.split(vectors, np.cumsum(sizes)[:-1])

    def _features(self, batch: list[list[int]]) -> Matrix:
        """(pieces of all texts, 1280): each piece's embedding and its three convolutions, normalised."""
        lengths = np.array([len(pieces) for pieces in batch])
        # All texts lie in one matrix, `_GAP` rows before, between and after them. A row of a gap is zero in every
        # layer that a convolution reads, so no n-gram reaches from one text into the next.
        starts = _GAP + np.concatenate(([0], np.cumsum(lengths[:-1] + _GAP)))
        rows = np.concatenate([np.arange(start, start + n) for start, n in zip(starts, lengths, strict=True)])
        height = int(rows[-1]) + 1 + _GAP

        embedded = self._embed(np.concatenate([np.asarray(pieces, dtype=np.int64) for pieces in batch]))
        inputs = self._layer_norm(embedded @ self._project + self._project_bias, self._ngram_gain, self._ngram_bias)
        features = [embedded]
        for place, order in enumerate(_ORDERS):
            stack = np.zeros((height, _HIDDEN), dtype=np.float32)
            stack[rows] = inputs[:, place * _HIDDEN : (place + 1) * _HIDDEN]
            for depth in (1, 2):
                stack[rows] += self._convolve(stack, rows, order, depth)
            features.append(stack[rows])
        w = self._weights
        return self._layer_norm(np.hstack(features), w["ln_g"], w["ln_b"])

    def _embed(self, pieces: NDArray[np.int64]) -> Matrix:
        """(n,) piece ids to (n, 512) floats out of the 8-bit table."""
        assert pieces.max() < self._vocabulary
        part = pieces % _TABLE_PARTS
        scale, low = self._weights["scale"][part, None], self._weights["lo"][part, None]
        return self._table[pieces].astype(np.float32) * scale + low

    def _convolve(self, stack: Matrix, rows: NDArray[np.int64], order: int, depth: int) -> Matrix:
        """ReLU of a same-length convolution over the pieces, as a sum of shifted matrix products: (n, 256)."""
        left = (order - 1) // 2
        kernels = self._kernels[order, depth]
        first, last = int(rows[0]), int(rows[-1]) + 1
        total = stack[first - left : last - left] @ kernels[0]
        for place in range(1, order):
            total += stack[first - left + place : last - left + place] @ kernels[place]
        total += self._weights[f"b{depth}_{order}"]
        return _relu(total[rows - first])

    def _head(self, pooled: Matrix) -> Matrix:
        """Dense layers with two shortcuts, tanh, and the length set to 1."""
        w = self._weights
        second = _relu(pooled @ w["p1"] + _relu(pooled @ w["d0"]) @ w["d1"])
        vectors: Matrix = np.tanh(second @ w["p3"] + _relu(second @ w["d2"]) @ w["d3"])
        norms: Matrix = np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-9))
        return vectors / norms

    def _layer_norm(self, x: Matrix, gain: Matrix, bias: Matrix) -> Matrix:
        x = x - x.mean(axis=1, keepdims=True)
        variance = np.mean(np.square(x), axis=1, keepdims=True)
        normed: Matrix = (x / np.sqrt(variance + self._weights["eps"])) * gain + bias
        return normed
