"""What a server says to the person who started it, once it is ready."""

from __future__ import annotations

import json
import sys

from accounts import links
from api.services import Services
from store import accounts
from store.errors import InvalidRequest
from store.settings import Settings

DEMO_LINK_S = 3600.0


def make_demo_link(services: Services) -> str | None:
    """A link that opens the demo account's cabinet once, within an hour; None where there is no demo account."""
    settings = services.settings
    try:
        demo = json.loads((settings.data_dir / "demo.json").read_text(encoding="utf-8"))
        tenant_id = str(demo["tenant_id"])
    except (OSError, ValueError, KeyError):
        return None
    with services.database.write() as connection:
        tenant = accounts.get_tenant(tenant_id, connection)
        if tenant is None or not tenant.email or not settings.session_links:
            return None
        code = links.make_code(tenant, connection, services.keyring, lifetime_s=DEMO_LINK_S, actor="server start")
    return f"{settings.effective_cabinet_url}/session-link?code={code.text}"


def say_working(services: Services) -> None:
    """Prints what a worker takes."""
    takes = ", ".join(services.workshop.jobs.takes)
    sys.stdout.write(f"Parley's worker {services.workshop.jobs.executor_id} works on {takes}. Ctrl-C stops it.\n")
    sys.stdout.writelines(f"{said}\n" for said in _licences(services.settings))
    sys.stdout.flush()


def say_welcome(settings: Settings, demo_link: str | None = None) -> None:
    """Prints where to go and what to try; for the demo account when it is there."""
    url = settings.effective_public_url
    lines = [f"Parley is ready: {url}", ""]
    try:
        demo = json.loads((settings.data_dir / "demo.json").read_text(encoding="utf-8"))
        key = f"$(python3 -c \"import json; print(json.load(open('{settings.data_dir / 'demo.json'}'))['api_key'])\")"
        lines += [
            f"  The demo cabinet       {demo_link or settings.effective_cabinet_url}",
            "                         (the link opens once, within an hour; the next start prints another)",
            f"  Ask the demo company   {url}/demo",
            f"  Its keys               {settings.data_dir / 'demo.json'}",
            f"  KEY={key}",
            f'  Send a call            curl -H "Authorization: Bearer $KEY" -F file=@call.wav '
            f"{url}/v1/audio/transcriptions",
            f'  Send a document        curl -H "Authorization: Bearer $KEY" -F file=@rules.pdf '
            f"{url}/public/v1/kb/spaces/{demo['space_id']}/documents",
            f"  Connect an agent       {url}/mcp (streamable HTTP, the same key)",
            f"  Watch a camera         {url}/docs/vision.md",
        ]
    except (OSError, ValueError, KeyError):
        lines += ["  Make an account        parley client create --external-id my-company"]
    lines += [f"  Licences               {said}" for said in _licences(settings)]
    lines += ["", "  Ctrl-C stops it; what is in work goes on at the next start.", ""]
    sys.stdout.write("\n".join(lines) + "\n")
    sys.stdout.flush()


def _licences(settings: Settings) -> list[str]:
    """What whoever runs the server must know of the detectors of cameras that are installed, a line each."""
    from ingest.vision.models import under_agpl

    try:
        named = under_agpl(settings)
    except InvalidRequest:  # of a setting that names no model, which the cameras' worker says
        return []
    owes = "AGPL-3.0, whoever offers that over a network owes its users the source"
    return [f"{', '.join(named)}: {owes}"] if named else []
