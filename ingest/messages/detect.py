"""Which kind of export a file is, by its content, and its conversations."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath
from typing import Literal
from zoneinfo import ZoneInfo

from ingest.messages import mail, telegram, telegram_html, whatsapp
from ingest.messages.archive import Archive
from ingest.messages.imported import ImportedConversation
from ingest.messages.mail_headers import decode_text, header_fields
from ingest.messages.reading import MAX_UNPACKED_BYTES, FindFile, Media, Own, Unreadable
from ingest.messages.whatsapp_lines import is_given_name

__all__ = ["Unreadable", "is_export", "read_export"]

Kind = Literal["mail", "telegram", "telegram_html", "whatsapp", "zip"]

HEAD_BYTES = 64 * 1024
SUPPORTED = (
    "Mail (.eml, .mbox), Telegram Desktop's export (result.json or messages.html) and WhatsApp's (_chat.txt) are "
    "supported, also as a ZIP archive."
)
_HEADER = re.compile(r"[!-9;-~]{1,100}:")
_MAIL_SIGNS = frozenset({"from", "date", "subject", "message-id", "received", "to"})
_TELEGRAM_SIGN = re.compile(r'"(?:messages|chats|left_chats|personal_information)"\s{0,20}:')
_ZIP = b"PK\x03\x04"
_KNOWN = {
    b"\xd0\xcf\x11\xe0": "It is a file of Outlook or an old Office document: save the mails as .eml.",
    b"!BDN": "It is a mail box of Outlook (.pst): export the mails as .eml or .mbox.",
    b"PK\x05\x06": "The ZIP archive is empty.",
}
_MAIL_SUFFIXES = frozenset({".eml", ".mbox", ".mbx"})
_CHAT_SUFFIXES = frozenset({".json", ".html", ".txt"})
_MAX_TRIED = 200  # files that may be a chat, the outermost first


def read_export(
    path: Path,
    work_folder: Path,
    *,
    own_addresses: Collection[str] = (),
    own_names: Collection[str] = (),
    zone: str = "UTC",
    declared_name: str | None = None,
    export_folder: Path | None = None,
) -> Iterator[ImportedConversation]:
    """The conversations in the export, each read when it is asked for; at the first, the whole file is looked through.

    Files of messages are written into `work_folder`; those of a Telegram or WhatsApp export that is no archive are
    found in `export_folder` (None: not at all) and stay where they are; of WhatsApp's, outside of a folder that is the
    chat's own, only such as have names that WhatsApp gives. `own_addresses` are addresses or domains of
    the company, `own_names` names or ids of its people in chats. `zone` is that of times without one. `declared_name`
    is the file's own name, where `path` is not: a WhatsApp chat is named by it. Raises Unreadable. Meant for a child
    process.
    """
    name = declared_name or path.name
    own = Own(own_addresses, own_names)
    media = Media(work_folder)
    kind = _kind(_head(path), name)
    if kind == "zip":
        yield from _read_archive(path, name, media, own, ZoneInfo(zone))
    elif kind == "mail":
        yield from mail.conversations([path], media, own, ZoneInfo(zone))
    else:
        find = _in_folder(export_folder)
        with path.open("rb") as file:
            if kind == "telegram":
                yield from telegram.conversations(file, find, own, ZoneInfo(zone))
            elif kind == "whatsapp":
                yield from whatsapp.conversations(file, name, _of_chat(export_folder), own, ZoneInfo(zone))
            else:
                pages = [path, *telegram_html.further_pages(export_folder)]
                yield from telegram_html.conversations((page.read_bytes() for page in pages), find, own, ZoneInfo(zone))


def is_export(path: Path, declared_name: str | None = None) -> bool:
    """Whether the file looks like an export, so that it is not taken for a document. A ZIP counts by what is in it."""
    name = declared_name or path.name
    try:
        kind = _kind(_head(path), name)
        if kind != "zip":
            return True
        with Archive(path) as archive:
            return bool(_members(archive, name))
    # Whatever a file makes of this, it is none.
    except Exception:
        return False


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def _kind(head: bytes, name: str) -> Kind:
    """Raises Unreadable."""
    if head.startswith(_ZIP):
        return "zip"
    for magic, message in _KNOWN.items():
        if head.startswith(magic):
            raise Unreadable(message)
    if not head.strip():
        raise Unreadable("There is nothing in it.")
    text = head.decode("utf-8-sig", errors="replace").lstrip()
    if text.startswith("{"):
        if _TELEGRAM_SIGN.search(text):
            return "telegram"
        raise Unreadable(f"{telegram.NO_EXPORT} {SUPPORTED}")
    if telegram_html.looks_like(text):
        return "telegram_html"
    if whatsapp.looks_like(text, name):
        return "whatsapp"
    if _is_mail(head):
        return "mail"
    raise Unreadable(f"It is no export that is known here. {SUPPORTED}")


def _is_mail(head: bytes) -> bool:
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    if head.startswith(b"From "):
        head = head.partition(b"\n")[2]
    first = decode_text(head[:2000]).partition("\n")[0]
    return bool(_HEADER.match(first)) and len(_MAIL_SIGNS & header_fields(head).keys()) >= 2


def _in_folder(folder: Path | None) -> FindFile:
    """Finds files of an unpacked export; nothing outside of its folder, and no links."""
    root = folder.resolve() if folder else None

    def find(name: str) -> Path | None:
        if root is None:
            return None
        path = root / name
        try:
            inside = path.resolve().is_relative_to(root) and path.is_file() and not path.is_symlink()
        except (OSError, ValueError):
            return None
        return path if inside else None

    return find


def _of_chat(folder: Path | None) -> FindFile:
    """The same for a chat of WhatsApp, whose other side can type what names a file: of a folder that may hold anything,
    downloads say, it must not name any file."""
    find = _in_folder(folder)
    if folder is None or whatsapp.chat_name(folder.name):
        return find
    return lambda name: find(name) if is_given_name(name) else None


def _read_archive(path: Path, name: str, media: Media, own: Own, zone: ZoneInfo) -> Iterator[ImportedConversation]:
    with Archive(path) as archive:
        members = _members(archive, name)
        if not members:
            raise Unreadable(f"There is no export in the ZIP archive. {SUPPORTED}")
        mails: list[Path] = []
        for member, kind in members.items():
            find = _in_archive(archive, member, media)
            if kind == "mail":
                unpacked = archive.unpack(member, media, MAX_UNPACKED_BYTES)
                mails += [unpacked] if unpacked else []
            elif kind == "telegram":
                with archive.open(member) as file:
                    yield from telegram.conversations(file, find, own, zone)
            elif kind == "whatsapp":
                chat = member if whatsapp.chat_name(member) else name
                with archive.open(member) as file:
                    yield from whatsapp.conversations(file, chat, find, own, zone)
            else:
                pages = telegram_html.pages_of(member, archive.names)
                yield from telegram_html.conversations(
                    (archive.head(page, telegram_html.MAX_PAGE_BYTES) for page in pages), find, own, zone
                )
        if mails:
            yield from mail.conversations(mails, media, own, zone)
            for each in mails:
                each.unlink(missing_ok=True)


def _in_archive(archive: Archive, member: str, media: Media) -> FindFile:
    """Files beside the export's own, in the same folder of the archive."""
    folder = PurePosixPath(member).parent

    def find(name: str) -> Path | None:
        return archive.unpack(str(folder / name), media)

    return find


def _members(archive: Archive, name: str) -> dict[str, Kind]:
    """The exports in an archive, told by content; only names that one can have are looked at. Files that were sent
    lie beside a chat, or below it: they are no exports, whatever is in them."""
    found: dict[str, Kind] = {}
    chats: list[PurePosixPath] = []
    tried = 0
    for is_mail, _, member in sorted((_is_named_as_mail(each), each.count("/"), each) for each in archive.names):
        path = PurePosixPath(member)
        if not is_mail and path.suffix.lower() not in _CHAT_SUFFIXES:
            continue
        if any(path.is_relative_to(chat) for chat in chats) and not whatsapp.chat_name(member):
            continue
        tried += not is_mail
        if tried > _MAX_TRIED and not is_mail:
            continue
        try:
            kind = _kind(archive.head(member, HEAD_BYTES), _whatsapp_name(member, name))
        except Unreadable:
            continue
        if kind == "zip" or (kind == "mail") != is_mail:
            continue
        if kind == "telegram_html" and path.name != "messages.html":
            continue
        found[member] = kind
        if kind != "mail":
            chats.append(path.parent)
    return found


def _is_named_as_mail(member: str) -> bool:
    return PurePosixPath(member).suffix.lower() in _MAIL_SUFFIXES


def _whatsapp_name(member: str, name: str) -> str:
    """The name that a chat in an archive goes by: its own, or the archive's where it is only "_chat.txt"."""
    return member if whatsapp.chat_name(member) else f"{name} {member}" if "_chat" in member else name
