"""GET /v1/communications of a communication with people and an analysis, written as the analysis layer writes them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx2
import pytest
import sqlalchemy as sa

from ingest.analysis.catalogs import CATEGORIES, CRITERIA, KEY_LABELS, SCENARIOS
from store import accounts, analysis, communications, speakers
from store.analysis import CriterionResult, NewItem
from store.communications import Communication, ContentItem
from store.database import now
from store.speakers import Attending
from tests.contract.described import get_described
from tests.support.server import Account

PATH = "/public/v1/communications"
AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ITEM = {"id", "summary_id", "item_type", "subtype", "content", "meta", "speaker_id", "created_at"}


def add_call(account: Account, **values: Any) -> Communication:
    with account.server.database.write() as connection:
        return communications.create(
            account.tenant_id,
            connection,
            **{"kind": "call", "channel_type": "phone", "occured_at": AT, "title": "A call", **values},
        )


def read(account: Account, communication_id: str) -> dict[str, Any]:
    return get_described(account, PATH, id=communication_id)


def set_stage(account: Account, row: Communication, stage: str, status: str, message: str | None = None) -> None:
    with account.server.database.write() as connection:
        analysis.set_stage(account.tenant_id, connection, row.id, stage, status, error_message=message)


@pytest.mark.proves(
    "communications.speaker.shape", "communications.details.speakers", "communications.details.kind.chat-and-email"
)
def test_the_people_of_a_communication_are_given_in_order_with_their_labels(account: Account) -> None:
    row = add_call(account, kind="email", channel_type="email")
    with account.server.database.write() as connection:
        people = [
            speakers.upsert(account.tenant_id, connection, external_id="c-1", name="Анна", role="client"),
            speakers.upsert(account.tenant_id, connection, external_id=None, name="Boris", role="boss"),
            speakers.upsert(account.tenant_id, connection, external_id="c-3", name=None),
        ]
        attending = [Attending(person.id, person.role) for person in people]
        speakers.attach(account.tenant_id, connection, row.id, attending)
        speakers.bind_label(account.tenant_id, connection, row.id, people[1].id, "SPEAKER_00")
        said = ContentItem("email_message", "Hello", "SPEAKER_00", at=AT)
        communications.replace_content(account.tenant_id, connection, row.id, [said])
    details = read(account, row.id)
    assert details["kind"] == "email"
    assert details["speakers"] == [
        {"id": people[0].id, "external_id": "c-1", "name": "Анна", "role": "client", "label": None},
        {"id": people[1].id, "external_id": "", "name": "Boris", "role": "employee", "label": "SPEAKER_00"},
        {"id": people[2].id, "external_id": "c-3", "name": "", "role": "unknown", "label": None},
    ]
    assert details["content"][0]["label"] == details["speakers"][1]["label"]


@pytest.mark.proves(
    "communications.details.summary-text",
    "communications.details.user-summary",
    "communications.details.category",
    "communications.details.summary-items",
    "analysis.item.id",
    "analysis.item.summary-id",
    "analysis.item.type",
    "analysis.item.subtype",
    "analysis.item.content",
    "analysis.item.meta",
    "analysis.item.commitment-deadline",
    "analysis.item.created-at",
)
def test_a_summary_is_given_with_its_items(account: Account) -> None:
    row = add_call(account)
    found = [
        NewItem("criteria", "Скидка 10 %", "offer", {"percent": 10}),
        NewItem("commitment", "Call back", None, {"deadline": "2026-03-05T09:00:00Z"}),
        NewItem("criteria", "", "objection"),
    ]
    with account.server.database.write() as connection:
        anna = speakers.upsert(account.tenant_id, connection, external_id="c-1", name="Anna", role="client")
        summary_id = analysis.put_summary(
            account.tenant_id,
            connection,
            row.id,
            text="About a discount",
            user_summary="# Report\n{}",
            category="sales",
            items=found,
        )
        remembered = [NewItem("memory", "has a dog", speaker_id=anna.id)]
        analysis.add_memory(account.tenant_id, connection, row.id, remembered)
    details = read(account, row.id)
    assert (details["summary_text"], details["user_summary"]) == ("About a discount", "# Report\n{}")
    assert details["category"] == "sales"
    items = details["summary_items"]
    assert [set(item) for item in items] == [ITEM] * 3
    assert [item["content"] for item in items] == [item.content for item in found]
    assert [item["item_type"] for item in items] == ["criteria", "commitment", "criteria"]
    assert [item["subtype"] for item in items] == ["offer", None, "objection"]
    assert [item["meta"] for item in items] == [{"percent": 10}, {"deadline": "2026-03-05T09:00:00Z"}, None]
    for item in items:
        assert str(UUID(item["id"])) == item["id"]
        assert (item["summary_id"], item["speaker_id"]) == (summary_id, None)
        assert datetime.fromisoformat(item["created_at"]).tzinfo is not None


@pytest.mark.proves(
    "communications.details.category-label",
    "communications.category.label-language",
    "communications.details.category",
)
@pytest.mark.parametrize("code", CATEGORIES)
def test_a_category_has_a_label_in_the_accounts_language(account: Account, code: str) -> None:
    row = add_call(account)
    with account.server.database.write() as connection:
        analysis.put_summary(account.tenant_id, connection, row.id, text=None, category=code)
    russian = read(account, row.id)
    assert (russian["category"], russian["category_label"]) == (code, CATEGORIES[code].ru)
    assert russian["summary_text"] is None
    with account.server.database.write() as connection:
        accounts.update_tenant(account.tenant_id, connection, language="en")
    assert read(account, row.id)["category_label"] == CATEGORIES[code].en


@pytest.mark.proves(
    "communications.details.qc-evaluation",
    "analysis.qc.evaluation-id",
    "analysis.qc.scenario-code",
    "analysis.qc.score",
    "analysis.qc.comment",
    "analysis.qc.status",
    "analysis.qc.criteria",
    "analysis.qc.value-type",
    "analysis.criterion.binary-null",
)
@pytest.mark.parametrize(
    ("score_pct", "comment", "status"), [(66.7, "Хорошо", "success"), (None, None, "partial"), (0.0, "", "success")]
)
def test_an_evaluation_has_the_documented_shape(
    account: Account, score_pct: float | None, comment: str | None, status: str
) -> None:
    row = add_call(account)
    criteria = [
        CriterionResult("greeting", "binary", True, "Добрый день", idx=0),
        CriterionResult("thanks", "binary", False),
        CriterionResult("aggression_response", "binary", None, state="not_applicable"),
        CriterionResult("address_by_name", "numeric", 3, "Anna"),
        CriterionResult("tone_of_voice", "numeric", 0.75, "so kind"),
    ]
    with account.server.database.write() as connection:
        evaluation_id = analysis.put_qc(
            account.tenant_id,
            connection,
            row.id,
            scenario_code="complaint",
            score_pct=score_pct,
            comment=comment,
            status=status,
            criteria=criteria,
            engines={"greeting": "built-in"},
        )
    assert read(account, row.id)["qc_evaluation"] == {
        "evaluation_id": evaluation_id,
        "scenario_code": "complaint",
        "score_pct": score_pct,
        "comment": comment,
        "status": status,
        "criteria": [
            {
                **{"code": code, "value_type": value_type, "value": value},
                **{"evidence": evidence, "idx": idx, "state": state, "votes": []},
            }
            for code, value_type, value, evidence, idx, state in (
                ("greeting", "binary", True, "Добрый день", 0, "decided"),
                ("thanks", "binary", False, "", None, "decided"),
                ("aggression_response", "binary", None, "", None, "not_applicable"),
                ("address_by_name", "numeric", 3, "Anna", None, "decided"),
                ("tone_of_voice", "numeric", 0.75, "so kind", None, "decided"),
            )
        ],
        "engines": {"greeting": "built-in"},
    }


@pytest.mark.proves(
    "communications.details.summary-status",
    "communications.details.qc-status",
    "communications.details.memory-status",
    "communications.details.qc-error-message",
    "communications.details.qc-updated-at",
    "communications.details.missing-job-is-skipped",
)
@pytest.mark.parametrize("stage", ["summary", "qc", "memory"])
def test_a_generation_is_read_as_it_stands_and_the_others_as_skipped(account: Account, stage: str) -> None:
    row = add_call(account)
    for status in ("pending", "processing", "error", "success", "skipped"):
        message = "the model is away" if status == "error" else None
        set_stage(account, row, stage, status, message)
        details = read(account, row.id)
        for name in ("summary", "qc", "memory"):
            assert details[f"{name}_generation_status"] == (status if name == stage else "skipped")
        is_qc = stage == "qc"
        assert details["qc_generation_error_message"] == (message if is_qc else None)
        assert (details["qc_generation_updated_at"] is not None) == is_qc
    if is_qc:
        assert datetime.fromisoformat(details["qc_generation_updated_at"]) >= row.created_at.replace(microsecond=0)


@pytest.mark.proves("communications.content.media.item", "communications.content.media")
def test_a_media_item_is_given_as_it_was_stored(account: Account) -> None:
    row = add_call(account, kind="chat", channel_type="telegram")
    whole = {"mime": "audio/ogg", "name": "voice.ogg", "size_bytes": 7, "duration_ms": 900}
    stored: list[dict[str, Any]] = [{"type": "audio", "ref": "a/b", **whole}]
    stored += [{"type": kind, "ref": f"a/{kind}"} for kind in ("image", "video", "file")]
    with account.server.database.write() as connection:
        item = ContentItem("chat_message", "", "SPEAKER_00", media=stored)
        communications.replace_content(account.tenant_id, connection, row.id, [item])
    (turn,) = read(account, row.id)["content"]
    assert turn["media"] == stored, "what is not known is left out"
    assert (turn["text"], turn["at"], turn["start_ms"], turn["end_ms"]) == ("", None, None, None)


@pytest.mark.proves("communications.status.chat-active-30-minutes")
@pytest.mark.parametrize(("quiet_minutes", "status"), [(29, "active"), (31, "closed")])
def test_a_chat_closes_by_itself_when_it_has_been_quiet(account: Account, quiet_minutes: int, status: str) -> None:
    row = add_call(account, kind="chat", channel_type="widget")
    spoken_at = now() - timedelta(minutes=quiet_minutes)
    with account.server.database.write() as connection:
        table = communications.communications
        connection.execute(sa.update(table).where(table.c.id == row.id).values(updated_at=spoken_at))
    assert read(account, row.id)["communication_status"] == status


@pytest.mark.proves("communications.content.no-extra-properties", "communications.speaker.shape")
def test_the_description_says_which_shapes_are_closed(account: Account) -> None:
    schemas = account.get("/openapi/public.json").json()["components"]["schemas"]
    assert schemas["ContentItemBody"]["additionalProperties"] is False
    assert schemas["CommunicationDetails"].get("additionalProperties", True) is True


def test_what_another_account_wrote_of_its_own_is_not_read(
    account: Account, new_account: Callable[..., Account]
) -> None:
    stranger = new_account()
    row = add_call(account, request_record_id="same")
    theirs = add_call(stranger, request_record_id="same")
    with stranger.server.database.write() as connection:
        analysis.put_summary(stranger.tenant_id, connection, theirs.id, text="theirs")
        stranger_person = speakers.upsert(stranger.tenant_id, connection, external_id="c-1", name="Anna")
        speakers.attach(stranger.tenant_id, connection, theirs.id, [Attending(stranger_person.id, "client")])
    details = get_described(account, PATH, request_record_id="same")
    assert (details["id"], details["summary_text"], details["speakers"]) == (row.id, None, [])
    assert account.get(PATH, params={"id": theirs.id}).status_code == 404


@pytest.mark.parametrize("query", ["id=%00", "request_record_id=a%00b"])
def test_a_nul_is_refused_by_the_name_of_its_field(account: Account, query: str) -> None:
    answer = account.get(f"{PATH}?{query}")
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == query.partition("=")[0]


@pytest.mark.proves("authentication.401.revoked-key")
def test_a_key_that_was_revoked_is_dead_at_the_next_request(account: Account) -> None:
    row = add_call(account)
    with httpx2.Client(base_url=account.server.url, headers=account.headers) as http:
        assert http.get(PATH, params={"id": row.id}).status_code == 200
        with account.server.database.write() as connection:
            (key,) = accounts.list_keys(account.tenant_id, connection)
            assert accounts.revoke_key(account.tenant_id, connection, key.id)
        answer = http.get(PATH, params={"id": row.id})
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")


@pytest.mark.proves(
    "analysis.category.no-contact",
    "analysis.category.sales",
    "analysis.category.renewal",
    "analysis.category.support",
    "analysis.category.billing",
    "analysis.category.supply",
    "analysis.category.complaint",
    "analysis.category.internal",
)
def test_the_catalog_of_categories_is_the_documented_one() -> None:
    assert {code: category.keys for code, category in CATEGORIES.items()} == {
        "no_contact": ("contact_outcome", "dial_hint"),
        "sales": ("deal_type", "funnel_stage", "offer", "objection", "agreement", "competitors", "next_touch_at"),
        "renewal": ("topic", "churn_risk", "agreement", "next_touch_at"),
        "support": ("topic", "outcome", "urgency", "resolution"),
        "billing": ("topic", "outcome", "disputes"),
        "supply": ("topic", "order_status", "documents", "delivery_status", "constraints", "urgency", "outcome"),
        "complaint": ("topic", "severity", "requested_resolution", "escalation"),
        "internal": ("topic", "decisions", "outcome", "next_touch_at"),
    }
    for category in CATEGORIES.values():
        assert category.label("ru") == category.ru != category.label("en") == category.en
    keys = {key for category in CATEGORIES.values() for key in category.keys}
    assert set(KEY_LABELS["ru"]) == set(KEY_LABELS["en"]) == keys


@pytest.mark.proves("analysis.scenario.codes")
def test_the_catalogs_of_quality_control_are_the_documented_ones() -> None:
    numeric = {code for code, criterion in CRITERIA.items() if criterion.value_type == "numeric"}
    assert numeric == {"address_by_name", "tone_of_voice"}
    assert CRITERIA["tone_of_voice"].most == 1
    assert list(CRITERIA) == [
        "greeting", "brand_mention", "operator_self_intro", "ask_client_name", "address_by_name", "need_clarified",
        "identify_entity", "confirm_details", "contact_exchange", "official_contacts_only", "next_step_stated",
        "ask_reason", "handle_objection", "offer_presented", "verification_done", "disclaimer_stated", "thanks",
        "farewell", "aggression_response", "tone_of_voice",
    ]  # fmt: skip
    assert list(SCENARIOS) == [
        "new_request", "existing_case", "cancellation", "sales_outbound", "sales_inbound", "support_incident",
        "support_howto", "billing_inquiry", "complaint", "retention", "collection", "base_etiquette",
    ]  # fmt: skip
