"""Takes from a mail what its author did not write now: quotations of earlier mails, and the signature at its end.

Own work, since the libraries there are know next to no Russian client (quotequail found 4 of 9 such quotations,
mail-parser-reply none) and need more than ten seconds for a hostile text. Everything here is linear in the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_MAX_SHINGLES = 1_000_000
_SHINGLE_WORDS = 4
_MAX_ATTRIBUTION_LINES = 4
_MAX_ATTRIBUTION_CHARACTERS = 400
_MAX_SIGNATURE_LINES = 20
_HELD_SHARE = 0.8
_MIN_TAIL_WORDS = 8

_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"[ \t]{0,3}(?:[A-ZА-ЯЁ]{1,4})?>")
_MARKS = re.compile(r"[ \t]{0,3}(?:[A-ZА-ЯЁ]{1,4})?>[> \t]{0,40}")
_MONTH = (
    r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|янв|фев|мар|апр|мая|май|июн|июл|авг|сен|окт|ноя|дек)\w{0,10}"
)
_DATE = re.compile(
    rf"\d{{1,4}}[./-]\d{{1,2}}[./-]\d{{2,4}}|\b\d{{1,2}}(?:st|nd|rd|th)?[ -]{_MONTH}|\b{_MONTH}\.? \d{{1,2}}\b", re.I
)
_TIME = re.compile(r"\b\d{1,2}[:.]\d\d\b")
_VERB = re.compile(
    r"\b(?:wrote|writes|has written|(?:на)?писал(?:а|\(а\)|и)?|пишет|пишете|schrieb|a écrit|escribió)(?!\w)", re.I
)
_ADDRESS = re.compile(r"[<\[(](?:mailto:)?[^\s<>@\[\]()]{1,100}@[^\s<>@\[\]()]{1,255}[>\])]|\S{1,100}@[\w.-]{1,100}:$")
_WRAPPED_START = re.compile(
    r"(?:on|at|in|le|am|el|\d|пн|вт|ср|чт|пт|сб|вс|понед|втор|сред|четв|пятн|субб|воскр|вы писали|пользователь|mon|tue|"
    r"wed|thu|fri|sat|sun)",
    re.I,
)
_HEADER_LINE = re.compile(
    r"[ \t]{0,4}\*{0,2}([A-Za-zА-Яа-яё-]{2,12}(?: [A-Za-zА-Яа-яё]{2,12})?)\*{0,2}[ \t]?:\*{0,2}(?:\s|$)"
)
_HEADERS = {
    "from": "from", "от": "from", "от кого": "from", "отправитель": "from", "von": "from", "de": "from",
    "sent": "date", "date": "date", "дата": "date", "отправлено": "date", "отправлен": "date", "gesendet": "date",
    "datum": "date", "дата отправки": "date",
    "to": "to", "кому": "to", "получатель": "to", "an": "to", "cc": "cc", "копия": "cc", "kopie": "cc",
    "subject": "subject", "тема": "subject", "betreff": "subject", "objet": "subject",
    "reply-to": "other", "importance": "other", "важность": "other", "attachments": "other", "вложения": "other",
}  # fmt: skip
_FORWARD_WORDS = (
    r"(?:begin )?forwarded message|перес(?:ылаем|лан+)ое (?:сообщение|письмо)|перенаправленное (?:сообщение|письмо)|"
    r"переадресованное (?:сообщение|письмо)|weitergeleitete nachricht"
)
_ORIGINAL_WORDS = (
    r"original message|original appointment|исходное (?:сообщение|письмо)|"
    r"оригинал(?:ьное)? (?:сообщения|сообщение|письмо)|ursprüngliche nachricht"
)
_FORWARD_MARK = re.compile(
    rf"[ \t]{{0,4}}(?:[-_=*]{{2,60}}[ \t]{{0,4}}(?:{_FORWARD_WORDS})[ \t]{{0,4}}:?[-_=* \t]{{0,60}}|"
    rf"(?:begin forwarded message|начало (?:переадресованного|пересылаемого|пересланного) (?:сообщения|письма)):)$",
    re.I,
)
_ORIGINAL_MARK = re.compile(
    rf"[ \t]{{0,4}}[-_=*]{{2,60}}[ \t]{{0,4}}(?:{_ORIGINAL_WORDS})[ \t]{{0,4}}:?[-_=* \t]{{0,60}}$", re.I
)
_RULE = re.compile(r"[ \t]{0,4}[-_]{10,100}$")
_SENT_FROM = re.compile(
    r"(?:sent from (?:my |outlook|mail|yahoo|proton)|sent (?:via|with) |get outlook for|отправлено (?:с|со|из|через) |"
    r"скачать outlook|получить outlook|von meinem \w{1,20} gesendet)[^\n]{0,100}$",
    re.I,
)


@dataclass(slots=True)
class Earlier:
    """What was written in a thread before, by runs of a few words, each with who wrote it first."""

    _writers: dict[int, str] = field(default_factory=dict)

    def add(self, text: str, writer: str) -> None:
        for shingle in _shingles(text):
            if len(self._writers) >= _MAX_SHINGLES:
                return
            self._writers.setdefault(shingle, writer)

    def holds(self, text: str, but_of: str | None = None) -> bool:
        """Whether most of it was written before, by somebody else than `but_of`."""
        shingles = _shingles(text)
        found = sum(shingle in self._writers and self._writers[shingle] != but_of for shingle in shingles)
        return bool(shingles) and found >= len(shingles) * _HELD_SHARE


def own_text(text: str, writer: str, earlier: Earlier, *, is_reply: bool, is_forward: bool) -> str:
    """What the writer adds with this mail. The original of a forward stays where the thread does not have it, and so
    does what looks like a quotation in a mail that answers none."""
    lines = text.split("\n")
    kept: list[str] = []
    quoted: list[str] = []
    original: list[str] = []  # of a forward
    position = 0
    while position < len(lines):
        line = lines[position]
        if _QUOTED.match(line):
            end = _end_of_quote(lines, position)
            block = [_unquoted(each) for each in lines[position:end]]
            if is_reply or earlier.holds("\n".join(block)):
                quoted += block
            else:
                kept += block
            position = end
            continue
        begins = _history_begins(lines, position)
        if begins is not None:
            is_original = begins == "forward" or (is_forward and begins == "headers")
            rest = [_unquoted(each) for each in lines[position:]]
            if is_original and not earlier.holds(_without_headers(rest)):
                original = rest
            else:
                quoted += rest
            break
        length = _attribution(lines, position, kept)
        if length:
            after = _next_filled(lines, position + length)
            if after < len(lines) and _QUOTED.match(lines[after]):
                if not is_reply and not earlier.holds("\n".join(map(_unquoted, lines[after : after + 20]))):
                    kept += lines[position : position + length]
                position += length
                continue
            if _is_strong(" ".join(lines[position : position + length])) and (is_reply or not is_forward):
                quoted += lines[position + length :]
                break
        kept.append(line)
        position += 1
    own = _without_signature(kept)
    if is_reply:
        own = _without_repeated_end(own, writer, earlier)
    result = "\n".join(own).strip()
    if original:
        return f"{result}\n\n{chr(10).join(original).strip()}".strip()
    if not result:
        left = "\n".join(quoted).strip()
        return "" if earlier.holds(left) else left
    return result


def _history_begins(lines: list[str], position: int) -> str | None:
    line = lines[position]
    if _FORWARD_MARK.match(line):
        return "forward"
    if _ORIGINAL_MARK.match(line):
        return "headers"
    start = position + 1 if _RULE.match(line) else position
    return "headers" if _has_headers(lines, _next_filled(lines, start, 2)) else None


def _has_headers(lines: list[str], position: int) -> bool:
    """Whether a mail's header, as clients put it above the original, begins on that very line."""
    if position >= len(lines) or _header_key(lines[position]) not in {"from", "date"}:
        return False
    keys: set[str] = set()
    others = 0
    for line in lines[position : position + 20]:
        if not line.strip():
            continue
        key = _header_key(line)
        if key is None:
            others += 1
            if others > 2:
                break
        else:
            keys.add(key)
    return "from" in keys and len(keys & {"date", "to", "subject"}) >= 2


def _header_key(line: str) -> str | None:
    match = _HEADER_LINE.match(line[:200])
    return _HEADERS.get(match[1].lower()) if match else None


def _without_headers(lines: list[str]) -> str:
    """What a forwarded mail says itself."""

    def is_text(line: str) -> bool:
        is_attribution = line.rstrip().endswith(":") and len(line) < _MAX_ATTRIBUTION_CHARACTERS and _is_strong(line)
        return not (is_attribution or _header_key(line) or _FORWARD_MARK.match(line) or _RULE.match(line))

    return "\n".join(filter(is_text, lines))


def _attribution(lines: list[str], position: int, kept: list[str]) -> int:
    """How many lines "On such a day somebody wrote:" takes from here; 0 where it is none."""
    joined = ""
    for count in range(1, _MAX_ATTRIBUTION_LINES + 1):
        if position + count > len(lines) or not lines[position + count - 1].strip():
            return 0
        joined = f"{joined} {lines[position + count - 1].strip()}".strip()
        if len(joined) > _MAX_ATTRIBUTION_CHARACTERS:
            return 0
        if count == 2 and (not _WRAPPED_START.match(joined) or (kept and kept[-1].strip())):
            return 0
        if joined.endswith(":"):
            hints = [bool(pattern.search(joined)) for pattern in (_DATE, _TIME, _VERB, _ADDRESS)]
            return count if sum(hints) >= 2 or joined.lower().startswith("вы писали") else 0
    return 0


def _is_strong(attribution: str) -> bool:
    """Whether it can be nothing else, so that all below is a quotation without being marked as one."""
    dated, timed, verb, address = (bool(each.search(attribution)) for each in (_DATE, _TIME, _VERB, _ADDRESS))
    return dated and timed and (verb or address)


def _end_of_quote(lines: list[str], position: int) -> int:
    while position < len(lines) and _QUOTED.match(lines[position]):
        position += 1
    return position


def _next_filled(lines: list[str], position: int, most: int = 3) -> int:
    for step in range(most):
        if position + step >= len(lines) or lines[position + step].strip():
            return position + step
    return position


def _unquoted(line: str) -> str:
    match = _MARKS.match(line)
    return line[match.end() :] if match else line


def _without_signature(lines: list[str]) -> list[str]:
    text_lines = len(lines)
    while text_lines and not lines[text_lines - 1].strip():
        text_lines -= 1
    lines = lines[:text_lines]
    for back in range(1, min(_MAX_SIGNATURE_LINES, len(lines)) + 1):
        if lines[-back].rstrip() == "--":
            lines = lines[:-back]
            break
    filled = 0
    for back in range(1, min(10, len(lines)) + 1):
        line = lines[-back].strip()
        filled += bool(line)
        if filled > 3:
            break
        if len(line) < 120 and _SENT_FROM.match(line):
            lines = lines[:-back]
            break
    return lines


def _without_repeated_end(lines: list[str], writer: str, earlier: Earlier) -> list[str]:
    """Without an earlier mail's text at the end that nothing marks as quoted."""
    end = len(lines)
    words = 0
    while end:
        start = end
        while start and lines[start - 1].strip():
            start -= 1
        paragraph = "\n".join(lines[start:end])
        if paragraph.strip():
            if not earlier.holds(paragraph, but_of=writer):
                break
            words += len(paragraph.split())
        end = max(start - 1, 0) if start else 0
    return lines[:end] if words >= _MIN_TAIL_WORDS else lines


def _shingles(text: str) -> set[int]:
    words = _WORD.findall(text.casefold())
    if len(words) < _SHINGLE_WORDS:
        return {hash(tuple(words))} if words else set()
    return {hash(tuple(words[at : at + _SHINGLE_WORDS])) for at in range(len(words) - _SHINGLE_WORDS + 1)}
