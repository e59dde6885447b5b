"""A camera for a while: registered, watched by the running server, and ended, while its events stay."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import get_args

import httpx2

from api.commands_accounts import open_accounts
from ingest.vision.demo_camera import DemoCamera
from ingest.vision.demo_pictures import FPS, belt
from store import camera_streams
from store.errors import InvalidRequest
from store.ids import new_id
from store.settings import Settings

NAME = "Demo camera"
_EVENTS = 4
_WAIT_S = 90.0


@contextmanager
def registered(
    settings: Settings, tenant_id: str, url: str, scenarios: Sequence[str], *, shown_url: str | None = None
) -> Iterator[str]:
    """The id of a stream that is the operator's own: it may be on this machine, and counts in no plan. `shown_url`: the
    address without its secrets, where it has any.

    Raises InvalidRequest for a scenario that there is not.
    """
    unknown = set(scenarios) - set(get_args(camera_streams.Scenario))
    if unknown:
        raise InvalidRequest(f"no such scenario: {min(unknown)}")
    stream_id = new_id()
    try:
        with open_accounts(settings) as (connection, keyring):
            camera_streams.add(
                tenant_id,
                connection,
                id=stream_id,
                name=NAME,
                url=keyring.encrypt(url.encode()),
                shown_url=shown_url or url,
                is_own=True,
                transport="tcp",
                scenarios=list(scenarios),
                site_id=None,
                geo=None,
                webhook_url=None,
                key_id=None,
            )
        yield stream_id
    # From before it is there on: whoever is interrupted right after must take it back.
    finally:
        with open_accounts(settings) as (connection, _):
            camera_streams.delete(tenant_id, connection, stream_id)


def show_parcels(settings: Settings, tenant_id: str, url: str, api_key: str) -> bool:
    """Has the server at `url` see some parcels, unless the account has events; False where it saw none in time."""

    def seen() -> int:
        headers = {"Authorization": f"Bearer {api_key}"}
        answer = httpx2.get(f"{url}/vision/v1/events", params={"limit": _EVENTS}, headers=headers, timeout=60)
        return len(answer.raise_for_status().json()["items"])

    if seen():
        return True
    ends_s = time.monotonic() + _WAIT_S
    with DemoCamera(belt, FPS) as camera, registered(settings, tenant_id, camera.url, ["barcode"]):
        while seen() < _EVENTS and time.monotonic() < ends_s:
            time.sleep(0.5)
    return seen() > 0
