"""What a conversation was about, in the catalog's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import Quote, Sides
from ingest.analysis.rules.categories_cues import phrases
from ingest.analysis.rules.categories_evidence import Embed, Evidence, gather
from ingest.analysis.rules.categories_excerpt import Piece
from ingest.analysis.rules.categories_presence import internal_score, no_contact_score

# How much of an intent's evidence counts for a category.
SHARES: Mapping[str, Mapping[str, float]] = {
    "sales": {"sales": 0.8, "sales_in": 1.0, "sales_out": 1.0, "booking": 0.8},
    "renewal": {"retention": 1.3, "leaving": 1.2},
    "support": {"support": 0.8, "incident": 1.0, "howto": 1.0, "case": 0.3},
    "billing": {"billing": 0.9, "collection": 1.0},
    "supply": {"order_new": 1.0, "status": 1.0, "case": 0.5},
    "complaint": {"complaint": 1.05, "apology": 0.8},
}
_OTHERS = 0.5
_NAMED_ONLY = 0.8
_UNDEMANDED = 0.3
_OUTBOUND = {"sales": (1.3, 3.0), "renewal": (1.2, 1.0), "billing": (1.1, 1.0)}  # what companies call about
_LEAST_SCORE = 2.0
_LEAST_CONFIDENCE = 0.2
# Of the sentence that is quoted: its words, what it counts for being there at all, and for being early.
_LEAST_WORDS = 3
_COURTESY = 0.1
_PROBE = 0.4
_LONG_QUESTION = 6
_BARE = 1.0
_EARLY = ((15, 2.6), (45, 1.8), (110, 1.0))
# They open a talk and are not what it is about.
_COURTESIES = """
few|couple minutes, couple of minutes, a minute|moment, good|bad|convenient time, caught you, how are|have you been
call is recorded, speaking with, who am i, am i speaking, have i got, do you have time, nice to meet, have a good|nice
удобно _ говорить|разговаривать, есть минут*, найдется минут*, пара минут, пару минут, отвлекаю, как дела
разговор записыва*, с кем я, как _ обращаться, могу обращаться, можете говорить, уделить минут*, сейчас удобно
"""
# The terms of staying are what was offered, not why.
_TERMS = "if you sign|stay|renew|pay|commit, если подпи*|останетесь|продлите|оплатите"


@dataclass(frozen=True, slots=True)
class CategoryGuess:
    """`code` is None where nothing justifies one. `confidence` is the share of the evidence that speaks for it, 0 to 1;
    `scores` holds every category's."""

    code: str | None
    confidence: float = 0.0
    quote: Quote | None = None
    scores: Mapping[str, float] = field(default_factory=dict)


def by_intent(evidence: Evidence) -> dict[str, float]:
    """Who cancels an order or a visit names it: such words are no wish for one. Money is only collected where overdue
    money is spoken of: invoices and dates alone are like it."""
    found = dict(evidence.scores)
    for intent in ("booking", "order_new", "sales_in"):
        found[intent] = max(0.0, found.get(intent, 0.0) - _NAMED_ONLY * found.get("cancel", 0.0))
    if "collection" not in evidence.named:
        found["collection"] = _UNDEMANDED * found.get("collection", 0.0)
    return found


def category_scores(conversation: Conversation, sides: Sides, evidence: Evidence) -> dict[str, float]:
    """Each category's evidence; what nobody takes part in is only ever no contact, staff among themselves internal."""
    found = by_intent(evidence)
    scores = {}
    for category, shares in SHARES.items():
        first, *others = sorted((found.get(intent, 0.0) * share for intent, share in shares.items()), reverse=True)
        scores[category] = first + _OTHERS * sum(others)  # else a category of many intents would win by their number
    total = sum(scores.values())
    if conversation.direction == "out":
        for category, (factor, extra) in _OUTBOUND.items():
            scores[category] = scores[category] * factor + extra
    # An order is cancelled in supply, what is paid for month by month in renewal.
    lasting, single = evidence.of("retention", "leaving"), evidence.of("status", "order_new", "booking")
    scores["renewal" if 1.5 * lasting > single else "supply"] += evidence.of("cancel")
    scores["no_contact"] = no_contact_score(conversation, evidence) * max(total, 30.0)
    scores["internal"] = internal_score(conversation, sides, evidence) * max(total, 30.0)
    return scores


def tell_category(
    conversation: Conversation, sides: Sides, embed: Embed | None = None, evidence: Evidence | None = None
) -> CategoryGuess:
    """`evidence`: what `gather` gave for this conversation, where it was called already."""
    evidence = evidence or gather(conversation, sides, embed)
    if not evidence.pieces:
        return CategoryGuess(None)
    scores = category_scores(conversation, sides, evidence)
    code = max(scores, key=lambda category: scores[category])
    total = sum(scores.values())
    confidence = scores[code] / total if total > 0 else 0.0
    if scores[code] < _LEAST_SCORE or confidence < _LEAST_CONFIDENCE:
        return CategoryGuess(None, 0.0, None, scores)
    piece = telling_piece(code, conversation, evidence)
    return CategoryGuess(code, confidence, piece.quote() if piece else None, scores)


def _is_probe(code: str, piece: Piece, language: str) -> bool:
    """A short question, or the terms of a renewal: it comes after the reason."""
    if piece.text.rstrip().endswith("?") and piece.words.count(" ") - 1 < _LONG_QUESTION:
        return True
    return code == "renewal" and any(terms.search(piece.words) for terms in phrases(_TERMS, language))


def telling_piece(code: str, conversation: Conversation, evidence: Evidence) -> Piece | None:
    """The sentence that tells most of why they talk: of those who wanted something, early, in words of the category."""
    shares = {**SHARES.get(code, {code: 1.0}), **({"cancel": 1.0} if code in ("supply", "renewal") else {})}
    wanting = "employee" if conversation.direction == "out" else "client"
    best, most = None, 0.0
    for at, piece in enumerate(evidence.pieces):
        if piece.idx < 0 or (piece.words.count(" ") - 1) < _LEAST_WORDS:
            continue
        found = sum(evidence.given.get(intent, {}).get(at, 0.0) * share for intent, share in shares.items())
        weight = (found + _BARE) * next((factor for words, factor in _EARLY if piece.said < words), 0.4)
        if piece.side not in (wanting, "unknown"):
            weight *= 0.4
        if any(courtesy.search(piece.words) for courtesy in phrases(_COURTESIES, conversation.language)):
            weight *= _COURTESY
        if piece.side == "employee" and _is_probe(code, piece, conversation.language):
            weight *= _PROBE
        if weight > most:
            best, most = piece, weight
    return best
