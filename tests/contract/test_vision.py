"""The Vision layer over real HTTP: what can be registered, changed and asked for, before any camera sends a picture."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from PIL import Image

from api.account import MAX_RETENTION_DAYS
from store import accounts, camera_events, camera_streams, camera_traffic
from store.camera_traffic import HEAT_COLUMNS, HEAT_ROWS
from store.ids import new_id
from tests.support.server import Account, RunningServer

STREAMS, EVENTS = "/vision/v1/streams", "/vision/v1/events"
TRAFFIC, HEAT = "/vision/v1/analytics/traffic", "/vision/v1/analytics/heatmap"
CAMERA = {"name": "Door", "rtsp_url": "rtsp://10.255.255.1:8554/door", "scenarios": ["traffic", "safety"]}
DAY = datetime.combine(datetime.now(UTC).date() - timedelta(days=200), datetime.min.time(), UTC)
"""Long over, and not so long ago that its figures are forgotten."""
ITS_DATE, NEXT_DATE, DATE_BEFORE = (f"{DAY + timedelta(days=days):%Y-%m-%d}" for days in (0, 1, -1))
SQUARE = [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.1, 0.9]]


@pytest.fixture(scope="module")
def camera_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """One whose cameras are never there."""
    running = RunningServer(tmp_path_factory.mktemp("camera-server"), cache_dir=str(tmp_path_factory.mktemp("none")))
    try:
        yield running.start()
    finally:
        running.close()


@pytest.fixture
def watched(camera_server: RunningServer) -> Account:
    account = camera_server.new_client(f"watched {new_id()}")
    # What these cameras saw is of a day long ago, and the sweep that looks after old events may come at any moment.
    answer = account.request("PATCH", "/public/v1/settings", json={"camera_retention": MAX_RETENTION_DAYS})
    assert answer.status_code == 200, answer.text
    return account


def made(account: Account, **fields: Any) -> dict[str, Any]:
    answer = account.post(STREAMS, json={**CAMERA, **fields})
    assert answer.status_code == 201, answer.text
    stream: dict[str, Any] = answer.json()
    return stream


def refused(account: Account, status: int = 400, **fields: Any) -> dict[str, Any]:
    body = {name: value for name, value in {**CAMERA, **fields}.items() if value is not None}
    answer = account.post(STREAMS, json=body)
    assert answer.status_code == status, answer.text
    error: dict[str, Any] = answer.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}
    return error


def add_event(
    account: Account, stream_id: str, at: datetime, scenario: Any = "traffic", kind: str = "fire", **details: str
) -> str:
    event_id = new_id()
    with account.server.database.write() as connection:
        assert camera_events.add(
            account.tenant_id,
            connection,
            stream_id,
            event_id,
            subject=event_id,
            scenario=scenario,
            kind=kind,
            confidence=0.5,
            occurred_at=at,
            details=details,
            snapshot_key=None,
        )
    return event_id


@pytest.mark.proves(
    "vision.create.201",
    "vision.stream.id-name",
    "vision.stream.scenarios",
    "vision.stream.created-at",
    "vision.stream.status",
    "vision.get.200",
    "vision.stream.figures",
    "vision.v1",
    "vision.auth.bearer",
    "addresses.vision",
)
def test_a_camera_is_registered_and_read(watched: Account) -> None:
    stream = made(watched, scenarios=["traffic", "ppe", "safety", "lpr", "barcode"])
    assert (stream["name"], stream["status"]) == ("Door", "connecting")
    assert stream["scenarios"] == ["traffic", "ppe", "safety", "lpr", "barcode"]
    assert datetime.fromisoformat(stream["created_at"]).tzinfo is not None
    read = watched.get(f"{STREAMS}/{stream['id']}")
    assert read.status_code == 200
    found = read.json()
    assert found["id"] == stream["id"]
    assert isinstance(found["fps"], float)
    assert isinstance(found["latency_ms"], float)
    assert found["last_event_at"] is None
    assert found["status"] in ("connecting", "offline", "error")


@pytest.mark.proves("vision.stream.site-id", "vision.stream.geo", "vision.geo.fields", "vision.stream.webhook-url")
def test_what_may_be_left_out_is_kept_as_it_was_given(watched: Account) -> None:
    plain = made(watched)
    assert (plain["site_id"], plain["geo"], plain["webhook_url"]) == (None, None, None)
    geo = {"lat": 55.75, "floor": "B2", "building": {"wing": 3}}
    url = "https://example.com/" + "a" * (4096 - 20)
    stream = made(watched, site_id="shop-7", geo=geo, webhook_url=url)
    assert (stream["site_id"], stream["webhook_url"]) == ("shop-7", url)
    assert stream["geo"] == {**geo, "lon": None}
    assert refused(watched, webhook_url=url + "a")["param"] == "webhook_url"
    assert refused(watched, webhook_url="ftp://example.com/")["param"] == "webhook_url"
    assert refused(watched, geo={"lat": 91})["param"] == "geo.lat"


@pytest.mark.proves("vision.create.required", "vision.scenarios.at-least-one", "errors.shared-body.vision")
@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"name": None}, "name"),
        ({"rtsp_url": None}, "rtsp_url"),
        ({"scenarios": None}, "scenarios"),
        ({"scenarios": []}, "scenarios"),
        ({"scenarios": ["traffic", "traffic"]}, "scenarios"),
        ({"name": "  "}, "name"),
        ({"zones": [{"name": "a", "kind": "restricted", "polygon": [[0, 0], [1, 1]]}]}, "zones.0.polygon"),
    ],
)
def test_what_is_needed_and_not_there_is_named(watched: Account, fields: dict[str, Any], param: str) -> None:
    error = refused(watched, **fields)
    assert (error["type"], error["code"], error["param"]) == ("invalid_request_error", "invalid_request_error", param)


@pytest.mark.parametrize("scenarios", [["traffic", "weather"], [["traffic"]], [None], "traffic", 5, []])
def test_an_unknown_scenario_is_named(watched: Account, scenarios: object) -> None:
    address = f"{STREAMS}/{made(watched)['id']}"
    errors = [refused(watched, scenarios=scenarios)]
    changed = watched.request("PATCH", address, json={"scenarios": scenarios})
    assert changed.status_code == 400
    errors.append(changed.json()["error"])
    for error in errors:
        assert (error["type"], error["param"]) == ("invalid_request_error", "scenarios")
    if "weather" in str(scenarios):
        assert "'lpr'" in errors[0]["message"], "what there is"


@pytest.mark.proves("vision.create.invalid-rtsp", "vision.probe.form", "webhooks.guard.rtsp-never-link-local")
@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.7/stream",
        "file:///etc/passwd",
        "rtsp://",
        "rtsp:///stream",
        "rtsp://10.0.0.7:99999/",
        "rtsp://10.0.0.7/a b",
        "rtsp://2130706433/",
        "rtsp://0x7f.1/",
        "rtsp://127.0.0.1/",
        "rtsp://[::1]/",
        "rtsp://169.254.169.254/latest",
        "rtsp://[fe80::1]/",
        "rtsp://0.0.0.0/",
        "not a url",
        "",
        "rtsp://10.0.0.7/" + "a" * 4096,
    ],
)
def test_an_address_where_no_camera_can_be_is_refused_at_once(watched: Account, url: str) -> None:
    error = refused(watched, rtsp_url=url)
    assert error["param"] == "rtsp_url"
    assert error["code"] == "invalid_rtsp"


@pytest.mark.proves("webhooks.guard.rtsp-networks")
@pytest.mark.parametrize(
    "url", ["rtsp://10.0.0.7/", "rtsp://192.168.1.9:554/a?b=c", "rtsps://[fd00::7]/s", "rtsp://cam.example.com/live"]
)
def test_private_and_public_networks_may_have_cameras(watched: Account, url: str) -> None:
    stream = made(watched, rtsp_url=url)
    assert watched.request("DELETE", f"{STREAMS}/{stream['id']}").status_code == 204


def test_the_password_of_a_camera_is_shown_nowhere(watched: Account) -> None:
    stream = made(watched, rtsp_url="rtsp://admin:hunter2@10.255.255.1/live?token=s3cret")
    assert stream["rtsp_url"] == "rtsp://10.255.255.1/live"
    listed = watched.get(STREAMS).text
    assert "hunter2" not in listed
    assert "s3cret" not in listed
    for content in watched.server.files("*.sqlite3*").values():
        assert b"hunter2" not in content
    assert "hunter2" not in watched.server.log()


@pytest.mark.parametrize(
    "path", ["/user=admin&password=hunter22/stream", "/user=admin_password=hunter22_channel=1_stream=0.sdp?real_stream"]
)
def test_a_password_in_the_path_is_shown_nowhere(watched: Account, path: str) -> None:
    stream = made(watched, rtsp_url="rtsp://10.255.255.1" + path)
    assert stream["rtsp_url"].startswith("rtsp://10.255.255.1/…")
    for text in (watched.get(f"{STREAMS}/{stream['id']}").text, watched.get(STREAMS).text):
        assert "hunter22" not in text


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "2e6"])
def test_numbers_that_are_no_place_are_refused(watched: Account, number: str) -> None:
    stream = made(watched)
    url, headers = f"{STREAMS}/{stream['id']}", {"Content-Type": "application/json"}
    point = f'{{"image": [0.1, 0.2], "floor": [{number}, 1]}}'
    answer = watched.request("PATCH", url, content=f'{{"calibration": [{point}]}}', headers=headers)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "calibration.0.floor.0")
    if number != "2e6":
        answer = watched.request("PATCH", url, content=f'{{"geo": {{"x": {number}}}}}', headers=headers)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, "geo")
    assert watched.get(url).json() == stream


def test_what_the_operator_set_up_is_not_led_elsewhere(watched: Account, camera_server: RunningServer) -> None:
    stream = made(watched)
    with camera_server.database.write() as connection:
        row = camera_streams.camera_streams
        connection.execute(sa.update(row).where(row.c.id == stream["id"]).values(is_own=True))
    url = f"{STREAMS}/{stream['id']}"
    answer = watched.request("PATCH", url, json={"rtsp_url": "rtsp://localhost:18997/secret"})
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "rtsp_url")
    assert watched.request("PATCH", url, json={"name": "Ours"}).status_code == 200
    assert watched.get(url).json()["rtsp_url"] == stream["rtsp_url"]


@pytest.mark.proves("vision.create.stream-limit", "vision.stream-limit.default")
def test_a_plan_has_four_cameras_unless_the_client_has_more(watched: Account) -> None:
    first = made(watched)
    for _ in range(3):
        made(watched)
    error = refused(watched, 402)
    assert error["code"] == "stream_limit_exceeded"
    with watched.server.database.write() as connection:
        accounts.update_tenant(watched.tenant_id, connection, camera_limit=5)
    made(watched)
    refused(watched, 402)
    assert watched.request("DELETE", f"{STREAMS}/{first['id']}").status_code == 204
    made(watched)


@pytest.mark.proves("vision.auth.401", "vision.feature-disabled")
def test_a_key_that_is_none_and_a_client_without_the_module(watched: Account, camera_server: RunningServer) -> None:
    answer = watched.get(STREAMS, headers={"Authorization": "Bearer sk_live_unknown"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
    answer = watched.get(STREAMS, headers={"Authorization": "", "x-api-key": watched.made.api_key})
    assert answer.status_code == 401
    without = camera_server.new_client(f"without {new_id()}", features=["chat", "kb"])
    for method, path in (("GET", STREAMS), ("POST", STREAMS), ("GET", EVENTS)):
        answer = without.request(method, path, **({"json": CAMERA} if method == "POST" else {}))
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "feature_disabled")


@pytest.mark.proves("vision.streams.list", "vision.streams.change", "vision.streams.delete", "vision.zones")
def test_streams_are_listed_changed_and_ended(watched: Account) -> None:
    first, second = made(watched, site_id="a", geo={"lat": 1}), made(watched)
    page = watched.get(STREAMS, params={"limit": 1, "offset": 1}).json()
    assert [item["id"] for item in page["items"]] == [second["id"]]
    assert page["pagination"]["total"] == 2
    zones = [
        {"name": "door", "kind": "entrance", "polygon": SQUARE},
        {"name": "till", "kind": "queue", "polygon": SQUARE},
        {"name": "stairs", "kind": "restricted", "polygon": SQUARE},
    ]
    calibration = [{"image": [0.1, 0.2], "floor": [1.5, -2.0]}]
    change = {"zones": zones, "scenarios": ["lpr"], "geo": None, "calibration": calibration, "transport": "udp"}
    answer = watched.request("PATCH", f"{STREAMS}/{first['id']}", json=change)
    assert answer.status_code == 200, answer.text
    changed = answer.json()
    assert {name: changed[name] for name in change} == change
    assert (changed["name"], changed["site_id"]) == ("Door", "a")
    bad = [{"name": "x", "kind": "secret", "polygon": SQUARE}]
    assert watched.request("PATCH", f"{STREAMS}/{first['id']}", json={"zones": bad}).status_code == 400
    answer = watched.request("PATCH", f"{STREAMS}/{first['id']}", json={"rtsp_url": "rtsp://127.0.0.1/"})
    assert answer.json()["error"]["code"] == "invalid_rtsp"
    assert watched.get(f"{STREAMS}/{first['id']}").json()["zones"] == zones
    event_id = add_event(watched, first["id"], DAY)
    assert watched.request("DELETE", f"{STREAMS}/{first['id']}").status_code == 204
    assert watched.get(f"{STREAMS}/{first['id']}").status_code == 404
    assert watched.request("DELETE", f"{STREAMS}/{first['id']}").status_code == 404
    assert [item["id"] for item in watched.get(STREAMS).json()["items"]] == [second["id"]]
    assert [item["id"] for item in watched.get(EVENTS).json()["items"]] == [event_id], "events outlive their camera"
    assert [item["stream_name"] for item in watched.get(EVENTS).json()["items"]] == [None]


def test_the_same_registration_sent_twice_is_one_camera(watched: Account) -> None:
    headers = {"Idempotency-Key": new_id()}
    first, again = (watched.post(STREAMS, json=CAMERA, headers=headers) for _ in range(2))
    assert first.json() == again.json()
    assert watched.get(STREAMS).json()["pagination"]["total"] == 1


@pytest.mark.proves("vision.events.stream-id", "vision.events.scenario", "vision.events.period", "vision.period.events")
def test_events_are_filtered(watched: Account) -> None:
    door, gate = made(watched)["id"], made(watched)["id"]
    first = add_event(watched, door, DAY)
    second = add_event(watched, door, DAY + timedelta(hours=1), "safety")
    third = add_event(watched, gate, DAY + timedelta(hours=2))

    def found(**query: str) -> list[str]:
        answer = watched.get(EVENTS, params=query)
        assert answer.status_code == 200, answer.text
        return [item["id"] for item in answer.json()["items"]]

    assert found() == [third, second, first]
    assert {item["stream_name"] for item in watched.get(EVENTS).json()["items"]} == {CAMERA["name"]}
    assert found(stream_id=door) == [second, first]
    assert found(scenario="safety") == [second]
    assert found(**{"from": f"{ITS_DATE}T00:00:00Z", "to": f"{ITS_DATE}T02:00:00Z"}) == [second, first]
    assert found(**{"from": f"{ITS_DATE}T00:00:00.001Z"}) == [third, second]
    for query in (
        {"scenario": "weather"},
        {"stream_id": "x"},
        {"from": "yesterday"},
        {"cursor": "e30"},
        {"type": "rain"},
        {"text": ""},
        {"text": " -%"},
    ):
        answer = watched.get(EVENTS, params=query)
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, next(iter(query)))


def test_events_are_searched_by_type_and_by_what_was_read(watched: Account) -> None:
    stream_id = made(watched)["id"]
    texts = ("A123BC77", "A123EK199", "B777OP77", "MSCU 123456-7", "PALLET-000417")
    ids = {
        text: add_event(watched, stream_id, DAY + timedelta(hours=number), "lpr", "plate_read", text=text)
        for number, text in enumerate(texts)
    }

    def found(**query: str) -> list[str]:
        answer = watched.get(EVENTS, params=query)
        assert answer.status_code == 200, answer.text
        return [next(text for text, id_ in ids.items() if id_ == item["id"]) for item in answer.json()["items"]]

    assert found(text="a123") == ["A123EK199", "A123BC77"]
    assert found(text="а123в") == ["A123BC77"], "typed in Cyrillic"
    assert found(text="mscu1234") == ["MSCU 123456-7"]
    assert found(text="Pallet 0004") == ["PALLET-000417"]
    assert found(text="23BC") == [], "it is how a text begins"
    assert found(text="A123", **{"from": f"{ITS_DATE}T01:00:00Z"}) == ["A123EK199"]
    assert found(type="fall") == []
    assert len(found(type="plate_read")) == len(texts)


@pytest.mark.proves("vision.events.limit", "vision.events.cursor")
def test_pages_of_events_follow_each_other_while_more_come(watched: Account) -> None:
    stream_id = made(watched)["id"]
    ids = [add_event(watched, stream_id, DAY + timedelta(seconds=number // 2)) for number in range(120)]
    first = watched.get(EVENTS).json()
    assert len(first["items"]) == 50
    for limit in ("0", "101", "x"):
        assert watched.get(EVENTS, params={"limit": limit}).status_code == 400
    seen = [item["id"] for item in first["items"]]
    cursor = first["next_cursor"]
    while cursor is not None:
        add_event(watched, stream_id, DAY + timedelta(hours=1))
        page = watched.get(EVENTS, params={"limit": 30, "cursor": cursor}).json()
        seen += [item["id"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert len(seen) == len(set(seen)) == 120
    assert set(seen) == set(ids)


@pytest.mark.proves(
    "vision.traffic.required", "vision.traffic.granularity", "vision.traffic.shape", "vision.period.aggregates"
)
def test_traffic_by_hours_and_days_of_utc(watched: Account) -> None:
    stream_id = made(watched)["id"]
    with watched.server.database.write() as connection:
        for hour, visitors, waits in (
            (23, (1,), {"till": (2, 30.0)}),
            (24, (1, 2), {"till": (1, 20.0), "bar": (2, 80.0)}),
            (25, (2, 3), {"till": (3, 20.0)}),
        ):
            at = DAY + timedelta(hours=hour)
            camera_traffic.add(watched.tenant_id, connection, stream_id, at, entered=hour, waits=waits)
            for visitor in (*visitors, *visitors):
                camera_traffic.add_visitor(watched.tenant_id, connection, stream_id, at, visitor)
    query = {"stream_id": stream_id, "from": ITS_DATE, "to": NEXT_DATE}
    by_hour = watched.get(TRAFFIC, params=query).json()
    assert (by_hour["stream_id"], by_hour["granularity"], len(by_hour["series"])) == (stream_id, "hour", 48)
    assert by_hour["series"][0]["bucket"] == f"{ITS_DATE}T00:00:00.000Z"
    told = [(row["unique_visitors"], row["avg_queue_sec"], row["entered"]) for row in by_hour["series"][23:26]]
    assert told == [(1, 15.0, 23), (2, 33.3, 24), (2, 6.7, 25)]
    assert by_hour["series"][22]["queues"] == []
    assert by_hour["series"][23]["queues"] == [{"zone": "till", "people": 2, "avg_queue_sec": 15.0}]
    by_day = watched.get(TRAFFIC, params={**query, "granularity": "day"}).json()["series"]
    assert [(row["unique_visitors"], row["avg_queue_sec"], row["entered"]) for row in by_day] == [
        (1, 15.0, 23),
        (3, 20.0, 49),
    ]
    assert by_day[1]["queues"] == [
        {"zone": "bar", "people": 2, "avg_queue_sec": 40.0},
        {"zone": "till", "people": 4, "avg_queue_sec": 10.0},
    ]
    for name in query:
        answer = watched.get(TRAFFIC, params={key: value for key, value in query.items() if key != name})
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, name)
    for wrong in ({"granularity": "week"}, {"to": DATE_BEFORE}, {"from": "2025-01-01"}, {"from": "x"}):
        assert watched.get(TRAFFIC, params={**query, **wrong}).status_code == 400
    assert watched.get(TRAFFIC, params={**query, "stream_id": new_id()}).status_code == 404


def test_figures_of_a_deleted_camera_are_answered_to_its_account_alone(
    watched: Account, camera_server: RunningServer
) -> None:
    stream_id = made(watched)["id"]
    with watched.server.database.write() as connection:
        camera_traffic.add(watched.tenant_id, connection, stream_id, DAY, entered=3)
    query = {"stream_id": stream_id, "granularity": "day", "from": ITS_DATE, "to": ITS_DATE}
    assert watched.request("DELETE", f"{STREAMS}/{stream_id}").status_code == 204
    (day,) = watched.get(TRAFFIC, params=query).json()["series"]
    assert day["entered"] == 3
    assert watched.get(HEAT, params=query).status_code == 200
    other = camera_server.new_client(new_id(), balance_rub="100")
    for path in (TRAFFIC, HEAT):
        assert other.get(path, params=query).status_code == 404


@pytest.mark.proves("vision.heatmap.json", "vision.heatmap.png")
def test_a_heat_map_as_numbers_and_as_a_picture(watched: Account) -> None:
    stream_id = made(watched)["id"]
    warm = np.zeros((HEAT_ROWS, HEAT_COLUMNS), np.float32)
    warm[3, 5] = 12.5
    with watched.server.database.write() as connection:
        for hour in (1, 2, 30):
            at = DAY + timedelta(hours=hour)
            camera_traffic.add(watched.tenant_id, connection, stream_id, at, heat=warm)
    query = {"stream_id": stream_id, "from": ITS_DATE, "to": ITS_DATE}
    told = watched.get(HEAT, params=query).json()
    assert (told["rows"], told["columns"]) == (HEAT_ROWS, HEAT_COLUMNS) == (36, 64)
    assert told["cells"][3][5] == 25.0
    assert sum(map(sum, told["cells"])) == 25.0
    answer = watched.get(HEAT, params=query, headers={"Accept": "image/png"})
    assert answer.headers["content-type"] == "image/png"
    with Image.open(io.BytesIO(answer.content)) as picture:
        alpha = np.asarray(picture)[..., 3]
    hottest = np.unravel_index(int(alpha.argmax()), alpha.shape)
    assert (hottest[0] * HEAT_ROWS // alpha.shape[0], hottest[1] * HEAT_COLUMNS // alpha.shape[1]) == (3, 5)
    assert alpha[-1, -1] == 0


@pytest.mark.proves("addresses.openapi.vision")
def test_the_description_of_vision_is_served(watched: Account) -> None:
    description = watched.get("/openapi/vision.json").json()
    assert description["info"]["version"] == "1.0.0"
    assert {"/vision/v1/streams", "/vision/v1/events", "/vision/v1/analytics/traffic"} <= set(description["paths"])


def test_a_stream_of_another_is_not_seen_in_events(watched: Account, camera_server: RunningServer) -> None:
    add_event(watched, made(watched)["id"], DAY)
    other = camera_server.new_client(f"other {new_id()}")
    assert other.get(EVENTS).json() == {"items": [], "next_cursor": None}
