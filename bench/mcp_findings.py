"""What analysis would have found in the conversations of `bench.mcp_data`: summaries, facts, promises, quality control,
and what is remembered of clients."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa

from bench.bulk import Made, made_id
from ingest.analysis.catalogs import CATEGORIES, CRITERIA, SCENARIOS
from store.analysis import CriterionResult, qc_evaluations, stages, summaries, summary_items
from store.signals import value_keys

Rows = dict[sa.Table, list[dict[str, Any]]]

FACTS = 2
MEMORY_EACH = 3
"""In every so many communications something is learnt of the client."""
QC_SHARE = 0.6
SENTENCES = (
    "Добрый день! Подскажите, пожалуйста, когда привезут заказ номер {}?",
    "Заказ номер {} уже на складе, доставка завтра с десяти до двух.",
    "По счёту {} оплата не прошла, пришлите, пожалуйста, новый.",
    "Перезвоню вам до пятницы и скажу, что решили по заявке {}.",
    "Дорого для нас: у соседей по договору {} выходит дешевле на треть.",
    "Спасибо, вопрос {} закрыт, всего доброго!",
)


@dataclass(frozen=True, slots=True)
class Analysed:
    """A communication as its analysis sees it."""

    number: int
    id: str
    at: datetime
    texts: Sequence[str]
    staff_id: str
    client_id: str


class Findings:
    def __init__(self, tenant_id: str, chance: random.Random) -> None:
        self._tenant_id, self._chance = tenant_id, chance
        self._evaluations = [_evaluation(chance) for _ in range(200)]
        self._categories = [code for code in CATEGORIES if code != "internal"]

    def add(self, of: Analysed, rows: Rows) -> None:
        own = {"communication_id": of.id, "tenant_id": self._tenant_id}
        category = self._chance.choice(self._categories)
        summary_id = made_id(self._tenant_id, Made.SUMMARY, of.number)
        rows[summaries].append(
            {
                **own,
                "id": summary_id,
                "text": f"{of.texts[0]} Договорились вернуться к вопросу до пятницы.",
                "category": category,
                "created_at": of.at,
                "updated_at": of.at,
            }
        )
        rows[summary_items] += self._items(of, CATEGORIES[category].keys, summary_id)
        has_qc = self._chance.random() < QC_SHARE
        if has_qc:
            evaluation = {**own, **self._chance.choice(self._evaluations), "created_at": of.at}
            rows[qc_evaluations].append({"id": made_id(self._tenant_id, Made.EVALUATION, of.number), **evaluation})
        for stage, is_done in (("summary", True), ("qc", has_qc), ("memory", of.number % MEMORY_EACH == 0)):
            status = "success" if is_done else "skipped"
            rows[stages].append({**own, "stage": stage, "status": status, "updated_at": of.at})

    def _items(self, of: Analysed, keys: Sequence[str], summary_id: str) -> list[dict[str, Any]]:
        quoted = {"engine": "built-in", "quote": of.texts[0], "idx": 0, "label": "SPEAKER_00", "start_ms": 0}
        facts = [(self._chance.choice(keys), self._said(of.number)) for _ in range(FACTS)]
        items: list[dict[str, Any]] = [
            {"summary_id": summary_id, "item_type": "criteria", "subtype": key, "content": said, "meta": quoted}
            for key, said in facts
        ]
        for item, key in zip(items, value_keys(facts), strict=True):
            item["value_key"] = key
        due_on = (of.at + timedelta(days=self._chance.randrange(1, 8))).date()
        deadline = {"deadline": due_on.isoformat(), "deadline_text": "до пятницы"}
        promise = {"item_type": "commitment", "content": self._said(of.number), "meta": {**quoted, **deadline}}
        items.append({"summary_id": summary_id, "speaker_id": of.staff_id, "due_on": due_on, **promise})
        if of.number % MEMORY_EACH == 0:
            meta = {"key": "preference", "at": of.at.isoformat(), "quote": of.texts[0], "communication_id": of.id}
            learnt = {"item_type": "memory", "content": self._said(of.number), "meta": meta}
            items.append({"speaker_id": of.client_id, **learnt})
        first = of.number * (FACTS + 2)
        return [
            {
                "id": made_id(self._tenant_id, Made.ITEM, first + place),
                "tenant_id": self._tenant_id,
                "communication_id": of.id,
                "summary_id": None,
                "speaker_id": None,
                "subtype": None,
                "value_key": None,
                "due_on": None,
                "created_at": of.at,
                **item,
            }
            for place, item in enumerate(items)
        ]

    def _said(self, number: int) -> str:
        """Half of it is said again and again."""
        return self._chance.choice(SENTENCES).format(self._chance.choice((number, number % 8)))


def _evaluation(chance: random.Random) -> dict[str, Any]:
    scenario = chance.choice(list(SCENARIOS.values()))
    criteria, met, asked = [], 0, 0
    for code in scenario.criteria:
        if CRITERIA[code].value_type != "binary":
            criteria.append(CriterionResult(code, "numeric", float(chance.randrange(0, 5)), "по разговору"))
            continue
        state = chance.choices(("decided", "not_applicable", "undecided"), (8, 1, 1))[0]
        value = chance.random() < 0.7 if state == "decided" else None
        asked, met = asked + (value is not None), met + bool(value)
        criteria.append(CriterionResult(code, "binary", value, "Добрый день!" if value else "", state))
    is_partial = any(each.state == "undecided" for each in criteria)
    return {
        "scenario_code": scenario.code,
        "score_pct": round(100 * met / asked, 1) if asked else None,
        "comment": "Выполнено не всё.",
        "status": "partial" if is_partial else "success",
        "criteria": [asdict(each) for each in criteria],
    }
