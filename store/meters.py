"""What a process counts for Prometheus, named by its conventions: base units in the names, `_total` for counters.

Each process counts what it did itself; sums over all are the installation's. What is counted in a transaction that is
taken back afterwards, or in a step that runs again after a crash, counts twice: these are for graphs and alarms, and
the books are in the ledger.
"""

from __future__ import annotations

from itertools import product
from typing import Literal, get_args

from prometheus_client import Counter, Gauge, Histogram

_LONG = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)

ENDED = Counter(
    "parley_work_ended_total",
    "Accepted work that ended, by what it was and how. No errors of the server: cancelled, refused (what was sent "
    "cannot be had or read, or the balance does not cover it) and skipped.",
    ["kind", "outcome"],
)
SPEECH_SECONDS = Counter("parley_speech_seconds_total", "Seconds of speech that were recognised.")
CHARGED = Counter("parley_charged_rub_total", "What accounts were charged, in roubles.", ["product"])
WEBHOOK_ATTEMPTS = Counter("parley_webhook_attempts_total", "Tries to send a webhook.", ["outcome"])
TOOL_SECONDS = Histogram(
    "parley_mcp_tool_seconds",
    "Time of agents' calls, from the request's admission to the tool's result.",
    ["tool", "outcome"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
MODEL_SECONDS = Histogram(
    "parley_model_seconds", "Time that language models took for an answer.", ["model", "outcome"], buckets=_LONG
)
EMBEDDING_SECONDS = Histogram(
    "parley_embedding_seconds",
    "Time that embedding providers took for a request, with its repetitions.",
    ["model", "outcome"],
    buckets=_LONG,
)
MODEL_TOKENS = Counter(
    "parley_model_tokens_total", "Tokens of models, by what they were for.", ["model", "kind", "purpose"]
)
TAKEN_OVER = Counter("parley_jobs_taken_over_total", "Jobs of workers that fell silent or stopped.", ["queue"])
HOUSEKEEPING_FAILED = Counter(
    "parley_housekeeping_failed_total", "Rounds of what is done again and again that failed.", ["task"]
)
INDEX_WORK_FAILED = Counter(
    "parley_index_work_failed_total", "Tries to let the index or the files follow a change that failed.", ["action"]
)
RERANKED = Counter(
    "parley_reranked_total", "Searches whose passages a reranker was to put in order, by what came of it.", ["outcome"]
)
BLOBS_FAILED = Counter(
    "parley_blobs_failed_total", "What was to be written to the blob store or read from it and failed.", ["reason"]
)
PAYMENT_ASKS = Counter(
    "parley_payment_asks_total", "Requests to payment providers, by how they ended.", ["provider", "outcome"]
)
PAID = Counter("parley_paid_rub_total", "What came in by payment links, in roubles.", ["provider"])
LETTERS = Counter("parley_letters_total", "Letters to people of the cabinet.", ["outcome"])
DATABASE_WAIT = Histogram(
    "parley_database_wait_seconds",
    "Time until a transaction began: until a connection was free, and on SQLite until others had written.",
    ["access"],
    buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 20),
)
CLOCK_AHEAD = Gauge(
    "parley_clock_ahead_seconds", "By how much the machine's clock is ahead of PostgreSQL's, where it has one."
)
CHILD_WAIT = Histogram(
    "parley_child_wait_seconds",
    "Time that work waited for a place among the child processes of its kind.",
    ["pool"],
    buckets=(0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600),
)
CHILDREN_STARTED = Counter("parley_children_started_total", "Child processes that were started.", ["pool"])
CHILDREN_FAILED = Counter(
    "parley_children_failed_total", "Work whose child process died, hung or ran out of memory.", ["pool"]
)

Kind = Literal["call", "document", "analysis", "evaluation", "export"]
Outcome = Literal["success", "error", "cancelled", "refused", "skipped"]
Purpose = Literal["chat", "analysis"]

# Made at once, where what they tell apart is known: a series that begins with its first failure, at 1, has not risen.
for _kind, _outcome in product(get_args(Kind), get_args(Outcome)):
    ENDED.labels(_kind, _outcome)
for _outcome in ("delivered", "retried", "failed"):
    WEBHOOK_ATTEMPTS.labels(_outcome)
for _outcome in ("sent", "failed"):
    LETTERS.labels(_outcome)
for _reason in ("away", "no_room"):
    BLOBS_FAILED.labels(_reason)
for _outcome in ("success", "late", "error"):
    RERANKED.labels(_outcome)
CAMERAS, DETECTOR = (CHILDREN_FAILED.labels(_pool) for _pool in ("cameras", "detector"))


_TOLD = {"blobs": BLOBS_FAILED, "children": CHILDREN_FAILED}

News = list[tuple[str, list[str], float]]
"""What was counted lately: the counter, its labels' values, how much."""


class Untold:
    """What this process counts for another to add to its own: of the one that watches cameras nobody asks metrics."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, tuple[str, ...]], float] = {}

    def news(self) -> News:
        """What came since this was last asked."""
        found: News = []
        for name, counter in _TOLD.items():
            (family,) = counter.collect()
            for sample in family.samples:
                labels = tuple(sample.labels.values())
                more = sample.value - self._told.get((name, labels), 0.0)
                if sample.name.endswith("_total") and more > 0:
                    self._told[name, labels] = sample.value
                    found.append((name, list(labels), more))
        return found


def add(news: News) -> None:
    for name, labels, more in news:
        _TOLD[name].labels(*labels).inc(more)


READ_WAIT, WRITE_WAIT = (DATABASE_WAIT.labels(_access) for _access in ("read", "write"))


def ended(kind: Kind, outcome: Outcome) -> None:
    ENDED.labels(kind, outcome).inc()


def tokens(model: str, purpose: Purpose, *, prompt: int, completion: int) -> None:
    """What the operator pays a model's provider for."""
    MODEL_TOKENS.labels(model, "prompt", purpose).inc(prompt)
    MODEL_TOKENS.labels(model, "completion", purpose).inc(completion)
