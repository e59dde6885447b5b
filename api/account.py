"""What an account sets for itself: settings, API keys, and the log of what was done."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from accounts import clients
from accounts.origins import MAX_ORIGINS, normal_origins
from accounts.outbound import check_url, without_path
from api.deliveries import probe
from api.fields import Moment, UtcTime, left_out
from api.http import Body, Call, NoInput, Operation
from api.paging import PageQuery, Pagination, pagination
from store import accounts, audit
from store.accounts import ApiKey, Tenant
from store.database import Database, now
from store.errors import InvalidRequest
from store.operators import OWNER

MAX_RETENTION_DAYS = 36_500
AUDIT_KEPT_DAYS = 400
_PURGED_AT_ONCE = 1000
_PURGED_A_SWEEP = 5000

Language = Literal["ru", "en"]
RetentionDays = Annotated[int, Field(ge=1, le=MAX_RETENTION_DAYS)]


class AccountSettings(BaseModel):
    """`name` is what the account is called in the cabinet. `retention` is in days, null keeps everything for good;
    `audio_retention`, in days, is of recordings and sound in messages, whose texts stay, null keeps them as long as the
    texts; `camera_retention`, in days, is of what cameras saw.
    `webhook_url` is null where nothing is sent; people of the cabinet who are no owners see its host alone.
    `memory`, `qc` and `voices` say whether communications are analysed for them; voices are remembered only where it is
    true."""

    name: str
    webhook_url: str | None
    time_zone: str
    language: Language
    widget_origins: list[str]
    retention: int | None
    audio_retention: int | None
    camera_retention: int
    memory: bool
    qc: bool
    voices: bool


class SettingsPatch(Body):
    """What is named is changed, the rest stays. `webhook_url`: empty or null turns notifications off; another one is
    tried with a test request first."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")] = left_out()
    webhook_url: Annotated[str, Field(max_length=4096)] | None = left_out()
    time_zone: Annotated[str, Field(min_length=1, max_length=64, examples=["Europe/Moscow"])] = left_out()
    language: Language = left_out()
    widget_origins: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=MAX_ORIGINS)] = left_out()
    retention: RetentionDays | None = left_out()
    audio_retention: RetentionDays | None = left_out()
    camera_retention: RetentionDays = left_out()
    memory: bool = left_out()
    qc: bool = left_out()
    voices: bool = left_out()


class KeyBody(Body):
    """`name` says what the key is for."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]


class KeyRecord(BaseModel):
    """`issuer` is integration for the partner's own, else account; `revoked_at` is null while the key is live."""

    id: str
    name: str
    prefix: str
    issuer: Literal["account", "integration"]
    created_at: UtcTime
    revoked_at: UtcTime | None


class NewKeyRecord(KeyRecord):
    """`api_key` is shown this once."""

    api_key: str


class KeyList(BaseModel):
    items: list[KeyRecord]
    pagination: Pagination


class AuditQuery(PageQuery):
    """`actor`: part of who did it."""

    actor: str | None = Field(None, min_length=1, max_length=200)
    action: str | None = Field(
        None,
        min_length=1,
        max_length=400,
        examples=["key", "key.created", "space,document"],
        description="What was done, or its kind, which stands before the point; several with commas between them.",
    )
    from_: Moment | None = Field(None, alias="from")
    to: Moment | None = None


class AuditRecord(BaseModel):
    """`actor` did `action` to `subject`, which is null for the account itself."""

    id: str
    at: UtcTime
    actor: str
    action: str
    subject: str | None
    details: dict[str, Any]


class AuditList(BaseModel):
    items: list[AuditRecord]
    pagination: Pagination


_COLUMNS = {
    "retention": "retention_days",
    "audio_retention": "audio_days",
    "camera_retention": "camera_days",
    "memory": "memory_enabled",
    "qc": "qc_enabled",
    "voices": "voices_enabled",
}


def read_settings(call: Call[NoInput, NoInput]) -> AccountSettings:
    with call.services.database.read() as connection:
        tenant = accounts.get_tenant(call.tenant_id, connection)
    assert tenant is not None, "a caller has an account"
    return _settings(call, tenant)


def update_settings(call: Call[NoInput, SettingsPatch]) -> AccountSettings:
    body = call.body
    values = {_COLUMNS.get(name, name): getattr(body, name) for name in body.model_fields_set}
    if "name" in values:
        values["name"] = body.name.strip()
        clients.check_name(values["name"])
    if "time_zone" in values:
        clients.check_time_zone(body.time_zone)
    if "widget_origins" in values:
        values["widget_origins"] = tuple(normal_origins(body.widget_origins, param="widget_origins"))
    if "webhook_url" in values:
        values["webhook_url"] = _tested_url(call, body.webhook_url)
    with call.services.database.write() as connection:
        tenant = accounts.get_tenant(call.tenant_id, connection, lock=True)
        assert tenant is not None, "a caller has an account"
        changed = clients.change(tenant, connection, actor=call.actor, action="settings.changed", **values)
    return _settings(call, changed)


def _tested_url(call: Call[Any, Any], url: str | None) -> str | None:
    """The URL to keep, None for none. Raises InvalidRequest where a new one's receiver does not answer a test, and
    RateLimited over the bounds of tests."""
    if not url or not url.strip():
        return None
    url = check_url(url, param="webhook_url")
    if url != call.principal.tenant.webhook_url:
        result = probe(call, url)
        if not result.ok:
            raise InvalidRequest(f"webhook_url: the test request failed. {result.error}", param="webhook_url")
    return url


def _settings(call: Call[Any, Any], tenant: Tenant) -> AccountSettings:
    url = tenant.webhook_url
    return AccountSettings(
        name=tenant.name,
        webhook_url=url if url is None or call.principal.has_role(OWNER) else without_path(url),
        time_zone=tenant.time_zone,
        language=tenant.language,  # type: ignore[arg-type]
        widget_origins=list(tenant.widget_origins),
        retention=tenant.retention_days,
        audio_retention=tenant.audio_days,
        camera_retention=tenant.camera_days,
        memory=tenant.memory_enabled,
        qc=tenant.qc_enabled,
        voices=tenant.voices_enabled,
    )


def list_keys(call: Call[PageQuery, NoInput]) -> KeyList:
    query = call.query
    with call.services.database.read() as connection:
        rows, total = accounts.list_keys_page(call.tenant_id, connection, limit=query.limit, offset=query.offset)
    return KeyList(
        items=[KeyRecord(**_key(row)) for row in rows],
        pagination=pagination(query, len(rows), total),
    )


def create_key(call: Call[NoInput, KeyBody]) -> NewKeyRecord:
    with call.services.database.write() as connection:
        record, text = clients.add_key(
            call.tenant_id, connection, call.services.keyring, name=call.body.name.strip(), actor=call.actor
        )
        answer = NewKeyRecord(**_key(record), api_key=text)
        call.keep(connection, answer, 201)
    return answer


def delete_key(call: Call[NoInput, NoInput]) -> Response:
    """A key may end itself, but not the account's last one: nobody could make another."""
    key_id = call.path_id("key_id", "key")
    with call.services.database.write() as connection:
        clients.revoke_key(call.tenant_id, connection, key_id, actor=call.actor, keep_last=True)
    return Response(status_code=204)


def _key(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "name": key.name,
        "prefix": key.prefix,
        "issuer": key.issuer,
        "created_at": key.created_at,
        "revoked_at": key.revoked_at,
    }


def list_audit(call: Call[AuditQuery, NoInput]) -> AuditList:
    query = call.query
    before = None
    if query.to is not None:
        # Items show milliseconds: one that shows the bound itself is within it.
        before = query.to.replace(microsecond=query.to.microsecond // 1000 * 1000) + timedelta(milliseconds=1)
    with call.services.database.read() as connection:
        rows, total = audit.list_page(
            call.tenant_id,
            connection,
            actor=query.actor,
            actions=query.action.split(",") if query.action else (),
            since=query.from_,
            before=before,
            limit=query.limit,
            offset=query.offset,
        )
    return AuditList(
        items=[AuditRecord.model_validate(row, from_attributes=True) for row in rows],
        pagination=pagination(query, len(rows), total),
    )


def forget_old_audit(database: Database) -> None:
    """Housekeeping: deletes entries of the audit log after their time, in batches, up to a bound."""
    before = now() - timedelta(days=AUDIT_KEPT_DAYS)
    for _ in range(_PURGED_A_SWEEP // _PURGED_AT_ONCE):
        with database.write(durable=False) as connection:
            purged = audit.purge(connection, before=before, limit=_PURGED_AT_ONCE)
        if purged < _PURGED_AT_ONCE:
            return


OPERATIONS = (
    Operation("GET", "/v1/settings", read_settings, "Read the account's settings", AccountSettings, errors=(401,)),
    Operation(
        "PATCH",
        "/v1/settings",
        update_settings,
        "Change the account's settings",
        AccountSettings,
        body=SettingsPatch,
        errors=(400, 401, 403, 429),
        paused=False,
        role="owner",
        audited=("settings.changed",),
    ),
    Operation("GET", "/v1/keys", list_keys, "List API keys", KeyList, query=PageQuery),
    Operation(
        "POST",
        "/v1/keys",
        create_key,
        "Make an API key",
        NewKeyRecord,
        body=KeyBody,
        status=201,
        errors=(400, 401, 403, 409, 422),
        paused=False,
        idempotent=True,
        role="owner",
        audited=("key.created",),
    ),
    # A key that leaked must be ended in any state of the account.
    Operation(
        "DELETE",
        "/v1/keys/{key_id}",
        delete_key,
        "End an API key",
        None,
        status=204,
        errors=(401, 404, 409),
        role="owner",
        audited=("key.revoked",),
    ),
    Operation("GET", "/v1/audit", list_audit, "Read what was done in the account", AuditList, query=AuditQuery),
)
