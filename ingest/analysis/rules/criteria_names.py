"""Names that are no names in any list: introductions by their form, signatures of mails, answers to "your name?"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ingest.analysis.rules.criteria_speech import Run
from ingest.analysis.rules.names import leading_name

_NO_NAME = (
    r"(?:a|an|the|not|no|about|your|my|our|is|it|that|this|what|why|for|from|in|on|at|to|just|very|so|all|how|who|"
    r"where|when|going|only|really|"
    r"customer|ridiculous|unbelievable|unacceptable|great|outrageous|customer|support|sales|billing|reception|"
    r"service|yes|ok|okay|right|great|good|calling|regarding|because|actually|part|one|exactly|still|now|over|"
    r"as|with|and|of|been|correct|fine|here|i|you|he|she|we|they|also|more|too|quite|strictly|definitely|"
    r"absolutely|totally|completely|currently|someone|everyone)"
)
_INTRODUCES = re.compile(
    rf"\b(?:(?:my )?name is|my name's|the name's|you(?:'re| are) (?:speaking|talking|through|chatting) (?:to|"
    rf"with)) (?!{_NO_NAME}\b)[a-z'-]{{2,20}}|"
    rf"\b(?:this is|it'?s|it is|i'm|"
    rf"i am) (?!{_NO_NAME}\b)[a-z'-]{{2,20}}(?: (?!{_NO_NAME}\b)[a-z'-]{{2,20}})? (?:from|over at|at (?!the|your|"
    rf"my|this|that|home|work|\d)|with (?!you|that|this|the)|calling from|(?:in|at) (?:the )?(?:billing|support|"
    rf"sales|accounts|reception|service|[a-z]{{3,14}} (?:dental|bank|clinic|motors|hotel|insurance)))\b|"
    rf"(?:^|[,.!] )(?!{_NO_NAME}\b)[a-z'-]{{2,20}} (?:speaking|here from|here at|"
    rf"at (?:the )?(?:\w{{2,12}} )?\w{{2,12}} here)\b|"
    rf"(?:^|[,.!] )(?!(?:{_NO_NAME}|nobody|anyone|around|down|up|out|new|over)\b)[a-z'-]{{3,20}} here(?=[,.!] ?\S)|"
    r"\bменя зовут [а-я-]{2,20}|(?:^|[.,!] )это [а-я-]{3,20}(?: [а-я-]{3,20})? из (?!за\b)[\"а-я]|"
    r"\bмое имя [а-я-]{2,20}|\bс вами (?:говорит |на связи )?(?:оператор |менеджер |специалист )?(?!была?\b|"
    r"были\b|на\b|говорит\b|свяж|мы\b|я\b|по\b)[а-я-]{3,20}(?=[,.!])"
)
_OPENS = re.compile(
    rf"\b(?:this is|it's) (?!{_NO_NAME}\b)[a-z'-]{{2,20}}(?: (?!{_NO_NAME}\b)[a-z'-]{{2,20}})?(?=[,.!]|$)"
)
_CAPITALS = r"(?:[A-ZА-ЯЁ]\.\s?){0,2}[A-ZА-ЯЁ][^\W\d_]{1,20}(?:[ -][A-ZА-ЯЁ][^\W\d_]{0,20}\.?){0,2}"
_SIGNATURE = re.compile(rf"^\W{{0,3}}({_CAPITALS}|(?:[A-ZА-ЯЁ]\.){{2}})(?:\s?[,|(–—-].{{0,80}})?[.!]?$")
_NO_SIGNATURE = re.compile(
    r"\b(?:team|support|service|department|regards|thanks|thank|best|sincerely|cheers|yours|kind|warm|hello|hi|"
    r"dear|команда|служба|отдел|поддержка|уважением|спасибо|добрый|здравствуйте|ооо|ао|ltd|inc|llc|sent|"
    r"отправлено|re|fwd|tel|тел|phone|ps)\b",
    re.IGNORECASE,
)
_GIVEN = re.compile(rf"(?:[Ii]s|'s|[Ii]ts|'m|am|with|to|зовут|имя|[Ээ]то) ({_CAPITALS})")
_ASKED_FOR = re.compile(
    r"(?:^\W{0,3}(?:\w{1,14} ){0,3}это|\b(?:is this|is that|am i (?:speaking|talking) (?:to|with)|я говорю с|"
    r"с вами говорит не|(?:speak|talk) (?:with|to)|услышать|мне бы|мне нужн\w|можно|поговорить с|переговорить с|"
    r"позовите|пригласите))"
    r",? ((?:mister |mr |mrs |ms |miss |dr )?[^\W\d_]{2,20}(?: [^\W\d_]{2,20}){0,2})"
)
_OPENING_NAME = re.compile(rf"\s{{0,3}}({_CAPITALS})(?=\s?[,!])")
_ANSWER = re.compile(
    rf"^\W{{0,3}}(?:(?:это|я|да|меня зовут|it's|its|i'm|this is|sure|yes|yeah)[,.]? )?({_CAPITALS})(?=\s?[.,!\n]|"
    rf"\s?$)"
)
_LOW_ANSWER = re.compile(r"^\W{0,3}((?:[^\W\d_]{2,20})(?: [^\W\d_]{2,20}){0,2})\W{0,3}$")
_NO_ANSWER = frozenset(
    [
        "да",
        "нет",
        "ну",
        "ага",
        "угу",
        "сами",
        "а",
        "и",
        "что",
        "это",
        "так",
        "хорошо",
        "ладно",
        "конечно",
        "сейчас",
        "минуту",
        "алло",
        "зачем",
        "какая",
        "разница",
        "не",
        "знаю",
        "можно",
        "понятно",
        "вот",
        "мне",
        "yes",
        "yeah",
        "yep",
        "no",
        "nope",
        "ok",
        "okay",
        "sure",
        "why",
        "well",
        "um",
        "uh",
        "oh",
        "right",
        "fine",
        "what",
        "it",
        "i",
        "not",
        "the",
        "hello",
        "great",
        "thanks",
        "fine",
    ]
)
_TITLED = r"\b(?:mr|mrs|ms|miss|mister|dr|doctor|professor)\.? "
_SPOKEN_OF = re.compile(
    r"(?:about|for|to|with|from|of|by|and|that|when|if|said|told|is|against|see|tell|than|like|ask) $"
)


def introductions(run: Run, opening: bool) -> Iterator[tuple[int, int]]:
    """Where the run gives the speaker's own name by the form of the sentence, whatever the name is. "This is Alma." is
    one where a talk opens; later it may be anything."""
    yield from (match.span() for match in _INTRODUCES.finditer(run.text))
    if opening:
        yield from (match.span() for match in _OPENS.finditer(run.text, 0, 200))


def introduced_names(run: Run, opening: bool) -> Iterator[str]:
    """The capitalised names in introductions."""
    for start, end in introductions(run, opening):
        found = _GIVEN.search(run.original[start : end + 30])
        if found:
            yield found.group(1)


def asked_for(run: Run) -> Iterator[tuple[int, int]]:
    """Where a call asks whether it has reached somebody: "это тимур валеев", with or without a question mark."""
    for match in _ASKED_FOR.finditer(run.text, 0, 200):
        start, end = match.span(1)
        yield start, end
        for space in range(end - 1, start, -1):  # "mister abernathy please"
            if run.text[space] == " ":
                yield start, space


def opening_name(run: Run) -> tuple[int, int] | None:
    """Up to three capitalised words that a run begins with before a comma: whom it calls, if they are a name."""
    found = _OPENING_NAME.match(run.original[:80])
    return found.span(1) if found else None


def signature(run: Run) -> tuple[str, int, int] | None:
    """The name that signs a mail: a line of its own among the last four, in capitals."""
    lines = list(re.finditer(r"[^\n]+", run.original))[-4:]
    if len(lines) < 2:
        return None
    for line in reversed(lines[1:]):
        found = _SIGNATURE.match(line.group().strip())
        if found and len(line.group()) <= 90 and not _NO_SIGNATURE.search(found.group(1)):
            at = line.start() + line.group().find(found.group(1))
            return found.group(1), at, at + len(found.group(1))
    return None


def answer(run: Run, language: str) -> str | None:
    """The name in the answer to "how shall I call you?"."""
    text = run.original[:400].lstrip()
    known = leading_name(text, language)
    if known and known.name.lower() not in _NO_ANSWER:
        return known.name
    found = _ANSWER.match(text) or _LOW_ANSWER.match(text[:80])
    if found is None or found.group(1).lower().split()[0] in _NO_ANSWER:
        return None
    return found.group(1)


def titled_calls(run: Run, names: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Where a surname of these is said behind "mr" and the like to the person's face, with no punctuation to tell."""
    surnames = {name.split()[-1].lower() for name in names if name.split() and len(name.split()[-1]) > 2}
    if not surnames:
        return
    pattern = re.compile(_TITLED + "(?:" + "|".join(re.escape(name) for name in sorted(surnames)) + r")\b")
    for match in pattern.finditer(run.text):
        if not _SPOKEN_OF.search(run.text, max(0, match.start() - 12), match.start()):
            yield match.span()
