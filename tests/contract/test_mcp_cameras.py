"""Cameras as resources: what they saw, read in parts by agents of their account, quoted where others wrote it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from store import accounts, camera_events, camera_traffic
from store.ids import new_id
from tests.contract.mcp_resources import HOSTILE, NOT_FOUND, ask, listed, plain, quoted, read, read_parts
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
