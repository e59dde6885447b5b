"""What an account's owner does with all of it: taking everything along as one archive, and deleting the account."""

from __future__ import annotations

from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from api.fields import UtcTime
from api.http import Body, Call, NoInput, Operation
from api.media import StoredFile, send_file
from ingest import account_deletion, account_export
from store import account_exports, accounts
from store.account_exports import Export
from store.errors import Conflict, InvalidRequest, NotFound

_LISTED = 20


class ExportRecord(BaseModel):
    """The archive can be fetched once the status is success, until `expires_at`. `progress` is 0 to 1; `sha256` is the
    archive's, in hex; `ordered_by` says who asked for it."""

    id: str
    status: Literal["pending", "processing", "success", "error"]
    progress: float
    error_message: str | None
    size_bytes: int | None
    sha256: str | None
    ordered_by: str
    created_at: UtcTime
    ended_at: UtcTime | None
    expires_at: UtcTime | None


class ExportList(BaseModel):
    """The newest first."""

    items: list[ExportRecord]


class DeletionBody(Body):
    """`confirmation` is the account's name as the settings show it, so that nothing else is meant."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    confirmation: Annotated[str, Field(min_length=1, max_length=200)]


class DeletionRecord(BaseModel):
    """The account is closed; what it had is being deleted."""

    status: Literal["deleting"] = "deleting"


def create_export(call: Call[NoInput, NoInput]) -> ExportRecord:
    with call.services.database.write() as connection:
        export = account_export.order(call.tenant_id, connection, actor=call.actor)
        record = _record(export)
        call.note(connection, "account.exported", export.id)
        call.keep(connection, record, 202)
    account_export.start(export)
    return record


def list_exports(call: Call[NoInput, NoInput]) -> ExportList:
    with call.services.database.read() as connection:
        found = account_exports.list_newest(call.tenant_id, connection, limit=_LISTED)
    return ExportList(items=[_record(each) for each in found])


def read_export(call: Call[NoInput, NoInput]) -> ExportRecord:
    return _record(_export(call))


def read_export_file(call: Call[NoInput, NoInput]) -> Response:
    """Raises NotFound, and Conflict export_not_ready while it is being made."""
    export = _export(call)
    if export.status != "success" or export.ended_at is None:
        raise Conflict("The archive is not ready.", code="export_not_ready")
    made_at = export.ended_at.astimezone(ZoneInfo(call.principal.tenant.time_zone))
    name = f"parley-export-{made_at:%Y-%m-%d}.zip"
    file = StoredFile(export.id, export.blob_key, "application/zip", name, is_attachment=True)
    answer = send_file(call.services, call.request, file, _unknown())
    # The later parts of a download are the same one.
    if call.request.headers.get("range", "bytes=0-").startswith("bytes=0-"):
        with call.services.database.write() as connection:
            call.note(connection, "account.export_fetched", export.id)
    return answer


def delete_export(call: Call[NoInput, NoInput]) -> Response:
    account_export.remove(call.services.workshop, _export(call), actor=call.actor)
    return Response(status_code=204)


def delete_account(call: Call[NoInput, DeletionBody]) -> DeletionRecord:
    """Raises InvalidRequest confirmation_mismatch."""
    with call.services.database.write() as connection:
        tenant = accounts.get_tenant(call.tenant_id, connection, lock=True)
        assert tenant is not None, "a caller has an account"
        if call.body.confirmation.strip() != tenant.name.strip():
            raise InvalidRequest(
                "confirmation is not the account's name: nothing was deleted.",
                code="confirmation_mismatch",
                param="confirmation",
            )
        account_deletion.begin(tenant, connection, by="the account")
    return DeletionRecord()


def _export(call: Call[NoInput, NoInput]) -> Export:
    export_id = call.path_id("export_id", "export")
    with call.services.database.read() as connection:
        export = account_exports.get(call.tenant_id, connection, export_id)
    if export is None:
        raise _unknown()
    return export


def _unknown() -> NotFound:
    return NotFound("No such export: an archive is kept for a day.")


def _record(export: Export) -> ExportRecord:
    return ExportRecord(
        id=export.id,
        status=export.status,  # type: ignore[arg-type]
        progress=round(export.progress, 3),
        error_message=export.error_message,
        size_bytes=export.size_bytes,
        sha256=export.sha256,
        ordered_by=export.actor,
        created_at=export.created_at,
        ended_at=export.ended_at,
        expires_at=export.expires_at,
    )


OPERATIONS = (
    Operation(
        "POST",
        "/v1/account/exports",
        create_export,
        "Order an export of everything",
        response=ExportRecord,
        status=202,
        idempotent=True,
        role="owner",
        audited=("account.exported",),
    ),
    Operation(
        "GET", "/v1/account/exports", list_exports, "List exports", response=ExportList, errors=(401,), role="owner"
    ),
    Operation(
        "GET",
        "/v1/account/exports/{export_id}",
        read_export,
        "Read an export",
        response=ExportRecord,
        errors=(401, 404),
        role="owner",
    ),
    Operation(
        "GET",
        "/v1/account/exports/{export_id}/file",
        read_export_file,
        "Fetch an export's archive",
        response=None,
        content="application/zip",
        other_answers={206: None},
        request_headers={"Range": "A part of the archive, `bytes=FIRST-LAST`."},
        errors=(401, 404, 409, 416),
        role="owner",
        audited=("account.export_fetched",),
    ),
    Operation(
        "DELETE",
        "/v1/account/exports/{export_id}",
        delete_export,
        "Delete an export",
        response=None,
        status=204,
        errors=(401, 404),
        role="owner",
        audited=("account.export_deleted",),
    ),
    Operation(
        "DELETE",
        "/v1/account",
        delete_account,
        "Delete the account with everything",
        response=DeletionRecord,
        body=DeletionBody,
        status=202,
        role="owner",
        unaudited="The log goes with the account; the server's own says who deleted it.",
    ),
)
