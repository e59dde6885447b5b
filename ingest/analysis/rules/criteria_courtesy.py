"""Greeting, introduction, names, thanks and goodbye: what is decided by the words alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise

from ingest.analysis.findings import Vote
from ingest.analysis.rules.criteria_brand import brand
from ingest.analysis.rules.criteria_contacts import MAIL
from ingest.analysis.rules.criteria_names import (
    answer,
    asked_for,
    introduced_names,
    introductions,
    opening_name,
    signature,
    titled_calls,
)
from ingest.analysis.rules.criteria_speech import MASK, Run, Speech, first, matches
from ingest.analysis.rules.criteria_votes import number, undecided, yes_or_no
from ingest.analysis.rules.names import calls, own_names, same_person

_OPENING_WORDS = 30  # of a voice's first run, where what may be a goodbye as well is a greeting
_SENTENCES = re.compile(r"[.!?,] ?\S")
_NAME_CHARACTERS = 30_000  # what `names` searches in one text

_GREETING = re.compile(
    r"\b(?:здравствуй(?:те)?|здрав?ствуте|здрасьте|здрасте|здрасти|приветствую|приветству(?:ет|ем)|"
    r"рады приветствовать|"
    r"добр(?:ый|ого) (?:день|вечер(?!а)\w{0,2}|утр\w|ден\w)|доброе утро|здравия(?: желаю)?|"
    r"доброй ночи(?=[^.!\n]{0,40}\?)|доброго (?:времени суток|утра|утречка)|"
    r"день добрый|вечер добрый|утро доброе|приветик\w?|привет|мое почтение|салют|хай)\b|"
    r"\b(?:hello|hi there|hi(?!-)|hiya|g'?day|hey there|hey|howdy|greetings|good (?:mornin[g']?|afternoon|"
    r"day to you)|'?morning(?= ?[,!])|top of the morning|welcome to)\b"
)
_OPENING_GREETING = re.compile(
    r"\b(?:доброго (?:дня|вечера|дня вам)|добрый(?= ?[.,!]| ?$)|good (?:evening|day)|"
    r"how(?:'re| are) (?:you|ya|things)(?: (?:doing|going|today|this morning))?(?= ?\?)|(?:thank you|"
    r"thanks) for (?:calling|contacting|reaching out to)|(?:спасибо за звонок|благодарим за звонок|"
    r"спасибо, что позвонили) в)\b|"
    r"(?:^\W{0,3}|\b(?:yep|yeah|yes|oh|ah|hey|hi) )(?:morning|evening|afternoon)\b|^\W{0,3}(?:dear\b(?! (?:oh|me|"
    r"god|lord))|уважаем\w{2,3}\b|доброго\b)"
)
_GREETS_ANOTHER = re.compile(
    r" [а-я]{3,12}(?:у|е|ам|ой)\b| (?:от|всем вашим|супруг\w|семье|детям|коллегам)\b"
)  # "Привет Семёну"
_NO_GREETING = re.compile(
    r"(?:передавай\w{0,2}|передай\w{0,2}|передам|have an?|say|said|says|tell \w{2,8}|give \w{2,8} a|сказал\w{0,2}|"
    r"хоть бы|oh|the|this|in the|every|each|tomorrow|"
    r"monday|tuesday|wednesday|thursday|friday|saturday|sunday|ни|(?<!oh )\bno|\bwithout(?: any| a)?|\bany|\bnot|\bбез|"
    r"никак\w{2,4}|\bне) ?$"
)
_LINE_CHECK = re.compile(r"\s{0,2}\?|[,.! ]{1,3}(?:are you (?:there|still)|can you hear|anybody|anyone|is anyone)")

_THANKS = re.compile(
    r"\b(?:спасиб\w{0,4}|благодар(?:ю|им|ствую|ен|на|ны|ность)|признател\w{1,4}|сенкс|спс|thank you|thank-you|"
    r"thanks|thx|ty\b|many thanks|much obliged|"
    r"(?:much |really |greatly |do )?appreciated?|grateful|cheers|(?:^|[.!,] ?)ta(?: very much| for)?(?= ?[.!,]|"
    r" ?$| for))\b"
)
_NO_THANKS = re.compile(
    r"(?:не за|скажите|скажи|сказал\w?|no|without|say|said|says) ?$|(?:не стоит|не надо|вместо|нет,) (?:нам |мне )?$|"
    r"(?:\b(?:won't|wont|will not|don't|do not|not|never|wouldn't|refuse to|why should i|needn't)(?: (?:even|be|ever|"
    r"going to|want to|have to|need to|gonna))?|\bне|\bбез|никак\w{2,4}) $"
)
_EMPTY_THANKS = re.compile(
    r"\s?(?:to (?:the|our|a|that) |god\b|goodness|heaven|богу|на (?:хлеб|этом|том и))|\s?(?:that you(?:'re|"
    r" are) (?:upset|frustrated|angry)|how (?:you|frustrat|upset))"
)

_FAREWELL = re.compile(
    r"\b(?:до свидан[иь]\w|до свидос|досвидан[иь]\w|с ув\b|всего (?:вам |тебе )?(?:самого )?(?:доброго|хорошего|"
    r"наилучшего|лучшего)|всех благ|"
    r"(?:хорошего|приятного|доброго|отличного|прекрасного|чудесного|удачного|легкого|замечательного|спокойного|"
    r"теплого|продуктивного) (?:вам |тебе |всем )?(?:вечер\w?|дня|дн[ья]|остатка|выходных|утра|рабоч\w{2,3}|"
    r"отдыха|пути|отпуска|настроения|полета|пользования)|"
    r"(?:хорошей|приятной|доброй|удачной|спокойной|отличной|легкой) (?:вам |тебе )?(?:ночи|недели|поездки|дороги|"
    r"пятницы|субботы|смены)|(?:хороших|приятных|отличных|удачных) (?:вам |тебе )?выходных|"
    r"до (?:скорой |скорого )?(?:встречи|связи|скорого|созвона)|до (?:завтра|понедельника|вторника|среды|четверга|"
    r"пятницы|субботы|воскресенья)(?= ?[!.]| ?$|, (?:до|всего|\w{2,14} ?[.!]))|"
    r"счастливо|бывайте|будьте здоровы|пока-пока|покеда|прощайте|удачи(?: вам)?(?= ?[.!,]| ?$)|увидимся|"
    r"до (?:вечера|утра)(?= ?[!.]| ?$)|выздоравливайте|поправляйтесь|скорейшего выздоровления|берегите себя|"
    r"с (?:наилучшими |добрыми |теплыми )?(?:пожеланиями|уважением|наилучшими)|с заботой|с теплом|искренне ваш\w?)\b|"
    r"\b(?:good-?bye|bye-bye|bye|b-bye|buh-bye|so long|farewell|good ?night|take care(?! of)|safe (?:travels|journey|"
    r"trip|flight|drive)|stay (?:safe|warm|well|cool|dry)|mind (?:yourself|yourselves)|"
    r"look after yoursel(?:f|ves)|(?:best of|good) luck (?:to|with your)|"
    r"have an? (?:\w{2,12} )?(?:good|great|nice|lovely|wonderful|pleasant|safe|fantastic|blessed|super|peaceful|"
    r"relaxing|better) (?:\w{2,12}|one)|have fun|take it easy|night,? night|enjoy (?:the rest of )?(?:your|"
    r"the) (?:day|evening|weekend|afternoon|night|week|trip|stay|flight|holiday|vacation)|"
    r"see you (?:then|soon|on|at|tomorrow|later|next|in|monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
    r"there)|see ya|talk (?:to you )?(?:soon|later|then|tomorrow)|speak (?:to you )?(?:soon|then|later|tomorrow)|"
    r"catch you later|until (?:then|next time)|"
    r"(?:all the |very |my |with )?best (?:regards|wishes)|(?:kind|warm|many|kindest|warmest)(?:est)? regards|"
    r"all the best|yours (?:sincerely|truly|faithfully)|sincerely|with gratitude)\b|\bcheerio\b|"
    r"(?:^|[\n.!?,] ?)(?:regards|best|warmly|cordially|respectfully|cheers),?\s{0,3}\n|\bпока[!.](?! )|"
    r"\bпока[!.]$|\bну пока\b|\bвсего\b[!.]|(?:^|[.!,] ?)всего ?$"
)
_LATE_FAREWELL = re.compile(
    r"(?:^|[.!?,] ?|\b(?:ну|все|давайте|ладно|хорошо|okay|ok|alright) )(?:пока(?! \w)|доброго дня|доброго вечера|"
    r"всего|good day|good evening|ciao|чао|до завтра|салют|later)\W{0,4}(?:\w{2,14}\W{0,3})?$"
)
_CLOSING = re.compile(
    r"\n\s{0,4}(?:with |many |warm |kind |best |my |in |all |very |и |с |ваш\w? |в ){0,2}(?:thanks|thank you|thx|"
    r"cheers|gratitude|yours|"
    r"regards|rgds|wishes|love|anticipation|sincerely|warmly|best|спасибо|благодарностью|благодарю|надеждой|"
    r"почтением|"
    r"любовью|теплом|признательностью|хорошего|успехов|ваш\w?)(?: (?:again|in advance|as ever|всего|дня|"
    r"за \w{2,14}))?[,.!]?\s{0,3}\n"
    r"{1,3}[^\n]{2,50}(?:\n|$)"
)  # a line of goodbye above a name
_WISH = re.compile(
    r"\b(?:хорош|удачн|приятн|легк|добр|отличн|тепл)(?:его|ого|ей|ой|их|ых) (?:вам |тебе )?(?!качеств|уровн|"
    r"вкус)[а-я]{3,14}\W{0,4}$"
)
_NO_FAREWELL = re.compile(
    r"(?:said|say|says|saying|kissed?|wave|(?<!что )сказал\w?|сказать|даже|не сказав|ни здравствуйте,? ни|\bno|"
    r"\bwithout(?: a| any)?|\bnot|\bбез|никак\w{2,4}) ?$"
)

_ASKS_NAME = re.compile(
    r"\bкак (?:я )?(?:могу |можно |мне |лучше )?(?:к )?вам (?:можно |лучше |я могу )?обраща\w{2,6}|\bкак (?:мне |"
    r"я могу )?(?:можно |лучше )?(?:к )?вам обращ|\bкак к вам (?:можно |лучше |могу )?обращ|"
    r"\bобращаться к вам (?:как|можно)|\b(?:зовут|звать|величать) (?:вас|тебя) как|\bкак (?:я )?(?:могу|можно|"
    r"мне) обращаться|\bвы у нас кто\b|\bкак (?:вас|тебя|ваше) (?:зовут|величать|звать|имя|по имени|записать)|"
    r"(?<!на )\bваше? (?:имя|фио|фамили[яюи])\b|\bваш(?:и|у|их) (?:имя|фио|фамили[яюи]|данные\b)|"
    r"\bпредставь?т?(?:ьтесь|есь|иться|итесь)\b|"
    r"\b(?:с кем|кого) (?:я )?(?:говорю|имею честь|разговариваю|общаюсь|беседую)|\bна (?:чье|какое) имя\b|"
    r"\bна чью фамилию\b|\bна кого (?:запис|оформ|бронь|заказ|брониру|выпис)|\b(?:фамили[яю]|имя|фио)(?: и (?:имя|"
    r"телефон|фамили\w|отчество|номер|контакт\w{0,3}))?(?: (?:ваше|пациента|получателя|клиента|гостя|заказчика|"
    r"ребенка))? ?(?:\?|подскажите|назовите|скажите|напишите|пожалуйста)|"
    r"\b(?:назовите|подскажите|скажите|напишите|продиктуйте|уточните|сообщите|укажите|"
    r"оставьте)\b[, ]{1,2}(?:мне )?(?:пожалуйста[, ]{1,2})?(?:мне )?(?:свое |свою |ваши? |свои )?(?:полное |"
    r"полностью )?(?:имя|фио|фамили[яю]|как вас зовут)\b|\bкак (?:вас )?(?:записать|подписать|представить)|"
    r"\bвас как зовут|\bзовут (?:вас )?как\b|\bкак (?:будет )?(?:ваше|полное) имя|\bпо имени-отчеству\?|"
    r"\bимя-отчество\b|\bкак вас(?= ?[?,.]| ?$)|\b(?:вас|тебя) как (?:величать|записать|называть|по имени)|"
    r"\b(?:what(?:'s| is| was) your (?:\w{2,6} )?(?:full |first |last )?name|(?:may|can|could|might) i (?:please |"
    r"just |also )?(?:have|get|take|ask|grab|ask for) (?:for )?(?:your|the|a|who) (?:\w{2,6} )?(?:full |first |"
    r"last |sur)?(?:name|i'm speaking|is calling|i am speaking)|"
    r"who (?:am i|do i have|are we|is this|have i got|'?s this|i'm|is calling|'?s calling|'?s speaking|"
    r"is it)(?: (?:the )?(?:pleasure|speaking|talking|chatting|i'm|i am|for|on|with|please|calling|got))?|"
    r"your (?:full |first |last )?name,? ?(?:please|\?|and|is)|and your name|and you are(?: ?\?| ?$)|"
    r"what was (?:the|your) name|(?:^|[.,] )(?:your )?name,? please|"
    r"who(?:m)? (?:am|do) i (?:speaking|have|talking)|what (?:should|shall|can|do|may) (?:i|we) call you|"
    r"how (?:should|may|shall|can|do) (?:i|we) (?:address|call) you|name (?:on|for|under) the (?:account|booking|"
    r"order|reservation|appointment|policy|card|file|ticket|invoice)\b|the name of the (?:account (?:owner|"
    r"holder)|caller|cardholder|patient|guest|policy ?holder)|under what name|what name (?:is|was|should|shall|do|"
    r"would|'s|are)|(?:who'?ve i (?:got|the)|name and|first and last name|who should i (?:say|make|put)|"
    r"with whom am i)|to whom am i|"
    r"(?:tell|give) me your (?:full |first |last )?name|confirm your (?:full |first |last )?name|"
    r"spell your (?:last |first |sur)?name|(?:last|first|full) name,? ?(?:please|\?))"
)
_HELD_NAME = re.compile(r"\bwho(?:'?s| is) this\b|\bкто это\b")


def greeting(speech: Speech) -> Vote:
    for run in speech.operator:
        for match in _GREETING.finditer(run.text):
            if _NO_GREETING.search(run.text, max(0, match.start() - 24), match.start()):
                continue
            if (
                match.group().startswith("привет")
                and "приветству" not in match.group()
                and _GREETS_ANOTHER.match(run.text, match.end())
            ):
                continue
            if (
                match.group() in ("hello", "hi", "hey")
                and _LINE_CHECK.match(run.text, match.end())
                and run is not speech.operator[0]
            ):
                continue
            return yes_or_no(run.quote(*match.span()))
    for run in _openings(speech):
        found = _OPENING_GREETING.search(run.text, 0, _opening_end(run))
        if found and not _NO_GREETING.search(run.text, max(0, found.start() - 24), found.start()):
            return yes_or_no(run.quote(*found.span()))
    return yes_or_no(None)


def thanks(speech: Speech) -> Vote:
    for run in speech.operator:
        for match in _THANKS.finditer(run.text):
            if _NO_THANKS.search(run.text, max(0, match.start() - 20), match.start()) or _EMPTY_THANKS.match(
                run.text, match.end()
            ):
                continue
            return yes_or_no(run.quote(*match.span()))
    return yes_or_no(None)


def farewell(speech: Speech) -> Vote:
    for run in reversed(speech.operator):
        for match in _FAREWELL.finditer(run.text):
            if not _NO_FAREWELL.search(run.text, max(0, match.start() - 24), match.start()):
                return yes_or_no(run.quote(*match.span()))
    if speech.conversation.kind == "email":
        signed = next(matches(_CLOSING, speech.operator), None)
        if signed:
            return yes_or_no(signed[0].quote(*signed[1].span()))
    for run in speech.operator[-2:]:
        tail = max(0, len(run.text) - 80)
        found = _LATE_FAREWELL.search(run.text, tail) or _WISH.search(run.text, tail)
        if found:
            return yes_or_no(run.quote(*found.span()))
    return yes_or_no(None)


def brand_mention(speech: Speech) -> Vote:
    names = speech.conversation.company.names
    if not names:
        return undecided()
    ours = brand(names)
    early = set(map(id, speech.operator[:3]))
    for run in speech.operator:
        span = ours.named(run, introducing=id(run) in early)
        if span:
            return yes_or_no(run.quote(*span))
    return yes_or_no(None)


def operator_self_intro(speech: Speech) -> Vote:
    language = speech.conversation.language
    ours = [person.name for person in speech.conversation.people if person.name and person.side == "employee"]
    for run in speech.operator:
        for text, base in _searched(run):
            for name in own_names(text, language, ours):
                at = text.find(name.words)
                if at >= 0 and MASK not in run.text[base + at : base + at + len(name.words)]:
                    return yes_or_no(run.quote(base + at, base + at + len(name.words)))
    for run in speech.operator:
        given = introductions(run, opening=run is speech.operator[0])
        span = (
            next((span for span in given if not _is_brand(speech, run, span)), None)
            or (_signed(run) if speech.conversation.kind == "email" else None)
            or _signs_off(speech, run)
        )
        if span:
            return yes_or_no(run.quote(*span))
    return yes_or_no(None)


def _is_brand(speech: Speech, run: Run, span: tuple[int, int]) -> bool:
    """ "This is Acme": the company's name is no one's own."""
    if not speech.conversation.company.names:
        return False
    return any(
        start <= span[0] + 12 and end >= span[1] for start, end in brand(speech.conversation.company.names).spans(run)
    ) or (
        span[1] - span[0] < 30
        and any(name.lower() in run.text[slice(*span)] for name in speech.conversation.company.names)
    )


_SIGNS_OFF = re.compile(
    r"(?:^|[.!?\n] ?)(?:ciao|cheers|best|regards|yours|bye|take care|ваш\w?|"
    r"с уважением)[,!.]? ?([^,.!?\n]{2,40})[.!]?$"
)


def _signs_off(speech: Speech, run: Run) -> tuple[int, int] | None:
    """ "Ciao, Marcus" at the end of a message, where an employee is called that."""
    if speech.conversation.kind == "call":
        return None
    found = _SIGNS_OFF.search(run.text, max(0, len(run.text) - 70))
    names = [person.name for person in speech.conversation.people if person.name and person.side == "employee"]
    if found is None or not any(same_person(found[1], name, speech.conversation.language) for name in names):
        return None
    return found.span(1)


def _signed(run: Run) -> tuple[int, int] | None:
    signed = signature(run)
    return signed[1:] if signed and MASK not in run.text[signed[1] : signed[2]] else None


def ask_client_name(speech: Speech) -> Vote:
    return yes_or_no(first(_ASKS_NAME, speech.operator))


def address_by_name(speech: Speech) -> Vote:
    """Calls by the client's name where one is heard; else by any name that is no operator's own or colleague's."""
    language = speech.conversation.language
    ours = _operator_names(speech)
    theirs = (*_client_names(speech), *_unknown_names(speech, ours))
    by_name: list[tuple[Run, int, int]] = []
    others: list[tuple[Run, int, int]] = []
    for run in speech.operator:
        spans = dict.fromkeys(titled_calls(run, theirs), True)
        opening = opening_name(run)
        if opening and any(same_person(run.original[slice(*opening)], name, language) for name in theirs):
            spans[opening] = True
        for start, end in asked_for(run) if run in speech.operator[:3] else ():
            if any(same_person(run.original[start:end], name, language) for name in theirs):
                spans[start, end] = True
        for text, base in _searched(run):
            for call in calls(text, language, theirs):
                start, end = base + call.start, base + call.end
                if (
                    MASK in run.text[start:end]
                    or not _is_name_here(speech, run, start, end)
                    or any(a < end and start < b for a, b in spans)
                ):
                    continue
                is_theirs = any(same_person(call.name, name, language) for name in theirs)
                if is_theirs or not any(same_person(call.name, name, language) for name in ours):
                    spans[start, end] = is_theirs
        reached = 0
        for (start, end), is_theirs in sorted(spans.items()):
            if start >= reached:
                (by_name if is_theirs else others).append((run, start, end))
                reached = end
    # In a talk of two whom else would they call? It counts under a wrong name too.
    alone = len(speech.sides.clients) == 1 and len(speech.conversation.labels) == 2
    found = sorted(by_name + others, key=lambda each: each[0].turns[0].idx) if alone else by_name or others
    return number(float(len(found)), found[0][0].quote(*found[0][1:]) if found else None)


def _is_name_here(speech: Speech, run: Run, start: int, end: int) -> bool:
    """Not a part of a mail address; nor, where a call is written with capitals, a word without one."""
    if any(match.start() <= start < match.end() for match in MAIL.finditer(run.text, max(0, start - 64), end + 64)):
        return False
    capitals = (
        speech.conversation.kind != "call" or not run.original[:1].isupper() or not _SENTENCES.search(run.original)
    )
    return capitals or run.original[start].isupper()


def _client_names(speech: Speech) -> tuple[str, ...]:
    conversation = speech.conversation
    names = [
        person.name for person in conversation.people if person.name and _is_clients(speech, person.label, person.side)
    ]
    for run in speech.client:
        for text, _ in _searched(run):
            names += [name.name for name in own_names(text, conversation.language)]
        names += introduced_names(run, opening=run is speech.client[0])
        signed = signature(run) if conversation.kind == "email" else None
        names += [signed[0]] if signed else []
    for before, run in pairwise(speech.runs):
        if speech.is_client(run) and speech.is_operator(before) and _ASKS_NAME.search(before.text):
            name = answer(run, conversation.language)
            names += [name] if name else []
    return tuple(dict.fromkeys(names))[:40]


def _unknown_names(speech: Speech, ours: tuple[str, ...]) -> tuple[str, ...]:
    """People of whom nobody says who they are: the client's, unless an operator goes by that name."""
    language = speech.conversation.language
    names = [person.name for person in speech.conversation.people if person.name and person.side == "unknown"]
    return tuple(name for name in names if not any(same_person(name, own, language) for own in ours))[:20]


def _is_clients(speech: Speech, label: str | None, side: str) -> bool:
    return side == "client" or (label is not None and label in speech.sides.clients)


def _operator_names(speech: Speech) -> tuple[str, ...]:
    """Their own, and those of colleagues who are called by name and speak next."""
    conversation = speech.conversation
    names = [person.name for person in conversation.people if person.name and person.side == "employee"]
    for run in speech.operator:
        for text, _ in _searched(run):
            names += [name.name for name in own_names(text, conversation.language)]
        signed = signature(run) if conversation.kind == "email" else None
        names += [signed[0]] if signed else []
    for before, run in pairwise(speech.runs):
        if speech.is_operator(before) and speech.is_operator(run) and before.label != run.label:
            names += [call.name for call in calls(before.original[-_NAME_CHARACTERS:], conversation.language)]
    return tuple(dict.fromkeys(names))[:40]


def _searched(run: Run) -> Iterable[tuple[str, int]]:
    """The run's words in texts that are short enough for `names`, each with where it begins."""
    if len(run.original) <= _NAME_CHARACTERS:
        return ((run.original, 0),)
    return tuple((turn.text, start) for turn, start in zip(run.turns, run.starts, strict=True))


def _openings(speech: Speech) -> list[Run]:
    """The first two runs of each operator."""
    seen: Counter[str | None] = Counter()
    found = []
    for run in speech.operator:
        seen[run.label] += 1
        if seen[run.label] <= 2:
            found.append(run)
    return found


def _opening_end(run: Run) -> int:
    return len(" ".join(run.text.split(" ")[:_OPENING_WORDS]))
