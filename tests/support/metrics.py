"""What a running server counts, as Prometheus reads it."""

from __future__ import annotations

import httpx2
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from tests.support.server import RunningServer


def families(server: RunningServer) -> list[Metric]:
    return list(text_string_to_metric_families(httpx2.get(server.url + "/metrics").text))


def samples(server: RunningServer, name: str) -> list[Sample]:
    """What the server counts under the name."""
    return [sample for family in families(server) for sample in family.samples if sample.name == name]


def counted(server: RunningServer, name: str, **labels: str) -> float:
    """The sum of what it counts under the name and these labels."""
    return sum(each.value for each in samples(server, name) if labels.items() <= each.labels.items())
