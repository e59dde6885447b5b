"""Whether this machine has a GPU for its speech models."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

from store.settings import Settings, Work

_DRIVERS = ("/dev/nvidiactl", "/dev/dxg")  # of NVIDIA, and of NVIDIA within Windows' subsystem for Linux


@cache
def has_gpu() -> bool:
    """One that CTranslate2 can use, and so one of NVIDIA. Asked once a process: nobody plugs one in meanwhile."""
    if not any(Path(each).exists() for each in _DRIVERS):
        return False  # what follows loads a library of 100 MB
    import ctranslate2  # type: ignore[import-untyped]

    return bool(ctranslate2.get_cuda_device_count() > 0)


def hears_by_gpu(settings: Settings, takes: Collection[Work]) -> bool:
    """Whether a worker that takes this work recognises its calls on one."""
    return "speech" in takes and settings.asr_device != "cpu" and has_gpu()
