"""Whether this machine has a GPU for its speech models."""

from __future__ import annotations

import runpy
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_DRIVERS = ("/dev/nvidiactl", "/dev/dxg")  # of NVIDIA, and of NVIDIA within Windows' subsystem for Linux


@cache
def has_gpu() -> bool:
    """One that CTranslate2 can use, and so one of NVIDIA. Asked once a process: nobody plugs one in meanwhile."""
    if not any(Path(each).exists() for each in _DRIVERS):
        return False  # what follows loads a library of 100 MB
    import ctranslate2  # type: ignore[import-untyped]

    return bool(ctranslate2.get_cuda_device_count() > 0)


@cache
def torch_is_made_for_it() -> bool:
    """Whether the torch that is installed is one with CUDA. Torch itself says so, in a file that needs none of the
    rest."""
    torch = find_spec("torch")
    if torch is None or torch.origin is None:
        return False
    said = runpy.run_path(str(Path(torch.origin).with_name("version.py")))
    return said.get("cuda") is not None
