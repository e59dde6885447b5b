"""What the database ranks is what plain Python counts over the same conversations, on both databases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import product
from statistics import fmean
from typing import Any, cast, get_args

import pytest
import sqlalchemy as sa

from store import accounts, analysis, communications, rankings_people, rankings_qc, rankings_signals, speakers
from store.analysis import NewItem, summary_items
from store.database import Database
from store.ids import new_id
from store.rankings import Page, Wanted
from store.settings import Settings
from store.signals import SIGNALS, due_day, value_key, value_keys
from tests.store import rankings_data as data
from tests.store.rankings_data import DAYS, START, TODAY, Held, groups, in_order, names_of, people_of
from tests.support.migrated import migrated_postgresql, migrated_sqlite

PERIOD = Wanted(START, START + timedelta(days=DAYS))
ALL = Page(1000)
LEAST = Page(1000, least=True)


@dataclass(frozen=True)
class Company:
    database: Database
    tenant_id: str
    held: list[Held]

    def within(self, wanted: Wanted) -> list[Held]:
        return [
            each
            for each in self.held
            if wanted.start <= each.at < wanted.end
            and wanted.kind in (None, each.kind)
            and wanted.channel_type in (None, each.channel_type)
            and wanted.direction in (None, each.direction)
            and (wanted.speaker_id is None or wanted.speaker_id in {one.profile.id for one in each.people})
        ]

    @property
    def names(self) -> dict[str, str]:
        return names_of(self.held)

    @property
    def busiest(self) -> str:
        counted = Counter(person.profile.id for each in self.within(PERIOD) for person in each.people)
        return counted.most_common(1)[0][0]


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgresql)])
def company(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Company]:
    """Two companies lie in the database; this is one of them."""
    folder, url = tmp_path_factory.mktemp("rankings"), ""
    if request.param == "postgresql":
        url = migrated_postgresql(request.getfixturevalue("postgresql_cluster"))
    else:
        migrated_sqlite(folder)
    database = Database(Settings(data_dir=folder, database_url=url, _env_file=None))  # type: ignore[call-arg]
    with database.write() as connection:
        tenant_id, held = data.make_company(connection)
        data.make_company(connection, conversations=20, seed=6)
    yield Company(database, tenant_id, held)
    database.close()


FILTERS: list[dict[str, Any]] = [
    {},
    {"kind": "call"},
    {"channel_type": "telegram", "direction": "in"},
    {"start": START + timedelta(days=4), "end": START + timedelta(days=9)},
]


def mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None


def people_figures(held: list[Held], is_of: Callable[[data.Person], bool]) -> dict[str, Any]:
    """Of the people that `is_of` says are the group's."""
    there = [(each, [person for person in each.people if is_of(person)]) for each in held]
    heard = [(each, [one for one in people if one.talk_ms is not None]) for each, people in there]
    talk = sum(one.talk_ms or 0 for _, people in heard for one in people)
    whole = sum(each.all_talk_ms for each, people in heard if people)
    known = any(people for _, people in heard)
    days = [day for _, people in there for one in people for day in one.promises]
    overdue = sum(day is not None and day < TODAY for day in days)
    scores = [each.score for each in held if each.score is not None]
    return {
        "communications": len(held),
        "talk": talk if known else None,
        "talk_share": talk / whole if whole else None,
        "qc_score": mean(scores),
        "promises": len(days),
        "open_promises": len(days) - overdue,
        "overdue_promises": overdue,
        "evaluations": len(scores),
        "last_at": max(each.at for each in held),
    }


@pytest.mark.parametrize("filters", FILTERS)
@pytest.mark.parametrize("role", [None, "client", "staff", "support"])
@pytest.mark.parametrize("group", get_args(rankings_people.Group))
def test_people_and_departments_are_ranked_by_every_figure(
    company: Company, filters: dict[str, Any], role: str | None, group: rankings_people.Group
) -> None:
    wanted = replace(PERIOD, role=role, **filters)
    held = groups(company.within(wanted), people_of(role, group))
    expected = {
        key: people_figures(
            each,
            lambda person, key=key: (  # type: ignore[misc]
                data.has_role(person, role)
                and key == (person.profile.id if group == "person" else person.profile.department)
            ),
        )
        for key, each in held.items()
    }
    for by, page in product(get_args(rankings_people.By), (ALL, LEAST)):
        with company.database.read() as connection:
            found = rankings_people.rank_people(
                company.tenant_id, connection, wanted, page, group=group, by=by, today=TODAY
            )
        figures = {key: each[by] for key, each in expected.items()}
        assert [row.key for row in found] == in_order(figures, company.names, least=page.least)
        for row in found:
            counted = expected[row.key]
            whole = (row.communications, row.talk_ms, row.evaluations, row.promises, row.last_at)
            assert whole == tuple(
                counted[name] for name in ("communications", "talk", "evaluations", "promises", "last_at")
            )
            assert row.talk_share == pytest.approx(counted["talk_share"])
            assert row.qc_score == pytest.approx(counted["qc_score"])
            assert row.overdue_promises == (counted["overdue_promises"] if "promises" in by else None)


def signal_groups(group: str, signal: str | None) -> data.Keys:
    keys: dict[str, data.Keys] = {
        "signal": lambda each: [key for key in each.signals if signal in (None, key)],
        "client": people_of("client"),
        "staff": people_of("staff"),
        "department": people_of(None, "department"),
        "category": lambda each: [each.category],
    }
    return data.values_of(signal) if group == "value" and signal else keys[group]


@pytest.mark.parametrize("filters", [*FILTERS, {"speaker_id": "busiest"}])
@pytest.mark.parametrize("signal", [None, "objection", "contact_outcome"])
@pytest.mark.parametrize("group", get_args(rankings_signals.Group))
def test_signals_are_counted_by_conversations_with_their_newest_example(
    company: Company, filters: dict[str, Any], signal: str | None, group: rankings_signals.Group
) -> None:
    if group == "value":
        signal = signal or "churn_risk"  # values are of one signal
    if "speaker_id" in filters:
        filters = {"speaker_id": company.busiest}
    wanted = replace(PERIOD, role=group if group in ("client", "staff") else None, **filters)
    within = company.within(wanted)
    whole = groups(within, signal_groups(group, signal))
    is_counted = {
        key: [each for each in held if each.signals & meant(group, key, signal)] for key, held in whole.items()
    }
    expected = {key: held for key, held in is_counted.items() if held}
    having = len([each for each in within if signal in each.signals])
    with company.database.read() as connection:
        found = rankings_signals.rank_signals(company.tenant_id, connection, wanted, ALL, group=group, signal=signal)
        examples = rankings_signals.examples(company.tenant_id, connection, wanted, found, group=group, signal=signal)
    keys = [data.value_of(examples[row.key].content) if group == "value" else row.key for row in found]
    if group == "value":
        newest = {key: max(each.at for each in held) for key, held in expected.items()}
        assert set(keys) == set(expected)
        ordered = [(-row.count, -row.newest_at.timestamp(), row.key) for row in found]
        assert ordered == sorted(ordered)
        assert [row.newest_at for row in found] == [newest[key] for key in keys]
    else:
        assert keys == in_order({key: len(held) for key, held in expected.items()}, company.names)
    for key, row in zip(keys, found, strict=True):
        total = having if group == "value" else len(within) if group == "signal" else len(whole[key])
        assert row.count == len(expected[key])
        assert row.share == pytest.approx(len(expected[key]) / total)
        shown = examples[row.key]
        source = max(expected[key], key=lambda each: (each.at, each.id))
        assert (shown.communication_id, shown.occured_at, shown.kind) == (source.id, source.at, source.kind)
        assert row.newest_at == source.at
        fits = [
            (fact, content)
            for fact, content in source.facts
            if fact in meant(group, key, signal) and (group != "value" or data.value_of(content) == key)
        ]
        assert (shown.signal, shown.content, shown.quote) == (*fits[0], f"«{fits[0][1]}»")


def meant(group: str, key: Any, signal: str | None) -> set[str]:
    return {key} if group == "signal" else {signal} if signal else set(SIGNALS)


@pytest.mark.parametrize("filters", [*FILTERS, {"speaker_id": "busiest"}])
@pytest.mark.parametrize("least", [False, True])
@pytest.mark.parametrize("fewest", [1, 4])
@pytest.mark.parametrize("group", get_args(rankings_qc.Group))
def test_scores_are_means_of_groups_with_enough_evaluations(
    company: Company, filters: dict[str, Any], least: bool, fewest: int, group: rankings_qc.Group
) -> None:
    if "speaker_id" in filters:
        filters = {"speaker_id": company.busiest}
    wanted = replace(PERIOD, role="staff" if group in ("person", "department") else None, **filters)
    evaluated = [each for each in company.within(wanted) if each.score is not None]
    keys: dict[str, data.Keys] = {
        "person": people_of("staff"),
        "department": people_of("staff", "department"),
        "scenario": lambda each: [each.scenario],
        "criterion": lambda each: each.verdicts,
        "category": lambda each: [each.category],
    }
    held = {key: each for key, each in groups(evaluated, keys[group]).items() if len(each) >= fewest}
    scores = {
        key: met(each, key) if group == "criterion" else mean([cast(float, one.score) for one in each])
        for key, each in held.items()
    }
    with company.database.read() as connection:
        found = rankings_qc.rank_qc(
            company.tenant_id, connection, wanted, replace(ALL, least=least), group=group, min_evaluations=fewest
        )
        shown = [row.key for row in found]
        weakest = rankings_qc.weakest(company.tenant_id, connection, wanted, shown, group=group)
        newest = rankings_qc.newest(company.tenant_id, connection, wanted, found, group=group)
    assert shown == in_order(
        {key: score and round(score, 9) for key, score in scores.items()}, company.names, least=least
    )
    for row in found:
        assert row.evaluations == len(held[row.key])
        assert row.score == pytest.approx(scores[row.key])
        sources = [each for each in held[row.key] if group != "criterion" or not each.verdicts[row.key]]
        source = max(sources, key=lambda each: (each.at, each.id), default=None)
        assert newest.get(row.key) == (source.id if source else None)
        if group == "criterion":
            assert weakest == {}
            continue
        judged = {code: met(held[row.key], code) for each in held[row.key] for code in each.verdicts}
        if judged:
            code = min(judged, key=lambda each: (cast(float, judged[each]), each))
            assert weakest[row.key].code == code
            assert weakest[row.key].score == pytest.approx(judged[code])
        else:
            assert row.key not in weakest


def met(held: list[Held], code: str) -> float | None:
    """How often a criterion was met where it was decided, of 100."""
    verdicts = [each.verdicts[code] for each in held if code in each.verdicts]
    return 100 * sum(verdicts) / len(verdicts) if verdicts else None


def test_pages_put_together_are_the_whole_ranking(company: Company) -> None:
    def people(page: Page) -> list[Any]:
        return rankings_people.rank_people(
            company.tenant_id, connection, PERIOD, page, group="person", by="qc_score", today=TODAY
        )

    def values(page: Page) -> list[Any]:
        return rankings_signals.rank_signals(
            company.tenant_id, connection, PERIOD, page, group="value", signal="objection"
        )

    def signals(page: Page) -> list[Any]:
        return rankings_signals.rank_signals(company.tenant_id, connection, PERIOD, page, group="signal", signal=None)

    def criteria(page: Page) -> list[Any]:
        return rankings_qc.rank_qc(company.tenant_id, connection, PERIOD, page, group="criterion", min_evaluations=1)

    with company.database.read() as connection:
        for ranked in (people, values, signals, criteria):
            whole = ranked(ALL)
            pages = [ranked(Page(2, offset)) for offset in range(0, len(whole) + 2, 2)]
            assert [row for page in pages for row in page] == whole
            assert len(whole) > 3


def test_another_accounts_people_and_conversations_count_nowhere(company: Company) -> None:
    stranger = replace(PERIOD, speaker_id=company.busiest)
    with company.database.read() as connection:
        others = list(connection.execute(sa.select(speakers.speakers.c.tenant_id).distinct()).scalars())
        (other,) = set(others) - {company.tenant_id}
        for wanted in (stranger, replace(PERIOD, speaker_id=new_id())):
            for group in get_args(rankings_people.Group):
                for by in ("communications", "overdue_promises"):
                    assert not rankings_people.rank_people(
                        other, connection, wanted, ALL, group=group, by=cast(Any, by), today=TODAY
                    )
            for signals_group in get_args(rankings_signals.Group):
                assert not rankings_signals.rank_signals(
                    other, connection, wanted, ALL, group=signals_group, signal="objection"
                )
            for qc_group in get_args(rankings_qc.Group):
                assert not rankings_qc.rank_qc(other, connection, wanted, ALL, group=qc_group, min_evaluations=1)
        own = rankings_people.rank_people(
            other, connection, PERIOD, ALL, group="person", by="communications", today=TODAY
        )
        assert not {row.key for row in own} & set(company.names)


def test_an_account_without_conversations_ranks_nobody(database: Database) -> None:
    with database.write() as connection:
        tenant = accounts.create_tenant(connection, name="empty")
        assert tenant is not None
        for group in get_args(rankings_people.Group):
            assert not rankings_people.rank_people(
                tenant.id, connection, PERIOD, ALL, group=group, by="talk_share", today=TODAY
            )
        for signals_group in get_args(rankings_signals.Group):
            found = rankings_signals.rank_signals(
                tenant.id, connection, PERIOD, ALL, group=signals_group, signal="urgency"
            )
            assert not found
            assert not rankings_signals.examples(
                tenant.id, connection, PERIOD, found, group=signals_group, signal="urgency"
            )
        for qc_group in get_args(rankings_qc.Group):
            assert not rankings_qc.rank_qc(tenant.id, connection, PERIOD, ALL, group=qc_group, min_evaluations=1)
            assert not rankings_qc.weakest(tenant.id, connection, PERIOD, [], group=qc_group)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Дорого", "  ДОРОГО! ", True),
        ("ещё дороже", "Еще — дороже…", True),
        ("cafe\u0301", "CAFÉ", True),
        ("дорого", "недорого", False),
        ("5 %", "7 %", False),
        ("!!!", "???", False),
    ],
)
def test_contents_are_the_same_by_their_words(one: str, other: str, same: bool) -> None:
    assert (value_key(one) == value_key(other)) is same


def test_a_value_counts_once_a_communication_and_signal() -> None:
    said = [("objection", "Дорого"), ("objection", "дорого!"), ("urgency", "Дорого"), ("topic", "Дорого"), (None, "x")]
    key = value_key("дорого")
    assert list(value_keys(said)) == [key, None, key, None, None]


@pytest.mark.parametrize(
    ("meta", "day"),
    [
        ({"deadline": "2026-03-05"}, date(2026, 3, 5)),
        ({"deadline": "2026-03-05T23:30:00-08:00"}, date(2026, 3, 5)),
        ({"deadline": None}, None),
        ({"deadline": "в пятницу"}, None),
        ({"deadline": 5}, None),
        ({}, None),
        (None, None),
    ],
)
def test_a_promise_is_due_on_the_day_that_was_said(meta: dict[str, Any] | None, day: date | None) -> None:
    assert due_day(meta) == day


def test_an_older_database_learns_its_values_and_days(company: Company) -> None:
    """What the migration fills in is what is written today."""
    from importlib import import_module

    from alembic.operations import Operations
    from alembic.runtime.migration import MigrationContext

    columns = (summary_items.c.id, summary_items.c.value_key, summary_items.c.due_on)
    with company.database.engine.connect() as connection, connection.begin() as transaction:
        written = sorted(map(tuple, connection.execute(sa.select(*columns))))
        connection.execute(sa.update(summary_items).values(value_key=None, due_on=None))
        with Operations.context(MigrationContext.configure(connection)):
            import_module("store.migrations.versions.0008_signals")._fill(connection)
        assert sorted(map(tuple, connection.execute(sa.select(*columns)))) == written
        assert any(row[1] for row in written)
        assert any(row[2] for row in written)
        transaction.rollback()


def test_a_new_summary_replaces_what_was_counted(database: Database) -> None:
    with database.write() as connection:
        tenant = accounts.create_tenant(connection, name="one call")
        assert tenant is not None
        row = communications.create(
            tenant.id, connection, kind="call", channel_type="phone", occured_at=START, title="A call"
        )
    for content, expected in (("Дорого", 1), ("Долго", 1), (None, 0)):
        items = [NewItem("criteria", content, "objection")] if content else []
        with database.write() as connection:
            analysis.put_summary(tenant.id, connection, row.id, text="", category="sales", items=items)
        with database.read() as connection:
            found = rankings_signals.rank_signals(tenant.id, connection, PERIOD, ALL, group="value", signal="objection")
            shown = rankings_signals.examples(tenant.id, connection, PERIOD, found, group="value", signal="objection")
        assert len(found) == expected
        assert [each.content for each in shown.values()] == ([content] if content else [])


def test_a_deleted_persons_conversations_stay_counted_for_others(database: Database) -> None:
    with database.write() as connection:
        tenant_id, held = data.make_company(connection, conversations=30)
    gone = Counter(person.profile.id for each in held for person in each.people).most_common(1)[0][0]
    with database.write() as connection:
        assert speakers.delete(tenant_id, connection, gone)
    with database.read() as connection:
        found = rankings_people.rank_people(
            tenant_id,
            connection,
            Wanted(datetime.min.replace(tzinfo=START.tzinfo, year=1900), START + timedelta(days=999)),
            ALL,
            group="person",
            by="communications",
            today=TODAY,
        )
    expected = Counter(person.profile.id for each in held for person in each.people)
    del expected[gone]
    assert {row.key: row.communications for row in found} == expected
