"""Runs every bench in a process of its own, one after another; what needs data that is not there says so."""

from __future__ import annotations

import subprocess
import sys
import time

BENCHES = (
    "server",
    "reads",
    "mcp",
    "agent",
    "money",
    "retrieval",
    "documents",
    "index_scale",
    "analysis",
    "speech",
    "diarization",
    "memory",
    "chat",
    "chat_streams",
    "widget",
    "cabinet",
    "vision",
    "vision_reading",
    "vision_scenarios",
    "vision_engines",
    "costs",
    "housekeeping",
    "scale",
    "workers",
    "mixed",
)


def main() -> int:
    failed = []
    for name in sys.argv[1:] or BENCHES:
        sys.stdout.write(f"\n== {name}\n")
        sys.stdout.flush()
        began = time.monotonic()
        if subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode:
            failed.append(name)
        sys.stdout.write(f"-- {name}: {time.monotonic() - began:.0f} s\n")
    if failed:
        sys.stdout.write(f"failed: {', '.join(failed)}\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
