"""What the judgements of a conversation come to: score, whether something stayed open, a comment for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ingest.analysis.catalogs import CRITERIA, Language
from ingest.analysis.findings import Evaluation, Judgement
from ingest.analysis.scenarios import ScenarioSetting

_MOST_NAMED = 8
_WORDS: dict[Language, tuple[str, str, str, str]] = {
    "ru": ("Всё выполнено.", "Не выполнено: {}.", "Не определено: {}.", " и ещё {}"),
    "en": ("All criteria were met.", "Not met: {}.", "Not decided: {}.", " and {} more"),
}


def evaluate(
    scenario: ScenarioSetting,
    judgements: Sequence[Judgement],
    *,
    language: Language,
    engines: Mapping[str, str],
    tokens: int = 0,
) -> Evaluation:
    """The evaluation of one scenario: `judgements` are of its criteria, in their order."""
    binary = [
        each for each in judgements if CRITERIA[each.code].value_type == "binary" and each.vote.state == "decided"
    ]
    passed = sum(each.vote.value is True for each in binary)
    return Evaluation(
        scenario_code=scenario.code,
        judgements=tuple(judgements),
        score_pct=round(100 * passed / len(binary), 1) if binary else None,
        comment=_comment(scenario, judgements, language),
        is_partial=any(each.vote.state == "undecided" for each in judgements),
        engines=engines,
        tokens=tokens,
    )


def _comment(scenario: ScenarioSetting, judgements: Sequence[Judgement], language: Language) -> str | None:
    """What was not met and what stayed open, by the account's own names of the criteria."""
    names = {criterion.code: criterion.name for criterion in scenario.criteria}
    failed = [names[each.code] for each in judgements if each.vote.value is False]
    undecided = [names[each.code] for each in judgements if each.vote.state == "undecided"]
    all_met, not_met, not_decided, more = _WORDS[language]
    parts = []
    for words, found in ((not_met, failed), (not_decided, undecided)):
        if found:
            rest = len(found) - _MOST_NAMED
            listed = ", ".join(found[:_MOST_NAMED]) + (more.format(rest) if rest > 0 else "")
            parts.append(words.format(listed))
    if not parts:
        return all_met if any(each.vote.state == "decided" for each in judgements) else None
    return " ".join(parts)
