"""Analysis by a language model: asked part by part, and believed only as far as the conversation proves it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Protocol, TypeVar

import structlog
from pydantic import BaseModel

from ingest.analysis import combine
from ingest.analysis.catalogs import CRITERIA, Language
from ingest.analysis.combine import FIELDS, LOCAL_FIELDS, Draft
from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import Fact, Sides, Summary, Vote
from ingest.analysis.hostile import WITHHELD, is_instruction, withhold
from ingest.analysis.model import prompts
from ingest.analysis.model.evidence import BREACH_WINS, TRUE_BY_ABSENCE, is_supported, prove, prove_vote
from ingest.analysis.model.parts import Names, Part, cut, name_voices
from ingest.analysis.model.schemas import (
    CriteriaAnswer,
    CriterionAnswer,
    FactAnswer,
    FactsAnswer,
    SummaryAnswer,
    TextAnswer,
    WholeAnswer,
)
from ingest.analysis.safe_texts import SafeTexts
from rag.language_model import TokenUsage, estimate_tokens
from rag.numbers import numbers_in, unsupported_numbers
from rag.prompt_data import cut_to_tokens
from rag.sentences import sentence_ends
from rag.structured import Answer, BackgroundModel, Messages, Meter
from store.errors import UpstreamFailed

MOST_PARTS = 64
LOCAL_MOST_PARTS = 10  # a quarter of an hour of a small machine; the built-in engine's summary of more is no worse
TEXT_TOKENS = 350
SUMMARY_TOKENS = 2500
CRITERIA_TOKENS = 2500
FACTS_TOKENS = 1500
REPORT_TOKENS = 4000
LOCAL_REPORT_TOKENS = 700
LOCAL_CRITERIA = 5  # criteria that a small model judges at once
_LEAST_ROOM = 120
_KEY = re.compile(r"[^\w: -]+")
_CYRILLIC = re.compile(r"[а-яё]", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?…]+(?:\s|$)")
_LATIN = re.compile(r"[a-z]", re.IGNORECASE)

T = TypeVar("T", bound=BaseModel)
log = structlog.get_logger(__name__)


class CriterionLike(Protocol):
    """A criterion as an account words it: `ingest.analysis.scenarios.CriterionSetting`."""

    @property
    def code(self) -> str: ...
    @property
    def description(self) -> str: ...


class KnownFact(Protocol):
    """What is remembered of a person: `ingest.analysis.memory.Known`."""

    @property
    def key(self) -> str: ...
    @property
    def content(self) -> str: ...


class Analyst:
    """One stage of one communication: make another for the next.

    `fields` is what the model is trusted with; nothing else is asked of it. `withheld` is `built_in.withhold` of the
    conversation, made elsewhere. Calls raise what `BackgroundModel` raises; UpstreamFailed also where a provider's
    model gave no usable answer.
    """

    def __init__(
        self,
        model: BackgroundModel,
        fields: Collection[str] | None = None,
        withheld: Mapping[int, str] | None = None,
    ) -> None:
        self._model = model
        self.name = model.name
        self.is_local = model.is_local
        self.fields = frozenset(fields if fields is not None else LOCAL_FIELDS if model.is_local else FIELDS)
        self._meter = Meter()
        self._withheld = withheld
        self._safe: SafeTexts | None = None

    @property
    def usage(self) -> TokenUsage:
        """Of every answer so far, those before a failure included."""
        return self._meter.usage

    def summarise(self, conversation: Conversation, sides: Sides, *, prompt: str | None, built_in: Summary) -> Summary:
        """Both engines' summary, with the report that the account's own `prompt` asks for."""
        names = name_voices(conversation, sides)
        drafts = bool(conversation.turns and self.fields - {"user_summary"})
        draft = self._draft(conversation, names, built_in) if drafts else None
        report = None
        if prompt and prompt.strip() and conversation.turns and "user_summary" in self.fields:
            report = self._report(conversation, names, prompt, built_in)
        return combine.summary(
            conversation,
            sides,
            built_in,
            draft,
            engine=self.name,
            fields=self.fields,
            user_summary=report,
            tokens=self._tokens(),
            safe=self._safe_texts(conversation),
        )

    def evaluate(
        self, conversation: Conversation, sides: Sides, criteria: Sequence[CriterionLike], built_in: Mapping[str, Vote]
    ) -> dict[str, Vote]:
        """The model's votes. What it cannot prove is asked once more, then left undecided. The rules' votes are not
        shown to it, so that there are two opinions."""
        asked = [(one.code, one.description) for one in criteria if one.code in CRITERIA]
        if not asked or not sides.employees or "criteria" not in self.fields:
            return {}
        names = name_voices(conversation, sides)
        votes = self._votes(conversation, sides, names, asked, again=False)
        open_codes = {code for code, vote in votes.items() if vote.state == "undecided"}
        if open_codes:
            repeated = [(code, meaning) for code, meaning in asked if code in open_codes]
            votes |= self._votes(conversation, sides, names, repeated, again=True)
        return votes

    def remember(
        self, conversation: Conversation, sides: Sides, people: Mapping[str, str], known: Sequence[KnownFact] = ()
    ) -> tuple[Fact, ...]:
        """Facts in the words of clients that are known: `people` are their ids by label. Keys of `known` are kept."""
        if not people or "facts" not in self.fields:
            return ()
        names = name_voices(conversation, sides)
        system = prompts.facts_system(conversation.language, [(one.key, one.content) for one in known])
        parts = self._parts(conversation, names, system, FACTS_TOKENS)
        safe = self._safe_texts(conversation)
        found: dict[tuple[str, str], Fact] = {}
        for answer in self._ask_parts(system, conversation, parts, FactsAnswer, FACTS_TOKENS):
            if answer.value is None and not self._model.is_local:
                raise _unusable()
            for stated in answer.value.facts if answer.value else ():
                fact = _fact(safe, names, people, stated)
                if fact is not None:
                    found[fact.person_id, fact.key] = fact  # what is said later counts
        return tuple(found.values())

    def _draft(self, conversation: Conversation, names: Names, built_in: Summary) -> Draft | None:
        """The model's summary; None where a small model is no use for it."""
        small = not self.fields - {"text", "user_summary"}
        schema: type[TextAnswer] = TextAnswer if small else SummaryAnswer
        most = TEXT_TOKENS if small else SUMMARY_TOKENS
        system = prompts.summary_system(conversation.language, local=small)
        parts = self._parts(conversation, names, system, most)
        if not parts:
            return None
        answers: list[TextAnswer] = []
        for answer in self._ask_parts(system, conversation, parts, schema, most):
            if answer.value is None:
                self._give_up()
                return None
            answers.append(answer.value)
        whole = answers[0] if len(answers) == 1 else self._whole(conversation.language, answers, small)
        text = _without_orders(whole.summary) if whole is not None else ""
        if not self._model.is_local:
            text = _with_known_numbers(text, conversation, built_in)
        if whole is None or not text or (self._model.is_local and not _is_plausible(text, conversation)):
            self._give_up()
            return None
        full = [one for one in answers if isinstance(one, SummaryAnswer)]
        return Draft(
            text,
            (whole.category, whole.category_quote) if isinstance(whole, WholeAnswer) else None,
            tuple(item for one in full for item in one.items),
            tuple(promise for one in full for promise in one.commitments) if full else None,
        )

    def _whole(self, language: Language, answers: Sequence[TextAnswer], small: bool) -> TextAnswer | None:
        """What the parts come to."""
        system = prompts.whole_system(language, local=small)
        notes = [
            one.summary + (f" [{one.category}: «{one.category_quote}»]" if isinstance(one, WholeAnswer) else "")
            for one in answers
        ]
        notes = self._fitting(notes, self._room(system, TEXT_TOKENS))
        schema: type[TextAnswer] = TextAnswer if small else WholeAnswer
        messages = prompts.notes_messages(system, language, notes)
        return self._model.ask(messages, schema, max_tokens=2 * TEXT_TOKENS, meter=self._meter).value

    def _report(self, conversation: Conversation, names: Names, task: str, built_in: Summary) -> str | None:
        """The report by the account's own prompt, over notes on the parts where there are several."""
        language = conversation.language
        most = LOCAL_REPORT_TOKENS if self._model.is_local else REPORT_TOKENS
        room = self._model.max_prompt_tokens * 3 // 5
        system = prompts.report_system(language, task, room, notes=False)
        parts = self._parts(conversation, names, prompts.report_system(language, task, room, notes=True), most)
        if len(parts) == 1:
            messages = prompts.conversation_messages(system, conversation, parts[0].text)
        else:
            notes = self._notes(conversation, task, room, parts) if parts else _built_in_notes(built_in)
            messages = prompts.notes_messages(system, language, self._fitting(notes, self._room(system, 0)))
        text, _ = self._model.text(messages, max_tokens=most, meter=self._meter)
        if text is None and not self._model.is_local:
            raise _unusable()
        return text

    def _notes(self, conversation: Conversation, task: str, room: int, parts: Sequence[Part]) -> list[str]:
        system = prompts.report_system(conversation.language, task, room, notes=True)
        most = min(max(self._room(system, 0) // len(parts), _LEAST_ROOM), 800)
        asked = (prompts.conversation_messages(system, conversation, part.text) for part in parts)
        notes: list[str] = []
        for text, _ in self._model.text_each(asked, max_tokens=most, meter=self._meter):
            notes.append(_without_orders(text or ""))
        return [note for note in notes if note]

    def _votes(
        self, conversation: Conversation, sides: Sides, names: Names, asked: Sequence[tuple[str, str]], *, again: bool
    ) -> dict[str, Vote]:
        size = LOCAL_CRITERIA if self._model.is_local else len(asked)
        safe = self._safe_texts(conversation)
        votes: dict[str, list[Vote | None]] = {code: [] for code, _ in asked}
        for batch in _batches(asked, size):
            codes = [code for code, _ in batch]
            system = prompts.criteria_system(batch, again=again)
            parts = self._parts(conversation, names, system, CRITERIA_TOKENS)
            for answer in self._ask_parts(system, conversation, parts, CriteriaAnswer, CRITERIA_TOKENS):
                given: dict[str, CriterionAnswer] = {}
                for one in answer.value.criteria if answer.value else ():
                    given.setdefault(one.code, one)
                for code in codes:
                    said = given.get(code)
                    vote = prove_vote(safe, said, sides.employees, self.name) if said is not None else None
                    votes[code].append(vote)
        return {code: _merged(code, found, self.name) for code, found in votes.items()}

    def _ask_parts(
        self, system: str, conversation: Conversation, parts: Iterable[Part], schema: type[T], max_tokens: int
    ) -> Iterator[Answer[T]]:
        asked: Iterator[Messages] = (prompts.conversation_messages(system, conversation, part.text) for part in parts)
        yield from self._model.ask_each(asked, schema, max_tokens=max_tokens, meter=self._meter)

    def _parts(self, conversation: Conversation, names: Names, system: str, answer_tokens: int) -> list[Part]:
        """The parts to ask about; none where a conversation is too long for the local model."""
        most = LOCAL_MOST_PARTS if self._model.is_local else MOST_PARTS
        room = self._room(system, estimate_tokens(conversation.subject[:300]))
        parts = list(islice(cut(self._safe_texts(conversation), names, room), most + 1))
        if len(parts) > most:
            log.info("conversation_too_long_for_model", model=self.name, id=conversation.id, answer=answer_tokens)
            return [] if self._model.is_local else parts[:most]
        return parts

    def _room(self, system: str, besides: int) -> int:
        """Tokens for data in a prompt. What is asked again needs some more."""
        return max(self._model.max_prompt_tokens - estimate_tokens(system) - besides - 200, _LEAST_ROOM)

    def _fitting(self, notes: Sequence[str], room: int) -> list[str]:
        share = max(room // max(len(notes), 1), 20)
        return [cut_to_tokens(note, share) for note in notes]

    def _safe_texts(self, conversation: Conversation) -> SafeTexts:
        if self._safe is None or self._safe.conversation is not conversation:
            self._safe = SafeTexts(conversation, self._withheld)
        return self._safe

    def _tokens(self) -> int:
        return self.usage.prompt_tokens + self.usage.completion_tokens

    def _give_up(self) -> None:
        """A provider's failure is the stage's; for a small model the built-in engine is there."""
        log.info("model_summary_unusable", model=self.name)
        if not self._model.is_local:
            raise _unusable()


def _unusable() -> UpstreamFailed:
    return UpstreamFailed("The language model gave no usable answer.")


def _built_in_notes(built_in: Summary) -> list[str]:
    promised = [promise.content for promise in built_in.commitments]
    return [note for note in [built_in.text or "", *(item.content for item in built_in.items), *promised] if note]


def _without_orders(text: str) -> str:
    return " ".join(withhold(text).replace(WITHHELD, " ").split())


def _is_plausible(text: str, conversation: Conversation) -> bool:
    """Whether a small model's summary is in the conversation's language, comes to an end without saying anything twice,
    and states no number that nobody said."""
    sentences = [" ".join(sentence.casefold().split()) for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    if len(set(sentences)) < len(sentences) or text[-1:] not in '.!?…»")':
        return False
    cyrillic, latin = len(_CYRILLIC.findall(text)), len(_LATIN.findall(text))
    if (cyrillic > latin) != (conversation.language == "ru"):
        return False
    said = numbers_in([conversation.subject, *(turn.text for turn in conversation.turns)])
    return not unsupported_numbers(text, said)


def _with_known_numbers(text: str, conversation: Conversation, built_in: Summary) -> str:
    """Without sentences that state a number which nobody said, and no deadline comes to."""
    due = [promise.deadline.replace("-", " ") for promise in built_in.commitments if promise.deadline]
    day = conversation.occured_at.astimezone(conversation.zone)
    said = numbers_in([conversation.subject, f"{day:%Y %m %d}", *due, *(turn.text for turn in conversation.turns)])
    ends = [0, *sentence_ends(text), len(text)]
    sentences = [text[start:end].strip() for start, end in pairwise(ends)]
    return " ".join(one for one in sentences if one and not unsupported_numbers(one, said))


def _batches(rows: Sequence[tuple[str, str]], size: int) -> Iterator[Sequence[tuple[str, str]]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _merged(code: str, votes: Sequence[Vote | None], engine: str) -> Vote:
    """The parts' votes as one. An unproven one (None) leaves open what no other part decides."""
    decided = [vote for vote in votes if vote is not None and vote.state == "decided"]
    if CRITERIA[code].value_type == "numeric":
        if None in votes or not decided:
            return Vote(engine, "undecided" if None in votes or not votes else "not_applicable")
        values = [float(vote.value or 0) for vote in decided]
        value = sum(values) if CRITERIA[code].most is None else round(sum(values) / len(values), 2)
        return Vote(engine, "decided", value, next((vote.quote for vote in decided if vote.quote), None))
    breach = next((vote for vote in decided if vote.value is False and vote.quote is not None), None)
    if breach is not None and code in BREACH_WINS:
        return breach
    telling = next((vote for vote in decided if vote.value is (code not in TRUE_BY_ABSENCE)), None)
    if telling is not None:
        return telling
    if None in votes or not votes:
        return Vote(engine, "undecided")
    return decided[0] if decided else Vote(engine, "not_applicable")


def _fact(safe: SafeTexts, names: Names, people: Mapping[str, str], stated: FactAnswer) -> Fact | None:
    label = names.label(stated.who)
    person_id = people.get(label or "")
    key = " ".join(_KEY.sub(" ", stated.key.casefold()).split())[:60]
    if label is None or person_id is None or not key or is_instruction(stated.key):
        return None
    quote = prove(safe, stated.quote, [label])
    if quote is None or not is_supported(stated.content, quote.text):
        return None
    return Fact(person_id, key, " ".join(stated.content.split()), quote)
