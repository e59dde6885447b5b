"""What an order to a model looks like, in text of `hostile.text_of_letters`: rules, each with the keywords it needs.

Ordinary text has no rule's keywords together, and looking for keywords costs little; so only hostile text costs more.
A rule is one pattern, or a chain of groups of words with at most `_GAP` characters between them, which is followed in
one pass over the text however often its words are repeated.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

_GAP = 60


def _any(*alternatives: str) -> str:
    return "(?:" + "|".join(alternatives) + ")"


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Words of one kind. Whatever `pattern` finds has one of `keywords` in it."""

    pattern: re.Pattern[str]
    keywords: tuple[str, ...]

    def __str__(self) -> str:
        return self.pattern.pattern


def _group(pattern: str, keywords: str) -> Group:
    return Group(re.compile(pattern), tuple(keywords.split()))


_MODEL = _group(
    _any(
        r"языков\w{1,3} модел|нейросет|нейронк|искусственн\w{1,3} интеллект|чат ?гпт|gpt|\bllm\b|\bии\b|\bai\b",
        r"language model|neural network|ассистент|(?:ai|dear|hey|the) assistant(?! (?:manager|director|will call))|"
        r"\b(?:ml|this|the) model\b|model reading",
        r"(?:бот|робот|модель|система)[- ]?(?:оцен|провер|аналит|контрол)|модель,? котор|оценщик",
        r"automated (?:reviewer|evaluator|grader)|\bevaluator\b|\bgrader\b|\bsummari[sz]er\b",
    ),
    "модел нейро интеллект гпт gpt llm ии ai model neural ассистент assistant бот систем оценщик reviewer evaluator "
    "grader summari",
)
_INSTRUCTIONS = _group(
    _any(
        r"инструкц|указани|пром[п]?т|prompt|instruction|guideline|directive|system message|команд|\brules?\b|правил",
        r"сказан|context|\btraining\b|контекст|написан",
    ),
    "инструкц указани промпт промт prompt instruction guideline directive message команд rule правил сказан context "
    "training контекст написан",
)
_THE_MODELS = _group(
    _any(
        r"предыдущ|прежн|прошл|предшеств|вышеизл|выше|\bвсе|твои|свои|ваши|данн\w{2} тебе|систем|исходн",
        r"previous|prior|above|earlier|\ball\b|\bany\b|\byour?\b|preceding|original|initial|system|everything|former",
    ),
    "",
)
_IGNORE = _group(
    _any(
        r"игнориру|проигнорир|забудь|забыть|не обращай|не учитыва|отмени|отбрось|отброси|пренебрег|не следуй",
        r"не выполняй|не соблюдай|обойди|перестань|наруш[ьи]|\bignor|\bforget\b|disregard|override|\bbypass",
        r"do not follow|don'?t follow|stop following|\bskip\b|pay no attention to|neglect",
    ),
    "игнорир забу забы обращай учитыва отмени отброс пренебрег следуй выполняй соблюдай обойди перестань наруш ignor "
    "forget disregard override bypass follow skip attention neglect",
)
_FULL = _group(
    _any(
        r"100 ?(?:%|процент|percent|балл|points?|из 100|/ ?100|out of)|\b100\b|сто (?:процент|балл)|стопроцент",
        r"hundred percent|максим|maxim|макс\b|наивысш|высш\w{1,3} (?:балл|оцен)|highest|perfect|full marks|full score",
        r"10 ?/ ?10|10 out of 10|ten out of ten|десят\w{1,3} из десят|\btrue\b|истин|пройден|выполнен|passed|fulfilled",
        r"satisfied|\bmet\b|положительн|1[.,]0\b|отличн",
    ),
    "100 процент балл percent макс maxim высш highest perfect full 10 ten десят true истин пройден выполнен passed "
    "fulfil satisfied met положительн 1.0 1,0 отличн",
)
_SCORE = _group(
    _any(
        r"критери|criteri|оценк|оцени|\bбалл|score|scoring|rating|\brate\b|\bgrade|\bmarks?\b",
        r"пункт\w{0,2} (?:чек|провер)|всем пунктам|чек[- ]?лист|checklist|evaluat|value_type|\bqc\b",
        r"\bокк\b|контрол\w{1,2} качеств|tone_of_voice",
    ),
    "критери criteri оцен балл scor rating rate grade mark пункт лист checklist evaluat value_type qc окк контрол "
    "tone_of_voice",
)
_SET = _group(
    _any(
        r"\b(?:set|give|assign|award|put|mark|rate|score|grant|treat|consider|fill|return|output|report|write|make|"
        r"answer)\b",
        r"постав|выстав|присво|\bдай|\bдайте|засчита|зачти|отмет|запиши|проставь|укажи|оцени|считай|верни|выведи|напиши",
        r"сделай|\bставь",
    ),
    "",
)
_EVERY = _group(r"(?:все|всем|каждый|каждому|каждого|любой|всех|all|every|each|any)", "")
_CRITERIA = _group(r"(?:критери|criteri)", "критери criteri")
_MET = _group(r"\btrue\b|100|истин|passed|пройден|максим", "true 100 истин passed пройден максим")
_WRITES = _group(
    _any(
        r"запиши|напиши|укажи|считай|постав|выведи|ответь|отвечай|write|say|output|include|respond|reply|answer|"
        r"must|should",
        r"долж|set |mark |rate |give |ignore|игнор|соглас|add |добав",
    ),
    "пиши укажи считай постав выведи ответь отвечай write say output include respond reply answer must should долж set "
    "mark rate give ignor игнор соглас add добав",
)
_REPORT = r"(?:отч[её]те?|резюме|саммари|сводк[уие]|summary|report|evaluation)"
_REPORTS = _group(_REPORT, "отч резюме саммари сводк summary report evaluation")
_PLEDGED = r"(?! \w{0,3}(?:гарант|скид|предоп|возврат|money|refund|guarant|discount|off\b|предварит|оплат))"


@dataclass(frozen=True, slots=True)
class Rule:
    """`links` follow each other. Found only where each of `needs` has a keyword."""

    links: tuple[re.Pattern[str], ...]
    needs: tuple[tuple[str, ...], ...]


def _chain(*groups: Group) -> Rule:
    return Rule(tuple(group.pattern for group in groups), tuple(group.keywords for group in groups if group.keywords))


def _one(pattern: str, *needs: Group | str) -> Rule:
    return Rule(
        (re.compile(pattern),), tuple(tuple(need.split()) if isinstance(need, str) else need.keywords for need in needs)
    )


_RULES = (
    # Forget what you were told.
    _chain(_IGNORE, _THE_MODELS, _INSTRUCTIONS),
    Rule(
        (
            _IGNORE.pattern,
            re.compile(rf"{_INSTRUCTIONS}\w{{0,3}} (?:\w{{1,10}} ){{0,2}}(?:выше|ранее|above|before this|earlier)"),
        ),
        (_IGNORE.keywords, _INSTRUCTIONS.keywords),
    ),
    _one(
        r"(?:ignor\w{0,4}|disregard|forget) (?:everything|all that|whatever)(?: \w+){0,4} (?:above|before|told|"
        r"instructed)",
        _IGNORE,
        "everything all whatever",
        "above before told instructed",
    ),
    _one(
        r"(?:забудь|игнорируй)\w{0,2},? (?:обо )?все,? (?:что )?(?:\w+ ){0,3}(?:выше|раньше|до этого|ранее|"
        r"сказан|велел)",
        _IGNORE,
        "все",
        "выше раньше до ранее сказан велел",
    ),
    _chain(
        _group(
            r"reveal|print|repeat|show|leak|раскрой|покажи|повтори|выведи|напечатай",
            "reveal print repeat show leak раскрой покажи повтори выведи напечатай",
        ),
        _group(r"your|the|сво|твой|твои|систем", ""),
        _group(
            r"prompt|system message|пром[п]?т|instructions given|системн\w{1,2} инструкц",
            "prompt message промпт промт instructions инструкц",
        ),
    ),
    # Who you are now.
    _chain(
        _group(
            r"(?:\bты|\bвы) (?:теперь|отныне|больше не|сейчас (?:будешь|станешь))",
            "теперь отныне больше будешь станешь",
        ),
        _group(
            rf"{_MODEL}|помощник|\bбот|робот|судь|эксперт|режим|свободн|контролер|аналитик|инструкц|правил|огранич|"
            r"став\w{1,3} |оцен|dan\b",
            " ".join(_MODEL.keywords)
            + " помощник бот судь эксперт режим свободн контролер аналитик инструкц правил огранич став оцен dan",
        ),
    ),
    _chain(
        _group(
            r"you are (?:now|no longer)|from now on,? you|pretend (?:to be|you)|act as|behave as|roleplay as",
            "now longer pretend act behave roleplay",
        ),
        _group(
            rf"{_MODEL}|\bdan\b|unrestricted|without restrictions|jailbr|\bmode\b|\bbot\b|reviewer|judge|expert|"
            r"auditor|bound",
            " ".join(_MODEL.keywords) + " dan restrict jailbr mode bot reviewer judge expert auditor bound",
        ),
    ),
    _one(
        r"jailbreak|developer mode (?:on|enabled)|режим\w? разработчика включ|prompt injection|do anything now",
        "jailbreak developer разработчика injection anything",
    ),
    _one(
        r"system prompt|системн\w{1,3} (?:пром[п]?т|prompt)|(?:new|updated|additional|новы\w|"
        r"дополнительны\w) (?:system )?"
        r"(?:instructions?|инструкци[ия])(?: for the| для) (?:model|ai|модел|ассист|систем|оцен|ии\b)",
        "prompt промпт промт instruction инструкци",
    ),
    _one(
        r"(?:new|updated|override|новые|важные|обновл\w{1,6}) (?:system )?(?:instructions?|инструкции|указания) ?:",
        "instruction инструкции указания",
        ":",
    ),
    # Marks of a prompt's own.
    _one(
        r"<\|[a-z_]{1,20}\|?>|\[/?inst\]|<</?sys>>|</?(?:system|instructions?|prompt|assistant|transcript|data)>|"
        r"<start_of_turn>",
        "> ]",
    ),
    _one(
        r"^\W{0,6}(?:system|assistant|developer|ассистент|системное сообщение|system message|system note) ?:",
        ":",
        "system assistant developer ассистент системное",
    ),
    _one(
        r"^\W{0,3}#{1,6} ?(?:system|instructions?|инструкци|assistant|ассистент|система)",
        "#",
    ),
    _one(
        r"[\[(<{#*] ?(?:system|система|admin note|note to (?:the )?(?:ai|model)) ?[\])>}#*:]",
        "system система note",
    ),
    _one(
        r"(?:конец|окончание|end of) (?:the )?(?:разговора|диалога|транскрипт\w|расшифровки|данных|conversation|"
        r"transcript|"
        r"data|input)\W{0,4}(?:$|теперь|now|далее|begin|new|нов|инструк|instruc|system|систем)",
        "конец окончание end",
        "разговора диалога транскрипт расшифровки данных conversation transcript data input",
    ),
    # The judgement that is asked for.
    _chain(_SET, _SCORE, _FULL),
    _chain(_SET, _FULL, _SCORE),
    Rule(
        (_EVERY.pattern, _CRITERIA.pattern, _MET.pattern),
        (_CRITERIA.keywords, _MET.keywords),
    ),
    Rule(
        (_EVERY.pattern, _CRITERIA.pattern, _SET.pattern, _FULL.pattern),
        (_CRITERIA.keywords, _FULL.keywords),
    ),
    _chain(
        _group(
            r"score|evaluation|оценка|балл|рейтинг|\bqc\b|результат",
            "score evaluation оценка балл рейтинг qc результат",
        ),
        _group(r"must|should|has to|shall|долж|обязан", "must should has shall долж обязан"),
        _group(r"100|сто процент|максим|maxim|perfect|hundred|высш", "100 процент максим maxim perfect hundred высш"),
    ),
    _one(
        rf"(?:{_SCORE}|рейтинг)\w{{0,6}}\W{{0,3}}[:=]\W{{0,3}}(?:{_FULL})",
        ": =",
        " ".join(_SCORE.keywords) + " рейтинг",
        _FULL,
    ),
    _one(
        r"(?:\bдай|\bдайте|постав|выстав|\bставь|присвой|award|assign|give(?: (?:it|them|him|her|me|us|everyone|"
        r"the \w+|this \w+))?)"
        r"\w{0,3} ?(?:сразу |ровно |мне |ему |ей |a |the )?(?:100 ?(?:%|процентов|percent|баллов)|"
        r"сто (?:процентов|баллов))" + _PLEDGED,
        "100 процентов баллов",
        "дай став присвой award assign give",
    ),
    _one(
        r"(?:tone_of_voice|value_type|score_pct|official_contacts_only|verification_done|aggression_response|"
        r"handle_objection)",
        "_",
    ),
    # The answer that is dictated.
    _chain(_MODEL, _WRITES),
    _one(
        r"(?:ответь|отвечай|верни|выведи|respond|reply|return|output|answer)\w{0,2} (?:only |just |только |"
        r"строго |with |в виде |"
        r"in ){0,3}(?:json\b|\{|«?true\b|null\b|валидн\w{0,3} json)",
        "json { true null",
    ),
    _one(
        rf"(?:в|во|in|into) (?:the |your |свое\w{{1,2}} |итогово\w{{1,2}} |this )?{_REPORT} (?:please |обязательно )?"
        r"(?:напиши|укажи|постав|запиши|отрази|добавь|write|say|state|include|put|mention|add) ",
        _REPORTS,
    ),
    _one(
        r"(?:category|категори\w|summary|саммари|резюме) ?(?:=|:=|: ?\"|must be|should be|долж\w{2,4} быть)|"
        r"(?:deadline|дедлайн) ?(?:=|:=|: ?\")",
        "category категори summary саммари резюме deadline дедлайн",
    ),
    _one(
        r"(?:set|укажи|поставь|измени|change|выбери) (?:the )?(?:category|категори\w|summary|саммари|сводку|"
        r"scenario|сценари)",
        "category категори summary саммари сводку scenario сценари",
    ),
)


_NEEDS = tuple(dict.fromkeys(need for rule in _RULES for need in rule.needs))
_MASKS = tuple((rule, sum(1 << _NEEDS.index(need) for need in rule.needs)) for rule in _RULES)
_KEYWORDS = {
    keyword: sum(1 << bit for bit, need in enumerate(_NEEDS) if keyword in need) for need in _NEEDS for keyword in need
}


def needs_met(texts: Sequence[str]) -> list[int]:
    """For each text which needs it has a keyword of, a bit each. Of two texts in one they are those of both."""
    starts = list(accumulate((len(text) + 1 for text in texts), initial=0))
    joined = "\n".join(texts)
    met = [0] * len(texts)
    for keyword, bits in _KEYWORDS.items():
        at = joined.find(keyword)
        while at >= 0:
            number = bisect_right(starts, at) - 1
            met[number] |= bits
            at = joined.find(keyword, starts[number + 1])
    return met


@lru_cache(maxsize=4096)
def rules_for(met: int) -> tuple[Rule, ...]:
    """The rules that text with such keywords may break."""
    return tuple(rule for rule, mask in _MASKS if met & mask == mask)


def breaks(meant: str, rules: tuple[Rule, ...]) -> bool:
    spans: dict[re.Pattern[str], list[tuple[int, int]]] = {}
    return any(_follow(meant, rule.links, spans) for rule in rules)


def _follow(
    meant: str, links: tuple[re.Pattern[str], ...], spans: dict[re.Pattern[str], list[tuple[int, int]]]
) -> bool:
    """Whether each link begins at most `_GAP` after the end of one that has followed."""
    if len(links) == 1:
        return links[0].search(meant) is not None
    ends: list[int] | None = None
    for link in links:
        if link not in spans:
            spans[link] = [match.span() for match in link.finditer(meant)]
        ends = [span[1] for span in spans[link]] if ends is None else _following(ends, spans[link])
        if not ends:
            return False
    return True


def _following(ends: list[int], spans: list[tuple[int, int]]) -> list[int]:
    """The ends of those that begin near enough after one of `ends`. Both are in order."""
    found, at, last = [], 0, -1
    for start, end in spans:
        while at < len(ends) and ends[at] <= start:
            last = ends[at]
            at += 1
        if last >= 0 and start - last <= _GAP:
            found.append(end)
    return found
