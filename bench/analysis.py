"""How well analysis reads conversations: `python -m bench.analysis`.

Scores an engine on the labelled conversations of `bench/labelled/`, both halves apart: Cohen's kappa of each criterion,
accuracy of category and scenario, recall and precision of promises with their deadlines, bindings of voices to people,
facts for memory, and the share of evidence that is verbatim. `--misses` names each difference. `--model` asks the
language model of the settings for every field besides, which shows what it may be trusted with: seconds to minutes a
conversation with the local one, so `--first N` takes fewer.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial

from bench.analysis_scores import Findings, Scores, kappa
from bench.labelled_conversations import HALVES, Labelled, load
from ingest.analysis import built_in, combine
from ingest.analysis.catalogs import CRITERIA, DETERMINISTIC
from ingest.analysis.combine import FIELDS
from ingest.analysis.model.analyst import Analyst
from ingest.analysis.rules.sides import tell_sides
from ingest.analysis.scenarios import CriterionSetting
from rag.embedding import EmbedderSpec, choose_embedder
from rag.shared_models import SharedModels
from rag.structured import BackgroundModel
from store.settings import load_settings


def by_rules(labelled: Labelled, spec: EmbedderSpec | None) -> Findings:
    """The built-in engine."""
    conversation = labelled.conversation
    began = time.perf_counter()
    _, summary = built_in.summarise(conversation, spec)
    judged = built_in.evaluate(conversation, summary.category, tuple(CRITERIA), spec)
    _, facts = built_in.remember(conversation)
    seconds = time.perf_counter() - began
    return Findings(summary, judged.ranked[0][0], judged.votes, facts, seconds)


def by_model(labelled: Labelled, spec: EmbedderSpec | None, model: BackgroundModel) -> Findings:
    """The model with all fields, over the built-in engine, as combined for a provider's model."""
    conversation = labelled.conversation
    ruled = by_rules(labelled, spec)
    sides = tell_sides(conversation)
    people = {person.name: person.id for person in conversation.people}
    clients = {
        label: people[name]
        for name, label in labelled.labels.items()
        if label and label not in labelled.truth["employee"]
    }
    began = time.perf_counter()
    summary = Analyst(model, FIELDS).summarise(conversation, sides, prompt=None, built_in=ruled.summary)
    asked = [CriterionSetting(code, one.en, one.asks(conversation.language)) for code, one in CRITERIA.items()]
    votes = Analyst(model, FIELDS).evaluate(conversation, sides, asked, ruled.votes)
    judged = combine.judge(list(CRITERIA), ruled.votes, votes, deterministic=DETERMINISTIC, fields=FIELDS)
    facts = combine.facts(ruled.facts, Analyst(model, FIELDS).remember(conversation, sides, clients), fields=FIELDS)
    seconds = time.perf_counter() - began
    return Findings(summary, ruled.scenario, {each.code: each.vote for each in judged}, facts, seconds)


def report(title: str, scores: Scores, count: int) -> None:
    print(f"\n{title}: {count} conversations, {scores.seconds / count:.2f} s each")
    print(f"  category {scores.category}   scenario {scores.scenario}")
    print(f"  promises: recall {scores.promised}, precision {scores.promises}; deadline right {scores.deadlines}")
    print(f"  bindings: right {scores.bound}, of those that can be told {scores.bindable}")
    print(f"  facts: labelled ones found {scores.known}, precision {scores.facts}; items under their key {scores.keys}")
    print(f"  evidence verbatim {scores.verbatim}")
    for name, codes in (
        ("deterministic", [code for code in CRITERIA if code in DETERMINISTIC]),
        ("others", [code for code in CRITERIA if code in scores.pairs and code not in DETERMINISTIC]),
    ):
        values = {code: kappa(scores.pairs[code]) for code in codes}
        pooled = kappa([pair for code in codes for pair in scores.pairs[code]])
        print(f"  kappa, {name}: mean {sum(values.values()) / len(values):.3f}, pooled {pooled:.3f}")
        for code, value in values.items():
            agreed = sum(wanted == given for wanted, given in scores.pairs[code])
            print(f"    {code:24} {value:6.3f}   {agreed} of {len(scores.pairs[code])}")
    if scores.tone_errors:
        error = sum(scores.tone_errors) / len(scores.tone_errors)
        print(f"  tone_of_voice: mean error {error:.2f} where told ({len(scores.tone_errors)})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=HALVES, help="only this half")
    parser.add_argument("--misses", action="store_true", help="name each difference")
    parser.add_argument("--model", action="store_true", help="the language model of the settings, besides")
    parser.add_argument("--first", type=int, help="only so many conversations of a half")
    options = parser.parse_args()
    settings = load_settings()
    spec = choose_embedder(settings)
    models = SharedModels(settings)
    model = models.background() if options.model else None
    if options.model and model is None:
        print("no language model is installed or configured")
    for half in (options.half,) if options.half else HALVES:
        conversations = load(half)[: options.first]
        engines: list[tuple[str, Callable[[Labelled], Findings]]] = [
            ("built-in engine", lambda labelled: by_rules(labelled, spec))
        ]
        if model is not None:
            engines.append((model.name, partial(by_model, spec=spec, model=model)))
        for name, analyse in engines:
            scores = Scores()
            for labelled in conversations:
                scores.add(labelled.conversation, labelled.truth, labelled.labels, analyse(labelled))
            report(f"{name}, {half} half", scores, len(conversations))
            if options.misses:
                print("\n".join(f"    {line}" for line in scores.missed))
    models.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
