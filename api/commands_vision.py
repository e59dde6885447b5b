"""`parley vision`: a camera to try things with."""

from __future__ import annotations

import json
import time
from contextlib import suppress
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
    from api.demo_camera import registered
    from ingest.vision.demo_camera import DemoCamera
    from ingest.vision.demo_pictures import FPS, belt
    from ingest.vision.sources import pictures_of

    settings = load_settings()
    chosen = tuple(dict.fromkeys(scenario or ["barcode"]))
    tenant_id = _tenant_id(settings, tenant)
    shown = belt if clip is None else (lambda: pictures_of(Path(clip), FPS))
    end_as_by_ctrl_c()
    with (
        suppress(KeyboardInterrupt),
        DemoCamera(shown, FPS, port) as camera,
        registered(settings, tenant_id, camera.url, chosen) as stream_id,
    ):
        row = {"stream_id": stream_id, "rtsp_url": camera.url, "scenarios": list(chosen), "tenant_id": tenant_id}
        print_rows([row], as_json, single=True)
        if not as_json:
            typer.echo(f"\n  Its events: {settings.effective_public_url}/vision/v1/events\n  Ctrl-C ends it.")
        time.sleep(seconds if seconds is not None else float(2**31))


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
