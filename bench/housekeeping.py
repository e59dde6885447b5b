"""What a round of looking after what accounts keep no longer costs where nothing is over its time: `python -m
bench.housekeeping`. One worker of an installation does it, every `PARLEY_SWEEP_S`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from store import camera_events, migrate, retention, tool_calls
from store.accounts import tenants
from store.camera_streams import camera_streams
from store.database import Connection, Database, now
from store.ids import new_id
from store.settings import Settings

ACCOUNTS, WITH_CAMERAS, CAMERAS_EACH = 10_000, 2_500, 8
ROUNDS = 5
KEPT_DAYS = (30, 90, 180, 365)


def fill(connection: Connection) -> None:
    moment = now()
    times = {"created_at": moment, "updated_at": moment}
    accounts = [
        {
            "id": new_id(),
            "client_id": new_id(),
            "external_id": str(number),
            "name": str(number),
            "is_active": True,
            "features": [],
            "language": "ru",
            "time_zone": "Europe/Moscow",
            "widget_origins": [],
            "retention_days": KEPT_DAYS[number % len(KEPT_DAYS)],
            "audio_days": KEPT_DAYS[number % len(KEPT_DAYS)],
            **times,
        }
        for number in range(ACCOUNTS)
    ]
    connection.execute(sa.insert(tenants), accounts)
    camera = {
        "name": "gate",
        "url": b"",
        "shown_url": "",
        "is_own": False,
        "transport": "tcp",
        "scenarios": ["traffic"],
        "zones": [],
        "calibration": [],
        "version": 1,
        "status": "online",
        "message": "",
        "notes": [],
        "fps": 0.0,
        "latency_ms": 0.0,
        "width": 0,
        "height": 0,
        **times,
    }
    watching = accounts[:WITH_CAMERAS] * CAMERAS_EACH
    connection.execute(sa.insert(camera_streams), [camera | {"id": new_id(), "tenant_id": of["id"]} for of in watching])


LOOKS: dict[str, Callable[[Connection], object]] = {
    "communications": retention.list_due,
    "recordings and files": retention.list_due_audio,
    "calls of tools": tool_calls.list_due,
    "what cameras saw": partial(camera_events.list_expired, limit=500),
    "what searches cannot find yet": partial(camera_events.list_unkeyed, since=now(), limit=500),
}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Settings(data_dir=Path(folder), _env_file=None))  # type: ignore[call-arg]
        migrate.migrate(database)
        with database.write() as connection:
            fill(connection)
        print(f"{ACCOUNTS:,} accounts, {WITH_CAMERAS:,} of them with {CAMERAS_EACH} cameras each, on SQLite")
        total_ms = 0.0
        for name, look in LOOKS.items():
            began = time.process_time()
            for _ in range(ROUNDS):
                with database.read() as connection:
                    assert not look(connection), "nothing is over its time"
            ms = (time.process_time() - began) * 1000 / ROUNDS
            total_ms += ms
            print(f"{name:<32}{ms:>8.1f} ms")
        print(f"{'all':<32}{total_ms:>8.1f} ms")
        database.close()


if __name__ == "__main__":
    main()
