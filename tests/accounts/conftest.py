"""The accounts' tests run on both databases too."""

from __future__ import annotations

from tests.store.conftest import database as database
