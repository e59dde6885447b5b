"""`parley doctor`: what is ready, what is missing, and how to get it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from store.settings import Settings


@dataclass(frozen=True, slots=True)
class Finding:
    part: str
    ok: bool
    finding: str

    def row(self) -> dict[str, Any]:
        return {"part": self.part, "ok": self.ok, "finding": self.finding}


def examine(settings: Settings) -> list[Finding]:
    """One finding a part; each check speaks for itself and stops no other."""
    checks: dict[str, Callable[[Settings], tuple[bool, str]]] = {
        "database": _database,
        "blobs": _blobs,
        "speech": _speech,
        "embedding": _embedding,
        "index": _index,
        "text recognition": _ocr,
        "chat": _chat,
        "cameras": _cameras,
        "web part": _web,
    }
    findings = []
    for part, check in checks.items():
        try:
            ok, text = check(settings)
        # The doctor names every fault that it meets, whatever it is, and goes on.
        except Exception as error:
            ok, text = False, f"{type(error).__name__}: {error}"
        findings.append(Finding(part, ok, text))
    return findings


def _database(settings: Settings) -> tuple[bool, str]:
    from accounts.installation import refuse_other_secret
    from accounts.keys import Keyring
    from store import migrate
    from store.database import Database
    from store.errors import InvalidRequest

    database = Database(settings)
    try:
        shown = database.shown_url
        if says := migrate.trouble(database):
            return False, f"{shown}: {says}"
        if says := migrate.newer(database):
            return True, f"{shown}: {says} Its schema works with this one too."
        try:
            with database.read() as connection:
                refuse_other_secret(connection, Keyring.of(settings))
        except InvalidRequest as error:
            return False, f"{shown}: {error}"
        if late := migrate.missing_indexes(database):
            return False, f"{shown} lacks indexes ({len(late)}), so searches are slow: run `parley migrate`"
        most, wanted = database.most_connections(), settings.database_pool + settings.jobs_database_pool
        if most is not None and most < wanted:
            return False, (
                f"{shown} takes {most} connections, and one process may want {wanted}: raise its max_connections, or "
                "lower PARLEY_DATABASE_POOL and PARLEY_JOBS_DATABASE_POOL"
            )
        return True, f"{shown} is up to date"
    finally:
        database.close()


def _blobs(settings: Settings) -> tuple[bool, str]:
    from store.blobs import Blobs

    blobs = Blobs(settings)
    key = "doctor/probe"
    blobs.put(key, b"ok")
    blobs.delete(key)
    return True, f"recordings and documents are kept in {settings.blob_url or settings.data_dir / 'blobs'}"


def _speech(settings: Settings) -> tuple[bool, str]:
    from ingest.speech.recognise import choose_engine

    engine = choose_engine(settings)
    return True, f"calls are recognised by {Path(engine.model_path).name} ({engine.kind}, {engine.device})"


def _embedding(settings: Settings) -> tuple[bool, str]:
    from rag.embedding import choose_embedder

    spec = choose_embedder(settings)
    if spec is None:
        return False, "no embedding model is installed, so searches go by words alone: run `parley models pull`"
    return True, f"passages are embedded by {spec.name}"


def _ocr(settings: Settings) -> tuple[bool, str]:
    from ingest.documents import ocr

    folder = ocr.find_models(settings)
    if folder is None:
        return False, "scans and images are not read: run `parley models pull tesseract-rus-eng`"
    return True, f"scans and images are read by Tesseract, Russian and English ({folder})"


def _index(settings: Settings) -> tuple[bool, str]:
    """Without opening it: a running server owns it. A Qdrant server is asked whether it is there and new enough."""
    from ingest.index_state import describe_state
    from rag.index_places import open_place
    from store.errors import Unavailable

    if settings.qdrant_url:
        try:
            open_place(settings).names()
        except Unavailable as error:
            return False, str(error)
    return describe_state(settings)


def _chat(settings: Settings) -> tuple[bool, str]:
    from chat.engines import describe_engine

    return describe_engine(settings)


def _cameras(settings: Settings) -> tuple[bool, str]:
    from ingest.vision.models import describe_models

    return describe_models(settings)


def _web(_settings: Settings) -> tuple[bool, str]:
    from api.site import WEB_FOLDER

    built = all((WEB_FOLDER / page).is_file() for page in ("demo.html", "cabinet/index.html"))
    return built, "the pages are built" if built else "the pages are not built: run `make web`"
