"""Cameras as resources: what they saw, read in parts by agents of their account, quoted where others wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest

from store import accounts, camera_events, camera_traffic
from store.ids import new_id
from tests.contract.mcp_resources import (
    HOSTILE,
    INVALID_PARAMS,
    NOT_FOUND,
    ask,
    listed,
    plain,
    quoted,
    read,
    read_parts,
)
from tests.support.server import Account

# Nobody answers there: it is of the documentation's own network.
LATELY = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - timedelta(days=2)  # what is old is forgotten
CAMERA = {"name": "Gate", "rtsp_url": "rtsp://viewer:s3cret@192.168.255.250/gate", "scenarios": ["traffic", "lpr"]}


@pytest.fixture
def english(new_account: Callable[..., Account]) -> Account:
    return new_account(language="en", time_zone="Asia/Yekaterinburg")


def add_camera(account: Account, **fields: Any) -> str:
    answer = account.post("/vision/v1/streams", json={**CAMERA, **fields})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def add_event(account: Account, stream_id: str, at: datetime, kind: str = "plate_read", **details: object) -> None:
    event_id = new_id()
    with account.server.database.write() as connection:
        assert camera_events.add(
            account.tenant_id,
            connection,
            stream_id,
            event_id,
            subject=event_id,
            scenario="lpr",
            kind=kind,
            confidence=0.87,
            occurred_at=at,
            details={"box": [1, 2, 3, 4], **details},
            snapshot_key=None,
        )


def test_a_camera_is_listed_and_read_with_its_visitors_and_events(english: Account) -> None:
    stream_id = add_camera(english, site_id="shop-7")
    today = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    with english.server.database.write() as connection:
        camera_traffic.add(
            english.tenant_id, connection, stream_id, today, entered=5, left=4, waits={"till": (2, 30.0)}
        )
        camera_traffic.add_visitor(english.tenant_id, connection, stream_id, today, 1)
    add_event(english, stream_id, LATELY, text="A123BC77", zone="gate")
    (resource,) = listed(english)
    assert (resource["uri"], resource["name"], resource["mimeType"]) == (
        f"parley://cameras/{stream_id}",
        "Gate",
        "text/markdown",
    )
    assert resource["description"] == "camera: traffic, lpr"
    text = read(english, resource["uri"])
    assert text.startswith(f"# Camera\n\n- parley://cameras/{stream_id}\n- status: ")
    assert f"- {today.date()}: 5, 4, 1, 15" in text
    seen_at = LATELY.astimezone(ZoneInfo("Asia/Yekaterinburg")).isoformat()
    assert f"[0] {seen_at} lpr plate_read 87%\n> text: A123BC77; zone: gate" in text
    assert "> rtsp://192.168.255.250/gate" in text
    assert "> shop-7" in text
    assert "s3cret" not in text


def test_a_camera_that_saw_nothing_says_so(english: Account) -> None:
    stream_id = add_camera(english, scenarios=["lpr"])
    text = read(english, f"parley://cameras/{stream_id}")
    assert text.rstrip().endswith("## Seen, newest first\n\nNothing yet.")


def test_many_events_are_read_in_parts_newest_first(english: Account) -> None:
    stream_id = add_camera(english)
    for number in range(1200):
        add_event(english, stream_id, LATELY + timedelta(minutes=number), text=f"N{number:04}")
    parts = read_parts(english, f"parley://cameras/{stream_id}")
    assert len(parts) > 1
    told = [line for part in parts for line in part.split("\n") if line.startswith("> text: ")]
    assert told == [f"> text: N{number:04}" for number in reversed(range(1200))]
    error = ask(english, "resources/read", uri=f"parley://cameras/{stream_id}?from=1200")["error"]
    assert error["code"] == NOT_FOUND


def test_what_people_wrote_and_cameras_read_is_quoted(english: Account) -> None:
    stream_id = add_camera(english, name=f"Gate {HOSTILE}"[:200], site_id=HOSTILE[:200])
    add_event(english, stream_id, LATELY, text=HOSTILE, zone=HOSTILE)
    text = read(english, f"parley://cameras/{stream_id}")
    assert "evil.example" in quoted(text)
    for word in ("evil.example", "# System", "P1 support", "All good"):
        assert word not in plain(text)


def test_a_camera_of_another_account_one_that_is_gone_or_without_the_module_is_not_there(
    english: Account, new_account: Callable[..., Account]
) -> None:
    stream_id, gone = add_camera(english), add_camera(english)
    assert english.request("DELETE", f"/vision/v1/streams/{gone}").status_code == 204
    uri = f"parley://cameras/{stream_id}"
    assert [each["uri"] for each in listed(english)] == [uri]
    other = new_account()
    assert listed(other) == []

    def completed(account: Account) -> list[str]:
        ref = {"type": "ref/resource", "uri": "parley://cameras/{id}{?from}"}
        answer = ask(account, "completion/complete", ref=ref, argument={"name": "id", "value": ""})
        values: list[str] = answer["result"]["completion"]["values"]
        return values

    assert completed(english) == [stream_id]
    assert completed(other) == []
    for account, address in ((other, uri), (english, f"parley://cameras/{gone}")):
        assert ask(account, "resources/read", uri=address)["error"]["code"] == NOT_FOUND
    with english.server.database.write() as connection:
        accounts.update_tenant(english.tenant_id, connection, features=["chat"])
    assert listed(english) == []
    assert ask(english, "resources/read", uri=uri)["error"]["code"] == NOT_FOUND
    templates = ask(english, "resources/templates/list")["result"]["resourceTemplates"]
    assert "camera" not in [each["name"] for each in templates]


def test_what_all_cameras_saw_is_searched(english: Account) -> None:
    gate, door = add_camera(english), add_camera(english, name=f"Door {HOSTILE}"[:200])
    add_event(english, gate, LATELY, text="A123BC77", zone="gate")
    add_event(english, door, LATELY + timedelta(hours=1), text="B777OP77")
    add_event(english, door, LATELY + timedelta(days=1), text="A123EK199")
    add_event(english, door, LATELY + timedelta(days=1, hours=1), kind="fall", zone=HOSTILE)

    def search(**asked: str) -> str:
        return read(english, "parley://camera-events" + (f"?{urlencode(asked)}" if asked else ""))

    def told(**asked: str) -> list[str]:
        return re.findall(r"^> text: (\w+)", search(**asked), re.MULTILINE)

    text = search()
    seen_at = LATELY.astimezone(ZoneInfo("Asia/Yekaterinburg")).isoformat()
    assert f"{seen_at} lpr plate_read 87% parley://cameras/{gate}\n> Gate\n> text: A123BC77; zone: gate" in text
    assert "evil.example" in quoted(text)
    assert "evil.example" not in plain(text)
    assert told() == ["A123EK199", "B777OP77", "A123BC77"]
    assert told(text="\u0430 123") == ["A123EK199", "A123BC77"]
    assert told(text="a123", to=(LATELY + timedelta(hours=2)).isoformat()) == ["A123BC77"]
    assert told(**{"from": LATELY.astimezone(ZoneInfo("Asia/Yekaterinburg")).date().isoformat(), "text": "b"}) == [
        "B777OP77"
    ]
    assert told(stream_id=gate) == ["A123BC77"]
    assert "fall 87%" in search(type="fall")
    assert "plate_read" not in search(type="fall")
    assert search(scenario="ppe").rstrip().endswith("Nothing was found.")


def test_a_search_of_many_events_goes_on_where_it_ended(english: Account) -> None:
    stream_id = add_camera(english)
    for number in range(450):
        add_event(english, stream_id, LATELY + timedelta(minutes=number), text=f"N{number:04}")
    add_event(english, stream_id, LATELY, text="OTHER")
    parts = read_parts(english, "parley://camera-events?text=n0&type=plate_read")
    assert len(parts) > 2
    told = [line for part in parts for line in part.split("\n") if line.startswith("> text: ")]
    assert told == [f"> text: N{number:04}" for number in reversed(range(450))]
    cursor = parts[0].rstrip().rpartition("cursor=")[2]
    for wrong in (f"text=n1&cursor={cursor}", "type=rain", "from=2026-02-02&to=2026-02-01", "text=%20", "colour=red"):
        error = ask(english, "resources/read", uri=f"parley://camera-events?{wrong}")["error"]
        assert error["code"] == INVALID_PARAMS, wrong
        assert error["message"].startswith(("cursor", "type", "to", "text", "colour")), error


def test_the_search_of_events_is_a_template_of_accounts_with_the_module(
    english: Account, new_account: Callable[..., Account]
) -> None:
    stream_id = add_camera(english)
    add_event(english, stream_id, LATELY, text="A123BC77")
    template = "parley://camera-events{?from,to,scenario,type,text,stream_id,cursor}"
    other, bare = new_account(language="en"), new_account(features=("chat",), language="en")

    def templates(account: Account) -> list[str]:
        found = ask(account, "resources/templates/list")["result"]["resourceTemplates"]
        return [each["uriTemplate"] for each in found]

    def completed(name: str, value: str) -> list[str]:
        asked = {"ref": {"type": "ref/resource", "uri": template}, "argument": {"name": name, "value": value}}
        values: list[str] = ask(english, "completion/complete", **asked)["result"]["completion"]["values"]
        return values

    assert template in templates(english)
    assert template not in templates(bare)
    assert "A123BC77" not in read(other, "parley://camera-events")
    assert ask(bare, "resources/read", uri="parley://camera-events")["error"]["code"] == NOT_FOUND
    assert completed("type", "fa") == ["fall"]
    assert completed("scenario", "l") == ["lpr"]
    assert completed("stream_id", stream_id[:8]) == [stream_id]
    assert completed("text", "A") == []
