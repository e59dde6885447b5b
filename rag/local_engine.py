"""Whether the local model's engine can be loaded on this machine: its wheel needs a library of the system's."""

from __future__ import annotations

import signal
import subprocess
import sys
from functools import cache

CHECK_TIMEOUT_S = 60.0
_HINTS = {"libgomp": " (Debian and Ubuntu: apt-get install libgomp1)"}


@cache
def engine_problem() -> str:
    """Why the engine cannot be loaded, for people; empty where it can be. A child tries, once a process: what a broken
    or too new library does is not always an exception."""
    try:
        tried = subprocess.run(
            [sys.executable, "-c", "import xllamacpp"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=CHECK_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return _explained(type(error).__name__)
    if tried.returncode == 0:
        return ""
    if tried.returncode < 0:
        return _explained(signal.Signals(-tried.returncode).name)
    lines = tried.stderr.decode(errors="replace").strip().splitlines()
    return _explained(lines[-1] if lines else f"exit status {tried.returncode}")


def _explained(reason: str) -> str:
    hint = next((hint for name, hint in _HINTS.items() if name in reason), "")
    return f"The local language model's engine (xllamacpp) cannot be loaded: {reason}{hint}."
