"""The lines of a WhatsApp export: where a message begins, when it was sent, what kind of line it is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Style = Literal["bracket", "dash"]
Order = Literal["dmy", "mdy", "ymd"]

_DATE = r"(\d{1,4})([./-]) ?(\d{1,2})[./-] ?(\d{1,4})\.?"
_HALF = r"(?:[ \u202f\xa0]?([AaPpДдПп])\.?[ \u202f\xa0]?[MmПп]\.?)?"
_MOMENT = rf"{_DATE}(?:,? | klo | um | в |, в )(\d{{1,2}})[:.](\d\d)(?:[:.](\d\d))?{_HALF}"
_BRACKET = re.compile(rf"[\u200e\u200f\ufeff]{{0,3}}\[{_MOMENT}\] ?(.*)")
_DASH = re.compile(rf"[\u200e\u200f\ufeff]{{0,3}}{_MOMENT} [-–] (.*)")
_MARKS = "\u200e\u200f\u202a\u202b\u202c\u2068\u2069\ufeff"
_MAX_AUTHOR = 120
_SYSTEM = re.compile(
    r"\b(?:changed (?:the|this|their|to)|created (?:group|this)|added|removed|joined using|is now an admin|"
    r"security code|end-to-end|изменил|изменен|создал|добавил|удалил|покинул|присоедин|код безопасности|сквозн)",
    re.I,
)
_OMITTED_WORDS = r"omitted|опущен\w{0,4}|отсутству\w{1,4}|пропущен\w{0,4}|не добавлен\w{0,4}|не включен\w{0,4}"
_OMITTED = re.compile(
    rf"<(?:media omitted|без медиа(?:файл(?:ов|а))?|медиа(?:файл\w{{0,3}})? (?:{_OMITTED_WORDS}))>|"
    r"([^\n<>]{0,200}?)(?P<what>image|photo|video|video note|audio|sticker|gif|document|contact card|изображение|"
    r"фото|видео|видеосообщение|аудио|аудиофайл|голосовое сообщение|стикер|документ|карточка контакта) "
    rf"(?:{_OMITTED_WORDS})",
    re.I,
)
_ATTACHED_ANDROID = re.compile(
    r"([^\n/\\<>:]{1,200}\.\w{2,5}) "
    r"\((?:file attached|файл (?:добавлен|прикреплен|прикреплён)|datei angehängt|archivo adjunto|fichier joint)\)",
    re.I,
)
_ATTACHED_IOS = re.compile(r"<[^<>:\n]{3,40}: ([^\n<>/\\]{1,200}\.\w{2,5})>")
# Android: IMG-20260304-WA0001.jpg. iPhone: 00000012-PHOTO-2026-03-04-10-15-00.jpg, 00000034-Contract.pdf; the number is
# the message's, and one that begins like a date is none.
_GIVEN_NAME = re.compile(
    r"(?:IMG|VID|PTT|AUD|DOC|STK|GIF)-\d{8}-WA\d{4,6}\.{1,2}\w{2,5}|"
    r"\d{8}-[A-Z]{3,12}-\d{4}(?:-\d\d){5}\.\w{2,5}|"
    r"000\d{5}-[^/\\]{1,200}\.\w{2,5}"
)
_EDITED = re.compile(
    r"\s?\u200e?<(?:this message was edited|(?:это |данное )?сообщение (?:было )?(?:изменено|отредактировано))>\s*$",
    re.I,
)
_NOT_SAID = re.compile(
    r"(?:(?:this message was|you) deleted(?: this message)?|вы удалили (?:это|данное) сообщение|"
    r"(?:это |данное )?сообщение (?:было )?удалено|waiting for this message.{0,80}|"
    r"ожидание (?:этого |данного )?сообщения.{0,80}|null|(?:voice|video) call.{0,60}|(?:аудио|видео)звонок.{0,60}|"
    r"(?:missed|пропущен\w{0,6}) (?:voice |video |group |аудио|видео|групповой )?(?:call|звонок|вызов).{0,60})\.?",
    re.I,
)
_TYPES = {
    "image": "image", "photo": "image", "изображение": "image", "фото": "image", "sticker": "image", "стикер": "image",
    "video": "video", "video note": "video", "видео": "video", "видеосообщение": "video", "gif": "video",
    "audio": "audio", "аудио": "audio", "аудиофайл": "audio", "голосовое сообщение": "audio",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Head:
    """The beginning of a message: its date as three numbers, whose order is not known yet."""

    date: tuple[int, int, int]
    separator: str
    hour: int
    minute: int
    second: int
    has_halves: bool
    rest: str

    def at(self, order: Order) -> datetime | None:
        """Local time, without a zone."""
        first, second, third = self.date
        year, month, day = {
            "dmy": (third, second, first),
            "mdy": (third, first, second),
            "ymd": (first, second, third),
        }[order]
        try:
            return datetime(year + 2000 if year < 100 else year, month, day, self.hour, self.minute, self.second)  # noqa: DTZ001
        except ValueError:
            return None


def head_of(line: str, style: Style) -> Head | None:
    match = (_BRACKET if style == "bracket" else _DASH).match(line)
    if match is None:
        return None
    first, separator, second, third, hours, minute, seconds, half, rest = match.groups()
    # A log has seconds too; WhatsApp's has none without brackets.
    if style == "dash" and seconds and not half:
        return None
    hour = int(hours)
    if half:
        hour = hour % 12 + (12 if half in "PpПп" else 0)
    numbers = (int(first), int(second), int(third))
    return Head(numbers, separator, hour, int(minute), int(seconds or 0), bool(half), rest)


def style_of(line: str) -> Style | None:
    if head_of(line, "bracket"):
        return "bracket"
    return "dash" if head_of(line, "dash") else None


def author_and_text(rest: str) -> tuple[str, str] | None:
    """None for a line of the system: that somebody joined, that messages are encrypted, and so on."""
    author, colon, text = rest.partition(":")
    if not colon or len(author) > _MAX_AUTHOR or (text and text[0] not in " \u200e\u202f\xa0"):
        return None
    author = " ".join(author.strip(_MARKS + " \xa0\u202f").removeprefix("~").strip(_MARKS + " \xa0\u202f").split())
    if not author or (_SYSTEM.search(author) and len(author) > 20):
        return None
    return author, text.removeprefix(" ")


def is_given_name(name: str) -> bool:
    """Whether WhatsApp gives such names to files that are sent; documents on Android keep their own, which anybody can
    type."""
    return _GIVEN_NAME.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Content:
    """A message's text, the names of its files, and the kind of one that the export does not hold."""

    text: str
    files: tuple[str, ...] = ()
    omitted: tuple[str, ...] = ()


def content_of(text: str, style: Style) -> Content | None:
    """None where nothing was said: a deleted message, a missed call, a notice."""
    text = text[:-200] + _EDITED.sub("", text[-200:])
    first, newline, others = text.partition("\n")
    plain = first.strip(_MARKS + " \r")
    is_notice = style == "bracket" and first.startswith("\u200e")
    files = (
        [match[1].strip() for match in _ATTACHED_IOS.finditer(first)]
        if style == "bracket" and "\u200e" in first
        else []
    )
    if files:
        caption = _ATTACHED_IOS.sub("", first).strip(_MARKS + " ")
        return Content(f"{caption}{newline}{others}".strip(), tuple(files[:10]))
    match = _ATTACHED_ANDROID.fullmatch(plain)
    if match:
        return Content(others.strip(), (match[1].strip(_MARKS + " "),))
    match = _OMITTED.fullmatch(plain) if len(plain) < 300 and (is_notice or style == "dash") else None
    if match:
        return Content(others.strip(), omitted=(_TYPES.get((match["what"] or "").lower(), "file"),))
    if not newline and len(plain) < 200 and _NOT_SAID.fullmatch(plain):
        return None
    if is_notice and not re.match(r"(?:poll|опрос|location|геопозиция|местоположение)\s?:", plain, re.I):
        return None
    return Content(text.strip(_MARKS + " \r\n"))
