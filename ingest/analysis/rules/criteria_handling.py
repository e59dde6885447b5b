"""How the request was handled: clarified, identified, confirmed, and what happens next."""

from __future__ import annotations

import re

from ingest.analysis.findings import Quote, Vote
from ingest.analysis.rules import criteria_handling_words as words
from ingest.analysis.rules.criteria_care import verification_done
from ingest.analysis.rules.criteria_contacts import DIGITS, MAIL, PHONE
from ingest.analysis.rules.criteria_speech import Run, Speech, first, matches
from ingest.analysis.rules.criteria_votes import no, not_applicable, yes
from ingest.analysis.rules.morphology import read

_STEP_CHARACTERS = 20_000  # of a run, from its end
_NEAR_RUNS = 6  # how far back a detail is looked for that is said again


def need_clarified(speech: Speech) -> Vote:
    quote = _clarifying(speech)
    if quote:
        return yes(quote)
    return no() if any(words.ASKED_FOR.search(run.text) for run in speech.client) else not_applicable()


def _clarifying(speech: Speech) -> Quote | None:
    for run, match in matches(words.QUESTION, speech.operator):
        start, _ = run.sentence(max(0, match.start() - 1))
        sentence = run.text[max(start, match.start() - 300) : match.end()]
        if len(sentence.split()) >= 2 and any(_is_question(part) for part in words.ASKED_TOGETHER.split(sentence)):
            return run.quote(match.start() - 1, match.start())
    if speech.conversation.kind != "call" or any("?" in turn.text for turn in speech.conversation.turns):
        return None
    for run, match in matches(words.WONDERS, speech.operator):  # a recogniser that sets no question marks
        around = run.text[max(0, match.start() - 30) : match.end() + 50]
        if not words.POLITE_QUESTION.search(around):
            return run.quote(*match.span())
    return None


def _is_question(text: str) -> bool:
    return len(text.split()) >= 2 and not words.POLITE_QUESTION.search(text)


def identify_entity(speech: Speech) -> Vote:
    both = tuple(run for run in speech.runs if speech.is_operator(run) or speech.is_client(run))
    for pattern in (words.IDENTITY, words.NUMBERED, words.SPELLED):
        quote = first(pattern, both)
        if quote:
            return yes(quote)
    for run in both:
        code = words.CODE.search(run.original)
        if code:
            return yes(run.quote(*code.span()))
    told = first(words.FOUND, speech.operator) or verification_done(speech).quote
    if told:
        return yes(told)
    asked = False
    for at, run in enumerate(both):
        if not speech.is_operator(run) or not words.ENTITY_ASKED.search(run.text):
            continue
        asked = True
        for answer in both[at + 1 : at + 4]:
            found = words.FIGURES.search(answer.text) if speech.is_client(answer) else None
            if found:
                return yes(answer.quote(*found.span()))
    named = (
        match.group()
        for run, match in matches(words.ENTITY, both)
        if speech.is_client(run) or words.YOURS.match(match.group())
    )
    if asked or any(named):
        return no()
    return not_applicable()


def confirm_details(speech: Speech) -> Vote:
    given = False
    for at, run in enumerate(speech.runs):
        if speech.is_client(run):
            given = given or _has_details(run)
        elif speech.is_operator(run):
            before = [each for each in speech.runs[max(0, at - _NEAR_RUNS) : at] if speech.is_client(each)]
            span = _repeated(run, before)
            if span:
                return yes(run.quote(*span))
    return no() if given else not_applicable()


def _has_details(run: Run) -> bool:
    if MAIL.search(run.text) or PHONE.search(run.text) or DIGITS.search(run.text) or words.PLACE.search(run.text):
        return True
    return sum(1 for _ in words.NUMBER_TOKEN.finditer(run.text[:4000])) >= 2


def _repeated(run: Run, before: list[Run]) -> tuple[int, int] | None:
    """Where an operator says again what the client has just told: an address, a number, two details in one sentence."""
    said = " ".join(each.text[-4000:] for each in before)
    mails = {match.group() for match in MAIL.finditer(said)}
    mail = next((match for match in MAIL.finditer(run.text) if match.group() in mails), None)
    if mail:
        return mail.span()
    spelled = {re.sub(r"\W", "", match.group()) for match in words.SPELLED_WORD.finditer(said)}
    for match in words.SPELLED_WORD.finditer(run.text[:8000]):
        letters = re.sub(r"\W", "", match.group())
        if any(letters in each or each in letters for each in spelled):
            return match.span()
    joined = {re.sub(r"\D", "", match.group()) for match in words.SPACED_DIGITS.finditer(said)}
    figures = joined | {_stem(match.group()) for match in words.NUMBER_TOKEN.finditer(said)}
    told = {_stem(word) for word in words.WORD.findall(said)} - words.COMMON_STEMS
    again: dict[int, list[re.Match[str]]] = {}
    for match in words.NUMBER_TOKEN.finditer(run.text[:8000]):
        if _stem(match.group()) in figures:
            again.setdefault(run.sentence(match.start())[0], []).append(match)
    for start, found in again.items():
        sentence = run.text[start : min(start + 300, run.sentence(start)[1])]
        long = any(match.group().isdigit() and len(match.group()) >= 3 for match in found)
        different = len({match.group() for match in found})
        beside = {_stem(word) for word in words.WORD.findall(sentence)} & told
        if long or different >= 2 or (different and (len(beside) >= 2 or words.CONFIRMS.search(sentence))):
            return found[0].span()
    return None


def _stem(word: str) -> str:
    return word if word[0].isdigit() else word[:5]


def next_step_stated(speech: Speech) -> Vote:
    for run in reversed(speech.operator):
        for match in words.NEXT.finditer(run.text):
            start, end = run.sentence(match.start())
            near = run.text[max(start, match.start() - 20) : min(end, match.end() + 20)]
            if not words.NO_NEXT.search(near):
                return yes(run.quote(*match.span()))
    for run in reversed(speech.operator):
        span = _step(run, speech.russian)
        if span:
            return yes(run.quote(*span))
    return no()


def _step(run: Run, russian: bool) -> tuple[int, int] | None:
    """What somebody is about to do, whichever verb says so."""
    found = words.NEXT_UNDER_WAY.search(run.text)
    if found or not russian:
        return found.span() if found else None
    text = run.text[-_STEP_CHARACTERS:]
    base = len(run.text) - len(text)
    for match in words.RUSSIAN_WORD.finditer(text):
        reading = read(match.group())
        if (
            reading.tense == "futr"
            and reading.part == "VERB"
            and reading.person in ("1per", "3per")
            and reading.normal not in words.NO_STEP
            and text[max(0, match.start() - 3) : match.start()] != "не "
            and not words.BY_ITSELF.search(text, max(0, match.start() - 40), match.start())
        ):
            return base + match.start(), base + match.end()
    return None
