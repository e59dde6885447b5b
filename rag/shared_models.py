"""The language models of one process: a chat's and the background's, over one child where the model is local."""

from __future__ import annotations

import threading

from rag.language_model import LitellmModel, open_language_model, open_local_model
from rag.local_model import LocalModel
from rag.structured import BackgroundModel, ModelClosed, open_background_model
from store.settings import Settings


class SharedModels:
    """Opened when first asked for, so that a model installed meanwhile is found. Safe to use from any thread.

    After `close` nothing is opened: whoever asks gets ModelClosed.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opening = threading.Lock()
        self._local: LocalModel | None = None
        self._background: BackgroundModel | None = None
        self._closed = False

    def open_chat(self, wanted: str | None = None) -> LitellmModel | None:
        """The server's model, or the one that a chat wants, for the loop that calls; close it there. The local child
        stays."""
        with self._opening:
            self._check_open()
            return open_language_model(self._settings, wanted=wanted, local=self._shared(wanted))

    def background(self) -> BackgroundModel | None:
        """The one for job steps, or None where none is configured or installed. Not the caller's to close."""
        with self._opening:
            self._check_open()
            if self._background is None:
                self._background = open_background_model(self._settings, self._shared())
            return self._background

    def close(self) -> None:
        """Ends background work at once, then the child."""
        with self._opening:
            self._closed = True
            background, local = self._background, self._local
        if background is not None:
            background.close()
        if local is not None:
            local.close()

    def _check_open(self) -> None:
        if self._closed:
            raise ModelClosed("The server is stopping.", retry_after_s=5)

    def _shared(self, wanted: str | None = None) -> LocalModel | None:
        if self._local is None:
            self._local = open_local_model(self._settings, wanted)
        return self._local
