"""The example for partners runs, for a client that is new and for one that is there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from store.ids import new_id
from tests.contract.partner import make_partner
from tests.support.server import RunningServer

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "provision_client.py"


def test_the_provisioning_example_takes_a_client_through_its_life(server: RunningServer) -> None:
    partner = make_partner(server)
    external_id = f"магазин/{new_id()}"
    environment = {**os.environ, "PARLEY_URL": server.url, "PARLEY_SECRET": partner.secret}
    for begins in ("made", "there already"):
        run = subprocess.run(
            [sys.executable, str(EXAMPLE), external_id, "Магазин 42"],
            env={**environment, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert run.returncode == 0, run.stderr
        assert run.stdout.startswith(begins)
        assert "its chats: Магазин 42" in run.stdout
        assert "paused: True" in run.stdout
        assert "active again: True, 0.0 RUB, tariff Base" in run.stdout
    assert partner.status(external_id)["name"] == "Магазин 42"
