"""How long work is shown: a moving bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys


class Progress:
    """Progress of several named pieces of work, on stderr."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._shares: dict[str, float] = {}
        self._said = -1

    def begin(self, names: list[str]) -> None:
        self._shares = dict.fromkeys(names, 0.0)
        if names and not self._quiet:
            sys.stderr.write(f"Loading the demo company: {len(names)} calls and documents\n")

    def update(self, name: str, share: float, *, done: bool) -> None:
        """`share` is 0 to 1; a piece that is done is named once, elsewhere than on a terminal."""
        was_done = self._shares.get(name) == 1.0
        self._shares[name] = 1.0 if done else min(share, 0.99)
        if self._quiet:
            return
        if sys.stderr.isatty():
            self._draw()
        elif done and not was_done:
            sys.stderr.write(f"  done: {name}\n")

    def end(self) -> None:
        if not self._quiet and sys.stderr.isatty():
            self._draw()
            sys.stderr.write("\n")

    def _draw(self) -> None:
        share = sum(self._shares.values()) / max(len(self._shares), 1)
        if int(share * 100) == self._said:
            return
        self._said = int(share * 100)
        filled = round(share * 30)
        done = sum(each == 1.0 for each in self._shares.values())
        bar = "█" * filled + "░" * (30 - filled)
        sys.stderr.write(f"\r  {bar} {self._said:3d} %  {done} of {len(self._shares)} ready")
        sys.stderr.flush()
