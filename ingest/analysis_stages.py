"""What each stage of an analysis does: finds, by the engines that there are, and says how to keep what was found."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from ingest.analyses import is_known
from ingest.analysis import built_in, combine
from ingest.analysis.catalogs import CRITERIA, DETERMINISTIC, Language
from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import BUILT_IN, Judgement, Quote, Summary, Vote
from ingest.analysis.memory import Known, merge
from ingest.analysis.model.analyst import Analyst
from ingest.analysis.quality import evaluate
from ingest.analysis.reading import read_settings
from ingest.workshop import TRIES, ShuttingDown, Workshop, run_or_shut_down
from rag.language_model import ProviderAway
from rag.structured import ModelClosed
from store import accounts, analysis, index_work, speakers, voices
from store.accounts import Tenant
from store.analyses import Analysis
from store.analysis import CriterionResult, NewItem
from store.database import Connection
from store.errors import Unavailable, UpstreamFailed
from store.index_work import INDEX_COMMUNICATION, INDEX_MEMORY, IndexWork

Result = TypeVar("Result")


class ModelFailed(Exception):
    """The model provider did not answer as it should; for people. `is_away`: it may answer later."""

    def __init__(self, message: str, *, is_away: bool) -> None:
        super().__init__(message)
        self.is_away = is_away


@dataclass(frozen=True, slots=True)
class Found:
    """`keep` writes it, in the transaction that ends the stage, and says what the index has to follow."""

    keep: Callable[[Connection], list[IndexWork]]
    tokens: int = 0


Work = Callable[[Workshop, Tenant, Analysis, Conversation, Analyst | None], Found | None]


def in_child(house: Workshop, order: Analysis, function: Callable[..., Result], *args: object) -> Result:
    """The built-in engine's work, away from the server's threads: clients take turns, and a child that dies is
    replaced, some times."""
    return run_or_shut_down(house.pools.analysis, function, *args, owner=order.tenant_id, tag=order.id, tries=TRIES)


def _summary(
    house: Workshop, tenant: Tenant, order: Analysis, conversation: Conversation, analyst: Analyst | None
) -> Found:
    sides, found = in_child(house, order, built_in.summarise, conversation, house.indexes.serving_spec)
    if analyst is not None:
        found = _ask(analyst.summarise, conversation, sides, prompt=order.user_prompt, built_in=found)

    def keep(connection: Connection) -> list[IndexWork]:
        # Whoever deletes a speaker waits, and whom they deleted is not among the participants any more.
        locked = accounts.get_tenant(tenant.id, connection, lock=True)
        _bind(tenant.id, connection, conversation, found, remembers=locked is not None and locked.voices_enabled)
        before = analysis.category_of(tenant.id, connection, conversation.id)
        analysis.put_summary(
            tenant.id,
            connection,
            conversation.id,
            text=found.text,
            user_summary=found.user_summary,
            category=found.category,
            items=_items(tenant.id, connection, conversation, found),
            engines=found.engines,
        )
        if found.category == before:
            return []
        # Searches by category ask the index.
        return [index_work.add(tenant.id, connection, action=INDEX_COMMUNICATION, subject_id=conversation.id)]

    return Found(keep, found.tokens)


def _bind(
    tenant_id: str, connection: Connection, conversation: Conversation, found: Summary, *, remembers: bool
) -> None:
    """Labels to people; where the account remembers voices, the voice under a label is now known to be theirs."""
    known = {person.id: person for person in conversation.people}
    for binding in found.bindings:
        bound = speakers.bind_label(tenant_id, connection, conversation.id, binding.person_id, binding.label)
        if bound and remembers and known[binding.person_id].external_id:
            voices.teach(tenant_id, connection, conversation.id, binding.label, binding.person_id)


def _items(tenant_id: str, connection: Connection, conversation: Conversation, found: Summary) -> list[NewItem]:
    people = {
        person.label: person.id
        for person in speakers.list_participants(tenant_id, connection, conversation.id)
        if person.label
    }
    items = [
        NewItem("criteria", item.content, item.key, _meta(item.quote, conversation, found.engines.get("items")))
        for item in found.items
    ]
    for each in found.commitments:
        meta = {"deadline": each.deadline, "deadline_text": each.deadline_text}
        meta |= _meta(each.quote, conversation, found.engines.get("commitments"))
        speaker_id = people.get(each.quote.label) if each.quote.label else None
        items.append(NewItem("commitment", each.content, None, meta, speaker_id))
    return items


def _meta(quote: Quote | None, conversation: Conversation, engine: str | None) -> dict[str, Any]:
    """Who found it, and in which words of the timeline."""
    meta: dict[str, Any] = {"engine": engine or BUILT_IN}
    if quote is not None:
        turn = next(turn for turn in conversation.turns if turn.idx == quote.idx)
        meta |= {"quote": quote.text, "idx": quote.idx, "label": quote.label, "start_ms": turn.start_ms}
    return meta


def _quality(
    house: Workshop, tenant: Tenant, order: Analysis, conversation: Conversation, analyst: Analyst | None
) -> Found | None:
    """None where the account has switched every scenario off."""
    with house.database.read() as connection:
        settings = read_settings(tenant, connection)
        category = analysis.category_of(tenant.id, connection, conversation.id)
    judged = in_child(
        house, order, built_in.evaluate, conversation, category, tuple(CRITERIA), house.indexes.serving_spec
    )
    scenario = settings.choose(judged.ranked)
    if scenario is None:
        return None
    modelled: Mapping[str, Vote] = {}
    fields: Collection[str] = ()
    tokens = 0
    if analyst is not None:
        modelled = _ask(analyst.evaluate, conversation, judged.sides, scenario.asked, judged.votes)
        fields, tokens = analyst.fields, tokens_of(analyst)
    codes = [criterion.code for criterion in scenario.asked]
    judgements = combine.judge(codes, judged.votes, modelled, deterministic=DETERMINISTIC, fields=fields)
    engines = {"scenario": BUILT_IN, **combine.engines_of(judgements)}
    language: Language = "en" if tenant.language == "en" else "ru"
    found = evaluate(scenario, judgements, language=language, engines=engines, tokens=tokens)

    def keep(connection: Connection) -> list[IndexWork]:
        analysis.put_qc(
            tenant.id,
            connection,
            conversation.id,
            scenario_code=found.scenario_code,
            score_pct=found.score_pct,
            comment=found.comment,
            status="partial" if found.is_partial else "success",
            criteria=[_criterion(judgement) for judgement in found.judgements],
            engines=found.engines,
        )
        return []

    return Found(keep, found.tokens)


def _criterion(judgement: Judgement) -> CriterionResult:
    vote = judgement.vote
    return CriterionResult(
        code=judgement.code,
        value_type=CRITERIA[judgement.code].value_type,
        value=vote.value,
        evidence=vote.quote.text if vote.quote else "",
        state=vote.state,
        votes=[_vote(each) for each in judgement.votes],
        idx=vote.quote.idx if vote.quote else None,
    )


def _vote(vote: Vote) -> dict[str, Any]:
    evidence = vote.quote.text if vote.quote else ""
    return {"engine": vote.engine, "state": vote.state, "value": vote.value, "evidence": evidence}


def _memory(
    house: Workshop, tenant: Tenant, order: Analysis, conversation: Conversation, analyst: Analyst | None
) -> Found:
    """What the client told is merged with what is known of them, in the transaction that keeps it."""
    sides, ruled = in_child(house, order, built_in.remember, conversation)
    clients = {
        person.label: person.id
        for person in conversation.people
        if person.label and person.side != "employee" and is_known(person)
    }
    facts, engine, tokens = ruled, BUILT_IN, 0
    if analyst is not None:
        with house.database.read() as connection:
            known = _known(tenant.id, connection, list(clients.values()))
        given = _ask(analyst.remember, conversation, sides, clients, known)
        facts = combine.facts(ruled, given, fields=analyst.fields)
        engine, tokens = analyst.name, tokens_of(analyst)
    modelled = set() if analyst is None else {(fact.person_id, fact.key, fact.content) for fact in given}
    people = {person.id for person in conversation.people if is_known(person)}
    facts = tuple(fact for fact in facts if fact.person_id in people)

    def keep(connection: Connection) -> list[IndexWork]:
        # Whoever deletes a speaker, or remembers something of the same one, waits.
        accounts.get_tenant(tenant.id, connection, lock=True)
        there = speakers.get_many(tenant.id, connection, list(people))
        changes = merge(
            _known(tenant.id, connection, list(there)),
            [fact for fact in facts if fact.person_id in there],
            conversation.occured_at,
            conversation.id,
        )
        made_by = {
            (fact.person_id, fact.key, fact.content): engine
            if (fact.person_id, fact.key, fact.content) in modelled
            else BUILT_IN
            for fact in facts
        }
        analysis.forget_items(tenant.id, connection, changes.forget)
        for item_id, meta in changes.confirmed:
            analysis.confirm(tenant.id, connection, item_id, conversation.id, meta)
        for new in changes.add:
            source = new.communication_id or conversation.id
            meta = {"engine": made_by.get((new.speaker_id, new.key, new.content), BUILT_IN), **new.meta}
            meta["communication_id"] = source
            item = NewItem("memory", new.content, None, meta, new.speaker_id)
            analysis.add_memory(tenant.id, connection, source, [item])
        changed = sorted(there) if changes else []
        return [
            index_work.add(tenant.id, connection, action=INDEX_MEMORY, subject_id=speaker_id) for speaker_id in changed
        ]

    return Found(keep, tokens)


def _known(tenant_id: str, connection: Connection, speaker_ids: list[str]) -> list[Known]:
    """What is remembered of these people, as it can be merged."""
    found = []
    for item in analysis.list_memory(tenant_id, connection, speaker_ids):
        meta = item.meta or {}
        assert item.speaker_id is not None, "memory is of somebody"
        at = datetime.fromisoformat(meta["at"]) if "at" in meta else item.created_at
        key = meta.get("key") or item.id
        found.append(Known(item.id, item.speaker_id, key, item.content, meta.get("communication_id"), at, meta))
    return found


def open_analyst(house: Workshop, order: Analysis, conversation: Conversation) -> Analyst | None:
    """One for each stage, which counts its tokens; None where there is no language model. What it must not read is
    found by the child: it may take seconds of a long text."""
    try:
        model = house.models.background()
    except ModelClosed:
        raise ShuttingDown from None
    if model is None:
        return None
    return Analyst(model, withheld=in_child(house, order, built_in.withhold, conversation))


def tokens_of(analyst: Analyst) -> int:
    return analyst.usage.prompt_tokens + analyst.usage.completion_tokens


def _ask(function: Callable[..., Result], *args: Any, **options: Any) -> Result:
    """What the model finds. Raises ModelFailed where its provider does not answer as it should."""
    try:
        return function(*args, **options)
    except ModelClosed:
        raise ShuttingDown from None
    except (UpstreamFailed, Unavailable) as error:
        raise ModelFailed(error.message, is_away=isinstance(error, ProviderAway)) from error


WORK: dict[str, Work] = {"summary": _summary, "qc": _quality, "memory": _memory}
