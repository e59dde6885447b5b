"""The Public layer's chats as an account sets them."""

from __future__ import annotations

from api.chat import ChatListItem
from api.http import Call, NoInput, Operation
from store import chats
from store.errors import NotFound


class ChatSettings(ChatListItem):
    """A chat with what its visitors are greeted by."""

    greeting: str
    suggestions: list[str]
    is_active: bool


def read_chat(call: Call[NoInput, NoInput]) -> ChatSettings:
    with call.services.database.read() as connection:
        chat = chats.get(call.tenant_id, connection, call.path_id("chat_id", "chat"))
    if chat is None:
        raise NotFound("No such chat.")
    return ChatSettings.model_validate(chat, from_attributes=True)


OPERATIONS = (
    Operation(
        "GET",
        "/v1/chats/{chat_id}",
        read_chat,
        "Read a chat",
        response=ChatSettings,
        feature="chat",
        errors=(401, 403, 404),
        one_read=True,
    ),
)
