"""What the reads are measured against: a bare Starlette route in a thread that runs the same SQL statements over the
same connections and puts the rows into JSON by hand. `python -m bench.bare_reads DATA_DIR PORT KEY_HASH`"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import sqlalchemy as sa
import uvicorn
from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from store.accounts import LIVE_KEY
from store.analysis import ITEMS_OF_COMMUNICATION
from store.communications import CONTENT
from store.database import Database
from store.details import BY_ID
from store.settings import Settings
from store.speakers import PARTICIPANTS

STATEMENTS = {"content": CONTENT, "speakers": PARTICIPANTS, "summary_items": ITEMS_OF_COMMUNICATION}


def plain_names(statement: sa.Select[Any]) -> list[str]:
    """SQLAlchemy's own are of a class derived from str, which are slow to put into JSON."""
    return [str(name) for name in statement.selected_columns.keys()]  # noqa: SIM118


def make_app(database: Database, key_hash: str) -> Starlette:
    own_names = plain_names(BY_ID)
    names = {name: plain_names(statement) for name, statement in STATEMENTS.items()}

    def read(communication_id: str) -> bytes:
        with database.read() as connection:
            key = connection.execute(LIVE_KEY, {"key_hash": key_hash}).first()
            assert key is not None
            asked = {"tenant_id": key[1], "communication_id": communication_id}
            found = connection.execute(BY_ID, asked).first()
            assert found is not None
            answer: dict[str, Any] = dict(zip(own_names, found, strict=True))
            for name, statement in STATEMENTS.items():
                rows = connection.execute(statement, asked)
                answer[name] = [dict(zip(names[name], row, strict=True)) for row in rows]
        return to_json(answer)

    async def answer(request: Request) -> Response:
        body = await run_in_threadpool(read, request.query_params["id"])
        return Response(body, media_type="application/json")

    return Starlette(routes=[Route("/bare", answer)])


def main(data_dir: str, port: str, key_hash: str) -> None:
    settings: Any = Settings(data_dir=Path(data_dir), _env_file=None)  # type: ignore[call-arg]
    app = make_app(Database(settings), key_hash)
    uvicorn.run(app, port=int(port), loop="uvloop", http="httptools", access_log=False, log_level="warning")


if __name__ == "__main__":
    main(*sys.argv[1:])
