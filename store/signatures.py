"""Whether a bucket takes what this machine signs: S3 refuses what is signed a quarter of an hour off its own time."""

from __future__ import annotations

import time

import structlog

from store.clocks import CLOCK
from store.settings import Settings

log = structlog.get_logger(__name__)

_DIFFERS_FROM_S = 600.0
_ASKS_EVERY_S = 5.0
_NOBODYS = "a-key-of-nothing"


class Signatures:
    """Of this process, for the bucket that the settings name; where they name none, all is well."""

    def __init__(self, settings: Settings) -> None:
        self._store = None
        self._are_taken = True
        self._asks_again_s = 0.0
        if settings.blob_url:
            from obstore.store import S3Store

            # No options of the client's: they would take the place of those that AWS_* variables name.
            self._store = S3Store.from_url(settings.blob_url, retry_config={"max_retries": 0})

    def are_taken(self) -> bool:
        """The bucket is asked where this machine's clock and the database's are far from each other, of which either
        may be wrong. Safe to use from several threads: while one asks, the others are told what was so before."""
        if self._store is None or abs(CLOCK.ahead_s) <= _DIFFERS_FROM_S:
            return True
        if time.monotonic() >= self._asks_again_s:
            self._asks_again_s = time.monotonic() + _ASKS_EVERY_S
            are_taken = self._ask()
            if are_taken != self._are_taken:
                log.warning("the bucket takes or refuses what is signed by this machine's clock", takes=are_taken)
            self._are_taken = are_taken
        return self._are_taken

    def _ask(self) -> bool:
        import obstore
        from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError

        assert self._store is not None
        try:
            obstore.get(self._store, _NOBODYS)
        except (PermissionDeniedError, UnauthenticatedError) as error:
            return "AccessDenied" in str(error)  # for want of the right to list, which has nothing to do with time
        except (FileNotFoundError, BaseError):
            pass  # where it does not answer at all, nobody else is better off
        return True
