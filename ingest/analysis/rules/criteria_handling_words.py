"""The words by which the handling of a request is judged: patterns over folded text, Russian and English."""

from __future__ import annotations

import re

QUESTION = re.compile(r"\?")
WONDERS = re.compile(
    r"\b(?:что (?:у вас|именно|за|случилось|с)|где|когда|какой|какая|какое|какие|какого|какую|каком|сколько|"
    r"почему|зачем|куда|откуда|как давно|"
    r"(?:будете|хотите|планируете|вы|вам|это) (?:\w{2,14} ){1,4}или|как часто|как именно|во сколько|на какой|на какую|"
    r"на сколько|подскажите|уточните|опишите|расскажите|скажите|"
    r"а вы|у вас|вам нужн\w|вас интересу\w{2,3})\b|"
    r"\b(?:what|which|when|where|how (?:many|long|much|often|old|big|far)|is it|are you|do you|did you|does it|"
    r"can you (?:tell|describe|see)|have you|was it|were you|tell me|would you|could you (?:tell|describe))\b"
)
POLITE_QUESTION = re.compile(
    r"чем (?:я )?(?:вам )?(?:могу|можем)|как (?:я )?(?:могу |можно |мне )?(?:к )?вам|как вас|как к вам|вопросы|"
    r"вопрос\w? (?:есть|остал)|еще (?:чем|что)|удобно (?:ли )?(?:вам )?(?:сейчас |говорить)|"
    r"минут\w{0,2}\b.{0,12}(?:найд|есть|удел)|слышно|вы (?:здесь|тут|на линии)|алло|как (?:у вас )?дела|ваше имя|"
    r"представ|"
    r"how (?:can|may|could) (?:i|we)|what can (?:i|we) do|anything else|any (?:other |more )?questions|is (?:this|"
    r"now|that) (?:a good|ok|okay|fine|alright|all)|good time|have (?:you got )?a (?:minute|moment)|hear me|"
    r"are you (?:there|still)|^\W{0,4}excuse me\W{0,2}$|^\W{0,4}pardon\W{0,2}$|your name|who (?:am|do|is)|how are you|"
    r"make sense|sound good|right\?$|okay\?$"
)
ASKED_TOGETHER = re.compile(
    r"\?| и (?=как|что|сколько|когда|какой|какая|где|чем|кто)| and (?=how|what|when|which|where|who|is|are|do|may|can)"
)
ASKED_FOR = re.compile(
    r"\?|\b(?:хотел\w?|хочу|хотим|нужн\w|надо|прошу|можно|можете|подскажите|скажите|не работает|слома|проблем|"
    r"вопрос|отмен|верн|когда|сколько|почему|как|где|запис|заказ|жалоб|"
    r"want|wanted|need|like to|can (?:i|you|we)|could (?:i|you|we)|please|how|when|why|where|what|problem|issue|"
    r"broken|not working|cancel|refund|book|order|help|calling about|looking for|complain\w{0,2})\b"
)

THING = (
    r"(?:заказ\w{0,3}|заявк\w{1,2}|обращени\w{1,2}|договор\w{0,3}|счет\w{0,3}|брон[ьи]\w{0,2}|бронировани\w|"
    r"тикет\w{0,2}|накладн\w{2,3}|посылк\w{1,2}|отправлени\w{1,2}|полис\w{0,2}|лицев\w{2,3}|абонент\w{0,4}|"
    r"квитанци\w{1,2}|"
    r"акт\w{0,2}|трек\w{0,3}|рейс\w{0,2}|карт[аыеу]|билет\w{0,2}|упд|инвойс\w{0,2}|наряд\w{0,3}|смет\w{1,2}|"
    r"абонемент\w{0,2}|"
    r"подписк\w|заезд\w{0,2}|запис[ьи]|задолженност\w|кредит\w{0,2}|займ\w{0,2}|"
    r"orders?|tickets?|accounts?|invoices?|bookings?|reservations?|contracts?|policy|claims?|cases?|references?|"
    r"po|p\.o\.|shipments?|tracking|confirmation|work orders?|serial|site|statements?|subscriptions?|quotes?|"
    r"bills?|loan|membership|appointments?|parcels?|delivery|estimate|plan)"
)
IDENTITY = re.compile(
    rf"\b{THING}(?:[\s,#№:.-]{{1,4}}(?:номер|number|no\.?|num|за|от|is|код|идентификатор|ending(?: in)?|счета?|"
    rf"договора?|заказа?|полиса|id|это|под|клиента?|карты|брони|the|it's|наш|ваш|тот|our|your|"
    rf"\w{{2,14}})){{0,3}}[\s,#№:.-]{{1,4}}[a-zа-я]{{0,4}}[-/]?"
    rf"(?=\d[\d/a-zа-я-]{{2,20}}\b(?! (?:января|февраля|марта|апреля|мая|июня|июля|августа|сентября|октября|ноября|"
    rf"декабря|руб|тыс|₽|january|february|march|april|may|june|july|august|september|october|november|december)))"
    rf"\d[\d/a-zа-я-]{{2,20}}\b"
)
NUMBERED = re.compile(
    rf"[#№]\s?\w{{0,4}}-?\d{{2,12}}|\b[a-zа-я]{{1,4}}-\d{{3,10}}\b|\b(?:booking|reservation|appointment|"
    rf"table),? (?:is |it's )?"
    rf"(?:in the |under the |under |in )?name of \w|\b{THING} (?:от|за|for|of|dated) \d"
)
ENTITY_ASKED = re.compile(
    rf"\b(?:номер\w{{0,2}}|код) (?:\w{{2,14}} )?{THING}|\b{THING} (?:\w{{2,12}} )?(?:номер\w{{0,2}}|number)|"
    rf"\b(?:what(?:'s| is)|give me|have|read|got|need|confirm) (?:\w{{2,8}} )?(?:the |your |"
    rf"that )?(?:\w{{2,14}} )?{THING} (?:number|id|no|#)|\b(?:лицевой|серийный|инвентарный|инн|vin|imei|госномер|"
    rf"гос номер|site number|plate|registration|(?!the|any|new|you|our|his|her|old|one|my|its|and|for|by|is|on|in|of|"
    rf"or|a)[a-z]{{2,3}} number|job (?:sheet|number)|docket(?: number)?|tracking)\b"
)
SPOKEN_FIGURE = (
    r"(?:ноль|один|два|три|четыре|пять|шесть|семь|восемь|девять|\w{2,6}надцать|двадцать|тридцать|сорок|"
    r"\w{3,6}десят|девяносто|сто|двести|триста|четыреста|\w{3,6}сот|тысяч\w?|\d{1,4}|"
    r"zero|oh|one|two|three|four|five|six|seven|eight|nine|double|\w{3,5}teen|twenty|thirty|forty|fifty|sixty|"
    r"seventy|eighty|ninety)"
)
FIGURES = re.compile(
    r"\d{3,}|\b(?:ноль|один|два|три|четыре|пять|шесть|семь|восемь|девять|\w{2,6}надцать|двадцать|тридцать|сорок|"
    r"\w{3,6}десят|девяносто|сто|двести|триста|четыреста|\w{3,6}сот|zero|oh|one|two|three|four|five|six|seven|"
    r"eight|nine|double|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[\s,.-]{1,3}(?:ноль|один|два|три|"
    r"четыре|пять|шесть|семь|восемь|девять|\w{2,6}надцать|двадцать|тридцать|сорок|\w{3,6}десят|девяносто|сто|"
    r"двести|триста|\w{3,6}сот|тысяч\w?|zero|oh|o|one|two|three|four|five|six|seven|eight|nine|double|twenty|"
    r"thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand)){1,12}\b"
)
SPELLED = re.compile(
    rf"\b{THING}(?:[\s,#№:.-]{{1,3}}(?:номер|number|no|is|это|наш|"
    rf"the)){{0,2}}[\s,:.-]{{1,3}}{SPOKEN_FIGURE}(?:[\s,.-]{{1,3}}{SPOKEN_FIGURE}){{2,12}}\b|"
    rf"\b{THING}(?:[\s,]{{1,2}}(?:\w{{2,8}}[\s,]{{1,2}}){{0,3}}(?:номер|number)[\s,]{{1,2}}|[\s,]{{1,2}})(?:двести|"
    rf"триста|четыреста|"
    rf"\w{{3,6}}сот|сто)[\s,]{{1,2}}{SPOKEN_FIGURE}\b"
)
YOURS = re.compile(r"ваш|your")
CODE = re.compile(r"\b[A-ZА-Я]{2,4}[- ]?\d{3,8}\b")  # in the words as they are written
SPACED_DIGITS = re.compile(r"(?<!\w)\d(?:[ -]\d){2,15}(?!\w)")
FOUND = re.compile(
    r"\b(?:booking|reservation|account|order|appointment|table) (?:is |it's )?(?:in the |under the |under |"
    r"in )?name of\b|"
    r"\b(?:нашел|нашла|нашли|вижу) (?:вас|вашу?|ее|его|запись|бронь|заказ|договор|заявк\w|карточку|в базе|в системе|"
    r"по адресу)\b|"
    r"\bпо (?:адресу|фамилии|номеру|базе|системе) (?:вас )?вижу\b|(?:^|[.!,] ?)(?:да,? )?(?:нашел|нашла|"
    r"вижу)(?= ?[,:.!])|\bсовпало\b|"
    r"\bваш\w? (?:\w{3,14} )?(?:готов\w?|пришел|пришла|пришли|приехал\w?|поступил\w?)\b|"
    r"\b(?:found (?:it|you|your|the)|got you(?= ?[,.!])|i(?:'ve| have)? (?:got|have|see|found) (?:you|it|your|"
    r"the) (?:here|now|right here|"
    r"\w{3,12} (?:here|in front|up))|i (?:can )?see (?:it|you|your (?:\w{3,12} )?(?:order|account|booking|reservation|"
    r"ticket|membership|"
    r"policy|invoice|parcel|claim))(?= ?[,.!:]| here| right| in| for|$)|pulled (?:it|you|your \w{3,12}) up|"
    r"there (?:you|it) (?:are|is)|"
    r"your (?:new )?\w{3,14} (?:is|are|has|have)? ?(?:came|come|arrived|in|ready)(?: in)?)\b(?= ?[,.!:]| for|$)"
)
ENTITY = re.compile(
    r"\b(?:мо(?:й|его|ему|ем|ей|ю|я|и)|наш(?:его|ему|ем|ей|у|а|и|их)?|ваш(?:его|ему|ем|ей|у|а|и|их)?|этот|по|my|"
    r"our|your|the|this) (?:\w{3,14} )?(?:заказ\w{0,2}|заявк\w{1,2}|обращени\w|договор\w{0,2}|счет\w{0,2}|"
    r"брон[ьи]|посылк\w|полис\w?|накладн\w{2,3}|задолженност\w|долг|подписк\w|"
    r"order|ticket|account|invoice|booking|reservation|contract|policy|claim|shipment|subscription|parcel|package|"
    r"bill|appointment)\b|"
    r"\b(?:просрочк\w|абонемент\w?|(?:я|мы) (?:\w{2,12} )?(?:забирал|сдавал|купил|оплатил|заказывал|заказал|"
    r"оплачивал)\w?|"
    r"(?:i|we)(?:'ve| have)? (?:ordered|bought|paid|booked|placed an order))\b"
)

CONFIRMS = re.compile(
    r"\b(?:верно|правильно|все верно|все правильно|так\?|да\?|повтор(?:ю|им|яю)|провер(?:им|ю) еще раз|итак|"
    r"значит|записал\w?|то есть|получается|сверим|подтвер\w{2,6}|фиксирую|резюмир\w{2,4}|"
    r"правильно (?:я )?(?:понял|понимаю|записал)\w?|"
    r"correct|is that right|that right|right\?|let me (?:just )?(?:repeat|confirm|read)|to confirm|"
    r"just to (?:confirm|recap|double)|so that's|so that is|so it's|read (?:that|it) back|got it|got that|"
    r"confirm(?:ing|ed)?|double-?check|you said|noted)\b"
)
WORD = re.compile(r"[a-zа-я]{4,30}")
COMMON_STEMS = frozenset(
    [
        "меня",
        "тебя",
        "тебе",
        "вами",
        "него",
        "есть",
        "было",
        "будет",
        "можно",
        "нужно",
        "надо",
        "хорош",
        "тогда",
        "сейча",
        "завтр",
        "сегод",
        "чтобы",
        "котор",
        "тольк",
        "пожал",
        "спаси",
        "если",
        "этот",
        "этого",
        "этом",
        "ваш",
        "ваша",
        "наша",
        "когда",
        "сколь",
        "тоже",
        "очень",
        "просто",
        "номер",
        "заказ",
        "that",
        "this",
        "with",
        "have",
        "your",
        "from",
        "they",
        "will",
        "what",
        "when",
        "just",
        "then",
        "been",
        "were",
        "would",
        "could",
        "about",
        "there",
        "here",
        "need",
        "okay",
        "yeah",
        "well",
        "please",
        "thank",
        "tomor",
        "today",
        "order",
        "numbe",
    ]
)
SPELLED_WORD = re.compile(r"(?<![\w'-])[a-zа-я](?:[\s,.-]{1,2}[a-zа-я](?![\w'])){2,20}")
NUMBER_TOKEN = re.compile(
    r"\d+(?:[:.,/-]\d+)*|\b(?:ноль|один|одн\w{1,3}|два|две|двух|три|трех|четыре|четырех|пят[ьи]\w{0,3}|"
    r"шест[ьи]\w{0,3}|сем[ьи]\w{0,3}|восем[ьи]\w{0,2}|восьм\w{1,3}|девят[ьи]\w{0,3}|десят[ьи]\w{0,3}|"
    r"\w{2,6}надцат\w{1,5}|двадцат\w{1,3}|тридцат\w{1,3}|сорок\w{0,2}|\w{3,6}десят\w{0,3}|девяност\w|сто|двести|"
    r"триста|четыреста|\w{3,6}сот|тысяч\w{0,2}|"
    r"zero|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w{3,5}teen(?:th)?|twenty|thirty|"
    r"forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|half|noon|понедельник\w?|вторник\w?|сред[аыу]|"
    r"четверг\w?|пятниц\w|суббот\w|воскресень\w|monday|tuesday|wednesday|thursday|friday|saturday|sunday|завтра|"
    r"tomorrow)\b"
)
PLACE = re.compile(
    r"\b(?:улиц\w|ул\.|проспект\w?|переул\w{2,4}|набережн\w{2,3}|шоссе|бульвар\w?|дом \w|квартир\w|офис \w|"
    r"подъезд|street|st\.|road|rd\b|avenue|ave\b|lane|drive|suite|apartment|apt|boulevard|court)\b"
)

NEXT = re.compile(
    r"\b(?:(?:я|мы|он|она|они|вам|вас|с вами|мастер|курьер|инженер|специалист|менеджер|техник|врач|"
    r"бухгалтер\w{0,3}|водитель|заказ|письмо|деньги|посылка|счет|документы|чек|"
    r"смс)\b[^.!?\n]{0,50})?\b(?:перезвон(?:ю|им|ит|ят)|позвон(?:ю|им|ит|ят)|набер(?:у|ем|ет)|пришл(?:ю|ем|ет|ют)|"
    r"отправ(?:лю|им|ит|ят)|вышл(?:ю|ем|ет)|переда(?:м|дим|ю|ем)|подготов(?:лю|им|ит)|оформ(?:лю|им|ляю|ляем|ит)|"
    r"провер(?:ю|им|ит)|уточн(?:ю|им|ит)|свяж(?:усь|емся|ется|утся)|приед(?:у|ем|ет|ут)|привез(?:у|ем|ет|ут)|"
    r"достав(?:лю|им|ит|ят)|верн(?:у|ем|ет|ут|ется)|пересчита(?:ю|ем|ет|ют)|напиш(?:у|ем|ет)|сообщ(?:у|им|ит|ат)|"
    r"забронир(?:ую|уем)|созда(?:м|дим|ю)|заве(?:ду|дем)|сдела(?:ю|ем|ют)|прид(?:ет|ут)|поступ(?:ит|ят)|"
    r"зачисл(?:им|ят|ится)|начисл(?:им|ят|ю)|заработает|подключ(?:у|им|ат)|внес(?:у|ем)|закро(?:ю|ем|ется)|"
    r"согласу(?:ю|ем)|жд(?:ем|у) вас|ждите|ожидайте|будет готов\w?|дождитесь|записал[аи]? вас|запис(?:ываю|ываем|"
    r"ал|ала)|вызов(?:у|ем)|постав(?:лю|им)|перевед(?:у|ем)|подъед(?:у|ет)|отмен(?:ю|им|яю|яем)|подбер(?:у|ем)|"
    r"рассчита(?:ю|ем)|отгруз(?:им|ят)|скин(?:у|ем)|продублирую|дождемся|буд(?:у|ем) (?:ждать|разбираться|держать|"
    r"выяснять|у вас)|созвонимся|встретимся|дальше)\b|"
    r"\b(?:i(?:'ll| will|'m going to|'m gonna| am going to)|we(?:'ll| will|'re going to)|you(?:'ll| will) (?:get|"
    r"receive|have|hear|see|be)|(?:i|we)ll (?:send|call|ring|text|get|come|book)|(?:(?!what|who|that|this|which|"
    r"you\b)\w{2,14}|the \w{3,14}|our \w{3,14}|an? \w{3,14})(?:'ll|"
    r" will) (?:be|call|come|get|ring|send|arrive|contact|reach|go|leave|ship|take|email|pick)|will be (?:there|"
    r"with you|in touch|delivered|sent|shipped|refunded|credited|ready|processed)|should (?:be (?:there|"
    r"on its way|with you|fixed|done|live|ready)|arrive|get there)|next step|from here|see you (?:on|at|then|"
    r"tomorrow|monday|tuesday|wednesday|thursday|friday|saturday)|(?:is|are) (?:booked|scheduled|on (?:its|their|"
    r"the) way)|in the next|let me (?:send|book|put))\b"
)
NEXT_UNDER_WAY = re.compile(
    r"\bследующ\w{2,3} (?:доставк|визит|прием|платеж|заняти|урок|встреч|созвон|отгрузк|поставк)\w{0,2} (?:\d|в |во |"
    r"на |через|завтра|послезавтра)|"
    r"\b(?:itll|youll|theyll|ill|therell|someonell|hell|shell) (?:be|get|have|send|call|ring|come|bring|put|text|"
    r"e-?mail|let|pop|drop|"
    r"arrange|book|sort|receive)\b|"
    r"\b(?:i'm|i am|we're|we are) (?:just |also |now |going to be )?(?:sending|putting|leaving|booking|passing|"
    r"ordering|opening|adding|"
    r"getting (?:you|it|him|her|them|someone|that)|emailing|texting|forwarding|raising|scheduling|issuing|crediting|"
    r"refunding|"
    r"transferring|filing|handing|moving you|dropping|shipping|arranging|posting|flagging|escalating|coming|holding|"
    r"reserving|"
    r"taking (?:it|this|that)|asking (?!you|if|why|what|for)|having \w{2,12}|calling you|chasing)\b|"
    r"\b(?:goes|leaves|ships|comes|arrives|crosses|lands|starts|gets|follows|moves|"
    r"runs)(?: [\w']{1,14}){0,5} (?:to you|to your|tomorrow|"
    r"today|tonight|(?:on|by|before|next|this) (?:\w{2,10} )?(?:week|month|morning|afternoon|evening|monday|tuesday|"
    r"wednesday|thursday|friday|"
    r"saturday|sunday|noon|night|\d{1,2}\w{0,2}))\b|"
    r"\b(?!what |who |that |which |how |when |where )\w{2,14} will (?!you\b|i\b|we\b|cost|need|depend|help|work|that|"
    r"it\b|not\b|never|"
    r"be (?:[$£€\d]|fine|ok|able))[a-z]{3,14}\b|\b(?:booked|confirmed|all set|you're (?:in|down|"
    r"booked))\b[^.!?\n]{0,60}\b(?:monday|tuesday|"
    r"wednesday|thursday|friday|saturday|sunday|tomorrow|today|\d{1,2}(?::\d\d)? ?(?:am|pm))\b|"
    r"\b(?:ставлю|оставляю|записываю|передаю|фиксирую|отправляю|высылаю|держу за|оформляю|направляю|бронирую|завожу|"
    r"жду вас|ждем|беру (?:на|в)|"
    r"(?:уже |сегодня |завтра )(?:едет|выезжает|идет|отправляется|приезжает))\b|"
    r"\b(?:все|итак|записал\w?|договорились|значит|тогда)\b[^.!?\n]{0,60}\b(?:на сегодня|на завтра|на (?:понедельник|"
    r"вторник|среду|четверг|"
    r"пятницу|субботу|воскресенье)|\d{1,2}[:.]\d\d|ноль-ноль)"
)
RUSSIAN_WORD = re.compile(r"[а-я]{3,20}")
BY_ITSELF = re.compile(
    r"\b(?:систем|программ|приложени|сервис|кнопк|сайт|окошк|табличк|устройств)\w{0,3} $|если (?:\w{1,12} ){0,3}$"
)
NO_STEP = frozenset(
    [
        "быть",
        "сказать",
        "посмотреть",
        "глянуть",
        "поглядеть",
        "проверить",
        "мочь",
        "смочь",
        "понять",
        "знать",
        "узнать",
        "подсказать",
        "спросить",
        "уточнить",
        "помочь",
        "стоить",
        "обойтись",
        "выйти",
        "получиться",
        "повторить",
        "предложить",
        "напомнить",
        "извинить",
        "простить",
        "подождать",
        "подумать",
        "попробовать",
        "значить",
        "хотеть",
        "захотеть",
        "подойти",
        "устроить",
        "понадобиться",
        "прийтись",
        "остаться",
        "составить",
        "хватить",
        "добавить",
        "найтись",
        "открыть",
        "кончиться",
        "дать",
        "взять",
        "заметить",
        "признаться",
        "представиться",
        "отвлечь",
        "перебить",
        "потерпеть",
        "разобраться",
    ]
)  # what is said within the talk, or without anybody's doing
NO_NEXT = re.compile(
    r"\b(?:i'll be honest|i'll need|i will need|i'll say|i'll take that|we'll see|i'll bet|не (?:перезвон|позвон|"
    r"сдела|верн|отправ|привез)\w{1,3}|разбирайтесь сами|сейчас (?:посмотрю|проверю|гляну|уточню)|секунд\w{1,2})\b"
)
