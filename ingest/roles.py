"""What a process of an installation does: all of it, answering alone, or work alone."""

from __future__ import annotations

from typing import Literal

from ingest.speech import recognise
from ingest.vision.models import find_models
from rag.embedding import choose_embedder
from store.errors import InvalidRequest
from store.settings import WORK, Settings, Work
from store.weights import ModelMissing

Role = Literal["all", "api", "worker"]


def check_role(role: Role, settings: Settings) -> None:
    """Raises InvalidRequest where a process of this role could not work with the others of its installation."""
    if role == "all":
        return
    if not settings.qdrant_url or not settings.blob_url:
        raise InvalidRequest(
            "Several processes need one index and one blob store: set PARLEY_QDRANT_URL and PARLEY_BLOB_URL."
        )
    if choose_embedder(settings) is None:
        # It would search and fill an index of its own, by words alone.
        raise InvalidRequest("The embedding model is missing, and all processes need the same: parley models pull.")


def work_of(role: Role, settings: Settings) -> tuple[Work, ...]:
    """What a process of this role works on. Where it is the only one it takes everything, so that what cannot be done
    here ends with its reason; one of several workers leaves to the others what it has no models for.

    Raises InvalidRequest for a model that the settings name and that is not there, and where calls are to be taken that
    could not be heard: they would end in an error that another worker would not make. (Cameras that look for codes
    alone need no detector.)
    """
    if role == "api":
        return ()
    if role == "all":
        return WORK
    if not settings.worker_takes:
        return tuple(work for work in WORK if _is_able(work, settings))
    if "speech" in settings.worker_takes:
        try:
            recognise.choose_engine(settings)
        except ModelMissing as error:
            raise InvalidRequest(f"PARLEY_WORKER_TAKES names speech, and it cannot be done here: {error}") from None
    return settings.worker_takes


def _is_able(work: Work, settings: Settings) -> bool:
    if work == "speech":
        try:
            recognise.choose_engine(settings)
        except ModelMissing:
            return False
    return work != "vision" or "objects" in find_models(settings)
