"""The demo company on a server of tests, for agents' questions."""

from __future__ import annotations

import json
import tomllib
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from api.demo import FOLDER, Loader
from api.progress import Progress
from tests.support.server import Account, RunningServer


class FromScripts(Loader):
    """Sends calls as texts, by their scripts: nothing is recognised, so no word depends on a speech model."""

    def _upload_call(self, call: dict[str, Any], zone: ZoneInfo) -> str:
        begin = datetime.combine(self.today - timedelta(days=call["days_ago"]), call["time"], zone)
        truth = (FOLDER / "calls" / call["file"]).with_suffix(".truth.json")
        body = {
            "kind": "call",
            "channel_type": "phone",
            "language": call["language"],
            "direction": call["direction"],
            "occured_at": begin.isoformat(),
            "request_record_id": call["record_id"],
            "speakers": call["speaker"],
            "content": json.loads(truth.read_text(encoding="utf-8"))["turns"],
            "summary": True,
        }
        self._json("POST", "/public/v1/communications", json=body)
        return f"/public/v1/communications?request_record_id={call['record_id']}"


def load_company(server: RunningServer) -> tuple[Account, date]:
    """A client account that holds the demo company, and the day from which its conversations are dated."""
    company = tomllib.loads((FOLDER / "company.toml").read_text(encoding="utf-8"))
    zone = company["time_zone"]
    account = server.new_client(company["external_id"], name=company["name"], time_zone=zone)
    loader = FromScripts(server.url, account.made.api_key, Progress(quiet=True))
    loader.load(company)
    return account, loader.today
