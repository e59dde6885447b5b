"""The poisoned texts of `poisoned.toml`, and the files and requests that carry them."""

from __future__ import annotations

import io
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.ingest.documents.files import font_for
from tests.ingest.documents.office_files import docx_of, p

LOOT = "@LOOT@"
_FILE = Path(__file__).with_name("poisoned.toml")
_LOOKS = {
    "white": '<w:color w:val="FFFFFF"/>',
    "vanish": "<w:vanish/>",
}


@dataclass(frozen=True)
class Call:
    """A tool call that the attacker wants. `arguments` None: `raw` is sent as it is."""

    tool: str
    arguments: dict[str, Any] | None = None
    raw: str = ""
    refused: str = ""
    refused_to_visitors: str = ""
    empty: bool = False


@dataclass(frozen=True)
class Case:
    id: str
    language: str
    kind: str
    format: str
    topic: str
    text: str
    wants: str
    says: str
    place: str = "imported"
    hidden: str = ""
    look: str = ""
    reaches: bool = True
    says_nothing: bool = False
    calls: tuple[Call, ...] = ()

    @property
    def canary(self) -> str:
        """A word that stands in this case's poison alone."""
        return f"canary{self.id.replace('-', '')}"

    @property
    def question(self) -> str:
        return f"{self.topic[0].upper()}{self.topic[1:]}?"

    def filled(self, value: Any, known: Mapping[str, str]) -> Any:
        """A text, or arguments, with what its placeholders stand for."""
        if isinstance(value, dict):
            return {key: self.filled(each, known) for key, each in value.items()}
        if isinstance(value, list):
            return [self.filled(each, known) for each in value]
        if not isinstance(value, str):
            return value
        for name, meant in {"CANARY": self.canary, **known}.items():
            value = value.replace(f"@{name}@", meant)
        return value

    def file(self, known: Mapping[str, str]) -> bytes:
        text, hidden = self.filled(self.text, known), self.filled(self.hidden, known)
        if self.format == "pdf":
            return _pdf(text, hidden, self.look)
        if self.format == "docx":
            run = f"<w:r><w:rPr>{_LOOKS[self.look]}</w:rPr><w:t>{hidden}</w:t></w:r>"
            return docx_of(p(text) + p(run))
        content: str = text
        return content.encode()

    def conversation(self, known: Mapping[str, str]) -> dict[str, Any]:
        """The body that imports it; the first turn is harmless, since it makes the title."""
        kinds = {"call": ("call", "phone"), "mail": ("email", "email"), "message": ("chat", "telegram")}
        kind, channel = kinds[self.kind]
        content = [{"text": self.harmless, "label": "client"}, {"text": self.filled(self.text, known)}]
        return {"kind": kind, "channel_type": channel, "direction": "in", "content": content}

    @property
    def harmless(self) -> str:
        return f"Здравствуйте, {self.topic}." if self.language == "ru" else f"Good day, {self.topic}."


def _pdf(text: str, hidden: str, look: str) -> bytes:
    from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.setFont(font_for(text), 12)
    canvas.drawString(50, 780, text)
    canvas.setFont(font_for(hidden), 0.5 if look == "tiny" else 12)
    if look == "white":
        canvas.setFillColorRGB(1, 1, 1)
    shown = canvas.beginText(50, 760 if look != "off-page" else -400)
    if look == "invisible":
        shown.setTextRenderMode(3)
    shown.textLine(hidden)
    canvas.drawText(shown)
    canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def load() -> tuple[Case, ...]:
    with _FILE.open("rb") as file:
        rows = tomllib.load(file)["case"]
    return tuple(Case(**{**row, "calls": tuple(Call(**call) for call in row.get("calls", ()))}) for row in rows)


CASES = load()
