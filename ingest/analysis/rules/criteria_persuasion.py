"""What the operator does about a client who leaves, complains or objects, and what they offer."""

from __future__ import annotations

from ingest.analysis.findings import Vote
from ingest.analysis.rules import criteria_persuasion_words as words
from ingest.analysis.rules.criteria_care import RUDE, is_aggressive
from ingest.analysis.rules.criteria_speech import Run, Speech, first
from ingest.analysis.rules.criteria_votes import no, not_applicable, yes, yes_or_no

_ANSWER_RUNS = 3  # of operators after an objection in which it is answered
_SHORTEST_ANSWER = 5  # words
_FULL_ANSWER = 14  # words that say more than that they understand
_NEAR = 120  # characters between an offer and its price


def ask_reason(speech: Speech) -> Vote:
    asked = first(words.ASKS_WHY_LEAVING, speech.operator)
    if asked:
        return yes(asked)
    if not any(words.LEAVES.search(run.text) or is_aggressive(run) for run in speech.client):
        return not_applicable()
    return yes_or_no(first(words.ASKS_WHY, speech.operator))


def handle_objection(speech: Speech) -> Vote:
    objected = False
    for at, run in enumerate(speech.runs):
        if not speech.is_client(run):
            continue
        offered = [before for before in speech.runs[max(0, at - 3) : at] if speech.is_operator(before)]
        if not offered or not _objects(run, offered[-1]):
            continue  # or nothing was said yet that could be objected to
        answers = _answers(speech, at)
        objected = objected or bool(answers)
        for answer in answers:
            if RUDE.search(answer.text):
                continue
            found = words.ARGUES.search(answer.text) if answer.words >= _SHORTEST_ANSWER else None
            if found is None and answer.words >= _FULL_ANSWER:
                found = words.EMPATHISES.search(answer.text)
            if found:
                return yes(answer.quote(*found.span()))
    return no() if objected else not_applicable()


def _answers(speech: Speech, at: int) -> list[Run]:
    """What operators say before the client goes on; a word or two are not what an operator stops at."""
    found: list[Run] = []
    for run in speech.runs[at + 1 : at + 2 + _ANSWER_RUNS]:
        if speech.is_operator(run):
            found.append(run)
        elif found and (found[-1].words >= _SHORTEST_ANSWER or run.words > _SHORTEST_ANSWER):
            break
    return found


def _objects(run: Run, offered: Run) -> bool:
    if words.OBJECTS.search(run.text):
        return True
    if not words.REFUSES.search(run.text):
        return False
    return any(pattern.search(offered.text) for pattern in (words.OFFERS, words.MONEY, words.SLOT))


def offer_presented(speech: Speech) -> Vote:
    quote = first(words.PROPOSES, speech.operator)
    if quote:
        return yes(quote)
    for run in speech.operator:
        for match in words.OFFERS.finditer(run.text):
            window = run.text[max(0, match.start() - _NEAR) : match.end() + _NEAR]
            if words.MONEY.search(window) and not words.DEBT.search(window):
                return yes(run.quote(*match.span()))
    for at, run in enumerate(speech.runs):
        if not speech.is_client(run):
            continue
        named = speech.runs[at - 1] if at and speech.is_operator(speech.runs[at - 1]) else None
        price = words.PRICE_OBJECTION.search(run.text) and named and words.MONEY.search(named.text)
        if named and price and not words.DEBT.search(named.text):
            return yes(named.quote(*price.span()))
        if not words.ASKS_PRICE.search(run.text):
            continue
        for answer in speech.runs[at + 1 : at + 3]:
            price = words.MONEY.search(answer.text) if speech.is_operator(answer) else None
            if price and not words.DEBT.search(answer.text):
                return yes(answer.quote(*price.span()))
    return no()
