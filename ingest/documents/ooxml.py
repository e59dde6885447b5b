"""What Office documents have in common (ECMA-376, Open Packaging Conventions): content types, relationships, titles.

A relationship is followed one step at a time, by the parts that a reader asks for, so circles of them lead nowhere.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from urllib.parse import unquote

from ingest.documents import xml
from ingest.documents.archives import Archive
from ingest.documents.parsed import DocumentError

_MAX_RELATIONS = 100_000
_EMPTY_TITLES = frozenset({"powerpoint presentation", "презентация powerpoint", "word document", "документ word"})


@dataclass(frozen=True, slots=True)
class Relation:
    """`kind` is the last word of its type: styles, slide, hyperlink. `target` is a part's name, or an address."""

    kind: str
    target: str
    is_external: bool


class Package:
    """The parts of an Office document and how they belong together."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive

    def main_part(self) -> str:
        """The name of the document's main part. Raises DocumentError where it has none."""
        target = next((found.target for found in self.relations("").values() if found.kind == "officeDocument"), None)
        if target is None or target not in self.archive:
            raise DocumentError("unreadable", "It is damaged: its main part is missing.")
        return target

    def main_type(self) -> str:
        """The main part's content type in lower case, empty where it is not said."""
        try:
            main = "/" + self.main_part().lstrip("/").casefold()
        except DocumentError as error:
            if error.code == "unreadable":
                return ""
            raise
        suffix = main.rpartition(".")[2]
        by_suffix = ""
        with self.archive.open("[Content_Types].xml") as part:
            for event, element in xml.walk(part, whole=(), marks={"ct:Override", "ct:Default"}):
                if event != "start":
                    continue
                content_type = element.get("ContentType", "").lower()
                if element.get("PartName", "").casefold() == main:
                    return content_type
                if element.get("Extension", "").casefold() == suffix:
                    by_suffix = content_type
        return by_suffix

    def relations(self, part_name: str) -> dict[str, Relation]:
        """The relationships of a part by their ids; of the whole package, where the name is empty."""
        folder, name = posixpath.split(part_name)
        rels = posixpath.join(folder, "_rels", f"{name}.rels")
        if rels not in self.archive:
            return {}
        found: dict[str, Relation] = {}
        with self.archive.open(rels) as part:
            for event, element in xml.walk(part, whole=(), marks={"rel:Relationship"}):
                if event != "start":
                    continue
                if len(found) >= _MAX_RELATIONS:
                    raise DocumentError("too_large", f"A part of it has more than {_MAX_RELATIONS:,} relationships.")
                target = element.get("Target", "")
                is_external = element.get("TargetMode") == "External"
                if not is_external:
                    target = posixpath.normpath(posixpath.join("/", folder, unquote(target))).lstrip("/")
                kind = element.get("Type", "").rpartition("/")[2]
                found[element.get("Id", "")] = Relation(kind, target, is_external)
        return found

    def title(self) -> str:
        """The title that its author gave the document; empty where there is none but a program's own."""
        for found in self.relations("").values():
            if found.kind == "core-properties" and found.target in self.archive:
                try:
                    with self.archive.open(found.target) as part:
                        title = next((x.text or "" for _, x in xml.walk(part, whole={"dc:title"})), "")
                except DocumentError:  # a title is not worth a document
                    return ""
                return "" if title.strip().casefold() in _EMPTY_TITLES else title
        return ""
