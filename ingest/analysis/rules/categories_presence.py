"""Whether anybody was talked to at all, and whether a client took part: told by who speaks more than by topics."""

from __future__ import annotations

from collections import defaultdict

from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import Sides
from ingest.analysis.rules.categories_cues import phrases
from ingest.analysis.rules.categories_evidence import Evidence

# What machines say, and what is said into silence.
_MACHINE = """
абонент _ недоступен|занят|не, аппарат абонента, после _ сигнала, после гудка, после писка, голосов* почт*
автоответчик
нажмите один|два|три|четыре|пять|ноль|девять|решетку|звездочку, звонок _ важен, операторы _ заняты
оставайтесь на линии
дождитесь ответа, номер не обслуживается, набранный номер, в тональный, добавочный номер, линия занята
не может подойти
не может ответить, не могу ответить, голосовой помощник, голосовой ассистент, автоматический ответ, время ожидания
режим работы, часы работы, нерабочее время, для связи с|со, для соединения, вы позвонили в, вас приветствует
цифров*|голосов*|автоматическ* секретар*|помощник|ассистент, сейчас разговаривает по другой
after the tone|beep, at the tone, leave _ message, leave your name, cant come to the phone, ring you back
voicemail, voice mail, виртуальный секретарь, автосекретарь, что ему передать, что ей передать
reached the mailbox, mailbox is full, mailbox of, is not available, isnt available, is unavailable
your call is important
press one|two|three|four|five|zero|nine|1|2|3|4|5|0|9|star|pound|hash, main menu, stay on the line, remain on the line
you have reached, youve reached, you have called, youve called, number you have dialed, not in service
record your message
cannot be completed, estimated wait, agents are busy, representatives are busy, office hours are, are currently closed
you are number, in the queue, welcome to, out of office, automatic reply, call may be recorded, please hold
on our website
"""
_SILENCE = """
алло, але, ало, слышно, слышите, слышу, прерывается, прервалась, сорвалось, перезвоню, перезвоните, ошиблись, не туда
hello, hear, breaking up, anyone there, anybody there, are you there, you there, line, wrong number, call back
try again
"""
_FEW_WORDS = 12
_SHORT_TALK = 30
_HARDLY_WORDS = 5
_HARDLY_TALK = 12
_PLAIN_CUES = 5.0


def _matches(words: str, lines: str) -> bool:
    return any(pattern.search(words) for language in ("ru", "en") for pattern in phrases(lines, language))


def no_contact_score(conversation: Conversation, evidence: Evidence) -> float:
    """0 to 2: how sure it is that nobody was reached. Live words are those that neither a machine says nor somebody
    who asks whether the line works; a talk needs two sides with some."""
    cues = evidence.of("no_contact")
    machine: dict[str | None, int] = defaultdict(int)
    live: dict[str | None, int] = defaultdict(int)
    words = 0
    for piece in evidence.pieces:
        if piece.idx < 0:
            continue
        count = piece.words.count(" ") - 1
        words += count
        if _matches(piece.words, _MACHINE):
            machine[piece.label] += count
        elif not _matches(piece.words, _SILENCE):
            live[piece.label] += count
    for label, said in machine.items():
        if said >= live[label]:  # mostly a recording: so is what is between
            live[label] = 0
    if None in live or conversation.kind != "call":
        return 1.5 if cues > 8 and (len(live) < 2 and words < 150) else 0.0
    second = sorted(live.values())[-2] if len(live) > 1 else 0
    if second < _FEW_WORDS:
        if cues > (_PLAIN_CUES if second < _HARDLY_WORDS else 2 * _PLAIN_CUES):
            return 2.0
        return 0.8 if words < (_SHORT_TALK if cues else _HARDLY_TALK) and second < _HARDLY_WORDS else 0.0
    return 0.6 if cues > 10 and second < 3 * _FEW_WORDS else 0.0


def internal_score(conversation: Conversation, sides: Sides, evidence: Evidence) -> float:
    """0 to 2: how sure it is that staff are among themselves. A client among the people forbids it; a voice that sounds
    like a client's speaks against it."""
    if any(person.side == "client" for person in conversation.people):
        return 0.0
    if len(sides.employees) > 1 and len(sides.employees) == len(conversation.labels):
        return 2.0
    staff = sum(person.side == "employee" for person in conversation.people) > 1
    if not staff and not evidence.of("internal"):
        return 0.0
    score = 1.2 * evidence.of("internal") / (evidence.of(*evidence.scores) or 1.0)
    if staff:
        score += 0.6
    score += 0.25 if conversation.direction is None else -0.3
    if len(conversation.labels) > 2:
        score += 0.15
    if sides.clients:
        score -= 0.45
    return max(0.0, score)
