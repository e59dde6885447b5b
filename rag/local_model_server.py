"""The child process that serves one GGUF file over loopback: `python -m rag.local_model_server`.

Standard input carries one line of JSON (`Launch`) and then stays open as a lifeline: when it ends, or the parent is
gone, the process exits. Standard output carries one line of JSON: `{"address": "http://127.0.0.1:PORT"}`.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from dataclasses import asdict, dataclass

PROMPT_CACHE_MIB = 256
PARENT_POLL_S = 1.0
# The child looks up between batches only: a chat waits for the one that background work is in.
BATCH_TOKENS = 128


@dataclass(frozen=True, slots=True)
class Launch:
    """What the child is told. The key travels by pipe: arguments and environment can be read by others."""

    model_file: str
    alias: str
    api_key: str
    reading_threads: int
    writing_threads: int
    context_tokens: int
    parent_pid: int

    def to_line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"

    @staticmethod
    def from_line(line: bytes) -> Launch:
        return Launch(**json.loads(line))


def _exit_with_parent(parent_pid: int) -> None:
    """Ends this process once the parent is gone, also where another process still holds the pipe open."""
    wait = threading.Event()
    while os.getppid() == parent_pid:
        wait.wait(PARENT_POLL_S)
    os._exit(0)


def serve(launch: Launch) -> object:
    """Loads the model and answers on a free port of loopback. Returns the running server (keep it)."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = launch.model_file
    params.model_alias = {launch.alias}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [launch.api_key]
    params.n_ctx = launch.context_tokens
    params.n_parallel = 1  # two cores serve one answer well or two badly
    params.cpuparams.n_threads = launch.writing_threads
    params.cpuparams_batch.n_threads = launch.reading_threads
    params.n_batch = BATCH_TOKENS
    params.n_ubatch = BATCH_TOKENS
    params.cache_prompt = True
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.warmup = True
    params.verbosity = 1  # errors
    params.ui = False
    params.endpoint_slots = False
    server = xllamacpp.Server(params)
    sys.stdout.write(json.dumps({"address": server.listening_address}) + "\n")
    sys.stdout.flush()
    return server


def main() -> None:
    launch = Launch.from_line(sys.stdin.buffer.readline())
    threading.Thread(target=_exit_with_parent, args=(launch.parent_pid,), daemon=True).start()
    server = serve(launch)
    sys.stdin.buffer.read()  # returns when the parent closes the pipe or dies
    del server
    os._exit(0)


if __name__ == "__main__":
    main()
