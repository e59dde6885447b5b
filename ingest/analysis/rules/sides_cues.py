"""What only the company says, and what only its client says: weighted patterns over folded text.

A weight is about the log odds that one such phrase moves; whoever wrote the pattern judged it, nothing is fitted."""

from __future__ import annotations

import re

Cues = tuple[tuple[float, re.Pattern[str]], ...]


def cues(*pairs: tuple[float, str]) -> Cues:
    return tuple((weight, re.compile(pattern)) for weight, pattern in pairs)


INTERNAL = re.compile(
    r"\b(?:(?P<a>коллег[аи]|ребят[а]?|команд[аеуы]|народ)|(?P<b>планерк\w|стендап\w{0,2}|ретро\w{0,10}|"
    r"созвон\w{0,2}|летучк\w|пятиминутк\w|совещани\w|оперативк\w)|"
    r"(?P<c>спринт\w{0,3}|бэклог\w{0,2}|блокер\w{0,3}|релиз\w{0,3}|дедлайн\w{0,2}|задач[аиу]\b|тикет\w{0,2})|"
    r"(?P<d>кто (?:делает|займется|поедет|может взять|отвечает)|на повестке|по повестке|повестк\w|"
    r"итог\w{0,2} недели|по статусам|кто возьмет|за мной\b|с меня\b|беру на себя|протокол)|"
    r"(?P<e>клиент(?:ы|ов|ам|а|у|ами|ов)|покупател(?:и|ей|ям)|гост(?:и|ей|ям)|пациент(?:ы|ов|ам))|"
    r"(?P<f>бюджет\w{0,2}|план продаж|выручк\w|kpi|кассов\w|квартал\w{0,2}|смен[ауые]\b|график отпусков|"
    r"закуп\w{1,3}|стажер\w{0,2})|"
    r"(?P<g>team|guys|folks|everyone|everybody)|(?P<h>stand-?up|retro|all-hands|huddle|sync|one-on-one|weekly|1:1|"
    r"kick-?off|meeting)|"
    r"(?P<i>sprint|backlog|blocke(?:r|rs|d)|roadmap|deploy\w{0,4}|release|staging|pull request|tickets|headcount)|"
    r"(?P<m>повторяем|решили\b|решено|давайте решать|договорились|следующ\w{1,3} (?:вопрос|пункт|планерк|встреч)|"
    r"decided|next (?:up|one|thing)|same time|let's move on|moving on)|(?P<j>agenda|action items?|who owns|"
    r"i'll take (?:that|it|this)|minutes|on my plate|next item|any updates?|who does|who's doing|anyone remember|"
    r"anybody know)|"
    r"(?P<k>(?:the|our|a|one) (?:client|customer|tenant|patient|guest)s?|customers|clients|guests)|(?P<l>budget|"
    r"quarter|q[1-4]|forecast|pipeline|revenue|rota|payroll|shift|supplier|wholesaler|margin)s?)\b"
)

AUTOMATON = re.compile(
    r"\bабонент (?:временно |сейчас |в настоящий момент |не )|аппарат абонента|вне зоны|выключен или|"
    r"после (?:звукового )?(?:сигнала|гудка)|"
    r"\bнажмите|голосово\w{1,2} (?:почт|ящик|сообщени)|автоответчик|ваш звонок (?:очень )?важен|"
    r"все операторы (?:сейчас )?заняты|номер не обслуживается|"
    r"неправильно набран|тональн\w{1,2}|сообщение (?:сохранено|записано)|оставайтесь на линии|ваша очередь|"
    r"\bpress (?:\d|one|two|three|zero|pound|star|the)\b|after the (?:tone|beep)|at the tone|voice ?mail|mailbox|"
    r"leave (?:a|your) (?:message|name)|"
    r"you(?:'ve| have) reached|your call is (?:very )?important|all (?:of )?our (?:agents|operators|"
    r"representatives|lines)|number you (?:have )?(?:dialed|dialled)|"
    r"person you are (?:trying|calling)|(?:is )?not available to take|message saved|please hold\b|"
    r"stay on the line|isn't available right now|can't (?:get|come) to the phone|"
    r"\bвы позвонили в\b|может быть записан|\bнаберите (?:\w{2,12} )?(?:номер|\d|один|два|три|ноль|внутренний|"
    r"двести)|дождитесь ответа|никто не может|"
    r"для соединения с|режим работы|мы работаем с|оставьте (?:ваше )?сообщение|после тона|вы можете оставить|"
    r"разговор может быть|соединение (?:прервано|невозможно)|"
    r"para espanol|main menu|our (?:office|business) hours are"
)
