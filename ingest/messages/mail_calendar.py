"""An invitation in a mail as a few lines of text."""

from __future__ import annotations

import re

from ingest.messages.reading import is_russian

_MAX_LINES = 2_000
_PROPERTY = re.compile(r"(SUMMARY|LOCATION|DTSTART|DTEND|METHOD|DESCRIPTION)((?:;[^:\n]{0,200})?):(.*)", re.IGNORECASE)
_TIME = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)\d\d(Z?))?")
_ZONE = re.compile(r"TZID=([^;:]{1,60})", re.IGNORECASE)
_WORDS = {
    "REQUEST": ("Invitation", "Приглашение"),
    "PUBLISH": ("Event", "Событие"),
    "REPLY": ("Reply to an invitation", "Ответ на приглашение"),
    "CANCEL": ("Cancelled event", "Отменённое событие"),
}


def calendar_text(text: str) -> str:
    """What, when and where of the first event; empty where there is none."""
    lines = text[:200_000].replace("\r\n", "\n").replace("\n ", "").replace("\n\t", "").split("\n")[:_MAX_LINES]
    found: dict[str, str] = {}
    in_event = False
    for line in lines:
        if line.strip().upper() == "BEGIN:VEVENT":
            in_event = True
        elif line.strip().upper() == "END:VEVENT":
            break
        match = _PROPERTY.match(line)
        if match and (in_event or match[1].upper() == "METHOD"):
            value = _time(match[3], match[2]) if match[1].upper().startswith("DT") else _plain(match[3])
            found.setdefault(match[1].upper(), value)
    if not found.get("SUMMARY") and not found.get("DTSTART"):
        return ""
    russian = is_russian(found.get("SUMMARY", "") + found.get("DESCRIPTION", ""))
    kind = _WORDS.get(found.get("METHOD", "").upper(), _WORDS["PUBLISH"])[russian]
    when = " – ".join(found[key] for key in ("DTSTART", "DTEND") if found.get(key))
    rows = [f"{kind}: {found.get('SUMMARY', '')}".strip(), when, found.get("LOCATION", "")]
    return "\n".join(row for row in rows if row)


def _time(value: str, parameters: str) -> str:
    match = _TIME.match(value.strip())
    if match is None:
        return value.strip()[:40]
    year, month, day, hour, minute, utc = match.groups()
    zone = _ZONE.search(parameters)
    time = f" {hour}:{minute}{' UTC' if utc else f' ({zone[1]})' if zone else ''}" if hour else ""
    return f"{year}-{month}-{day}{time}"


def _plain(value: str) -> str:
    return value[:2000].replace("\\n", "\n").replace("\\,", ",").replace("\\;", ";").replace("\\\\", "\\").strip()
