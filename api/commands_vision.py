"""`parley vision`: a camera to try things with."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from api.console import JsonOption, print_rows
from store.errors import InvalidRequest
from store.settings import Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

app = typer.Typer(help="Cameras.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    parent.add_typer(app, name="vision")


@app.callback()
def vision() -> None:
    """Keeps `demo` a command of its own, though it is the only one."""


@app.command("demo")
def demo(
    clip: Annotated[str | None, typer.Argument(help="A video file to show. Without one: parcels on a belt.")] = None,
    tenant: Annotated[str | None, typer.Option(help="Tenant id or external id. Without one: the demo account.")] = None,
    scenario: Annotated[
        list[str] | None, typer.Option(help="traffic, ppe, safety, lpr or barcode; repeat. Without one: barcode.")
    ] = None,
    port: Annotated[int, typer.Option(help="Of the RTSP server, on this machine.")] = 8554,
    seconds: Annotated[float | None, typer.Option(help="Ends by itself after this long. Else Ctrl-C does.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Serves a camera by RTSP on this machine and registers it; a running server watches it. Its events stay."""
    from ingest.vision.demo_camera import DemoCamera
    from ingest.vision.demo_pictures import FPS, belt
    from ingest.vision.sources import pictures_of

    settings = load_settings()
    chosen = tuple(dict.fromkeys(scenario or ["barcode"]))
    tenant_id = _tenant_id(settings, tenant)
    shown = belt if clip is None else (lambda: pictures_of(Path(clip), FPS))
    with DemoCamera(shown, FPS, port) as camera:
        stream_id = _add(settings, tenant_id, camera.url, chosen)
        try:
            row = {"stream_id": stream_id, "rtsp_url": camera.url, "scenarios": list(chosen), "tenant_id": tenant_id}
            print_rows([row], as_json, single=True)
            if not as_json:
                typer.echo(
                    f"\n  Its events: {settings.effective_public_url}/vision/v1/events\n  Ctrl-C ends the camera."
                )
            with suppress(KeyboardInterrupt):
                time.sleep(seconds if seconds is not None else float(2**31))
        finally:
            _remove(settings, tenant_id, stream_id)


def _tenant_id(settings: Settings, name: str | None) -> str:
    from api.commands_accounts import open_accounts, require_tenant

    if name is not None:
        with open_accounts() as (connection, _):
            return require_tenant(connection, name).id
    try:
        known: str = json.loads((settings.data_dir / "demo.json").read_text(encoding="utf-8"))["tenant_id"]
    except (OSError, ValueError, KeyError):
        raise InvalidRequest("there is no demo account here: say whose camera it is by --tenant") from None
    return known


def _add(settings: Settings, tenant_id: str, url: str, scenarios: Sequence[str]) -> str:
    """The operator's own camera: it may be on this machine, and counts in no plan."""
    from typing import get_args

    from api.commands_accounts import open_accounts
    from store import camera_streams

    unknown = set(scenarios) - set(get_args(camera_streams.Scenario))
    if unknown:
        raise InvalidRequest(f"no such scenario: {min(unknown)}")
    with open_accounts() as (connection, keyring):
        made = camera_streams.add(
            tenant_id,
            connection,
            name="Demo camera",
            url=keyring.encrypt(url.encode()),
            shown_url=url,
            is_own=True,
            transport="tcp",
            scenarios=list(scenarios),
            site_id=None,
            geo=None,
            webhook_url=None,
            key_id=None,
        )
    return made.id


def _remove(settings: Settings, tenant_id: str, stream_id: str) -> None:
    from api.commands_accounts import open_accounts
    from store import camera_streams

    with open_accounts() as (connection, _):
        camera_streams.delete(tenant_id, connection, stream_id)
