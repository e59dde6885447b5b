"""What is served where."""

from __future__ import annotations

import httpx2
import pytest
import sqlalchemy as sa
from prometheus_client.parser import text_string_to_metric_families

from api.app import LAYERS
from api.site import WEB_FOLDER
from tests.support.server import Account, RunningServer


def get(server: RunningServer, path: str) -> httpx2.Response:
    return httpx2.get(server.url + path)


@pytest.mark.proves("addresses.speech", "addresses.public", "addresses.v1", "addresses.mcp", "addresses.widget")
@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/audio/transcriptions", 400),
        ("GET", "/public/v1/communications", 400),
        ("GET", "/public/v1/chats/list", 200),
        ("GET", "/public/v1/kb/spaces", 200),
        ("POST", "/mcp", 400),
        ("GET", "/widget/v1/config", 400),
        # The layers answer at their own address alone.
        ("POST", "/public/v1/audio/transcriptions", 404),
        ("GET", "/v1/communications", 404),
        ("GET", "/public/communications", 404),
        ("POST", "/audio/transcriptions", 404),
    ],
)
def test_each_layer_answers_at_its_address(account: Account, method: str, path: str, status: int) -> None:
    answer = account.request(method, path)
    assert answer.status_code == status, answer.text


@pytest.mark.proves("addresses.v1")
def test_every_path_of_speech_and_public_carries_its_version() -> None:
    for prefix, operations in LAYERS.values():
        assert [each.path for each in operations if not (prefix + each.path).startswith(f"{prefix}/v1/")] == []


@pytest.mark.proves("addresses.site-page")
def test_a_browser_gets_a_page(server: RunningServer) -> None:
    answer = httpx2.get(server.url + "/", headers={"Accept": "text/html"})
    assert answer.status_code == 200
    if (WEB_FOLDER / "demo.html").is_file():
        assert answer.headers["Content-Type"].startswith("text/html")
        assert "<html" in answer.text
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    else:
        assert "not built" in answer.text


@pytest.mark.proves(
    "addresses.openapi.public",
    "addresses.openapi.speech",
    "addresses.openapi.integration",
    "addresses.openapi.version",
)
@pytest.mark.parametrize("layer", ["public", "speech", "integration"])
def test_each_layers_description_is_served(server: RunningServer, layer: str) -> None:
    answer = get(server, f"/openapi/{layer}.json")
    assert answer.status_code == 200
    document = answer.json()
    assert (document["openapi"], document["info"]["version"]) == ("3.1.0", "1.0.0")
    prefix, operations = LAYERS[layer]
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(each.method, prefix + each.path.replace(":path}", "}")) for each in operations}


@pytest.mark.proves("addresses.docs")
def test_the_documentation_begins_at_docs_with_the_descriptions_beside_it(server: RunningServer) -> None:
    began = httpx2.get(server.url + "/docs", headers={"Accept": "text/html"}, follow_redirects=True)
    assert began.status_code == 200
    assert "<h1" in began.text
    assert '<a href="/docs?api=speech">' in began.text
    answer = get(server, "/docs?api=speech")
    assert answer.status_code == 200
    if (WEB_FOLDER / "docs.html").is_file():
        assert answer.headers["Content-Type"].startswith("text/html")
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    else:
        assert "not built" in answer.text


@pytest.mark.proves("addresses.healthz", "addresses.metrics")
def test_the_server_says_that_it_lives_and_what_it_measures(server: RunningServer) -> None:
    assert (get(server, "/healthz").status_code, get(server, "/healthz").json()) == (200, {"status": "ok"})
    get(server, "/public/v1/chats/list")
    metrics = get(server, "/metrics")
    assert metrics.status_code == 200
    assert 'parley_http_requests_total{method="GET",route="/public/v1/chats/list",status="401"}' in metrics.text
    assert "parley_calls_unfinished" in metrics.text


def readiness(metrics: httpx2.Response) -> dict[str, float]:
    samples = [sample for family in text_string_to_metric_families(metrics.text) for sample in family.samples]
    return {sample.labels["part"]: sample.value for sample in samples if sample.name == "parley_ready"}


@pytest.mark.proves("addresses.readyz", "errors.retry-after")
def test_the_server_is_ready_only_while_its_parts_are(small_server: RunningServer) -> None:
    ready = get(small_server, "/readyz")
    assert (ready.status_code, ready.json()["status"]) == (200, "ready")
    assert ready.json()["checks"] == {"database": "ok", "index": "ok", "workers": "ok"}
    with small_server.database.write() as connection:
        connection.execute(sa.text("ALTER TABLE workers RENAME TO workers_away"))
    try:
        broken = get(small_server, "/readyz")
        alive = get(small_server, "/healthz")
        measured = get(small_server, "/metrics")
    finally:
        with small_server.database.write() as connection:
            connection.execute(sa.text("ALTER TABLE workers_away RENAME TO workers"))
    assert (broken.status_code, broken.json()["checks"]["workers"]) == (503, "failed")
    assert int(broken.headers["Retry-After"]) > 0
    assert alive.status_code == 200
    assert readiness(measured) == {"database": 1, "index": 1, "workers": 0}
    assert readiness(get(small_server, "/metrics")) == {"database": 1, "index": 1, "workers": 1}
    assert get(small_server, "/readyz").status_code == 200


def test_an_unknown_address_and_a_wrong_method_are_answered_in_the_documented_body(server: RunningServer) -> None:
    unknown = get(server, "/v2/nothing")
    assert (unknown.status_code, unknown.json()["error"]["type"]) == (404, "not_found_error")
    wrong = httpx2.delete(server.url + "/v1/audio/transcriptions")
    assert (wrong.status_code, wrong.json()["error"]["type"]) == (405, "invalid_request_error")
    assert wrong.headers["Allow"] == "POST"
    for method in ("GET", "PUT", "DELETE"):
        answer = httpx2.request(method, server.url + "/mcp")
        assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
