"""Whisper as the npm index has it (ONNX, 8 bit, as transformers.js runs it) to a folder that CTranslate2 loads.

The engine for ONNX has no batches, no beam and no word times; the same weights in CTranslate2 have all three. A weight
of the source is `scale * (number - zero point)` with one scale a matrix, CTranslate2 has one a row: most rows keep
their numbers, a row that needs more than 7 bits and a sign is rounded.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.speech import ctranslate2_file, onnx_file
from ingest.speech.ctranslate2_file import NotAModel

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Tensor = npt.NDArray[Any]
    Matrix = npt.NDArray[np.float32]

ENCODER = "encoder_model_quantized.onnx"
DECODER = "decoder_model_merged_quantized.onnx"
_FORM = "1"
"""Goes up when the conversion changes, so that folders made by an older one are made again."""

_GELU = 3
_NAMES = ("q_proj", "k_proj", "v_proj")


def is_onnx(folder: Path) -> bool:
    """Whether a model's folder holds ONNX files instead of CTranslate2's `model.bin`."""
    return (folder / ENCODER).is_file() and not (folder / "model.bin").is_file()


def converted(folder: Path, cache: Path) -> Path:
    """The CTranslate2 folder of an ONNX one; made once, in the cache. Raises NotAModel, OSError.

    Who comes while another process converts waits for it; a process that is killed leaves nothing that counts.
    """
    target = cache / _name(folder)
    if target.is_dir():
        return target
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / f".{target.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.is_dir():
            partial = target.with_name(f"{target.name}.partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            convert(folder, partial)
            for file in partial.iterdir():
                with file.open("rb") as written:
                    os.fsync(written.fileno())
            partial.rename(target)
    return target


def _name(folder: Path) -> str:
    """Of the model and of what its files are, so that another version is another folder."""
    files = sorted((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in folder.iterdir())
    return f"{folder.name}-{hashlib.sha256(repr((_FORM, files)).encode()).hexdigest()[:16]}"


def convert(folder: Path, target: Path) -> None:
    """Writes `model.bin`, `config.json`, `vocabulary.json` and `tokenizer.json`. Raises NotAModel, OSError."""
    config = _json(folder / "config.json")
    generation = _json(folder / "generation_config.json")
    variables: dict[str, Tensor] = {}
    try:
        _Side(onnx_file.read(folder / ENCODER), "", "encoder", variables).put(int(config["encoder_layers"]))
        decoder = _Side(onnx_file.read(folder / DECODER), "model.decoder.", "decoder", variables)
        decoder.put(int(config["decoder_layers"]))
        _put_scalars(variables, int(config["encoder_attention_heads"]), int(config["decoder_attention_heads"]))
        of_whisper = {
            "suppress_ids": generation["suppress_tokens"],
            "suppress_ids_begin": generation["begin_suppress_tokens"],
            "lang_ids": sorted(generation["lang_to_id"].values()),
            "alignment_heads": generation["alignment_heads"],
        }
        vocabulary = _vocabulary(_json(folder / "tokenizer.json"), int(config["vocab_size"]))
    except KeyError as missing:
        raise NotAModel(f"{folder} is not a Whisper model in ONNX: {missing} is not there") from missing
    embeddings = "decoder/embeddings/weight"
    aliases = {"decoder/projection/weight": embeddings, "decoder/projection/weight_scale": f"{embeddings}_scale"}
    ctranslate2_file.write(target / "model.bin", variables, aliases)
    (target / "config.json").write_text(json.dumps(of_whisper), encoding="utf-8")
    (target / "vocabulary.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    shutil.copyfile(folder / "tokenizer.json", target / "tokenizer.json")


class _Side:
    """The encoder or the decoder: its tensors by the names of transformers, put by those of CTranslate2."""

    def __init__(self, weights: onnx_file.Weights, prefix: str, side: str, variables: dict[str, Tensor]) -> None:
        self._tensors = weights.tensors
        self._users = {name.removeprefix("/model/decoder").strip("/"): used for name, used in weights.users.items()}
        self._prefix = prefix
        self._side = side
        self._variables = variables

    def put(self, layers: int) -> None:
        for number in range(layers):
            self._put_layer(f"layers.{number}", f"layer_{number}")
        self._set("position_encodings/encodings", self._plain("embed_positions.weight"))
        self._norm("layer_norm", "layer_norm")
        if self._side == "encoder":
            for convolution in ("conv1", "conv2"):
                numbers, scale = self._numbers(f"{convolution}.weight")
                self._set(f"{convolution}/weight", numbers * scale)
                self._set(f"{convolution}/bias", self._plain(f"{convolution}.bias"))
        else:
            self._matrix("embeddings", [self._numbers(f"{self._prefix}embed_tokens.weight")])

    def _put_layer(self, source: str, target: str) -> None:
        self._norm(f"{source}.self_attn_layer_norm", f"{target}/self_attention/layer_norm")
        self._linear(source, "self_attn", _NAMES, f"{target}/self_attention/linear_0")
        self._linear(source, "self_attn", ("out_proj",), f"{target}/self_attention/linear_1")
        if self._side == "decoder":
            self._norm(f"{source}.encoder_attn_layer_norm", f"{target}/attention/layer_norm")
            self._linear(source, "encoder_attn", _NAMES[:1], f"{target}/attention/linear_0")
            self._linear(source, "encoder_attn", _NAMES[1:], f"{target}/attention/linear_1")
            self._linear(source, "encoder_attn", ("out_proj",), f"{target}/attention/linear_2")
        self._norm(f"{source}.final_layer_norm", f"{target}/ffn/layer_norm")
        self._linear(source, "", ("fc1",), f"{target}/ffn/linear_0")
        self._linear(source, "", ("fc2",), f"{target}/ffn/linear_1")

    def _linear(self, layer: str, block: str, names: tuple[str, ...], target: str) -> None:
        """Puts projections as one; Whisper's keys have no bias."""
        import numpy as np

        matrices = []
        biases = []
        for name in names:
            path = [part for part in (layer, block, name) if part]
            used = self._users["/".join([*path, "MatMul_quant"])]
            matrix = next(each.removesuffix("_quantized") for each in used if f"{each[:-10]}_scale" in self._tensors)
            numbers, scale = self._numbers(matrix)
            matrices.append((numbers.T, scale))
            width = numbers.shape[1]
            biases.append(np.zeros(width, np.float32) if name == "k_proj" else self._plain(".".join([*path, "bias"])))
        self._matrix(target, matrices)
        self._set(f"{target}/bias", np.concatenate(biases))

    def _matrix(self, target: str, matrices: list[tuple[Matrix, float]]) -> None:
        import numpy as np

        rows, scales = [], []
        for numbers, scale in matrices:
            shrink = np.minimum(1, 127 / np.maximum(np.abs(numbers).max(axis=1), 1)).astype(np.float32)
            rows.append(np.rint(numbers * shrink[:, None]).astype(np.int8))
            scales.append((shrink / scale).astype(np.float32))
        self._set(f"{target}/weight", np.concatenate(rows))
        self._set(f"{target}/weight_scale", np.concatenate(scales))

    def _norm(self, source: str, target: str) -> None:
        self._set(f"{target}/gamma", self._plain(f"{source}.weight"))
        self._set(f"{target}/beta", self._plain(f"{source}.bias"))

    def _numbers(self, name: str) -> tuple[Matrix, float]:
        """A matrix as whole numbers around 0, and their scale."""
        import numpy as np

        stem = name if f"{name}_quantized" in self._tensors else f"{name}_merged_0"
        zero = self._tensors[f"{stem}_zero_point"].astype(np.float32)
        numbers = self._tensors[f"{stem}_quantized"].astype(np.float32) - zero
        return numbers, float(self._tensors[f"{stem}_scale"])

    def _plain(self, name: str) -> Tensor:
        import numpy as np

        full = self._prefix + name
        tensor = self._tensors.get(full)
        return (self._tensors[f"{full}_merged_0"] if tensor is None else tensor).astype(np.float32)

    def _set(self, name: str, tensor: Tensor) -> None:
        self._variables[f"{self._side}/{name}"] = tensor


def _put_scalars(variables: dict[str, Tensor], encoder_heads: int, decoder_heads: int) -> None:
    import numpy as np

    variables["encoder/num_heads"] = np.array(encoder_heads, np.int16)
    variables["decoder/num_heads"] = np.array(decoder_heads, np.int16)
    variables["decoder/alignment_heads"] = np.array(1, np.int16)
    variables["decoder/alignment_layer"] = np.array(-1, np.int16)
    variables["decoder/activation"] = np.array(_GELU, np.int8)
    variables["decoder/pre_norm"] = np.array(1, np.int8)
    for name in ("alibi", "alibi_use_positive_positions", "scale_alibi", "scale_embeddings"):
        variables[f"decoder/{name}"] = np.array(0, np.int8)
    variables["decoder/start_from_zero_embedding"] = np.array(0, np.int8)


def _vocabulary(tokenizer: dict[str, Any], size: int) -> list[str]:
    """Every token in the order of its number; the last ones are times, 20 ms apart."""
    tokens = {number: token for token, number in tokenizer["model"]["vocab"].items()}
    tokens |= {token["id"]: token["content"] for token in tokenizer["added_tokens"]}
    known = len(tokens)
    return [tokens[n] if n < known else f"<|{(n - known) * 0.02:.2f}|>" for n in range(size)]


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise NotAModel(f"{path} is not JSON ({error})") from error
    if not isinstance(content, dict):
        raise NotAModel(f"{path} is not an object")
    return content
