"""Facts are merged over contacts: replaced, not piled up, whatever order contacts are analysed in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import permutations

from ingest.analysis.findings import Fact, Quote
from ingest.analysis.memory import MOST_FACTS_OF_A_PERSON, Changes, Known, merge

MONDAY = datetime(2026, 3, 9, 9, 0, tzinfo=UTC)
TUESDAY = MONDAY + timedelta(days=1)
FRIDAY = MONDAY + timedelta(days=4)


def _fact(content: str, key: str = "city", person: str = "ivan") -> Fact:
    return Fact(person, key, content, Quote(content.lower(), 0, "A"))


def _apply(known: Sequence[Known], changes: Changes) -> list[Known]:
    """As the store does it."""
    meta = dict(changes.confirmed)
    left = [item for item in known if item.id not in changes.forget]
    kept = [
        Known(
            item.id,
            item.speaker_id,
            item.key,
            item.content,
            item.communication_id,
            item.at,
            meta.get(item.id, item.meta),
        )
        for item in left
    ]
    first = max((int(item.id) for item in known), default=0) + 1
    return kept + [
        Known(f"{first + at}", new.speaker_id, new.key, new.content, new.communication_id, new.at, new.meta)
        for at, new in enumerate(changes.add)
    ]


def _learn(known: Sequence[Known], found: Sequence[Fact], at: datetime, communication: str) -> list[Known]:
    return _apply(known, merge(known, found, at, communication))


def test_a_new_fact_is_added_with_its_source() -> None:
    [item] = _learn([], [_fact("Живёт в Твери")], MONDAY, "c1")
    assert (item.content, item.communication_id, item.at) == ("Живёт в Твери", "c1", MONDAY)
    assert item.meta["quote"] == "живёт в твери"
    assert "replaces" not in item.meta


def test_a_changed_fact_takes_the_old_ones_place_and_keeps_what_it_replaced() -> None:
    known = _learn([], [_fact("Живёт в Твери")], MONDAY, "c1")
    [item] = _learn(known, [_fact("Живёт в Клину")], FRIDAY, "c2")
    assert (item.content, item.communication_id) == ("Живёт в Клину", "c2")
    assert item.meta["replaces"] == {"content": "Живёт в Твери", "communication_id": "c1", "at": MONDAY.isoformat()}


def test_the_same_said_again_is_no_second_item() -> None:
    known = _learn([], [_fact("Живёт в Твери")], MONDAY, "c1")
    [item] = _learn(known, [_fact("живет в  Твери.")], FRIDAY, "c2")
    assert (item.content, item.communication_id) == ("Живёт в Твери", "c1")
    assert item.meta["confirmed_in"] == "c2"


def test_the_same_words_under_another_key_are_no_second_item() -> None:
    known = _learn([], [_fact("Живёт в Твери")], MONDAY, "c1")
    assert not merge(known, [_fact("Живёт в Твери", key="moved")], FRIDAY, "c2")


def test_an_older_contact_that_is_analysed_later_does_not_overwrite() -> None:
    known = _learn([], [_fact("Живёт в Клину")], FRIDAY, "c2")
    assert not merge(known, [_fact("Живёт в Твери")], MONDAY, "c1")


def test_what_was_said_again_since_is_newer_than_a_contact_between() -> None:
    known = _learn([], [_fact("Живёт в Твери")], MONDAY, "c1")
    known = _learn(known, [_fact("Живёт в Твери")], FRIDAY, "c3")
    assert not merge(known, [_fact("Живёт в Клину")], TUESDAY, "c2")


def test_the_last_contact_counts_in_whatever_order_they_are_analysed() -> None:
    contacts = (("Живёт в Твери", MONDAY, "c1"), ("Живёт в Клину", TUESDAY, "c2"), ("Живёт в Орле", FRIDAY, "c3"))
    for order in permutations(contacts):
        known: list[Known] = []
        for content, at, communication in order:
            known = _learn(known, [_fact(content)], at, communication)
        assert [item.content for item in known] == ["Живёт в Орле"]


def test_a_second_run_changes_nothing() -> None:
    known = _learn([], [_fact("Живёт в Твери"), _fact("Двое детей", "family:children")], MONDAY, "c1")
    found = [_fact("Живёт в Клину"), _fact("Двое детей", "family:children"), _fact("Кот", "pet:кот")]
    once = _learn(known, found, FRIDAY, "c2")
    assert not merge(once, found, FRIDAY, "c2")


def test_a_second_run_that_reads_another_value_replaces_its_own_and_keeps_the_history() -> None:
    known = _learn([], [_fact("Живёт в Твери")], MONDAY, "c1")
    known = _learn(known, [_fact("Живёт в Клане")], FRIDAY, "c2")
    [item] = _learn(known, [_fact("Живёт в Клину")], FRIDAY, "c2")
    assert item.content == "Живёт в Клину"
    assert item.meta["replaces"]["content"] == "Живёт в Твери"


def test_a_second_run_that_finds_nothing_gives_back_what_was_replaced() -> None:
    known = _learn([], [_fact("Живёт в Твери")], MONDAY, "c1")
    known = _learn(known, [_fact("Живёт в Клину"), _fact("Кот", "pet:кот")], FRIDAY, "c2")
    [item] = _learn(known, [], FRIDAY, "c2")
    assert (item.content, item.communication_id, item.at) == ("Живёт в Твери", "c1", MONDAY)


def test_people_and_keys_do_not_mix() -> None:
    known = _learn([], [_fact("Живёт в Твери"), _fact("Живёт в Твери", person="olga")], MONDAY, "c1")
    known = _learn(known, [_fact("Живёт в Клину"), _fact("Кот", "pet:кот")], FRIDAY, "c2")
    assert {(item.speaker_id, item.key, item.content) for item in known} == {
        ("ivan", "city", "Живёт в Клину"),
        ("ivan", "pet:кот", "Кот"),
        ("olga", "city", "Живёт в Твери"),
    }


def test_of_two_values_in_one_contact_the_later_one_stays() -> None:
    [item] = _learn([], [_fact("Живёт в Твери"), _fact("Живёт в Клину")], MONDAY, "c1")
    assert item.content == "Живёт в Клину"
    assert "replaces" not in item.meta


def test_the_history_and_the_number_of_facts_are_bounded() -> None:
    known: list[Known] = []
    for day in range(40):
        known = _learn(known, [_fact(f"Живёт в городе {day}")], MONDAY + timedelta(days=day), f"c{day}")
    depth, step = 0, known[0].meta
    while "replaces" in step:
        depth, step = depth + 1, step["replaces"]
    assert 1 < depth <= 6
    many = [_fact(f"Товар {number}", f"equipment:{number}") for number in range(MOST_FACTS_OF_A_PERSON)]
    known = _learn(known, many, MONDAY + timedelta(days=90), "c90")
    assert len(known) == MOST_FACTS_OF_A_PERSON
    assert all(item.key != "city" for item in known)


def test_an_empty_fact_is_not_kept() -> None:
    assert not merge([], [_fact("  ")], MONDAY, "c1")
