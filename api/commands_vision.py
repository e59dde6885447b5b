"""`parley vision`: a camera to try things with."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

import typer

from api.console import JsonOption, end_as_by_ctrl_c, print_rows
from store.errors import InvalidRequest
from store.settings import Settings, load_settings

app = typer.Typer(help="Cameras.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    parent.add_typer(app, name="vision")


@app.callback()
def vision() -> None:
    """Keeps `demo` a command of its own, though it is the only one."""


@app.command("demo")
def demo(
    clip: Annotated[
        str | None,
        typer.Argument(help="A video file to show, or an http(s) address with MJPEG. Without one: parcels on a belt."),
    ] = None,
    tenant: Annotated[str | None, typer.Option(help="Tenant id or external id. Without one: the demo account.")] = None,
    scenario: Annotated[
        list[str] | None, typer.Option(help="traffic, ppe, safety, lpr or barcode; repeat. Without one: barcode.")
    ] = None,
    port: Annotated[int, typer.Option(help="Of the RTSP server, on this machine.")] = 8554,
    seconds: Annotated[float | None, typer.Option(help="Ends by itself after this long. Else Ctrl-C does.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Serves a camera by RTSP on this machine, or takes one that speaks MJPEG, and registers it; a running server
    watches it. Its events stay."""
    from api.demo_camera import registered

    settings = load_settings()
    chosen = tuple(dict.fromkeys(scenario or ["barcode"]))
    tenant_id = _tenant_id(settings, tenant)
    end_as_by_ctrl_c()
    with (
        suppress(KeyboardInterrupt),
        _served(clip, port) as (url, shown_url),
        registered(settings, tenant_id, url, chosen, shown_url=shown_url) as stream_id,
    ):
        row = {"stream_id": stream_id, "rtsp_url": shown_url, "scenarios": list(chosen), "tenant_id": tenant_id}
        print_rows([row], as_json, single=True)
        if not as_json:
            typer.echo(f"\n  Its events: {settings.effective_public_url}/vision/v1/events\n  Ctrl-C ends it.")
        time.sleep(seconds if seconds is not None else float(2**31))


@contextmanager
def _served(clip: str | None, port: int) -> Iterator[tuple[str, str]]:
    """The address of the camera, and as it may be shown. Raises InvalidRequest where there is nothing to see."""
    from accounts.camera_addresses import shown_mjpeg
    from ingest.vision.demo_camera import DemoCamera
    from ingest.vision.demo_pictures import FPS, belt
    from ingest.vision.sources import Broken, pictures_of, require_picture

    if clip is None:
        with DemoCamera(belt, FPS, port) as camera:
            yield camera.url, camera.url
        return
    is_address = "://" in clip
    name = shown_mjpeg(clip) if is_address else clip
    try:
        require_picture(clip)
    except Broken as broken:
        raise InvalidRequest(f"{name}: {broken.message}") from None
    if is_address:
        yield clip, name
        return
    with DemoCamera(lambda: pictures_of(Path(clip), FPS), FPS, port) as camera:
        yield camera.url, camera.url


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
