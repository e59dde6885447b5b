"""Contacts that are exchanged, and whether they are the company's own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.analysis.findings import BUILT_IN, Quote, Vote
from ingest.analysis.rules.criteria_speech import Run, Speech, first, matches
from ingest.analysis.rules.criteria_votes import no, yes

_DIGIT = (
    r"(?:\d{1,4}|ноль|нол\w|один|два|три|четыре|пять|шесть|семь|восемь|девять|десять|\w{2,6}надцать|двадцать|"
    r"тридцать|сорок|\w{3,6}десят|девяносто|сто|двести|"
    r"триста|четыреста|\w{3,6}сот|zero|oh|o|one|two|three|four|five|six|seven|eight|nine|double|triple|"
    r"\w{3,5}teen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
)
DIGITS = re.compile(rf"\b{_DIGIT}(?:[\s,.()-]{{1,3}}{_DIGIT}){{4,15}}\b")
PHONE = re.compile(r"(?<![\w.])(?:\+\d|\(?\d)[\d ()-]{5,20}\d(?![\w%₽$€£])")
MAIL = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,24}){1,4}|\b\w{1,30}(?: (?:dot|точка|underscore|"
    r"dash) \w{1,30}){0,3} (?:at|собака|собачка|эт) \w{2,30}(?: (?!dot|точка)\w{2,20}){0,2}(?: (?:dot|точка) "
    r"\w{2,12}){1,3}\b|"
    r"(?:\b\w{1,30}\.\w{1,30}|\b(?:e-?mail|write to|still|address is|почта|it's|is) \w{1,40}) (?:at|собака) "
    r"[\w-]{2,30}\.[a-zа-я]{2,12}\b(?!/)"
)
_WORDS = re.compile(
    r"\b(?:(?:номер\w{0,3}|ваш\w{0,3}|контактн\w{2,3}|по|на|какой|наш\w{0,3}|мо\w{1,3}|тот же|"
    r"этот) (?:\w{2,10} )?(?:телефон\w{0,2}|мобильн\w{2,3}|сотов\w{2,3})|телефон\w{0,2} (?:у вас )?(?:прежн\w{2}|"
    r"тот же|старый|не менял\w{1,3})|телефон\w{0,2} (?:для связи|получателя|"
    r"\+?\d|ваш|тот|прежний|подскажите|продиктуйте|оставьте|не измен)|"
    r"(?:по|на|с) (?:этому|этот|тот|тому|данному|этого|тот же|тому же|другой|другому|ваш\w{0,3}|"
    r"вашему) номер\w{0,2}|номер\w{0,2} (?:для связи|телефон\w|тот же|мобильн|актуал|вот|свой|прежний)|номерок|"
    r"номер (?:у вас )?(?:не измен|не менял|тот|прежн|сохранил)\w*|какому номеру|какой номер (?:набра|позвон|"
    r"перезвон)\w*|(?:оставьте|оставить|дайте|запишите|продиктуйте|скинь\w{0,2}|пришлите) (?:мне |нам |свой |ваш |"
    r"наш |мой |пожалуйста ){0,2}(?:номер(?! (?:заказ|договор|заявк|счет|карт|полис|бро|лицев|обращ|вагон|дома|"
    r"квартир|накладн|инн|паспорт|машин|авто))|телефон|контакт\w{0,3}|почт\w|мейл|имейл|e-?mail)|"
    r"(?:на|какая|какую|ваша|вашу|вашей|наша|нашу|моя|мою|ту же|той же|по) (?:\w{2,12} )?(?:почт[уаые]\b|"
    r"электронк\w)|почт[ауы] (?:ваш|какая|для|та же|тот|прежн|подскаж|продикт|указан)|электронн\w{2,3} (?:почт\w|"
    r"адрес\w{0,2})|адрес\w{0,2} (?:электронной )?почт\w|(?:на|ваш|вашу|какой|свой|по|мой|мою) (?:e-?mail|емейл|"
    r"имейл|эмейл|мейл|мыло|ящик)\w{0,2}|"
    r"(?:в|на|по|ваш|через|есть|мне|мой|личн\w{2}) (?:\w{2,10} )?(?:ватсап|вотсап|вацап|whatsapp|телеграм|телег|"
    r"вайбер|viber|telegram|мессенджер|макс)\w{0,3}|telegram|whatsapp|вконтакте)\b|"
    r"\b(?:(?:your|best|contact|mobile|cell|callback|call-back|phone|right|my|our|direct|good|same|that|this|work|"
    r"office|personal|a) (?:\w{2,10} )?(?:phone|mobile|cell|landline)(?: number)?\b|(?:phone|contact|callback|"
    r"mobile|cell|direct|telephone|whatsapp) (?:number|line|details)|(?:best|good|right|another|different|"
    r"full new|same|our|my) number\b|number (?:to (?:call|reach)|we have|i have|on file|you(?:'re| are) calling|"
    r"for you|is still|ending)|(?:call|reach|ring|phone|text|contact|try) (?:you|me|us|him|"
    r"her) (?:back )?(?:(?:on|at) (?:\d{3}|this|that|your|the (?:same|number|mobile|cell|one)|my|our|which|what|"
    r"zero|five five|extension)|by (?:phone|e-?mail|text))|what number|(?:reach|get hold of|"
    r"contact) you on(?: ?\?| ?$)|"
    r"(?:your|best|good|which|what|right|an|my|our|correct|the same|that|this|personal|"
    r"work) e-?mail(?: address)?\b(?! (?:about|from|and i saw|was|yesterday|of))|e-?mail (?:address|we have|"
    r"on file|is still)|whatsapp|telegram|signal me|(?:leave|drop) (?:me )?your (?:details|number|contact)|"
    r"what(?:'s| is) (?:a |the |your )?(?:good |best )?(?:number|email|e-mail|phone)|"
    r"(?:number|the one (?:on|from|we)|phone|mobile|cell)[^.?!\n]{0,30} ending (?:in |with )?\d{2,4})\b|"
    r"\b(?:номер|телефон)\w?[^.?!\n]{0,30} (?:оканчивается|заканчивается) на \d{2,4}\b"
)
_ASKS_WHERE = re.compile(
    r"\b(?:куда|на какой|на какую|по какому|по какой) (?:мне |нам |вам |его |ее |их |лучше |удобнее |можно |"
    r"удобно ){0,3}"
    r"(?:(?:мастер\w?|водител\w|курьер\w?|инженер\w?) )?(?:при(?:слать|сылать|шлем)|выслать|скинуть|"
    r"(?:отправить|направить|отправлять)(?! (?:груз|товар|заказ|посылк|машин|мастер|курьер))|(?:пере|по)?звонить|"
    r"набрать|писать|написать|дублировать)\b|\bнабер\w{1,3} на какой\b|\b(?:с|на) которого? (?:вы )?(?:сейчас )?"
    r"(?:звоните|пишете|звонили|писали|набираете)\b|"
    r"\bкак (?:с вами |мне с вами |нам с вами )(?:лучше |можно |удобнее )?связаться\b|"
    r"\b(?:это|этот|тот)(?: же)? (?:\w{2,8} )?номер (?:\w{2,10} )?(?:ваш|подойдет|актуал\w{2,4}|для связи|оставляем)\b|"
    r"\b(?:вам |вас )?(?:номер|адрес почты|телефон) (?:вам )?(?:продиктовать|скинуть|дать|записать|прислать)\b|"
    r"\bпо номеру (?:\+|\d|восемь|плюс)|\b(?:лучше|удобнее|удобней) (?:\w{2,8} )?(?:по телефону|на почту|почтой|"
    r"в чат\w?|смской|смс|звонком|сообщением)\b|"
    r"\bвизитк[уа]|\bзапи(?:шите|сывайте) (?:\w{2,10} )?(?:номер|телефон|почту|адрес почты)\b|"
    r"\b(?:is (?:it|that|this)|still) (?:on )?(?:this|the same|that|your) (?:number|e-?mail|phone|mobile|one|"
    r"address)\b(?=[^.!\n]{0,40}(?:\?|$))|\bthe (?:number|one|e-?mail|address) (?:that )?you(?:'re| are|"
    r"'ve| have)? (?:just )?(?:call\w{0,3}|writ\w{2,4}|wrote|ring\w{0,3}|rang|text\w{0,3}|e-?mail\w{0,3}|"
    r"messag\w{1,3}|phon\w{1,3}|us(?:e|ing))\b|\b(?:is|would|does) (?:e-?mail|text|phone|mobile|a call|"
    r"messaging) (?:\w{2,8} )?(?:better|best|ok|okay|fine|easier|work|good|alright)\b|\b(?:e-?mail|text|phone|"
    r"call) or (?:by )?(?:e-?mail|text|phone|call|post)\b|"
    r"\be-?mail (?:address )?(?:that )?(?:we|i|you)(?:'ve| have)? (?:hold|have|got|gave|used|registered)\b|"
    r"\b(?:the|that) number (?:in|on|from) your \w{4,12}|a number (?:for|i|we|to|in case)\b|"
    r"\bhow (?:can|do|should|shall|would) (?:we|i) (?:best )?(?:reach|contact|get (?:hold of|back to))\b|"
    r"\bbest (?:way|place|number|time and number) (?:for (?:us|me) )?to (?:reach|contact|call|ring|text|get you)\b|"
    r"\bwhere (?:should|shall|can|do|would you like me to|could) (?:(?:we|i) )?(?:e-?mail|text|send (?:it|that|this|"
    r"the (?:\w{3,12} )?(?:link|quote|invoice|details|form|documents|confirmation|receipt|file|offer|contract)))\b"
    r"(?! (?:truck|crew|parcel|driver))|"
    r"\b(?:call|ring|text|reach|get) (?:you|him|her|them|us|me) (?:back )?on (?:five|oh|zero|double|\d)"
)
_NOT_EXCHANGED = re.compile(
    r"(?:с|при|для|экран\w{0,2}|приложени\w|в настройках|фото|картинк\w|модел\w|корпус\w?|марк\w) (?:вашего |"
    r"самого |своего |мобильного )?телефон|(?:вход\w?|войти|войдите|авториз\w{2,8}|"
    r"логин\w?) (?:\w{2,8} )?по (?:номеру|почте)|отдел\w{0,2} почт|почта россии|почтой россии|почтов\w{2,3} отделен|"
    r"(?:у|к|на|с) (?:phone|телефоне) |phone (?:on hand|handy|nearby|or (?:a )?(?:tablet|computer|laptop)|with|screen|"
    r"app|case|model|system|bill|plan|company)|mobile (?:app|"
    r"data|plan)|cell (?:plan|data)"
)
_PERSONAL = re.compile(
    r"\b(?:(?:на|в|с|по|через)(?: \w{2,12}){0,2} )?(?:мо(?:й|ему|ем|я|ю|ей|его)) (?:\w{3,14} )?(?:личн\w{2,3} |"
    r"собственн\w{2,3} |домашн\w{2,3} |персональн\w{2,3} )(?:\w{2,14} )?(?:номер\w{0,2}|телефон\w{0,2}|"
    r"мобильн\w{2,3}|сотов\w{2,3}|почт\w|ящик\w{0,2}|мейл\w?|e-?mail|имейл\w?|емейл\w?|телеграм\w?|телег\w|телегу|"
    r"ватсап\w?|вотсап\w?|whatsapp|вацап\w?|вайбер\w?|мессенджер\w{0,2}|аккаунт\w{0,2}|контакт\w{0,2}|карт\w|"
    r"директ\w?|страниц\w)|"
    r"\b(?:мне|ко мне|я|запишите|напишите|пишите|звоните|вот|дам|скину|оставлю|"
    r"дайте)\b[^.!?\n]{0,40}\b(?:на личн\w{2,3}|в личк\w|личн\w{2,3} (?:номер|телефон|мобильн|сотов|почт|ящик|"
    r"мейл|телеграм|ватсап|вотсап|whatsapp|мессенджер)\w{0,3}|в личн\w{2,3} (?:телеграм|ватсап|сообщен)\w{0,2}|"
    r"домашн\w{2,3} телефон\w?|личк\w)|"
    r"\bмо(?:й|ему) (?:сотов\w{2,3}|мобильн\w{2,3}|ватсап\w?|вотсап\w?|whatsapp|вацап\w?|телеграм\w?|вайбер\w?|"
    r"gmail|мейл)\b|\bмо(?:ю|ей|я) (?:телегу?|телеге|личную|личная|личной|почту на (?:мейл|гмейл|яндекс))\b|"
    r"\b(?:мне|пишите|напишите|скиньте|пришлите)(?: (?!нам\b|наш)\w{2,12}){0,3} (?:в|на) (?:ватсап|вотсап|вацап|"
    r"whatsapp|телеграм|телегу|вайбер|viber|telegram|директ)\b(?! (?:компани|салона|магазина|клиники|поддержки|"
    r"офиса|нашей|отдела))|"
    r"\b(?:с|на) мое(?:го|му) личн\w{2,3}(?= ?[?,.:!]| ?$)|\bна мой (?:\w{2,10} )?(?:номер|телефон|ящик|акк\w{0,5}|"
    r"вк)\b(?! (?:рабоч|служебн))|\bвот мой личный|мой личный(?= ?[?,.:!]| ?$)|"
    r"\b(?:на )?(?:сотовый|мобильный) мой|(?:мне|меня) (?:лично )?на (?:домашний|мобильный|сотовый)|"
    r"\bмой (?:номер|телефон)(?: \w{2,8})? (?:запишите|личный|домашний|не рабочий)|"
    r"\bmy (?:own |private )?(?:personal|private|own|home) (?:\w{2,10} )?(?:cell|mobile|phone|number|e-?mail|"
    r"gmail|inbox|whatsapp|telegram|address|account|line|hotmail|venmo|messenger|instagram)\b|\bmy (?:cell|mobile|"
    r"whatsapp|gmail|telegram|yahoo|hotmail|venmo|home (?:phone|number)|instagram|facebook)\b|\b(?:just|can|to|"
    r"or) (?:whatsapp|telegram|dm) me\b|\b(?:text|message|ping|dm|whatsapp|telegram) me (?:directly )?(?:on|at|"
    r"over|via|through) (?:whatsapp|telegram|signal|instagram|facebook|my|messenger)|\b(?:off the books|"
    r"outside of work|my own (?:phone|cell|number))|\b(?:it's|this is|here's|that's|use|on) (?:my|a) (?:personal|"
    r"private|own)\b[^.?!\n]{0,20}(?:number|phone|cell|mobile|email|e-mail|one|account)"
)
_OTHERS_PERSONAL = re.compile(
    r"\b(?:его|ее|их|у него|у нее) (?:\w{2,12} )?личн\w{2,3}\b|\b(?:это|он|номер|телефон\w?|сотов\w{2,3}|"
    r"мобильн\w{2,3}) личн\w{2,3}\b(?! кабинет)|\bличн\w{2,3} (?:номер\w?|телефон\w?|сотов\w{2,3}|мобильн\w{2,3}|"
    r"ватсап\w?|вотсап\w?|телеграм\w?|телег[аеу]|почт\w|мессенджер\w?|ящик\w?)\b|"
    r"\b(?:his|her|their) (?:own|personal|private|home) (?:\w{2,10} )?(?:cell|mobile|phone|number|e-?mail|"
    r"whatsapp|telegram|gmail|inbox)\b|\b(?:personal|private|home) (?:cell|mobile|phone|number|e-?mail|whatsapp|"
    r"telegram|gmail|inbox)\b"
)
_CLIENTS_OWN = re.compile(r"\b(?:ваш\w{0,3}|your|you have|у вас)\b|\bличн\w{2} кабинет")
_OWN_MAILBOX = re.compile(
    r"[\w.+-]{0,64}(?:\.home|personal|private|\.priv)[\w.+-]{0,30}@[\w.-]{3,80}|[\w.+-]{1,64}@(?:gmail|hotmail|"
    r"yahoo|outlook|mail|bk|inbox|list|icloud|yandex|ya|rambler|gmx|proton|protonmail)\.(?:com|ru|me|net|by|kz)\b"
)
_PERSONAL_DENIED = re.compile(
    r"(?:не (?:да(?:ю|ем|дим)|можем|могу|имею|имеем|разреш\w{2,5}|положено|принято|предоставля\w{2,4}|"
    r"использ\w{2,5}|пиш\w{2,4} (?:мне )?на|звоните на|пользу\w{2,5}|нужно|надо|стоит)|нельзя|запрещ\w{2,4}|"
    r"нет у меня|только (?:рабоч|служебн|официальн)|рабоч\w{2,3} (?:номер|телефон|мобильн|почт|телеграм|ватсап)|"
    r"служебн\w{2,3}|корпоративн\w{2,3}|"
    r"can't|cannot|can not|not (?:allowed|able|permitted)|don't (?:give|use|have|share|text|do)|never (?:give|use|"
    r"share)|rather not|work (?:cell|mobile|phone|number)|company (?:cell|mobile|phone)|not my personal|"
    r"business (?:cell|line|phone|whatsapp))"
)
_TALK_CHARACTERS = 300  # of a run before, that still tell what is spoken of
_WORDS_OF_A_SENTENCE = 4  # before a contact; a signature has it on a line of its own
_ASK_ENDS = 2  # client's runs after a question in which the answer comes


def contact_exchange(speech: Speech) -> Vote:
    for at, run in enumerate(speech.runs):
        if speech.is_operator(run):
            found = _contact(run, _before(speech, at))
            if found:
                return yes(found)
    for at, run in enumerate(speech.runs):
        given = _given_contact(run, _before(speech, at)) if speech.is_client(run) else None
        if given:
            taken = _taken_down(speech, at, given)
            if taken:
                return yes(taken)
    return no()


def _before(speech: Speech, at: int) -> str:
    """How the talk came to what is said now."""
    return " ".join(run.text[-_TALK_CHARACTERS:] for run in speech.runs[max(0, at - 2) : at])


def _given_contact(run: Run, before: str) -> re.Match[str] | None:
    return MAIL.search(run.text) or next(_phones(run, before), None)


def _phones(run: Run, before: str) -> Iterator[re.Match[str]]:
    for pattern in (PHONE, DIGITS):
        for match in pattern.finditer(run.text):
            if _has_digits(match) and _called_phone(run, match, before):
                yield match


def official_contacts_only(speech: Speech) -> Vote:
    own = [contact.lower() for contact in speech.conversation.company.contacts]
    for run in speech.operator:
        for match in _PERSONAL.finditer(run.text):
            start, end = run.sentence(match.start())
            if not _PERSONAL_DENIED.search(run.text, max(start, match.start() - 60), min(end, match.end() + 40)):
                return no(run.quote(*match.span()))
        for match in _OTHERS_PERSONAL.finditer(run.text):
            start, end = run.sentence(match.start())
            around = run.text[max(start, match.start() - 60) : min(end, match.end() + 40)]
            if not _PERSONAL_DENIED.search(around) and not _CLIENTS_OWN.search(around):
                return no(run.quote(*match.span()))
        for match in _OWN_MAILBOX.finditer(run.text):
            if not any(contact in match.group() or match.group() in contact for contact in own):
                if _is_said_back(speech, match.group()):
                    continue
                return no(run.quote(*match.span()))
    return Vote(BUILT_IN, "decided", True)


def _contact(run: Run, before: str) -> Quote | None:
    mail = MAIL.search(run.text)
    found = mail or next(_phones(run, before), None)
    if found:
        return run.quote(*found.span())
    return first(_WORDS, (run,), but=_NOT_EXCHANGED) or first(_ASKS_WHERE, (run,))


def _called_phone(run: Run, match: re.Match[str], before: str) -> bool:
    """Whether the figures are a phone's: they look like one, or what is around or was just said says so."""
    if match.group().startswith(("+", "8 (", "8-", "8 9")) or _NATIONAL.fullmatch(match.group()):
        return True
    around = run.text[max(0, match.start() - 60) : match.end() + 30]
    if _PHONE_WORDS.search(around):
        return True
    if _OTHER_FIGURES.search(around):
        return False
    grouped = _GROUPED.fullmatch(match.group())
    return bool(grouped or (_PHONE_WORDS.search(before) and not _OTHER_FIGURES.search(before)))


_PHONE_WORDS = re.compile(
    r"телефон|номер для|(?:вашему|этот|этому|какой|другой|мой|тот) номер|звон|набер|набир|ватсап|вотсап|вацап|вайбер|"
    r"телеграм|\bсмс\b|мобильн|сотов|городск\w{2}\b|\bcall|phone|\bring\b|\btext\b|reach|mobile|\bcell|\bdial|"
    r"landline|whatsapp|(?:your|my|our|best|this|another|different) number|плюс семь|восемьсот|eight hundred"
)
_GROUPED = re.compile(
    r"\(?\d{3}\)?[ -](?:\d{3}[ -])?\d{4}|\d{3}[ -]\d{2}[ -]\d{2}|\(?\d{3,4}\)? \d{2,3}[ -]\d{2}[ -]\d{2}"
)
_NATIONAL = re.compile(r"\(?0\d{2,4}\)?[ -]?\d{3,4}[ -]?\d{3,4}")
_OTHER_FIGURES = re.compile(
    r"договор|заказ|заявк|накладн|лицев|полис|счет|(?<!сим )(?<!сим-)карт|показани|паспорт|\bинн\b|серийн|бронир|рубл|"
    r"адрес|улиц|"
    r"account|order|invoice|policy|ticket|booking|reference|serial|card|meter|reading|dollar|pound|address|street"
)


def _has_digits(match: re.Match[str]) -> bool:
    letters = re.search(r"[a-zа-я]", match.group())
    return bool(letters) or 7 <= sum(character.isdigit() for character in match.group()) <= 15


def _taken_down(speech: Speech, at: int, given: re.Match[str]) -> Quote | None:
    """What an operator says next to a contact that the client gave; the signature of a mail is none that is taken."""
    after = speech.runs[at + 1 : at + 1 + _ASK_ENDS]
    if speech.conversation.kind == "email":
        text = given.string
        line = text[text.rfind("\n", 0, given.start()) + 1 : given.start()]
        if len(line.split()) < _WORDS_OF_A_SENTENCE:
            return None
    return next((run.quote(0, 1) for run in after if speech.is_operator(run) and run.words), None)


def _is_said_back(speech: Speech, contact: str) -> bool:
    """Whether it is the client's own address."""
    return any(contact in run.text for run, _ in matches(re.compile(re.escape(contact)), speech.client))
