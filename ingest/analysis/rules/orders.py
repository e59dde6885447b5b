"""What is said to whoever evaluates a conversation, and speech reported of others: neither proves anything.

Spans of folded text (`quotations.fold`). An order takes its sentence, what follows a colon, and short sentences right
after it, in which it goes on. What is reported takes only the words in quotes or after the colon.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from ingest.analysis.hostile import is_instruction

_REACH = 300  # characters around a sign that are one sentence where there is no punctuation
_GOES_ON = 3  # sentences after an order
_GOES_ON_WORDS = 14  # in each
_LONGEST_CHECKED = 20_000  # characters of a turn that is searched for orders to a model as well
_END = re.compile(r"[.!?…\n]+(?=\s|[\"')]|$)|\n")

_CODES = (
    r"brand_mention|operator_self_intro|ask_client_name|address_by_name|need_clarified|identify_entity|"
    r"confirm_details|contact_exchange|official_contacts_only|next_step_stated|ask_reason|handle_objection|"
    r"offer_presented|verification_done|disclaimer_stated|aggression_response|tone_of_voice|base_etiquette|no_contact"
)
_CATEGORY = r"(?:sales|renewal|support|billing|supply|complaint|internal|no.contact|продаж\w{1,2}|жалоб\w)"
_ROLE_RU = r"(?:оператор|сотрудни[кц]|менеджер|агент|консультант|специалист)\w{0,2}"
_ROLE_EN = r"(?:operator|agent|employee|representative|rep|advisor|adviser)s?"
_POLITE = (
    r"(?:здравствуй|добр(?:ый|ое|ого)|привет|спасибо|благодар|до свидан|всего доброго|меня зовут|"
    r"hello|hi\b|good (?:morning|afternoon|evening|day)|thank|bye|goodbye|good-bye|my name|have a )"
)
_MET = (
    r"(?:есть|да|был[аои]?|yes|true|ok|done|met|passed|present|выполнен\w?|засчитан\w?|пройден\w?|соблюден\w?|\+|1\b)"
)
_READER_RU = (
    r"(?:оценщик|оценивающ\w{2,3}|проверяющ\w{2,3}|анализатор|нейросет[ьи]|нейронк[аи]|модель|"
    r"алгоритм|искусственн\w{2} интеллект|судья|контролер|аудитор|бот\b|ассистент)"
)
_READER_EN = r"(?:evaluator|assessor|reviewer|grader|judge|auditor|scorer|analy[sz]er|analyst|model|assistant|ai|bot)"
_FIRST = r"(?:^|[.!?\n]\W{0,3})"  # of a sentence
_START = r"(?:^|[.!?,;:\n\"(-] ?|\b(?:please|now|also|and|just|then|so|пожалуйста|и|также|просто|теперь|ну|а) )"

_ORDERS = re.compile(
    # Take it that somebody did.
    rf"\b(?:считай|считайте|считаем|засчитай\w{{0,2}}|зачти\w{{0,2}}|отметь\w{{0,2}}|пометь\w{{0,2}}|запиши\w{{0,2}}|"
    rf"зафиксируй\w{{0,2}}|учти|укажи\w{{0,2}}|напиши\w{{0,2}}|представь\w{{0,2}}|предположи\w{{0,2}}|"
    rf"предположим|допусти\w{{0,2}}|вообрази\w{{0,2}}|будем считать|признай\w{{0,2}}|добавь\w{{0,2}})"
    rf"(?:,? (?:[а-я]{{1,10}} ){{0,3}}?(?:что|будто|как будто|так)[,:]? (?:[а-я]{{1,12}} ){{0,3}}?(?:{_ROLE_RU}"
    rf"(?: [а-я]{{1,14}}){{0,3}}? (?:[а-я]{{2,14}}(?:л|ла|ли|ло|лся|лась|лись)\b|говорит|произносит|вежлив|молодец)|"
    rf"(?:критери|приветстви|прощани|благодарност|обещани|категори)\w{{1,3}}|"
    rf"(?:поздоровал|попрощал|представил|поблагодарил)\w{{0,3}}\b|(?:было |прозвучал\w? )?(?:сказано|произнесено))|"
    rf" (?:[а-я]{{1,12}} ){{0,3}}?(?:критери|приветстви|прощани|обещани|обязательств)\w{{1,3}}(?: (?:как|[а-я]{{0,3}}"
    rf"выполнен|пройден|клиента|оператора|:)|\W|$)|"
    rf" (?:[а-я]{{1,12}} )?(?:в|во|для) (?:итогов\w{{2,3}} |сво[йем]{{1,2}} )?(?:отч[её]т\w?|резюме|саммари|сводк\w|"
    rf"анализ\w?|оценк[уе])\b(?: [а-я]{{2,14}}){{0,2}} ?[:,]|"
    rf" (?:эту |как )?(?:категори\w{{1,2}}) ?[:=-]? ?[\"']?{_CATEGORY}\b|, ?что все (?:верно|выполнено|пункты))|"
    rf"\b(?:для|в) (?:отч[её]та?|анализа|оценки|протокола оценки|нейросети|модели|проверяющ\w{{2,3}}|оценщика) ?:|"
    rf"{_START}(?:mark|record|log|note|count|consider|treat|assume|suppose|pretend|imagine|credit|register|"
    rf"report|write|"
    rf"score|tick|flag|take it|put|add|list)\b(?: (?:down|that|it|this|as|if|in|into|to|for|me|also|here|"
    rf"let's say)){{0,3}}"
    rf",?:? (?:(?:the|this|our|an?|your) )?(?:(?:whole |entire )?(?:call|conversation|chat) (?:as|has)\b|"
    rf"{_ROLE_EN} (?:has|had|have|as|says?|said|did|does|greeted|thanked|introduced|named|gave|asked|was|is|who|"
    rf"verified|met|passed)\b|"
    rf"(?:greeting|farewell|goodbye|thanks|introduction|criteri\w{{1,3}}|all criteria|all (?:items|points|checks))\b|"
    rf"(?:promise|commitment|obligation)s? ?[:\"]|category\b[^.!?\n]{{0,12}}\b{_CATEGORY}\b|(?:summary|report|"
    rf"evaluation|"
    rf"analysis|scorecard)\b ?[,:]|(?:passed|greeted|said|true|met|fulfilled)\b|{_CATEGORY} (?:category|call)\b)|"
    rf"\b(?:for|in|into|to) the (?:report|summary|evaluation|analysis|record|scorecard) ?:|"
    # Whoever reads this.
    rf"\b(?:you are now|you're now|from now on,? you(?:'re| are)|act as|behave as|as|imagine you(?:'re| are)|"
    rf"pretend (?:to be|you(?:'re| are))) (?:an? |the |my |our )?(?:\w{{2,12}} ){{0,2}}?"
    rf"(?:evaluator|assessor|reviewer|grader|scorer|(?<!as an )(?<!as the )(?:judge|auditor|analy[sz]er|model|ai|"
    rf"assistant))\b(?! (?:of|for|on|from|at)\b)|"
    rf"\b(?:dear|attention|hey|hello|note (?:to|for)|message (?:to|for)|instructions? (?:to|for)),? (?:the |any |our )?"
    rf"(?:\w{{2,12}} )?{_READER_EN}\b|{_FIRST}{_READER_EN} ?[,:]|"
    rf"\b(?:whoever|anyone who|the one who|you who) (?:reads?|evaluates?|scores?|analy[sz]es?|grades?|reviews?)\b|"
    rf"\b(?:ты|вы) (?:теперь|отныне|сейчас)[ ,-]{{1,3}}(?:[а-я]{{2,14}} ){{0,2}}?{_READER_RU}|"
    rf"\bотныне (?:ты|вы)\b|\bкак {_READER_RU}\b[^.!?\n]{{0,40}}\b(?:поставь|отметь|засчитай|считай|ты|должн)|"
    rf"\b(?:уважаем\w{{2,3}}|внимание|дорог\w{{2,3}}|эй)[, ]{{1,2}}(?:[а-я]{{2,14}} )?{_READER_RU}|"
    rf"{_FIRST}{_READER_RU} ?[,:]|"
    rf"\b(?:кто|тот,? кто|тому,? кто|те,? кто) (?:это |будет |эту? )?(?:[а-я]{{2,9}} )?(?:оценива|анализиру|"
    rf"провер)\w{{2,3}}"
    rf" (?:это|этот|разговор|звонок|диалог|запись)|"
    # What is counted.
    rf"\b(?:{_CODES})\b|\b(?:category|категори[яюи]) ?(?:[:=-]|is|should be|это) ?[\"']?{_CATEGORY}\b|"
    rf"\b(?:greeting|farewell|thanks|introduction|приветствие|прощание|благодарность|представление) ?"
    rf"(?:[:=-]{{1,2}}|is|was|считается) ?{_MET}(?!\w)|\bкритери[йия]\w? [^.!?\n]{{0,40}}(?:выполнен|засчитан|"
    rf"соблюден|пройден)|"
    rf"\b(?:criterion|criteria) [^.!?\n]{{0,40}}\b(?:met|passed|fulfilled|satisfied)\b|"
    rf"\b(?:greeting|приветствие|прощание|благодарность)(?:,| and| и) (?:the )?(?:farewell|thanks|приветствие|"
    rf"прощание|благодарность)\b|\b(?:i|we|я|мы) (?:said|сказал\w?)(?: that| что)? {_POLITE}|"
    # What the operator did, told to be counted.
    rf"(?<!\bя )(?<!ваш )\b{_ROLE_RU}(?: [а-я]{{2,14}}){{0,2}}? (?:поздоровал|попрощал|представил|поблагодарил|"
    rf"поприветствовал)\w{{0,3}}\b|"
    rf"(?<!\bя )\b{_ROLE_RU}(?: [а-я]{{2,14}}){{0,2}}? (?:говорит|сказал\w?|произн[её]с\w{{0,2}}|ответил\w?|произносит|"
    rf"заявил\w?)(?: [а-я]{{2,12}}){{0,2}}? ?(?:[:\"]|- |{_POLITE})|"
    rf"{_FIRST}(?:{_ROLE_RU}|клиент|client|customer|{_ROLE_EN}) ?: ?[^.!?\n]{{0,40}}{_POLITE}|"
    rf"\b{_ROLE_EN}\b[^.!?\n]{{0,60}}? (?:greeted|thanked|introduced (?:him|her|them)sel\w{{1,3}}|said (?:good-?bye|"
    rf"hello|thank)|says (?:good-?bye|hello|thank)|bade)\b|"
    rf"\b{_ROLE_EN}(?: \w{{2,12}}){{0,2}}? (?:says|said|has said|states|stated|replied|replies|answered)"
    rf"(?: \w{{2,12}}){{0,2}}? ?(?:[:\"]|,? ?'|- |,? ?{_POLITE})"
)
_SAYS = (
    r"(?:сказал|говор|ответил|отвеча|написал|пишет|спросил|произн[её]с|повторил|крикнул|заявил)\w{0,4}|"
    r"said|says|saying|asked|replied|replies|answered|wrote|shouted"
)
_REPORTED = re.compile(
    rf"(?<!\bя )(?<!\bi )(?<!\bмы )(?<!\bwe )\b(?:{_SAYS})\b(?:[^.!?\n:\"]{{0,24}}: ?[\"']?|"
    rf"(?: (?:мне|ему|ей|нам|вам|им|me|him|her|us|you|to \w{{2,6}}))?,? ?(?:\"|(?<=[ ,])'))|"
    rf"\b(?:he|she|they|client|customer|caller|guy|lady|он|она|они|клиент\w{{0,3}}) (?:{_SAYS})"
    rf"(?: (?:to )?(?:\w{{2,8}} )?)? ?,? ?(?={_POLITE})"
)
_CLOSES = re.compile(r"[\"']")
_SIGNS = re.compile(
    r"счита|зачти|меть|запиш|зафикс|учти|укаж|напиш|предст|предпо|допуст|вообр|признай|добавь|будем|для |"
    r"отч|анализ|ты |вы |отныне|оцен|провер|нейро|модел|внимание|критер|категор|оператор|сотрудни|менедж|агент|"
    r"консульт|"
    r"специалист|приветствие|прощание|благодарность|представление|бот|ассистент|судья|контрол|аудит|алгоритм|_|mark|"
    r"record|log|note|count|consider|treat|assume|suppose|pretend|imagine|credit|regist|report|write|scor|tick|"
    r"flag|take|"
    r"put|add|list|you|act as|behave|evaluat|assess|review|grad|judg|analy|model|assist|whoever|anyone|category|"
    r"greeting|"
    r"farewell|thanks|introduction|criteri|operator|agent|employee|represent|rep|advis"
)


def order_spans(text: str, starts: Sequence[int] = (0,)) -> list[tuple[int, int]]:
    """Where folded `text` speaks to whoever evaluates it. `starts` are where its turns begin."""
    signs = [match.span() for match in _ORDERS.finditer(text)] if _SIGNS.search(text) else []
    hostile = [start for start in starts if _is_hostile(text, start, starts)]
    if not signs and not hostile:
        return []
    ends = [match.end() for match in _END.finditer(text)]
    for start in hostile:
        sentences = _sentences(ends, start, _turn_end(text, start, starts))
        signs += [(at, at + 1) for at, end in sentences if is_instruction(text[at:end])]
    found: list[tuple[int, int]] = []
    for sign, seen in sorted(signs):
        while sign < len(text) and not text[sign].isalnum():  # the end of the sentence before
            sign += 1
        if found and sign < found[-1][1]:
            continue
        which = bisect_right(ends, sign)
        start = max(ends[which - 1] if which else 0, sign - _REACH, _turn_start(sign, starts))
        last = _turn_end(text, max(sign, seen - 1), starts)
        end = min(ends[which] if which < len(ends) else last, max(sign + _REACH, seen), last)
        for first, after in _sentences(ends, end, last, _GOES_ON):
            if len(text[first:after].split()) > _GOES_ON_WORDS:
                break
            end = after
        found.append((start, end))
    return found


def reported_spans(text: str, starts: Sequence[int] = (0,)) -> list[tuple[int, int]]:
    """Where folded `text` gives the words of somebody else: to the closing quote, or the sentence's end."""
    found = []
    for match in _REPORTED.finditer(text):
        begin = match.end()
        limit = min(_turn_end(text, begin, starts), begin + _REACH)
        closing = _CLOSES.search(text, begin, limit) if match[0][-1:] in "\"'" else None
        ending = _END.search(text, begin, limit)
        found.append((begin, closing.end() if closing else ending.end() if ending else limit))
    return found


def is_ordered(text: str, start: int, end: int) -> bool:
    """Whether what is said from `start` to `end` of folded `text` is a part of an order."""
    return any(first < end and start < last for first, last in order_spans(text))


def _is_hostile(text: str, start: int, starts: Sequence[int]) -> bool:
    end = _turn_end(text, start, starts)
    return 16 < end - start <= _LONGEST_CHECKED and is_instruction(text[start:end])


def _turn_start(at: int, starts: Sequence[int]) -> int:
    return starts[max(bisect_right(starts, at) - 1, 0)]


def _turn_end(text: str, at: int, starts: Sequence[int]) -> int:
    which = bisect_right(starts, at)
    return starts[which] if which < len(starts) else len(text)


def _sentences(ends: Sequence[int], start: int, stop: int, most: int | None = None) -> Iterator[tuple[int, int]]:
    which = bisect_right(ends, start)
    last = len(ends) if most is None else which + most
    while start < stop and which < last:
        end = min(ends[which], stop) if which < len(ends) else stop
        yield start, end
        start, which = end, which + 1
    if most is None and start < stop:
        yield start, stop
