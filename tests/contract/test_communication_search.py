"""GET /v1/communications/search, the list that people look through, and the views that they save of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from store import analysis, communications, index_work, speakers
from store.communications import ContentItem
from store.speakers import Attending
from tests.contract.described import get_described
from tests.contract.waiting import eventually
from tests.support.server import Account

PATH = "/public/v1/communications/search"
AT = datetime(2026, 3, 4, 9, tzinfo=UTC)


def add(
    account: Account,
    text: str,
    *,
    days: int = 0,
    category: str | None = None,
    score: float | None = None,
    **values: Any,
) -> str:
    with account.server.database.write() as connection:
        row = communications.create(
            account.tenant_id,
            connection,
            **{"kind": "call", "channel_type": "phone", "title": "", "occured_at": AT + timedelta(days=days), **values},
        )
        said = ContentItem("audio_utterance", text, "SPEAKER_00", 0, 900)
        communications.replace_content(account.tenant_id, connection, row.id, [said])
        if category:
            analysis.put_summary(account.tenant_id, connection, row.id, text=f"About: {text}", category=category)
        if score is not None:
            analysis.put_qc(
                account.tenant_id,
                connection,
                row.id,
                scenario_code="existing_case",
                score_pct=score,
                comment=None,
                status="success",
                criteria=[],
            )
        index_work.add(account.tenant_id, connection, action=index_work.INDEX_COMMUNICATION, subject_id=row.id)
    return row.id


def ids(account: Account, **query: Any) -> list[str]:
    return [each["id"] for each in get_described(account, PATH, **query)["items"]]


def test_the_newest_come_first_and_a_cursor_walks_through_all_of_them_once(account: Account) -> None:
    made = [add(account, f"number {number}", days=number // 2) for number in range(7)]
    seen: list[str] = []
    page = get_described(account, PATH, limit=3)
    assert page["total"] == 7
    while True:
        seen += [each["id"] for each in page["items"]]
        if page["next_cursor"] is None:
            break
        page = get_described(account, PATH, limit=3, cursor=page["next_cursor"])
        assert page["total"] is None
    assert sorted(seen) == sorted(made)
    assert seen[-1] in made[:2]
    assert seen[0] == made[6]


def test_every_filter_that_is_given_must_hold(account: Account) -> None:
    one = add(account, "a complaint", category="complaint", score=40.0, direction="in")
    two = add(account, "an order", days=3, category="supply", score=90.0, direction="out")
    mail = add(account, "a mail", days=5, kind="email", channel_type="email", title="The offer")
    with account.server.database.write() as connection:
        person = speakers.upsert(account.tenant_id, connection, external_id="c-1", name="Анна", role="client")
        speakers.attach(account.tenant_id, connection, two, [Attending(person.id, "client", "SPEAKER_00")])
    assert ids(account, kind="email") == [mail]
    assert get_described(account, PATH, kind="email")["items"][0]["title"] == "The offer"
    assert get_described(account, "/public/v1/communications", id=mail)["title"] == "The offer"
    assert ids(account, channel_type="phone", direction="in") == [one]
    assert ids(account, category="supply") == [two]
    assert ids(account, participant=person.id) == [two]
    assert ids(account, score_to=50) == [one]
    assert ids(account, scenario="existing_case", score_from=80) == [two]
    assert ids(account, **{"from": "2026-03-05", "to": "2026-03-07"}) == [two]
    assert ids(account, **{"from": "2026-03-09"}) == [mail]
    assert ids(account, category="supply", direction="in") == []
    found = get_described(account, PATH, category="supply")["items"][0]
    assert found["summary_text"] == "About: an order"
    assert (found["score_pct"], found["opening"], found["passage"]) == (90.0, None, None)
    assert [each["name"] for each in found["speakers"]] == ["Анна"]


def test_words_find_the_passage_that_holds_them(account: Account) -> None:
    lamp = add(account, "The gravelmoth lamp arrived broken", category="complaint", score=20.0)
    add(account, "We talked about the weather")
    page = eventually(lambda: get_described(account, PATH, query="gravelmoth lamp"), lambda page: page["items"])
    assert page["items"][0]["id"] == lamp
    assert "gravelmoth" in page["items"][0]["passage"]["text"]
    assert page["items"][0]["passage"]["start_ms"] == 0
    assert ids(account, query="gravelmoth lamp", score_from=50) == []
    assert lamp in ids(account, query="gravelmoth lamp", score_to=50)


def missed(account: Account, *, days: int = 0, **values: Any) -> str:
    return add(account, "a machine", days=days, category="no_contact", **{"direction": "in", **values})


def note(account: Account, communication_id: str, *signals: str) -> None:
    items = [analysis.NewItem("criteria", f"About {signal}", subtype=signal) for signal in signals]
    with account.server.database.write() as connection:
        analysis.put_summary(
            account.tenant_id, connection, communication_id, text="Noted", category="complaint", items=items
        )


def test_missed_calls_are_incoming_ones_that_nobody_answered(account: Account) -> None:
    newest, oldest = missed(account, days=4), missed(account)
    outgoing = missed(account, days=2, direction="out")
    answered = add(account, "hello", days=3, category="support", direction="in")
    # Recognised, not analysed yet: one voice may be a machine's.
    untold = add(account, "hello", days=5, direction="in")
    wanted = {"kind": "call", "direction": "in", "answered": "false"}
    assert ids(account, **wanted) == [newest, oldest]
    assert ids(account, answered="false") == [newest, outgoing, oldest]
    assert ids(account, answered="true") == [answered]
    assert untold in ids(account)
    page = get_described(account, PATH, **wanted, limit=1)
    assert page["total"] == 2
    assert ids(account, **wanted, limit=1, cursor=page["next_cursor"]) == [oldest]


def test_a_signal_leads_to_the_communications_it_came_up_in(account: Account) -> None:
    leaving = add(account, "The gravelmoth is too dear, I am leaving")
    arguing = add(account, "Take the gravelmoth back", days=1)
    quiet = add(account, "The gravelmoth is fine", days=2)
    note(account, leaving, "churn_risk", "objection")
    note(account, arguing, "disputes", "objection")
    assert ids(account, signal="objection") == [arguing, leaving]
    assert ids(account, signal="churn_risk") == [leaving]
    assert ids(account, signal="churn_risk", kind="email") == []
    assert ids(account, signal="severity") == []
    assert get_described(account, PATH, signal="objection")["total"] == 2
    found = eventually(lambda: ids(account, query="gravelmoth"), lambda found: len(found) == 3)
    assert quiet in found
    assert ids(account, query="gravelmoth", signal="churn_risk") == [leaving]
    assert ids(account, query="gravelmoth", answered="false") == []


def test_what_was_not_analysed_is_found_by_having_no_category(account: Account) -> None:
    add(account, "a gravelmoth complaint", category="complaint")
    older, newer = add(account, "a gravelmoth nobody looked at"), add(account, "nor at this gravelmoth", days=1)
    page = get_described(account, PATH, category="none")
    assert ([each["id"] for each in page["items"]], page["total"]) == ([newer, older], 2)
    share = account.post("/public/v1/tools/get_period_metrics", json={"from": "2026-03-01", "to": "2026-03-31"})
    assert {each["code"]: each["count"] for each in share.json()["categories"]}[None] == 2
    eventually(lambda: ids(account, query="gravelmoth"), lambda found: len(found) == 3)
    assert sorted(ids(account, query="gravelmoth", category="none")) == sorted([older, newer])


def test_replies_lead_to_the_chats_and_mails_that_were_replied_to(account: Account) -> None:
    def written(replies: int, **values: Any) -> str:
        id_ = add(account, "", **values)
        with account.server.database.write() as connection:
            people = [("client", "SPEAKER_00"), ("support", "SPEAKER_01")]
            attending = []
            for role, label in people:
                person = speakers.upsert(account.tenant_id, connection, external_id=role, name=None, role=role)
                attending.append(Attending(person.id, role, label))
            speakers.attach(account.tenant_id, connection, id_, attending)
            said = [
                ContentItem("chat_message", "word", label, None, None, AT + timedelta(minutes=minute))
                for minute, (_, label) in enumerate(people[: 1 + replies])
            ]
            communications.replace_content(account.tenant_id, connection, id_, said)
        return id_

    chat = written(1, kind="chat", channel_type="telegram")
    mail = written(1, days=1, kind="email", channel_type="email")
    silent = written(0, days=2, kind="chat", channel_type="telegram")
    add(account, "a call", days=3)
    assert ids(account, replied="true") == [mail, chat]
    assert ids(account, replied="false") == [silent]
    assert ids(account, replied="true", kind="email") == [mail]


def test_the_tone_leads_to_the_communications_it_was_heard_in(account: Account) -> None:
    def judged(tone: float | None, days: int) -> str:
        id_ = add(account, "hello", days=days)
        with account.server.database.write() as connection:
            analysis.put_qc(
                account.tenant_id,
                connection,
                id_,
                scenario_code="base_etiquette",
                score_pct=50.0,
                comment=None,
                status="success",
                criteria=[
                    analysis.CriterionResult("greeting", "binary", True, "hello"),
                    analysis.CriterionResult("address_by_name", "numeric", 3),
                    analysis.CriterionResult("tone_of_voice", "numeric", tone, "hello"),
                ],
            )
        return id_

    rude, cool, even, warm, best = (judged(tone, day) for day, tone in enumerate((0, 0.39, 0.4, 0.7, 1)))
    judged(None, 9)
    assert ids(account, tone="unfriendly") == [cool, rude]
    assert ids(account, tone="even") == [even]
    assert ids(account, tone="friendly") == [best, warm]
    assert get_described(account, PATH, tone="unfriendly", limit=1)["total"] == 2


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"kind": "fax"}, "kind"),
        ({"from": "yesterday"}, "from"),
        ({"from": "2026-03-05", "to": "2026-03-01"}, "to"),
        ({"cursor": "nowhere"}, "cursor"),
        ({"cursor": "9999", "query": "lamp"}, "cursor"),
        ({"participant": "me"}, "participant"),
        ({"score_from": "101"}, "score_from"),
        ({"limit": "0"}, "limit"),
        ({"answered": "perhaps"}, "answered"),
        ({"answered": ""}, "answered"),
        ({"signal": "boredom"}, "signal"),
        ({"category": "weather"}, "category"),
        ({"tone": "sweet"}, "tone"),
        ({"replied": "perhaps"}, "replied"),
        ({"signal": ""}, "signal"),
    ],
)
def test_a_wrong_filter_is_named(account: Account, query: dict[str, str], param: str) -> None:
    answer = account.get(PATH, params=query)
    assert answer.status_code == 400, answer.text
    assert param in answer.json()["error"]["param"]


def test_nobody_finds_what_is_another_accounts(account: Account, new_account: Callable[..., Account]) -> None:
    mine = add(account, "the gravelmoth is mine")
    note(account, mine, "churn_risk")
    other = new_account()
    assert ids(other, signal="churn_risk") == []
    assert ids(other, answered="true") == []
    assert ids(account, signal="churn_risk") == [mine]
    assert ids(other) == []
    assert ids(other, query="gravelmoth") == []
    assert ids(account) == [mine]


def test_views_are_kept_by_name_for_everybody_of_the_account(
    account: Account, new_account: Callable[..., Account]
) -> None:
    path = "/public/v1/views"
    filters = {"category": "complaint", "from": "2026-03-01", "answered": "false", "signal": "churn_risk"}
    wanted = {"name": "Complaints", "filters": filters}
    made = account.post(path, json=wanted)
    assert made.status_code == 201, made.text
    assert {"name": made.json()["name"], "filters": made.json()["filters"]} == wanted
    assert account.post(path, json=wanted).json()["error"]["code"] == "name_taken"
    assert [each["name"] for each in get_described(account, path)["items"]] == ["Complaints"]
    other = new_account()
    assert get_described(other, path)["items"] == []
    view = f"{path}/{made.json()['id']}"
    assert other.request("DELETE", view).status_code == 404
    assert account.request("DELETE", view).status_code == 204
    assert account.request("DELETE", view).status_code == 404
    assert get_described(account, path)["items"] == []


def test_a_view_is_small(account: Account) -> None:
    for body in (
        {"name": "", "filters": {}},
        {"name": "A" * 101, "filters": {}},
        {"name": "A", "filters": {"<script>": "x"}},
        {"name": "A", "filters": {"query": "x" * 401}},
    ):
        assert account.post("/public/v1/views", json=body).status_code == 400
