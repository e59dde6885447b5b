"""What stands left and right of a name where somebody is called by it, or is spoken of. Both languages."""

from __future__ import annotations

import re

from ingest.analysis.rules.morphology import read

_B = r"(?<![^\W\d_])"  # the beginning of a word
ROLE = (
    r"(?:старш\w{2,3} |ведущ\w{2,3} |ваш\w{0,2} |персональн\w{2,3} |личн\w{2,3} |главн\w{2,3} |дежурн\w{2,3} )?"
    r"(?:оператор|менеджер|специалист|администратор|консультант|ассистент|диспетчер|секретарь|инженер|"
    r"сотрудни\w{1,3}|"
    r"представител\w|помощни\w{1,3}|мастер|механик|логист|кассир|врач|доктор|юрист|бухгалтер|куратор|эксперт|агент|"
    r"методист|преподаватель|аккаунт|техник|монтажник|стажер|директор|руководитель|управляющ\w{2})"
)
ASKED_BEFORE = re.compile(
    r"(?:have|has|do|did|can|could|will|would|are|is|was|were|shall|may) (?:you|we|i|it|that|this|there|they)\b"
    r"[^.!?,]{0,60} $|\bi can (?:help|do)[^.!?,]{0,30} $"
)
OWNED_BEFORE = re.compile(r"\b(?:my|your|our|his|her|their|the|an?|this|that|for|from|to|of|about|by|and|or) $")
ONE_OF_BEFORE = re.compile(r"\b(?:a|an|the|no|any|another|some|every|more)(?: very)?(?: [a-z]{2,12})? $")
IS_DONE = re.compile(r"не [а-я]{2,20}(?:ит|ет|ат|ют|ут)(?:ся)? {1,2}$")
_CALLS_BEFORE = re.compile(
    _B + r"(?:здравствуй(?:те)?|добрый (?:день|вечер)|доброе утро|доброго (?:дня|времени суток|вечера|утра)|"
    r"привет(?:ствую)?|спасибо(?: вам| большое| огромное)*|благодарю(?: вас)?|"
    r"уважаем\w{2}|дорог(?:ой|ая)|скажите|подскажите|пожалуйста|извините|простите|слушаю(?: вас)?|"
    r"до свидания|всего (?:вам )?доброго|хорошего (?:вам )?дня|алло|"
    r"понял\w?(?: вас)?|поняла|понятно|хорошо|отлично|да|нет|ну|так|вот|конечно|смотрите|послушайте|"
    r"слушайте|рад\w? (?:знакомству|слышать)|очень приятно|приятно познакомиться|"
    r"dear|hi|hello|hey|hiya|good (?:morning|afternoon|evening|day)|morning|afternoon|evening|"
    r"thanks(?: again| so much| a lot)?|thank you(?: so much| very much| again)?|thank you|sorry|okay|ok|"
    r"alright|all right|right|sure|yes|yeah|no|well|so|"
    r"great|perfect|bye|goodbye|bye-bye|welcome|cheers|please|listen|look|pleasure|nice to (?:meet|"
    r"hear from) you|of course|absolutely|got it|understood|now|and|but|oh|ah|thanks for (?:calling|"
    r"waiting|holding)|apologies)[,.! ]{1,3}$"
)
# "Спасибо, что позвонили Марина.": who is thanked for it is called by the name behind.
_THANKED_BEFORE = re.compile(
    _B + r"(?:спасибо|благодар(?:ю|им)(?: вас)?),? (?:за то,? )?что [^.!?,]{0,40}ли(?:сь)?,? {1,3}$"
)
_ABOUT_BEFORE = re.compile(
    r"(?:имя|имени|фамили[яюией]|это|зовут|звать|муж\w?|жен[ауы]|сын\w?|дочь|дочка|брат|сестра|мама|папа|друг|"
    r"подруга|"
    r"сосед\w{0,2}|коллег\w|начальник|шеф|бывший|некий|тот|наш|наша|мой|моя|ваш|ваша|сам|сама|"
    + ROLE
    + r"|husband|wife|son|daughter|brother|sister|mom|mum|dad|boss|colleague|friend|neighbor|neighbour|"
    r"manager|technician|driver|rep|agent|partner|my|our|your|his|her|their|the|a|"
    r"is|was|be|got|with|to|from|by|for|of|about|tell|ask|asked|told|called|call|see|that|than|like|via|"
    r"named|it's|it is|that's|there's|and then|"
    r"let|have|has|get|had)[, ]{1,3}$"
)
LEFT_EDGE = re.compile(r"(?:^|[,.!?…:;\n⏎()\"«»—–]| -) {0,4}$")
_RIGHT_END = re.compile(r" {0,3}(?:$|[.!?…\n⏎)])")
_RIGHT_EDGE = re.compile(r" {0,3}(?:[,;:—–]|- )")
_RIGHT_ABOUT = re.compile(
    r",? {0,3}(?:котор\w{2,3}|(?:наш\w?|мой|моя)(?! (?:вин|ошиб|недоработ|недогляд|компан|служб|систем|цен|задач|"
    r"сторон|"
    r"предложен|опечат|косяк|промах))|тоже|сам|сама|is|was|has|had|said|says|told|will(?! you| i\b| we| he\b| she\b|"
    r" it\b| they| that\b| this\b| any| some)|"
    r"would(?! you| i\b| we| he\b| she\b| it\b| they| that\b| this\b| any| some)|does|did(?! you| i\b| we| he\b|"
    r" she\b| it\b| they| that\b| this\b| any| some)|can(?! you| i\b| we| he\b| she\b| it\b| they| that\b| this\b|"
    r" any| some)|could(?! you| i\b| we| he\b| she\b| it\b| they| that\b| this\b| any| some)|who|"
    r"whose|called|came|wants|"
    r"needs|sent|just|also|always|never|already|gets|got|went|promised|handles|usually|himself|herself|'ll|'d|'s|’s|"
    r"and i\b|or)(?![^\W\d_])"
)
_RIGHT_CALL = re.compile(
    r" {0,3}(?:вы|вас|вам|вами|ваш\w{0,2}|ты|тебя|тебе|я|мы|мне|нам|у вас|у меня|у нас|у тебя|к вам|"
    r"для вас|по вашему|смотрите|скажите|подскажите|это|тогда|давайте|давай|можно|здравствуй\w{0,2}|"
    r"добрый|доброе|привет|спасибо|да|нет|хорошо|"
    r"пожалуйста|правильно|верно|как|какой|какая|какие|когда|где|сколько|что|чем|кто|если|а|но|извините|"
    r"простите|сейчас|минуту|секунду|одну|наш[аи]? (?:вин|ошиб|недораб|промах)\w{0,5}|остались|есть ли|до свидания|"
    r"всего|хорошего|"
    r"you|your|my|our|i|we|i'm|i'll|we'll|let me|let's|can you|could you|would you|will you|do you|did you|"
    r"are you|have you|is there|is that|is it|what|when|where|how|why|which|who|please|thanks|thank|good|"
    r"hi|hello|sorry|okay|so|"
    r"just to|may i|could i|can i|shall|before|if|bye|have a|go ahead|it|it's|that|that's|"
    r"this|there|there's|not|no|yes)(?![^\W\d_])"
)


def left_of(before: str) -> str:
    """What stands left of a name: "calls" what is said to somebody, "edge", "about" somebody, or "loose" words."""
    if _ABOUT_BEFORE.search(before) and not before.rstrip().endswith((".", "!", "?")):
        return "about"
    if _CALLS_BEFORE.search(before) or _THANKED_BEFORE.search(before):
        return "calls"
    if LEFT_EDGE.search(before):
        return "edge"
    word = re.search(r"([^\W\d_]{1,40}) {1,3}$", before)
    if word is None:
        return "about"
    if "а" <= word[1][0] <= "я":
        reading = read(word[1])
        third = reading.part in ("VERB", "PRTS") and (reading.person == "3per" or reading.tense == "past")
        if third or reading.part in ("PREP",) or (reading.part == "NOUN" and reading.case == "nomn"):
            return "about"
    return "loose"


def right_of(after: str) -> str:
    """What stands right of a name: "end" of a sentence, "edge" of a clause, a "call", something "about" them, or what
    tells nothing, "other"."""
    if _RIGHT_END.match(after):
        return "end"
    if _RIGHT_ABOUT.match(after):
        return "about"
    if _RIGHT_EDGE.match(after):
        return "edge"
    if _RIGHT_CALL.match(after):
        return "call"
    word = re.match(r" {1,3}([^\W\d_]{1,40})", after)
    if word is not None and "а" <= word[1][0] <= "я":
        reading = read(word[1])
        if reading.mood == "impr" or reading.person in ("1per", "2per"):
            return "call"
        if reading.part == "VERB" and reading.tense == "past" and word[1].endswith("ли"):
            return "call"
        return "about" if reading.part in ("VERB", "PRTS") else "other"
    return "other"
