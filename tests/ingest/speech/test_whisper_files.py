"""Weights from one form to another: a tiny Whisper in ONNX made here, and the real one where it is."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest.speech import ctranslate2_file, onnx_file, whisper_onnx
from ingest.speech.ctranslate2_file import NotAModel
from ingest.speech.recognise import Engine, load
from ingest.speech.transcribe import transcribe
from store import weights
from store.settings import load_settings
from tests.ingest.speech.sounds import shared_speech

WIDTH, VOCABULARY = 4, 12
TYPES = {"float32": 1, "uint8": 2, "int8": 3}


def field(number: int, value: int | bytes) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    data = b""
    while value > 127:
        data, value = data + bytes([value & 127 | 128]), value >> 7
    return data + bytes([value])


def tensor(name: str, values: np.ndarray) -> bytes:
    shape = b"".join(field(1, size) for size in values.shape)
    kind = field(2, TYPES[values.dtype.name])
    if values.dtype.name == "float32" and values.ndim == 0:  # as ONNX's quantiser writes scalars
        return field(5, shape + kind + field(4, values.tobytes()) + field(8, name.encode()))
    if values.ndim == 0:
        return field(5, shape + kind + field(5, varint(int(values))) + field(8, name.encode()))
    return field(5, shape + kind + field(8, name.encode()) + field(9, values.tobytes()))


def node(name: str, *inputs: str, body: bytes = b"") -> bytes:
    attribute = field(5, field(6, body)) if body else b""
    return field(1, b"".join(field(1, each.encode()) for each in inputs) + field(3, name.encode()) + attribute)


class TinyWhisper:
    """One layer each, in the form and with the names of the package; remembers the true weights."""

    def __init__(self, folder: Path) -> None:
        self.true: dict[str, np.ndarray] = {}
        self.random = np.random.default_rng(5)
        folder.mkdir()
        encoder = self.side("encoder", "", "", np.uint8)
        decoder = self.side("decoder", "model.decoder.", "_merged_0", np.int8)
        (folder / whisper_onnx.ENCODER).write_bytes(field(7, encoder))
        branch = node("/optimum::if", body=decoder["nodes"])
        (folder / whisper_onnx.DECODER).write_bytes(field(7, decoder["tensors"] + branch))
        config = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2}
        (folder / "config.json").write_text(json.dumps(config | {"vocab_size": VOCABULARY}))
        generation = {"suppress_tokens": [1], "begin_suppress_tokens": [2], "alignment_heads": [[0, 1]]}
        (folder / "generation_config.json").write_text(json.dumps(generation | {"lang_to_id": {"<|ru|>": 9}}))
        tokenizer = {"model": {"vocab": {"a": 0, "b": 1}}, "added_tokens": [{"id": 2, "content": "<|ru|>"}]}
        (folder / "tokenizer.json").write_text(json.dumps(tokenizer))

    def side(self, side: str, prefix: str, ending: str, kind: Any) -> Any:
        tensors, nodes = b"", b""
        plain = ["embed_positions.weight", "layer_norm.weight", "layer_norm.bias"]
        blocks = ["self_attn"] if side == "encoder" else ["self_attn", "encoder_attn"]
        linear = [f"{block}.{name}" for block in blocks for name in ("q_proj", "k_proj", "v_proj", "out_proj")]
        for name in [*linear, "fc1", "fc2"]:
            path = f"layers.0.{name}"
            numbers, zero, scale = self.matrix(kind, (WIDTH, WIDTH))
            self.true[f"{side}.{path}"] = scale * (numbers.astype(np.float32) - zero)
            matrix = f"onnx::{side}_{name}{ending}"
            tensors += tensor(f"{matrix}_quantized", numbers) + tensor(f"{matrix}_zero_point", zero)
            tensors += tensor(f"{matrix}_scale", np.array(scale, np.float32))
            root = "/model/decoder/" if side == "decoder" else "/"
            place = "/".join(["layers.0", *name.split(".")])
            nodes += node(f"{root}{place}/MatMul_quant", "x_quantized", f"{matrix}_quantized", f"{matrix}_zero_point")
            if not name.endswith("k_proj"):
                plain.append(f"{path}.bias")
        norms = [f"layers.0.{block}_layer_norm" for block in blocks] + ["layers.0.final_layer_norm"]
        for norm in norms:
            plain += [f"{norm}.weight", f"{norm}.bias"]
        if side == "encoder":
            plain += ["conv1.bias", "conv2.bias"]
            quantised = {"conv1.weight": (WIDTH, 2, 3), "conv2.weight": (WIDTH, WIDTH, 3)}
        else:
            quantised = {"embed_tokens.weight": (VOCABULARY, WIDTH)}
        for name, shape in quantised.items():
            numbers, zero, scale = self.matrix(np.uint8, shape)
            self.true[f"{side}.{name}"] = scale * (numbers.astype(np.float32) - zero)
            full = f"{prefix}{name}{ending}"
            tensors += tensor(f"{full}_quantized", numbers) + tensor(f"{full}_zero_point", zero)
            tensors += tensor(f"{full}_scale", np.array(scale, np.float32))
        for name in plain:
            values = self.random.normal(size=(WIDTH,)).astype(np.float32)
            self.true[f"{side}.{name}"] = values
            tensors += tensor(f"{prefix}{name}{ending}", values)
        return tensors + nodes if side == "encoder" else {"tensors": tensors, "nodes": nodes}

    def matrix(self, kind: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray, np.float32]:
        limits = np.iinfo(kind)
        numbers = self.random.integers(limits.min, limits.max, size=shape, endpoint=True).astype(kind)
        zero = np.array(128 if kind == np.uint8 else 0, kind)
        return numbers, zero, np.float32(0.003)


def weight(variables: dict[str, Any], name: str) -> np.ndarray:
    values = variables[f"{name}/weight"].astype(np.float32)
    scale = variables.get(f"{name}/weight_scale")
    return values if scale is None else values / scale[:, None]


def test_a_whisper_in_onnx_keeps_its_weights_in_the_form_of_ctranslate2(tmp_path: Path) -> None:
    made = TinyWhisper(tmp_path / "onnx")
    folder = whisper_onnx.converted(tmp_path / "onnx", tmp_path / "cache")
    found = ctranslate2_file.read(folder / "model.bin")
    true = made.true
    step = 0.003 / 2 + 1e-6  # at most half of the source's step is lost to rounding, where 8 bits need a sign
    fused = np.concatenate([true[f"decoder.layers.0.self_attn.{name}"].T for name in ("q_proj", "k_proj", "v_proj")])
    np.testing.assert_allclose(weight(found, "decoder/layer_0/self_attention/linear_0"), fused, atol=step)
    keys = found["decoder/layer_0/self_attention/linear_0/bias"][WIDTH : 2 * WIDTH]
    assert not keys.any(), "Whisper's keys have no bias"
    crossed = np.concatenate([true[f"decoder.layers.0.encoder_attn.{name}"].T for name in ("k_proj", "v_proj")])
    np.testing.assert_allclose(weight(found, "decoder/layer_0/attention/linear_1"), crossed, atol=step)
    np.testing.assert_allclose(weight(found, "encoder/layer_0/ffn/linear_1"), true["encoder.layers.0.fc2"].T, atol=step)
    np.testing.assert_allclose(weight(found, "decoder/embeddings"), true["decoder.embed_tokens.weight"], atol=step)
    np.testing.assert_allclose(found["encoder/conv2/weight"], true["encoder.conv2.weight"], rtol=1e-6)
    np.testing.assert_array_equal(weight(found, "decoder/projection"), weight(found, "decoder/embeddings"))
    np.testing.assert_array_equal(found["encoder/layer_norm/beta"], true["encoder.layer_norm.bias"])
    assert json.loads((folder / "config.json").read_text())["alignment_heads"] == [[0, 1]]
    vocabulary = json.loads((folder / "vocabulary.json").read_text())
    assert vocabulary[:5] == ["a", "b", "<|ru|>", "<|0.00|>", "<|0.02|>"]
    assert len(vocabulary) == VOCABULARY


def test_a_model_is_converted_once_and_what_a_killed_process_left_does_not_count(tmp_path: Path) -> None:
    TinyWhisper(tmp_path / "onnx")
    first = whisper_onnx.converted(tmp_path / "onnx", tmp_path / "cache")
    made_at = (first / "model.bin").stat().st_mtime_ns
    assert whisper_onnx.converted(tmp_path / "onnx", tmp_path / "cache") == first
    assert (first / "model.bin").stat().st_mtime_ns == made_at
    first.rename(first.with_name(f"{first.name}.partial"))
    (first.with_name(f"{first.name}.partial") / "model.bin").write_bytes(b"half")
    assert ctranslate2_file.read(whisper_onnx.converted(tmp_path / "onnx", tmp_path / "cache") / "model.bin")
    assert not list((tmp_path / "cache").glob("*.partial"))


def test_files_that_are_no_model_say_so(tmp_path: Path) -> None:
    TinyWhisper(tmp_path / "onnx")
    good = ctranslate2_file.read(whisper_onnx.converted(tmp_path / "onnx", tmp_path / "cache") / "model.bin")
    assert good
    whole = next((tmp_path / "cache").glob("*/model.bin")).read_bytes()
    other = tmp_path / "model.bin"
    for data in (b"nothing", whole[:-20], whole[: len(whole) // 2], struct.pack("<I", 6) + b"\x04\x00Abc\0"):
        other.write_bytes(data)
        with pytest.raises(NotAModel):
            ctranslate2_file.read(other)
    encoder = tmp_path / "onnx" / whisper_onnx.ENCODER
    encoder.write_bytes(encoder.read_bytes()[:-30])
    with pytest.raises(NotAModel):
        onnx_file.read(encoder)
    with pytest.raises(NotAModel):
        whisper_onnx.converted(tmp_path / "onnx", tmp_path / "cache")


@pytest.mark.models
def test_the_small_model_hears_the_words_of_the_npm_package(tmp_path: Path) -> None:
    settings = load_settings()
    folder = weights.find(settings, "whisper-small")
    if folder is None or not whisper_onnx.is_onnx(folder):
        pytest.skip("whisper-small of the npm index is not installed")
    used = Engine(str(folder), 2, cache=str(settings.cache_dir.expanduser() / "converted"))
    load.cache_clear()  # two models at once would take memory for nothing
    result = transcribe(shared_speech("jfk.flac"), tmp_path, used, words=True)
    assert result["language"] == "en"
    assert "ask what you can do for your country" in result["text"].lower()
    starts = [word["start"] for segment in result["segments"] for word in segment["words"]]
    assert starts == sorted(starts)
    assert 7.5 < starts[-8] < 9.0, "the second `ask`"
    load.cache_clear()
