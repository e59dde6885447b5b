"""Lists and rankings over 100,000 communications: every page is reached, on both databases."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.mcp_data import Company
from tests.contract.mcp_archive import ASKED, everything, make_archive, walked
from tests.soak.conftest import Size
from tests.support.server import RunningServer

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def test_every_page_over_a_large_archive_is_reached(
    kind: str, size: Size, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    settings = {"mcp_requests_per_minute": "100000000"}
    if kind == "postgresql":
        request.getfixturevalue("at_full_size")
        settings["database_url"] = request.getfixturevalue("postgresql_url")
    server = RunningServer(tmp_path / "data", **settings)
    try:
        account = server.start().new_client("archive")
        company = Company(communications=size.communications, days=25)
        archive = make_archive(account, company, documents=2_500, chunks=700, spaces=60)
        for tool, ways in ASKED.items():
            for asked in ways:
                if "query" in asked:
                    continue
                seen = walked(archive, tool, asked)
                assert len(set(seen)) == len(seen), (tool, asked)
                expected = everything(archive, tool, asked)
                assert expected is None or set(seen) == expected, (tool, asked)
    finally:
        server.close()
