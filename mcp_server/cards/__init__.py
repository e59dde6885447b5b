"""Conversations, documents, people and cameras as readable Markdown, with what is quoted marked line by line."""

from mcp_server.cards.camera import camera_card
from mcp_server.cards.camera_events import EVENTS_URI, EventSearch, camera_events_card
from mcp_server.cards.communication import communication_card
from mcp_server.cards.document import document_card
from mcp_server.cards.frame import SCHEME, Card, uri_of
from mcp_server.cards.person import person_card

__all__ = [
    "EVENTS_URI",
    "SCHEME",
    "Card",
    "EventSearch",
    "camera_card",
    "camera_events_card",
    "communication_card",
    "document_card",
    "person_card",
    "uri_of",
]
