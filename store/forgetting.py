"""Takes the name of a person who is forgotten out of what was written about them, and out of names of files."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from store.analysis import summaries, summary_items
from store.communications import communications, content_items
from store.corrections import corrections
from store.media import media
from store.people import list_aliases
from store.speakers import communication_speakers, get, list_former_names
from store.transcriptions import UNFINISHED, transcription_tasks

GONE_NAME = "—"
"""Stands where the name of a person who was forgotten stood."""
_LEAST_NAME_CHARACTERS = 3
_ROWS_AT_ONCE = 500
_WORD = re.compile(r"[^\W_]+")
_THERE = communication_speakers.c

Forms = Callable[[str], Iterable[str]]
Change = Callable[[Any], Any]
"""From the value of a column to what is to stand in its place."""


def take_name_out(tenant_id: str, connection: Connection, speaker_id: str, forms_of: Forms) -> list[str]:
    """Puts GONE_NAME in place of a person's full name, of those that they went by before, and of those merged into
    them, in each form that `forms_of` has of it, in what was written about their communications: titles, which are made
    of names, names of files, summaries, facts, promises, what others are remembered by, and who was corrected to be
    whom. What was said stays as it was said. The ids of those whose memory has changed, which the index is to follow.
    """
    speaker = get(tenant_id, connection, speaker_id)
    if speaker is None:
        return []
    aliases = list_aliases(tenant_id, connection, speaker_id)
    former = list_former_names(tenant_id, connection, speaker_id)
    names = {name for name in (speaker.name, *former, *(alias.name for alias in aliases)) if name}
    external_ids = {speaker.external_id, *(alias.external_id for alias in aliases)}
    called = names | {external_id for external_id in external_ids if external_id}
    moved = corrections.c
    for column in (moved.before, moved.after):
        connection.execute(
            sa.update(corrections)
            .where(moved.tenant_id == tenant_id, moved.kind == "speaker", column.in_(called))
            .values({column.name: GONE_NAME})
        )
    forms = {form for name in names for form in forms_of(name) if len(form) >= _LEAST_NAME_CHARACTERS}
    if not forms:
        return []
    in_text, in_file_name = _in_texts(forms), _in_file_names(forms)
    _take_out_of_texts(tenant_id, connection, speaker_id, in_text, in_file_name)
    return _take_out_of_items(tenant_id, connection, _attended(tenant_id, speaker_id), in_text)


def _take_out_of_texts(
    tenant_id: str, connection: Connection, speaker_id: str, in_text: Change, in_file_name: Change
) -> None:
    def in_title(title: str) -> str:
        # A call's title is the name of its file.
        cleaned: str = in_file_name(in_text(title))
        return cleaned

    def in_files(files: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**file, "name": in_file_name(file["name"])} if file.get("name") else file for file in files]

    tasks = transcription_tasks
    changes: tuple[tuple[sa.Table, sa.Column[Any], dict[str, Change]], ...] = (
        (communications, communications.c.id, {"title": in_title}),
        (summaries, summaries.c.communication_id, {"text": in_text, "user_summary": in_text}),
        (content_items, content_items.c.communication_id, {"media": in_files}),
        (media, media.c.communication_id, {"name": in_file_name}),
        (tasks, tasks.c.communication_id, {"file_name": in_file_name}),
    )
    for table, belongs_to, change in changes:
        there: sa.ColumnElement[bool] = belongs_to.in_(_attended(tenant_id, speaker_id))
        if table is content_items:
            there &= sa.cast(content_items.c.media, sa.String) != "[]"  # few of very many have files
        _rewrite(tenant_id, connection, table, there, change)


def _rewrite(
    tenant_id: str, connection: Connection, table: sa.Table, there: sa.ColumnElement[bool], change: dict[str, Change]
) -> None:
    """Changes columns of the rows that are `there`, where anything changes."""
    key = list(table.primary_key.columns)
    query = sa.select(*key, *(table.c[name] for name in change)).where(table.c.tenant_id == tenant_id, there)
    changed = []
    for row in connection.execute(query.execution_options(yield_per=_ROWS_AT_ONCE)):
        before = {name: row._mapping[name] for name in change}
        after = {name: change[name](value) if value else value for name, value in before.items()}
        if after != before:
            its_key = {f"key_{column.name}": row._mapping[column.name] for column in key}
            changed.append(its_key | {f"new_{name}": value for name, value in after.items()})
    if not changed:
        return
    its_row = (column == sa.bindparam(f"key_{column.name}", type_=column.type) for column in key)
    values: dict[str, Any] = {name: sa.bindparam(f"new_{name}", type_=table.c[name].type) for name in change}
    if "version" in table.c:  # by which those who have read it know that it is another
        values["version"] = table.c.version + 1
    connection.execute(sa.update(table).where(table.c.tenant_id == tenant_id, *its_row).values(values), changed)


def _take_out_of_items(
    tenant_id: str, connection: Connection, attended: sa.Select[tuple[str]], in_text: Change
) -> list[str]:
    table = summary_items.c
    query = sa.select(table.id, table.speaker_id, table.item_type, table.content, table.meta).where(
        table.tenant_id == tenant_id, table.communication_id.in_(attended)
    )
    changed = set()
    for item_id, of_speaker, item_type, content, meta in connection.execute(query).all():
        without = (in_text(content), _unquoted(meta, in_text))
        if without == (content, meta):
            continue
        values = {"content": without[0], "meta": without[1]}
        connection.execute(
            sa.update(summary_items).where(table.tenant_id == tenant_id, table.id == item_id).values(**values)
        )
        if item_type == "memory" and of_speaker is not None:
            changed.add(of_speaker)
    return sorted(changed)


def lock(tenant_id: str, connection: Connection, speaker_id: str) -> None:
    """Locks the communications of a person, whose names are to change, and before them the tasks that have not ended,
    as who ends one does. A task that has ended comes after its communication, as where that is deleted."""
    tasks, attended = transcription_tasks.c, _attended(tenant_id, speaker_id)
    in_work = sa.select(tasks.id).where(
        tasks.tenant_id == tenant_id, tasks.communication_id.in_(attended), tasks.status.in_(UNFINISHED)
    )
    theirs = sa.select(communications.c.id).where(
        communications.c.tenant_id == tenant_id, communications.c.id.in_(attended)
    )
    for query in (in_work.order_by(tasks.id), theirs.order_by(communications.c.id)):
        connection.execute(query.with_for_update(key_share=True)).all()


def _attended(tenant_id: str, speaker_id: str) -> sa.Select[tuple[str]]:
    return sa.select(_THERE.communication_id).where(_THERE.tenant_id == tenant_id, _THERE.speaker_id == speaker_id)


def _unquoted(value: Any, in_text: Change) -> Any:
    """JSON whose texts are changed; quotations stay."""
    if isinstance(value, str):
        return in_text(value)
    if isinstance(value, list):
        return [_unquoted(each, in_text) for each in value]
    if isinstance(value, dict):
        return {key: each if key == "quote" else _unquoted(each, in_text) for key, each in value.items()}
    return value


def _in_texts(forms: Iterable[str]) -> Change:
    """Takes forms of names out of a text, where they stand as they are written and are not the beginning or the end of
    another word, or of a name that a hyphen goes on with: Иван Петров-Водкин is somebody else."""
    names = "|".join(map(re.escape, _longest_first(forms)))
    pattern = re.compile(rf"(?<!\w)(?:{names})(?!\w|-[A-ZА-ЯЁ])")
    return lambda text: pattern.sub(GONE_NAME, text)


def _in_file_names(forms: Iterable[str]) -> Change:
    """The same of a file's name, where case, order and what stands between the words are anybody's choice:
    `petrova_anna.wav`. It is taken out as a whole word, or between digits."""
    patterns = set()
    for form in forms:
        words = [re.escape(word) for word in _WORD.findall(unicodedata.normalize("NFC", form))]
        patterns |= {r"[\W_]{0,3}".join(each) for each in (words, words[::-1]) if words}
    if not patterns:
        return lambda name: name
    pattern = re.compile(rf"(?<![^\W\d_])(?:{'|'.join(_longest_first(patterns))})(?![^\W\d_])", re.IGNORECASE)

    def without(name: str) -> str:
        composed = unicodedata.normalize("NFC", name)  # some systems take letters and their marks apart
        return pattern.sub(GONE_NAME, composed) if pattern.search(composed) else name

    return without


def _longest_first(texts: Iterable[str]) -> Sequence[str]:
    return sorted(texts, key=lambda text: (-len(text), text))
