"""An import with as many files as mail boxes have, on both databases."""

from __future__ import annotations

import pytest

from tests.ingest.office import Office
from tests.ingest.office import office as office
from tests.ingest.test_import_media import assert_files_go
from tests.store.conftest import database as database

pytestmark = pytest.mark.soak

MANY = 66_000
"""More than a statement's parameters on PostgreSQL."""


def test_as_many_files_as_mail_boxes_have_go_with_their_communications(office: Office) -> None:
    assert_files_go(office, MANY)
