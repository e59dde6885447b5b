"""A Whisper model in a folder of CTranslate2 as the openai-whisper model of the same weights, made in memory.

So every engine runs on the files that `parley models pull` brings; openai-whisper's own checkpoints are pickles.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ingest.speech import ctranslate2_file
from ingest.speech.ctranslate2_file import NotAModel

if TYPE_CHECKING:
    import numpy.typing as npt
    import torch

    State = dict[str, "torch.Tensor"]


def load(folder: Path) -> Any:
    """The `whisper.model.Whisper` of a folder, float32, with the heads that word times come from.

    Raises NotAModel, OSError.
    """
    import torch
    from whisper.model import ModelDimensions, Whisper

    state, dimensions = _Converted(ctranslate2_file.read(folder / "model.bin")).result()
    model = Whisper(ModelDimensions(**dimensions))
    model.load_state_dict(state, assign=True)
    heads = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("alignment_heads")
    if heads:
        mask = torch.zeros(dimensions["n_text_layer"], dimensions["n_text_head"], dtype=torch.bool)
        mask[tuple(zip(*heads, strict=True))] = True
        model.register_buffer("alignment_heads", mask.to_sparse(), persistent=False)
    return model.eval().requires_grad_(False)


class _Converted:
    """Turns variables by CTranslate2's names into tensors by openai-whisper's, and misses none."""

    def __init__(self, variables: dict[str, npt.NDArray[Any]]) -> None:
        self._variables = variables
        self._used = {name for name in variables if name.startswith("decoder/projection/")}  # the embeddings again
        self._state: State = {}

    def result(self) -> tuple[State, dict[str, int]]:
        try:
            layers = {side: self._side(side) for side in ("encoder", "decoder")}
            for convolution in ("conv1", "conv2"):
                self._linear(f"encoder.{convolution}", f"encoder/{convolution}")
            self._norm("encoder.ln_post", "encoder/layer_norm")
            self._norm("decoder.ln", "decoder/layer_norm")
            self._state["decoder.token_embedding.weight"] = self._take("decoder/embeddings/weight")
            heads = {side: int(self._variables[f"{side}/num_heads"]) for side in layers}
        except KeyError as missing:
            raise NotAModel(f"the model is not a Whisper of the usual form: {missing} is not there") from missing
        left = sorted(name for name, values in self._variables.items() if values.ndim and name not in self._used)
        if left:
            raise NotAModel(f"the model is not a Whisper of the usual form: it has {', '.join(left)} besides")
        state = self._state
        tokens, width = state["decoder.token_embedding.weight"].shape
        return state, {
            "n_mels": state["encoder.conv1.weight"].shape[1],
            "n_audio_ctx": state["encoder.positional_embedding"].shape[0],
            "n_audio_state": width,
            "n_audio_head": heads["encoder"],
            "n_audio_layer": layers["encoder"],
            "n_vocab": tokens,
            "n_text_ctx": state["decoder.positional_embedding"].shape[0],
            "n_text_state": width,
            "n_text_head": heads["decoder"],
            "n_text_layer": layers["decoder"],
        }

    def _side(self, side: str) -> int:
        """Converts the layers of encoder or decoder and returns their number."""
        layers = 0
        while f"{side}/layer_{layers}/ffn/linear_0/weight" in self._variables:
            source, target = f"{side}/layer_{layers}", f"{side}.blocks.{layers}"
            self._norm(f"{target}.attn_ln", f"{source}/self_attention/layer_norm")
            self._linear(f"{target}.attn", f"{source}/self_attention/linear_0", ".query", ".key", ".value")
            self._linear(f"{target}.attn.out", f"{source}/self_attention/linear_1")
            if side == "decoder":
                self._norm(f"{target}.cross_attn_ln", f"{source}/attention/layer_norm")
                self._linear(f"{target}.cross_attn", f"{source}/attention/linear_0", ".query")
                self._linear(f"{target}.cross_attn", f"{source}/attention/linear_1", ".key", ".value")
                self._linear(f"{target}.cross_attn.out", f"{source}/attention/linear_2")
            self._norm(f"{target}.mlp_ln", f"{source}/ffn/layer_norm")
            self._linear(f"{target}.mlp.0", f"{source}/ffn/linear_0")
            self._linear(f"{target}.mlp.2", f"{source}/ffn/linear_1")
            layers += 1
        self._state[f"{side}.positional_embedding"] = self._take(f"{side}/position_encodings/encodings")
        return layers

    def _linear(self, target: str, source: str, *parts: str) -> None:
        """A projection, taken apart where CTranslate2 has several in one. openai-whisper's keys have no bias."""
        names = parts or ("",)
        weights = self._take(f"{source}/weight").chunk(len(names))
        biases = self._take(f"{source}/bias").chunk(len(names))
        for name, weight, bias in zip(names, weights, biases, strict=True):
            self._state[f"{target}{name}.weight"] = weight
            if name != ".key":
                self._state[f"{target}{name}.bias"] = bias
            elif bias.any():
                raise NotAModel(f"{source} has a bias of keys, which openai-whisper cannot hold")

    def _norm(self, target: str, source: str) -> None:
        self._state[f"{target}.weight"] = self._take(f"{source}/gamma")
        self._state[f"{target}.bias"] = self._take(f"{source}/beta")

    def _take(self, name: str) -> torch.Tensor:
        """A variable in float32. In int8 each row has its scale, in int16 the whole has one."""
        import numpy as np
        import torch

        self._used.add(name)
        values = self._variables[name].astype(np.float32)
        scale = self._variables.get(f"{name}_scale")
        if scale is not None:
            self._used.add(f"{name}_scale")
            rows = (-1,) + (1,) * (values.ndim - 1) if scale.ndim else ()
            values /= scale.astype(np.float32).reshape(rows)
        return torch.from_numpy(values)
