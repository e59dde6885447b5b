"""Which scenario of quality control a conversation is of: the same evidence as the category's, read more finely."""

from __future__ import annotations

from collections.abc import Mapping

from ingest.analysis.catalogs import SCENARIOS
from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import Sides
from ingest.analysis.rules.categories import by_intent
from ingest.analysis.rules.categories_evidence import Embed, Evidence, gather

BASE = "base_etiquette"
_SHARES: Mapping[str, Mapping[str, float]] = {
    "new_request": {"booking": 1.0, "order_new": 1.0},
    "existing_case": {"status": 0.7, "case": 1.0},
    "cancellation": {"cancel": 1.0, "leaving": 1.0},
    "sales_outbound": {"sales_out": 1.0, "sales": 0.3},
    "sales_inbound": {"sales_in": 1.0, "sales": 0.4},
    "support_incident": {"incident": 1.0, "support": 0.2},
    "support_howto": {"howto": 1.0, "support": 0.2},
    "billing_inquiry": {"billing": 1.0},
    "complaint": {"complaint": 1.0, "apology": 0.5},
    "retention": {"retention": 1.0, "leaving": 0.4},
    "collection": {"collection": 1.7},
}
# How usual a scenario is within a category; the rest is rare.
_USUAL: Mapping[str, Mapping[str, float]] = {
    "sales": {"sales_inbound": 1.0, "sales_outbound": 1.0, "new_request": 1.0},
    "renewal": {"retention": 1.0, "cancellation": 0.9},
    "support": {"support_incident": 1.0, "support_howto": 1.0, "existing_case": 0.7, "new_request": 0.6},
    "billing": {"billing_inquiry": 1.0, "collection": 1.0},
    "supply": {"existing_case": 1.0, "new_request": 0.9, "cancellation": 1.0},
    "complaint": {"complaint": 1.0},
    "internal": {},
    "no_contact": {},
}
_RARE = 0.25
_MOVING = 0.3  # who waits for goods and moves house leaves nobody
# Where nothing tells more: the usual one of a category, by who called.
_DEFAULTS = {
    "sales": ("sales_inbound", "sales_outbound"),
    "renewal": ("retention", "retention"),
    "support": ("support_incident", "support_incident"),
    "billing": ("billing_inquiry", "collection"),
    "supply": ("existing_case", "existing_case"),
    "complaint": ("complaint", "complaint"),
}
_DEFAULT_WEIGHT = 5.0


def _direction_factor(scenario: str, direction: str | None) -> float:
    if direction == "out":
        return {"sales_outbound": 1.8, "sales_inbound": 0.4, "collection": 1.3}.get(scenario, 1.0)
    if direction == "in":
        return {"sales_outbound": 0.3, "collection": 0.5}.get(scenario, 1.0)
    return 1.0


def rank_scenarios(
    conversation: Conversation,
    sides: Sides,
    category: str | None,
    embed: Embed | None = None,
    evidence: Evidence | None = None,
) -> list[tuple[str, float]]:
    """All scenarios that something speaks for, best first, each with its share of the evidence; basic etiquette is
    always among them."""
    evidence = evidence or gather(conversation, sides, embed)
    usual = _USUAL.get(category or "", {})
    intents = by_intent(evidence)
    if category == "supply":
        intents["leaving"] = _MOVING * intents.get("leaving", 0.0)
    scores = {}
    for scenario, shares in _SHARES.items():
        found = sum(intents.get(intent, 0.0) * share for intent, share in shares.items())
        fits = usual.get(scenario, _RARE)
        scores[scenario] = found * fits * _direction_factor(scenario, conversation.direction)
    if category in _DEFAULTS:
        usual_of_category = _DEFAULTS[category][conversation.direction == "out"]
        if usual_of_category != "collection" or "collection" in evidence.named:
            scores[usual_of_category] += _DEFAULT_WEIGHT
    total = sum(scores.values())
    scores[BASE] = max(2.0, total * 0.02)
    if not usual:
        scores[BASE] += 2 * total
    ranked = sorted(scores.items(), key=lambda pair: -pair[1])
    whole = sum(scores.values())
    assert all(code in SCENARIOS for code in scores)
    return [(code, score / whole) for code, score in ranked if score > 0]
