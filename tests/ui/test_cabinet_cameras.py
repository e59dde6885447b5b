"""Cameras in the cabinet: registered, seen, zones drawn on the picture, events and traffic."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, Route, expect

from ingest.vision.recorder import as_jpeg, newest_key
from store import accounts, camera_events, camera_streams, camera_traffic
from store.blobs import Blobs
from store.database import now
from tests.contract.test_vision import STREAMS, add_event, made
from tests.support.server import Account
from tests.ui.cabinet import OpenCabinet
from tests.ui.cabinet import open_cabinet as open_cabinet
from tests.ui.conftest import DESKTOP, PHONE, findings, width_over

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"
BOTH = pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])


def is_well(page: Page) -> bool:
    assert findings(page) == []
    return width_over(page) == 0


@pytest.fixture
def watcher(new_account: Callable[..., Account]) -> Account:
    return new_account()


def camera(account: Account, **fields: Any) -> dict[str, Any]:
    """A camera with a picture."""
    stream = made(account, **fields)
    picture = as_jpeg(np.full((540, 960, 3), 120, np.uint8))
    Blobs(account.server.settings).put(newest_key(account.tenant_id, stream["id"]), picture)
    return stream


def zones(account: Account, stream_id: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = account.get(f"{STREAMS}/{stream_id}").json()["zones"]
    return found


def click_at(page: Page, x: float, y: float) -> None:
    """A place of the picture, from 0 to 1."""
    box = page.get_by_role("group", name="Zones on the picture").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + x * box["width"], box["y"] + y * box["height"])


@pytest.mark.proves("vision.zones.cabinet")
@BOTH
def test_zones_are_drawn_moved_and_saved(watcher: Account, open_cabinet: OpenCabinet, viewport: dict[str, int]) -> None:
    stream = camera(watcher)
    page = open_cabinet(watcher, f"/cameras/{stream['id']}", viewport=viewport)
    expect(page.get_by_role("img", name="Newest picture of Door")).to_be_visible()
    page.get_by_role("button", name="Draw a zone").click()
    page.get_by_role("group", name="Zones on the picture").scroll_into_view_if_needed()
    for x, y in ((0.2, 0.2), (0.6, 0.2), (0.6, 0.8), (0.2, 0.2)):
        click_at(page, x, y)
    name = page.get_by_role("textbox", name="Name")
    expect(name).to_have_value("Zone 1")
    name.fill(f"Stairs {HOSTILE}")
    page.get_by_role("combobox", name="Kind").click()
    page.get_by_role("option", name="Entrance").click()
    first = page.get_by_role("button", name="point 1 of 3")
    first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("+")
    expect(page.get_by_role("button", name="point 4 of 4")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    assert is_well(page)
    page.get_by_role("button", name="Save zones").click()
    expect(page.get_by_role("button", name="Save zones")).to_have_count(0)
    [zone] = zones(watcher, stream["id"])
    assert (zone["name"], zone["kind"]) == (f"Stairs {HOSTILE}", "entrance")
    assert np.allclose(zone["polygon"], [[0.21, 0.25], [0.6, 0.2], [0.6, 0.8]], atol=0.01)
    page.reload()
    expect(page.get_by_role("textbox", name="Name")).to_have_value(f"Stairs {HOSTILE}")


def test_zones_are_made_by_keyboard_alone_and_dragged_by_mouse(watcher: Account, open_cabinet: OpenCabinet) -> None:
    stream = camera(watcher)
    page = open_cabinet(watcher, f"/cameras/{stream['id']}")
    page.get_by_role("button", name="Add a rectangle").focus()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="point 1 of 4").focus()
    for _ in range(3):
        page.keyboard.press("ArrowUp")
    page.get_by_role("button", name="point 3 of 4").focus()
    page.keyboard.press("Delete")
    box = page.get_by_role("button", name="point 2 of 3").bounding_box()
    picture = page.get_by_role("group", name="Zones on the picture").bounding_box()
    assert box is not None
    assert picture is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(picture["x"] + 0.9 * picture["width"], picture["y"] + 0.3 * picture["height"], steps=5)
    page.mouse.up()
    page.get_by_role("button", name="Save zones").click()
    expect(page.get_by_role("button", name="Save zones")).to_have_count(0)
    [zone] = zones(watcher, stream["id"])
    assert np.allclose(zone["polygon"], [[0.35, 0.32], [0.9, 0.3], [0.35, 0.65]], atol=0.01)


def test_pictures_of_events_are_loaded_once_however_often_the_list_is_looked_at(
    watcher: Account, open_cabinet: OpenCabinet
) -> None:
    stream = camera(watcher)
    event_id = add_event(watcher, stream["id"], now(), kind="person_entered")
    with watcher.server.database.write() as connection:
        key = newest_key(watcher.tenant_id, stream["id"])
        connection.execute(
            sa.update(camera_events.camera_events)
            .where(camera_events.camera_events.c.id == event_id)
            .values(snapshot_key=key)
        )
    page = open_cabinet(watcher, f"/cameras/{stream['id']}")
    loaded: list[str] = []
    page.on("request", lambda request: loaded.append(request.url) if "/vision/v1/snapshots/" in request.url else None)
    page.get_by_role("tab", name="Events").click()
    expect(page.get_by_role("link", name="Open the picture")).to_be_visible()
    for _ in range(2):
        with page.expect_response("**/vision/v1/events?*") as answer:
            pass
    signed = answer.value.json()["items"][0]["snapshot_url"]
    expect(page.get_by_text("Somebody came in")).to_be_visible()
    assert (len(loaded), signed in loaded) == (1, False)


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("user name or password are refused", "Камера не принимает имя пользователя или пароль."),
        ("The host's name could not be resolved in time.", "Камера не отвечает: включена ли она и видна ли с сервера?"),
        ("the moon is wrong", "Сервер сообщает об этой камере: the moon is wrong"),
    ],
)
def test_what_is_the_matter_with_a_camera_is_said_in_the_language_of_who_reads(
    watcher: Account, open_cabinet: OpenCabinet, message: str, said: str
) -> None:
    stream = camera(watcher)

    def answer_broken(route: Route) -> None:
        # Another says it than the worker, which looks after the camera meanwhile.
        found = route.fetch()
        body = found.json()
        for each in body.get("items", [body]):
            each |= {"status": "error", "message": message, "notes": ["no detector of poses is installed: x"]}
        route.fulfill(response=found, json=body)

    page = open_cabinet(watcher, "/knowledge", language="ru")
    page.route(re.compile(rf"/vision/v1/streams(\?.*|/{stream['id']})?$"), answer_broken)
    page.get_by_role("link", name="Камеры").click()
    expect(page.get_by_text(said)).to_be_visible()
    page.get_by_role("link", name="Door").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Door")
    expect(page.get_by_text(said)).to_be_visible()
    expect(page.get_by_text("Детектор поз не установлен")).to_be_visible()


@BOTH
def test_a_camera_is_added_its_events_read_and_its_visitors_shown(
    watcher: Account, open_cabinet: OpenCabinet, viewport: dict[str, int]
) -> None:
    page = open_cabinet(watcher, "/cameras", viewport=viewport)
    expect(page.get_by_text("No camera is connected")).to_be_visible()
    expect(page.get_by_role("heading", name="What was seen")).to_have_count(0)
    assert is_well(page)
    page.get_by_role("button", name="Add a camera").click()
    page.get_by_role("textbox", name="Name").fill(f"Gate {HOSTILE}")
    page.get_by_role("textbox", name="Address").fill("http://10.255.255.1/")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("dialog").get_by_text("This camera address cannot be used")).to_be_visible()
    page.get_by_role("textbox", name="Address").fill("rtsp://user:secret@10.255.255.1:8554/gate")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Gate {HOSTILE}")
    expect(page.get_by_text("No picture yet")).to_be_visible()
    [stream] = watcher.get(STREAMS).json()["items"]
    for _ in range(30):
        add_event(watcher, stream["id"], now(), kind="person_entered")
    hour = now().replace(minute=0, second=0, microsecond=0)
    heat = np.ones((camera_traffic.HEAT_ROWS, camera_traffic.HEAT_COLUMNS), np.float32)
    with watcher.server.database.write() as connection:
        camera_traffic.add(
            watcher.tenant_id,
            connection,
            stream["id"],
            hour,
            entered=7,
            waits={"till": (2, 60.0), "bar": (1, 15.0)},
            heat=heat,
        )
    page.get_by_role("tab", name="Events").click()
    expect(page.get_by_text("Somebody came in")).to_have_count(25)
    page.get_by_role("button", name="Show earlier ones").click()
    expect(page.get_by_text("Somebody came in")).to_have_count(30)
    assert is_well(page)
    page.get_by_role("tab", name="Visitors and heat").click()
    expect(page.get_by_role("img", name="Visitors", exact=True)).to_be_visible()
    page.get_by_text("As a table").last.click()
    queues = page.get_by_role("table").last
    expect(queues.get_by_role("columnheader")).to_have_text(["Hour", "Seconds in the queue", "bar", "till"])
    expect(queues.get_by_role("cell")).to_contain_text(["", "25", "15", "30"])
    expect(page.get_by_role("img", name="Heat map of the period over the picture")).to_be_attached()
    assert is_well(page)
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Delete the camera").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the camera").click()
    expect(page.get_by_text("No camera is connected")).to_be_visible()
    expect(page.get_by_role("button", name="Add a camera")).to_have_count(1)
    expect(page.get_by_text("Somebody came in").first).to_be_visible()
    expect(page.get_by_text("deleted camera").first).to_be_visible()


def test_events_name_their_camera_whatever_page_it_is_on_and_fit_the_days_of_the_account(
    watcher: Account, open_cabinet: OpenCabinet
) -> None:
    beyond_plan = {"url": b"", "shown_url": "", "transport": "tcp", "scenarios": ["traffic"], "webhook_url": None}
    with watcher.server.database.write() as connection:
        # None of them is watched.
        accounts.update_tenant(watcher.tenant_id, connection, camera_limit=0, time_zone="Asia/Vladivostok")
        for number in range(101):
            values = {**beyond_plan, "name": f"Camera {number}", "site_id": None, "geo": None, "key_id": None}
            last = camera_streams.add(watcher.tenant_id, connection, **values)
    day = now().date() - timedelta(days=3)
    midnight = datetime.combine(day, time(), tzinfo=ZoneInfo("Asia/Vladivostok"))
    for hours in (-1, 1, 2, 23, 25):
        add_event(watcher, last.id, midnight + timedelta(hours=hours), kind="person_entered")
    page = open_cabinet(watcher, "/cameras", timezone_id="America/New_York")
    expect(page.get_by_text("Camera 100")).to_have_count(5)
    expect(page.get_by_text("deleted camera")).to_have_count(0)
    page.get_by_role("textbox", name="From").fill(day.isoformat())
    page.get_by_role("textbox", name="To").fill(day.isoformat())
    expect(page.get_by_text("Somebody came in")).to_have_count(3)
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_text("0 of 101 online")).to_be_visible()


def test_earlier_events_that_do_not_come_are_asked_for_again(watcher: Account, open_cabinet: OpenCabinet) -> None:
    stream = made(watcher)
    for _ in range(30):
        add_event(watcher, stream["id"], now(), kind="person_entered")
    page = open_cabinet(watcher, f"/cameras/{stream['id']}?tab=events")
    expect(page.get_by_text("Somebody came in")).to_have_count(25)
    page.route("**/vision/v1/events?*cursor=*", lambda route: route.abort())
    page.get_by_role("button", name="Show earlier ones").click()
    expect(page.get_by_role("alert")).to_contain_text("This could not be loaded")
    expect(page.get_by_text("Somebody came in")).to_have_count(25)
    page.unroute("**/vision/v1/events?*cursor=*")
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("Somebody came in")).to_have_count(30)
    expect(page.get_by_role("alert")).to_have_count(0)
