"""A company that is named by a part of its name, misheard, or only in an address."""

from __future__ import annotations

import pytest

from ingest.analysis.catalogs import Language
from ingest.analysis.conversation import Company
from ingest.analysis.findings import Value
from tests.ingest.analysis.criteria_talks import CLIENT, OPERATOR, talk, votes


@pytest.mark.parametrize(
    ("language", "company", "text", "value"),
    [
        ("en", "Granite Climbing", "Granite, this is Noor.", True),
        ("en", "Granite Climbing", "The wall is made of granite.", False),
        ("en", "Little Hammers Music", "Thanks for getting in touch with Little Hammers.", True),
        ("en", "Hearthside Heating", "half side heating good morning", True),
        ("en", "Wren & Sparrow Bakery", "wren and sparrow good morning", True),
        ("en", "Plotline", "Write to help@plotline.example.com.", False),
        ("en", "Plotline", "It is at plotline.example.com/help.", False),
        ("ru", "Химчистка Айсберг", "айсберг добрый день", True),
        ("ru", "Обь Энергосбыт", "добрый вечер обэнергосбыт", True),
    ],
)
def test_a_company_is_named_by_what_is_its_own_in_the_name(
    language: Language, company: str, text: str, value: Value
) -> None:
    said = talk((OPERATOR, text), (CLIENT, "ok"), language=language, company=Company((company,)))
    assert votes(said)["brand_mention"].value is value
