"""The rules' vote on each criterion of quality control. What a rule cannot know stays undecided."""

from __future__ import annotations

from collections.abc import Callable, Collection

from ingest.analysis.catalogs import CRITERIA
from ingest.analysis.conversation import Conversation
from ingest.analysis.findings import Sides, Vote
from ingest.analysis.rules import criteria_care as care
from ingest.analysis.rules import criteria_contacts as contacts
from ingest.analysis.rules import criteria_courtesy as courtesy
from ingest.analysis.rules import criteria_handling as handling
from ingest.analysis.rules import criteria_persuasion as persuasion
from ingest.analysis.rules.criteria_speech import Speech
from ingest.analysis.rules.criteria_votes import not_applicable, undecided
from ingest.analysis.rules.names import own_names

_RULES: dict[str, Callable[[Speech], Vote]] = {
    "greeting": courtesy.greeting,
    "brand_mention": courtesy.brand_mention,
    "operator_self_intro": courtesy.operator_self_intro,
    "ask_client_name": courtesy.ask_client_name,
    "address_by_name": courtesy.address_by_name,
    "need_clarified": handling.need_clarified,
    "identify_entity": handling.identify_entity,
    "confirm_details": handling.confirm_details,
    "contact_exchange": contacts.contact_exchange,
    "official_contacts_only": contacts.official_contacts_only,
    "next_step_stated": handling.next_step_stated,
    "ask_reason": persuasion.ask_reason,
    "handle_objection": persuasion.handle_objection,
    "offer_presented": persuasion.offer_presented,
    "verification_done": care.verification_done,
    "disclaimer_stated": care.disclaimer_stated,
    "thanks": courtesy.thanks,
    "farewell": courtesy.farewell,
    "aggression_response": care.aggression_response,
    "tone_of_voice": care.tone_of_voice,
}
assert _RULES.keys() == CRITERIA.keys()
_LEAST_MESSAGE = 12  # words that an employee leaves on a machine


def judge(conversation: Conversation, sides: Sides, codes: Collection[str]) -> dict[str, Vote]:
    """A vote for each code: not applicable where no employee says a word or no client is there to be served,
    undecided where nobody could tell who is who. A code without a rule is undecided."""
    known = [code for code in codes if code in _RULES]
    votes = {code: undecided() for code in codes}
    if not sides.of:
        return votes
    speech = Speech.of(conversation, sides)
    if not _is_service(speech):
        return votes | {code: not_applicable() for code in known}
    return votes | {code: _RULES[code](speech) for code in known}


def _is_service(speech: Speech) -> bool:
    """Whether an employee speaks to a client, were it by leaving a message."""
    said = sum(run.words for run in speech.operator)
    if not said:
        return False
    if speech.client:
        return True
    if len(speech.sides.employees) > 1:
        return False
    language = speech.conversation.language
    return said >= _LEAST_MESSAGE and (
        courtesy.greeting(speech).value is True
        or courtesy.brand_mention(speech).value is True
        or any(own_names(run.original, language) for run in speech.operator)
    )
