"""The estimate of tokens, against counts by the real vocabulary of Qwen2.5."""

from __future__ import annotations

import struct
import tomllib
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from rag.local_model import find_model
from rag.prompt_data import cut_to_tokens
from rag.token_estimate import estimate_tokens
from store.settings import Settings

_TEXTS: list[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("token_counts.toml").read_text("utf-8"))["text"]
TEXTS = [pytest.param(each, id=each["kind"]) for each in _TEXTS]
_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_NUMBERS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}


@pytest.mark.parametrize("text", TEXTS)
def test_no_kind_of_text_is_estimated_much_too_low(text: dict[str, Any]) -> None:
    assert estimate_tokens(text["text"]) >= text["tokens"] * 0.95


@pytest.mark.parametrize("text", [each for each in TEXTS if each.values[0].get("prose")])  # type: ignore[attr-defined]
def test_prose_is_not_estimated_much_too_high(text: dict[str, Any]) -> None:
    assert estimate_tokens(text["text"]) <= text["tokens"] * 1.15


@pytest.mark.parametrize("text", ["", " ", "\ud800", "\x00", "\U0010ffff", "?", "\u2028"])
def test_any_text_has_an_estimate(text: str) -> None:
    assert 1 <= estimate_tokens(text) <= 4


@pytest.mark.parametrize("text", ["incomprehensible " * 500, " " * 9_000 + "a", "да " * 900])
def test_what_is_cut_shows_it_however_few_tokens_its_characters_have(text: str) -> None:
    cut = cut_to_tokens(text, 100)
    assert cut.endswith("…")
    assert estimate_tokens(cut) <= 102


def test_the_counts_are_those_of_the_vocabulary() -> None:
    """Where the local model is installed; its vocabulary lies in its file."""
    found = find_model(Settings(_env_file=None))  # type: ignore[call-arg]
    if found is None or not found[0].startswith("qwen2.5"):
        pytest.skip("no Qwen2.5 model is installed; fetch one by `parley models pull qwen2.5-coder-1.5b-instruct`")
    tokenizer = _tokenizer(found[1])
    counted = {each["kind"]: len(tokenizer.encode(each["text"]).ids) for each in _TEXTS}
    assert counted == {each["kind"]: each["tokens"] for each in _TEXTS}


def _tokenizer(path: Path) -> Any:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    tokens, merges = _vocabulary(path)
    vocabulary = {token: number for number, token in enumerate(tokens)}
    pairs = [(left, right) for left, right in (merge.split(" ", 1) for merge in merges)]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=pairs))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return tokenizer


def _vocabulary(path: Path) -> tuple[list[str], list[str]]:
    """Tokens and merges out of the metadata of a GGUF file."""
    with path.open("rb") as file:
        assert file.read(4) == b"GGUF"
        _, _, count = struct.unpack("<IQQ", file.read(20))
        metadata = {}
        for _ in range(count):
            name = _string(file)
            metadata[name] = _value(file, _number(file, "<I"))
    return metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.merges"]


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == 8:
        return _string(file)
    if kind == 9:
        of, length = _number(file, "<I"), _number(file, "<Q")
        return [_value(file, of) for _ in range(length)]
    return _number(file, _NUMBERS[kind])


def _number(file: BinaryIO, form: str) -> Any:
    return struct.unpack(form, file.read(struct.calcsize(form)))[0]


def _string(file: BinaryIO) -> str:
    return file.read(_number(file, "<Q")).decode("utf-8", "replace")
