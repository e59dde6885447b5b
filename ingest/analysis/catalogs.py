"""The catalogs of analysis as data: categories with their usual keys, criteria and scenarios of quality control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ValueType = Literal["binary", "numeric"]
Language = Literal["ru", "en"]


@dataclass(frozen=True, slots=True)
class Category:
    """`keys` are what is usually found in such a communication: the subtypes of its items."""

    code: str
    ru: str
    en: str
    meaning: str
    keys: tuple[str, ...]

    def label(self, language: str) -> str:
        """The label for people; Russian unless the language is English."""
        return self.en if language == "en" else self.ru


@dataclass(frozen=True, slots=True)
class Criterion:
    """`most` bounds a numeric value from above, where there is a bound; the lower one is 0."""

    code: str
    value_type: ValueType
    meaning: str
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """A template that an account may switch on, off or change."""

    code: str
    ru: str
    en: str

    def label(self, language: str) -> str:
        return self.en if language == "en" else self.ru


CATEGORIES = {
    category.code: category
    for category in (
        Category(
            "no_contact",
            "Нет контакта",
            "No contact",
            "no live contact (IVR, voicemail, no answer, busy, dropped)",
            ("contact_outcome", "dial_hint"),
        ),
        Category(
            "sales",
            "Продажа",
            "Sales",
            "sales and presales",
            ("deal_type", "funnel_stage", "offer", "objection", "agreement", "competitors", "next_touch_at"),
        ),
        Category(
            "renewal",
            "Продление",
            "Renewal",
            "renewal, retention, churn risk",
            ("topic", "churn_risk", "agreement", "next_touch_at"),
        ),
        Category(
            "support",
            "Поддержка",
            "Support",
            "faults, settings, access, training",
            ("topic", "outcome", "urgency", "resolution"),
        ),
        Category(
            "billing",
            "Оплата и документы",
            "Billing",
            "invoices, acts, payment, debt",
            ("topic", "outcome", "disputes"),
        ),
        Category(
            "supply",
            "Заказ и доставка",
            "Orders and delivery",
            "order, shipment, documents, delivery",
            ("topic", "order_status", "documents", "delivery_status", "constraints", "urgency", "outcome"),
        ),
        Category(
            "complaint",
            "Жалоба",
            "Complaint",
            "complaint, escalation, compensation demands",
            ("topic", "severity", "requested_resolution", "escalation"),
        ),
        Category(
            "internal",
            "Внутренняя встреча",
            "Internal meeting",
            "internal meeting, standup, sync, 1:1",
            ("topic", "decisions", "outcome", "next_touch_at"),
        ),
    )
}

CRITERIA = {
    criterion.code: criterion
    for criterion in (
        Criterion("greeting", "binary", "operator greeted the client"),
        Criterion("brand_mention", "binary", "operator named the company"),
        Criterion("operator_self_intro", "binary", "operator gave a name"),
        Criterion("ask_client_name", "binary", "operator asked how to address the client"),
        Criterion("address_by_name", "numeric", "number of times the client was addressed by name"),
        Criterion("need_clarified", "binary", "operator clarified the request"),
        Criterion("identify_entity", "binary", "order, ticket, contract or invoice identified"),
        Criterion("confirm_details", "binary", "key details confirmed"),
        Criterion("contact_exchange", "binary", "contacts requested, confirmed or given"),
        Criterion(
            "official_contacts_only",
            "binary",
            "false for personal phone, messenger or mailbox; true otherwise; a company work number is not a violation",
        ),
        Criterion("next_step_stated", "binary", "next step stated"),
        Criterion("ask_reason", "binary", "reason asked (cancellation, complaint, leaving)"),
        Criterion("handle_objection", "binary", "objection handled"),
        Criterion("offer_presented", "binary", "offer presented"),
        Criterion("verification_done", "binary", "client verified"),
        Criterion("disclaimer_stated", "binary", "mandatory disclaimer stated"),
        Criterion("thanks", "binary", "operator thanked"),
        Criterion("farewell", "binary", "operator said goodbye"),
        Criterion("aggression_response", "binary", "correct reaction to client aggression; null when there was none"),
        Criterion("tone_of_voice", "numeric", "tone score from 0 to 1", most=1.0),
    )
}

SCENARIOS = {
    scenario.code: scenario
    for scenario in (
        Scenario("new_request", "Новое обращение", "New request"),
        Scenario("existing_case", "Обращение по открытому вопросу", "Existing case"),
        Scenario("cancellation", "Отмена", "Cancellation"),
        Scenario("sales_outbound", "Исходящая продажа", "Outbound sales"),
        Scenario("sales_inbound", "Входящая продажа", "Inbound sales"),
        Scenario("support_incident", "Поддержка: сбой", "Support: incident"),
        Scenario("support_howto", "Поддержка: как сделать", "Support: how-to"),
        Scenario("billing_inquiry", "Вопрос по оплате", "Billing inquiry"),
        Scenario("complaint", "Жалоба", "Complaint"),
        Scenario("retention", "Удержание", "Retention"),
        Scenario("collection", "Взыскание задолженности", "Collection"),
        Scenario("base_etiquette", "Базовый этикет", "Basic etiquette"),
    )
}


def category_label(code: str | None, language: str) -> str | None:
    """The category's label for people in "ru" or "en"; None for no category. One that left the catalog is its code."""
    if code is None:
        return None
    category = CATEGORIES.get(code)
    return category.label(language) if category else code
