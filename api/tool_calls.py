"""Which tools were called in an account: by whom, with what, and what came of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

from pydantic import BaseModel, Field

from api.fields import Moment, UtcTime
from api.http import Call, NoInput, Operation
from api.knowledge import open_spaces
from api.paging import PageQuery, Pagination, pagination
from store import kb_spaces, tool_calls
from store.database import Connection
from store.tool_calls import ToolCall

Outcome = Literal["ok", "error"]
_OF_DOCUMENTS = frozenset({"search_documents", "list_kb_documents", "list_kb_chunks", "resources/read"})


class ToolCallQuery(PageQuery):
    tool: str | None = Field(None, min_length=1, max_length=100)
    outcome: Outcome | None = None
    from_: Moment | None = Field(None, alias="from")
    to: Moment | None = None


class ToolCallRecord(BaseModel):
    """`actor` called `tool`; for what is no tool its method stands there, such as `resources/read`. Long arguments are
    cut, and secrets in them masked; those of other keys about documents are empty for a key that does not see every
    space. `error` is null for the outcome ok; `items` and `characters` measure the result, and are null where there was
    none. `protocol_version` and `client` are what an MCP client said of itself."""

    id: str
    at: UtcTime
    actor: str
    tool: str
    arguments: dict[str, Any]
    outcome: Outcome
    error: str | None
    duration_ms: float
    items: int | None
    characters: int | None
    protocol_version: str | None
    client: str | None
    request_id: str | None


class ToolCallList(BaseModel):
    items: list[ToolCallRecord]
    pagination: Pagination


def list_tool_calls(call: Call[ToolCallQuery, NoInput]) -> ToolCallList:
    query = call.query
    before = None
    if query.to is not None:
        # Items show milliseconds: one that shows the bound itself is within it.
        before = query.to.replace(microsecond=query.to.microsecond // 1000 * 1000) + timedelta(milliseconds=1)
    call.services.calls.flush()  # who just called sees it
    with call.services.database.read() as connection:
        rows, total = tool_calls.list_page(
            call.tenant_id,
            connection,
            tool=query.tool,
            outcome=query.outcome,
            since=query.from_,
            before=before,
            limit=query.limit,
            offset=query.offset,
        )
        sees_all = _sees_every_space(call, connection)
    shown = [row if sees_all or row.actor == call.actor else _without_documents(row) for row in rows]
    return ToolCallList(
        items=[ToolCallRecord.model_validate(row, from_attributes=True) for row in shown],
        pagination=pagination(query, len(rows), total),
    )


def _sees_every_space(call: Call[Any, Any], connection: Connection) -> bool:
    allowed = open_spaces(call, connection)
    if allowed is None:
        return True
    _, total = kb_spaces.list_spaces(call.tenant_id, connection, limit=1, offset=0)
    return len(allowed) >= total


def _without_documents(row: ToolCall) -> ToolCall:
    """Without what names a space or a document, or what was looked for in them: another key may see more of them."""
    if row.tool not in _OF_DOCUMENTS:
        return row
    return replace(row, arguments={}, error=None if row.error is None else "not shown to this key")


OPERATIONS = (
    Operation(
        "GET", "/v1/tool-calls", list_tool_calls, "Read which tools were called", ToolCallList, query=ToolCallQuery
    ),
)
