"""How the embedded index behaves as it grows: `python -m bench.index_scale [--small]`.

100,000 chunks of 20 tenants, and 10,000 and 100,000 of one. Texts are made of words in the proportions of a language
(Zipf), Russian and English; vectors are those of real sentences where the built-in model is installed, mixed, as many a
chunk as it makes. Each search is timed beside the bare call: what one would write by hand against qdrant-edge for one
hybrid question.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import qdrant_edge as edge
from numpy.typing import NDArray

from rag.index import DENSE, TERMS, Filter, Point, Value, Vector
from rag.qdrant_edge_index import EdgeIndex
from rag.search import Searcher
from rag.text_terms import query_terms, query_vector

DIMENSION = 512
VECTORS_A_CHUNK = 5
WORDS_A_CHUNK = 120
VOCABULARY = 20_000
QUESTIONS = 400
CANDIDATES = 50
THREADS = 4
SLOWEST_MS = 25.0
MOST_OVERHEAD_MS = 5.0
SLOWEST_START_S = 10.0
_SYLLABLES = ("ка ро ли ста но ве ди мо пра ту са за че ри", "con ter al ing ment pro sta de ri ver com ous per")


@dataclass(frozen=True)
class Words:
    """A long stretch of words of each language, each as often as in a language, to cut texts from."""

    running: tuple[list[str], ...]

    def draw(self, rng: np.random.Generator, count: int) -> str:
        words = self.running[int(rng.integers(len(self.running)))]
        at = int(rng.integers(len(words) - count))
        return " ".join(words[at : at + count])


class _GivenVector:
    """In place of an embedder: the question's vector is not what is measured."""

    name, dimension = "given", DIMENSION

    def __init__(self) -> None:
        self.vector: Vector = np.zeros(DIMENSION, dtype=np.float32)

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        return self.vector[None, :]

    embed_passages = embed_queries

    def embed_for_index(self, texts: Sequence[str]) -> list[Vector]:
        raise NotImplementedError


def make_words(seed: int) -> Words:
    rng = random.Random(seed)
    weights = [1 / rank for rank in range(1, VOCABULARY + 1)]
    running = []
    for syllables in _SYLLABLES:
        known: dict[str, None] = {}
        while len(known) < VOCABULARY:
            known["".join(rng.choices(syllables.split(), k=rng.randint(2, 5)))] = None
        running.append(rng.choices(list(known), weights, k=1_000_000))
    return Words(tuple(running))


def unit(rows: NDArray[np.float64]) -> Vector:
    found: Vector = (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)
    return found


def fill(
    index: EdgeIndex, tenants: int, chunks: int, words: Words, rng: np.random.Generator
) -> tuple[list[str], float]:
    """Fills `chunks` a tenant; the tenants' ids and how many chunks were taken in a second."""
    ids = [str(UUID(int=(7 << 120) + number)) for number in range(tenants)]
    spent = 0.0
    for number, tenant_id in enumerate(ids):
        topics = rng.standard_normal((50, DIMENSION))
        for start in range(0, chunks, 500):
            points = []
            for at in range(start, min(start + 500, chunks)):
                around = topics[rng.integers(50)] + 0.8 * rng.standard_normal(DIMENSION)
                parts = unit(around + 0.6 * rng.standard_normal((VECTORS_A_CHUNK, DIMENSION)))
                payload: dict[str, Value] = {
                    "kind": "document",
                    "space_id": f"s{at % 7}",
                    "document_id": f"d{at // 40}",
                    "page": at % 9,
                }
                point_id = str(UUID(int=(number << 64) + at + 1))
                points.append(Point(point_id, parts, words.draw(rng, WORDS_A_CHUNK), {**payload, "title": "Правила"}))
            started = time.perf_counter()
            index.upsert(tenant_id, points)
            spent += time.perf_counter() - started
    return ids, tenants * chunks / spent


def bare_call(index: EdgeIndex, tenant_id: str, vector: Vector, query: str) -> int:
    terms = query_vector(query_terms(query))
    condition = edge.Filter(must=[edge.FieldCondition("kind", match=edge.MatchAny(["document"]))])
    dense = edge.Query.Nearest([vector.tolist()], using=DENSE)
    sparse = edge.Query.Nearest(edge.SparseVector(terms.indices, terms.values), using=TERMS)
    idf = edge.SearchParams(idf=edge.IdfParams(corpus=edge.Filter()))
    exact = edge.SearchParams(exact=True)
    prefetches = [
        edge.Prefetch(limit=CANDIDATES, query=dense, filter=condition, params=exact),
        edge.Prefetch(limit=CANDIDATES, query=sparse, filter=condition, params=idf),
    ]
    fusion: Any = edge.Fusion.Dbsf()  # its stubs do not know it as a Fusion
    request = edge.QueryRequest(limit=10, query=fusion, prefetches=prefetches, with_payload=True)
    with index._shards.reading(tenant_id) as shard:
        assert shard is not None
        return len(shard.query(request))


def measure(index: EdgeIndex, tenants: Sequence[str], words: Words, rng: np.random.Generator) -> dict[str, float]:
    given = _GivenVector()
    searcher = Searcher(index, given)
    wanted = Filter(kinds=("document",))
    bare, whole = [], []
    for number in range(QUESTIONS):
        tenant_id = tenants[number % len(tenants)]
        given.vector = unit(rng.standard_normal(DIMENSION))
        query = words.draw(rng, 8)
        # In turns, the first of the two alternating: what the one warms the other does not always find.
        for name in ("bare", "whole") if number % 2 else ("whole", "bare"):
            started = time.perf_counter()
            if name == "bare":
                bare_call(index, tenant_id, given.vector, query)
                bare.append(time.perf_counter() - started)
            else:
                searcher.search(tenant_id, query, wanted, 10)
                whole.append(time.perf_counter() - started)
    figures = {}
    for name, times in (("bare", bare), ("search", whole)):
        figures[f"{name} p50"], figures[f"{name} p95"] = (float(np.percentile(times, q)) * 1000 for q in (50, 95))
    return figures


def at_once(index: EdgeIndex, tenants: Sequence[str], words: Words) -> dict[str, float]:
    """`THREADS` threads search without a pause, two of them one tenant."""

    def search(number: int) -> list[float]:
        rng = np.random.default_rng(number)
        given, times = _GivenVector(), []
        searcher = Searcher(index, given)
        for _ in range(QUESTIONS // THREADS):
            given.vector = unit(rng.standard_normal(DIMENSION))
            query = words.draw(rng, 8)
            started = time.perf_counter()
            searcher.search(tenants[number // 2 % len(tenants)], query, Filter(kinds=("document",)), 10)
            times.append(time.perf_counter() - started)
        return times

    started = time.perf_counter()
    with ThreadPoolExecutor(THREADS) as pool:
        times = [each for found in pool.map(search, range(THREADS)) for each in found]
    p95 = float(np.percentile(times, 95)) * 1000
    return {"at once p95": p95, "at once a s": len(times) / (time.perf_counter() - started)}


def start_up(folder: Path, tenant_id: str) -> tuple[float, float]:
    """Seconds of a new process to open the index and search once, and its memory after it in MB."""
    code = (
        "import sys,time\nstarted=time.perf_counter()\nfrom pathlib import Path\n"
        "from rag.index import Filter\nfrom rag.qdrant_edge_index import EdgeIndex\n"
        f"index=EdgeIndex(Path(sys.argv[1]),{DIMENSION})\n"
        "index.search_text(sys.argv[2],'стано роли',Filter(),10)\n"
        "taken=time.perf_counter()-started\nstatus=open('/proc/self/status').read()\n"
        "print(taken,int(status.split('VmRSS:')[1].split()[0])/1024)\nindex.close()"
    )
    done = subprocess.run([sys.executable, "-c", code, str(folder), tenant_id], capture_output=True, check=True)
    seconds, megabytes = map(float, done.stdout.split())
    return seconds, megabytes


def run(tenants: int, chunks: int) -> bool:
    """Prints a row; whether the bounds of the many-tenants case hold."""
    rng = np.random.default_rng(11)
    words = make_words(11)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        index = EdgeIndex(folder, DIMENSION)
        ids, chunks_a_s = fill(index, tenants, chunks, words, rng)
        found = measure(index, ids, words, rng) | at_once(index, ids, words)
        index.close()
        seconds, megabytes = start_up(folder, ids[0])
    over = found["search p95"] - found["bare p95"]
    holds = found["search p95"] <= SLOWEST_MS and over <= MOST_OVERHEAD_MS and seconds <= SLOWEST_START_S
    verdict = "" if tenants == 1 else "bounds hold" if holds else "bounds do not hold"
    print(
        f"{tenants:3} x {chunks:7,}  bare p50 {found['bare p50']:5.1f} p95 {found['bare p95']:5.1f}  "
        f"search p50 {found['search p50']:5.1f} p95 {found['search p95']:5.1f} ms  "
        f"{THREADS} at once p95 {found['at once p95']:5.1f} ms, {found['at once a s']:.0f} a second  "
        f"start {seconds:.2f} s, {megabytes:.0f} MB  {chunks_a_s:.0f} chunks/s taken in  {verdict}"
    )
    return holds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of it")
    small = parser.parse_args().small
    print(
        f"{os.cpu_count()} processors; {VECTORS_A_CHUNK} vectors of {DIMENSION} numbers a chunk; milliseconds a search"
    )
    scale = 10 if small else 1
    run(20, 5_000 // scale)
    run(1, 10_000 // scale)
    run(1, 100_000 // scale)
    return 0


if __name__ == "__main__":
    sys.exit(main())
