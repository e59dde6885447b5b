"""The Public layer's chats as an account sets them: made, changed, ended, and given another key."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from starlette.responses import Response

from accounts.clients import is_plain
from accounts.keys import make_public_key
from accounts.origins import MAX_ORIGINS, normal_origins
from api.chat import ChatListItem
from api.fields import Uuid, left_out
from api.http import Body, Call, NoInput, Operation
from api.knowledge import open_spaces
from chat.agent import ChatTool, SiteTool
from rag.model_choice import models_of_chats, resolve_model
from store import accounts, chats, kb_spaces, space_access, widget
from store.audit import Action
from store.chats import Chat
from store.database import Connection
from store.errors import Conflict, InvalidRequest, NotFound

MOST_CHATS = 100
MOST_SPACES = 100
MOST_SUGGESTIONS = 6
MOST_MESSAGES_PER_DAY = 1_000_000
_SHOWN_CHARACTERS = 200
_SPACE_FIELDS = ("default_space_ids", "site_space_ids")

Language = Literal["ru", "en"]
Scheme = Literal["auto", "light", "dark"]
Position = Literal["right", "left"]


def _plain(text: str) -> str:
    if not is_plain(text):
        raise ValueError("holds control characters")
    return text.strip()


def _each_once(values: list[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


Title = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S"), AfterValidator(_plain)]
Suggestion = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
Accent = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$", examples=["#3366cc"])]
Spaces = Annotated[list[Uuid], Field(max_length=MOST_SPACES), AfterValidator(_each_once)]


class Theme(BaseModel):
    """How the widget looks: `accent` null leaves the colour to the widget, `scheme` auto to the visitor's system."""

    accent: str | None = None
    scheme: Scheme = "auto"
    position: Position = "right"


class ThemePatch(BaseModel):
    """What is named is changed, the rest stays."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    accent: Accent | None = left_out()
    scheme: Scheme = left_out()
    position: Position = left_out()


class ChatSettings(ChatListItem):
    """A chat with all that is set for it. `model` is null for the server's own, `tools` for all that there are;
    `allowed_origins` that are empty are those of the account, `languages` that are empty all."""

    greeting: str
    suggestions: list[str]
    instructions: str
    model: str | None
    tools: list[str] | None
    site_tools: list[str]
    site_space_ids: list[str]
    theme: Theme
    languages: list[str]
    allowed_origins: list[str]
    messages_per_day: int | None
    is_active: bool


class ChatPatch(Body):
    """What is named is changed, the rest stays. A chat is made the default one by `is_default: true`, and stops to be
    it when another is made so."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Title = left_out()
    header_title: Title = left_out()
    greeting: Annotated[str, Field(max_length=1000)] = left_out()
    suggestions: Annotated[list[Suggestion], Field(max_length=MOST_SUGGESTIONS)] = left_out()
    instructions: Annotated[str, Field(max_length=8000)] = left_out()
    model: Annotated[str, Field(min_length=1, max_length=200)] | None = left_out()
    default_space_ids: Spaces = left_out()
    tools: Annotated[list[ChatTool], Field(min_length=1, max_length=20), AfterValidator(_each_once)] | None = left_out()
    site_tools: Annotated[list[SiteTool], Field(max_length=20), AfterValidator(_each_once)] = left_out()
    site_space_ids: Spaces = left_out()
    theme: ThemePatch = left_out()
    languages: Annotated[list[Language], Field(max_length=20), AfterValidator(_each_once)] = left_out()
    allowed_origins: Annotated[list[Annotated[str, Field(max_length=300)]], Field(max_length=MAX_ORIGINS)] = left_out()
    messages_per_day: Annotated[int, Field(ge=1, le=MOST_MESSAGES_PER_DAY)] | None = left_out()
    workflow_flow_id: Uuid | None = left_out()
    is_default: Literal[True] = left_out()
    is_active: bool = left_out()


class ChatBody(ChatPatch):
    """A new chat. `header_title` left out is the name; `is_default: true` takes the place of the default chat."""

    name: Title


class ChatSettingsList(BaseModel):
    items: list[ChatSettings]


class ChatModel(BaseModel):
    """`id` null is the server's own, whose `name` says which that is; `none` writes no answers, it quotes."""

    id: str | None
    name: str


class ChatModelList(BaseModel):
    items: list[ChatModel]


def list_all_chats(call: Call[NoInput, NoInput]) -> ChatSettingsList:
    with call.services.database.read() as connection:
        rows = chats.list_all(call.tenant_id, connection)
    return ChatSettingsList(items=[_settings(row) for row in rows])


def list_chat_models(call: Call[NoInput, NoInput]) -> ChatModelList:
    settings = call.services.settings
    own = ChatModel(id=None, name=resolve_model(settings).spelling)
    return ChatModelList(items=[own, *(ChatModel(id=name, name=name) for name in models_of_chats(settings))])


def read_chat(call: Call[NoInput, NoInput]) -> ChatSettings:
    with call.services.database.read() as connection:
        return _settings(_require(call, connection))


def create_chat(call: Call[NoInput, ChatBody]) -> ChatSettings:
    values = _values(call, call.body)
    becomes_default = values.pop("is_default", False)
    if becomes_default and not values.get("is_active", True):
        raise _inactive_default()
    title = values.pop("header_title", call.body.name)
    with call.services.database.write() as connection:
        accounts.get_tenant(call.tenant_id, connection, lock=True)
        if len(chats.list_all(call.tenant_id, connection)) >= MOST_CHATS:
            raise Conflict(f"There are {MOST_CHATS} chats already: delete one first.", code="too_many_chats")
        _check_spaces(call, connection, values, None)
        theme = _theme({}, values.pop("theme", {}))
        made = chats.create(
            call.tenant_id, connection, header_title=title, public_key=make_public_key(), theme=theme, **values
        )
        if becomes_default:
            chats.make_default(call.tenant_id, connection, made.id)
        _settle_default(call, connection)
        _note(call, connection, "chat.created", made, {"name": made.name})
        answer = _read(call, connection, made.id)
        call.keep(connection, answer, 201)
    return answer


def update_chat(call: Call[NoInput, ChatPatch]) -> ChatSettings:
    values = _values(call, call.body)
    with call.services.database.write() as connection:
        accounts.get_tenant(call.tenant_id, connection, lock=True)
        chat = _require(call, connection)
        _check_spaces(call, connection, values, chat)
        if "theme" in values:
            values["theme"] = _theme(chat.theme, values["theme"])
        if values.get("is_default") and not values.get("is_active", chat.is_active):
            raise _inactive_default()
        changes = {name: value for name, value in values.items() if value != getattr(chat, name)}
        if changes:
            columns = {name: value for name, value in changes.items() if name != "is_default"}
            chats.update(call.tenant_id, connection, chat.id, **columns)
            if "is_default" in changes:
                chats.make_default(call.tenant_id, connection, chat.id)
            _settle_default(call, connection)
            _note(call, connection, "chat.changed", chat, changes)
        return _read(call, connection, chat.id)


def delete_chat(call: Call[NoInput, NoInput]) -> Response:
    with call.services.database.write() as connection:
        # Conversations are locked before the account, as everywhere.
        widget.forget_chat(call.tenant_id, connection, _require(call, connection).id)
        accounts.get_tenant(call.tenant_id, connection, lock=True)
        chat = _require(call, connection)
        chats.delete(call.tenant_id, connection, chat.id)
        space_access.forget_chat(call.tenant_id, connection, chat.id)
        _note(call, connection, "chat.deleted", chat, {"name": chat.name})
    return Response(status_code=204)


def rotate_chat_key(call: Call[NoInput, NoInput]) -> ChatSettings:
    with call.services.database.write() as connection:
        accounts.get_tenant(call.tenant_id, connection, lock=True)
        chat = _require(call, connection)
        chats.update(call.tenant_id, connection, chat.id, public_key=make_public_key())
        _note(call, connection, "chat.key_rotated", chat, {"name": chat.name})
        answer = _read(call, connection, chat.id)
        call.keep(connection, answer, 200)
    return answer


def _values(call: Call[Any, Any], body: ChatPatch) -> dict[str, Any]:
    """The columns that a body names, checked as far as that needs no database. Raises InvalidRequest."""
    values: dict[str, Any] = {name: getattr(body, name) for name in body.model_fields_set}
    if "allowed_origins" in values:
        values["allowed_origins"] = normal_origins(body.allowed_origins, param="allowed_origins")
    if "theme" in values:
        values["theme"] = body.theme.model_dump(exclude_unset=True)
    if values.get("model") is not None:
        known = models_of_chats(call.services.settings)
        if body.model not in known:
            there = ", ".join(known)
            raise InvalidRequest(f"model: no such model. There are {there}; null is the server's own.", param="model")
    return values


def _check_spaces(call: Call[Any, Any], connection: Connection, values: dict[str, Any], chat: Chat | None) -> None:
    """Raises InvalidRequest for spaces that the caller may not see or the account has not; those that the same field
    of the chat names already may stay."""
    allowed = open_spaces(call, connection)
    for name in _SPACE_FIELDS:
        asked = set(values.get(name, ())) - set(getattr(chat, name) if chat is not None else ())
        if not asked:
            continue
        rows, _ = kb_spaces.list_spaces(call.tenant_id, connection, limit=MOST_SPACES, among=asked)
        seen = {row.id for row in rows if allowed is None or row.id in allowed}
        if unknown := asked - seen:
            raise InvalidRequest(f"{name}: no such space: {min(unknown)}.", param=name)
    if allowed is None or chat is None:
        return
    # A field that is emptied falls back on the wider one: what that opens is for the caller to open too.
    for name, fields in (("default_space_ids", _SPACE_FIELDS[:1]), ("site_space_ids", _SPACE_FIELDS[::-1])):
        before = next((set(getattr(chat, field)) for field in fields if getattr(chat, field)), None)
        after = next((set(there) for field in fields if (there := values.get(field, getattr(chat, field)))), None)
        if before is not None and (after is None or after - before - set(allowed)):
            raise InvalidRequest(f"{name}: this would open spaces that the key may not see.", param=name)


def _theme(stored: dict[str, Any], named: dict[str, Any]) -> dict[str, Any]:
    return Theme.model_validate({**stored, **named}).model_dump()


def _inactive_default() -> InvalidRequest:
    return InvalidRequest("is_default: a chat that is not active cannot be the default.", param="is_default")


def _settle_default(call: Call[Any, Any], connection: Connection) -> None:
    """Where the default chat is not active, the oldest one that is takes its place."""
    active = [chat for chat in chats.list_all(call.tenant_id, connection) if chat.is_active]
    if active and not any(chat.is_default for chat in active):
        chats.make_default(call.tenant_id, connection, active[0].id)


def _require(call: Call[Any, Any], connection: Connection) -> Chat:
    chat = chats.get(call.tenant_id, connection, call.path_id("chat_id", "chat"))
    if chat is None:
        raise NotFound("No such chat.")
    return chat


def _read(call: Call[Any, Any], connection: Connection, chat_id: str) -> ChatSettings:
    chat = chats.get(call.tenant_id, connection, chat_id)
    assert chat is not None, "it was there in this transaction"
    return _settings(chat)


def _settings(chat: Chat) -> ChatSettings:
    return ChatSettings.model_validate(chat, from_attributes=True)


def _note(call: Call[Any, Any], connection: Connection, action: Action, chat: Chat, details: dict[str, Any]) -> None:
    shown = {name: _shown(value) for name, value in details.items()}
    call.note(connection, action, chat.id, shown)


def _shown(value: Any) -> Any:
    is_long = isinstance(value, str) and len(value) > _SHOWN_CHARACTERS
    return value[:_SHOWN_CHARACTERS] + "…" if is_long else value


_CHAT = "/v1/chats/{chat_id}"


def _write(method: str, path: str, handler: Any, summary: str, response: Any, **options: Any) -> Operation:
    options = {"errors": (400, 401, 403, 404), **options}
    return Operation(method, path, handler, summary, response, feature="chat", paused=False, **options)


OPERATIONS = (
    Operation(
        "GET",
        "/v1/chats",
        list_all_chats,
        "List chats with their settings",
        response=ChatSettingsList,
        feature="chat",
        errors=(401, 403),
        one_read=True,
    ),
    Operation(
        "GET",
        "/v1/chats/models",
        list_chat_models,
        "List the models that a chat may be set to",
        response=ChatModelList,
        feature="chat",
        errors=(401, 403),
    ),
    _write(
        "POST",
        "/v1/chats",
        create_chat,
        "Make a chat",
        ChatSettings,
        body=ChatBody,
        status=201,
        errors=(400, 401, 403, 409),
        idempotent=True,
        audited=("chat.created",),
    ),
    Operation(
        "GET",
        _CHAT,
        read_chat,
        "Read a chat",
        response=ChatSettings,
        feature="chat",
        errors=(401, 403, 404),
        one_read=True,
    ),
    _write("PATCH", _CHAT, update_chat, "Change a chat", ChatSettings, body=ChatPatch, audited=("chat.changed",)),
    _write(
        "DELETE",
        _CHAT,
        delete_chat,
        "Delete a chat",
        None,
        status=204,
        errors=(401, 403, 404),
        audited=("chat.deleted",),
    ),
    _write(
        "POST",
        _CHAT + "/rotate-key",
        rotate_chat_key,
        "Give a chat another public key",
        ChatSettings,
        errors=(401, 403, 404),
        idempotent=True,
        audited=("chat.key_rotated",),
    ),
)
