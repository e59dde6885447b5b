"""Verification, notices, and how the operator bears themselves."""

from __future__ import annotations

import re

from ingest.analysis.findings import Vote
from ingest.analysis.quotations import fold
from ingest.analysis.rules.criteria_speech import Run, Speech, first, matches
from ingest.analysis.rules.criteria_votes import no, not_applicable, number, undecided, yes, yes_or_no

_CALM_RUNS = 4  # of operators after an insult in which the reaction is looked for
_NOTICE_SHARE = 0.7  # of a notice's own words that have to be said

_VERIFIES = re.compile(
    r"\b(?:кодов\w{2,3} слов\w|секретн\w{2,3} (?:слов\w|вопрос\w?)|контрольн\w{2,3} (?:слов\w|вопрос\w?)|"
    r"дат[ауы] (?:вашего )?рожден\w{2}|год рождения|паспорт\w{0,3}|последн\w{2,3} (?:\w{1,6} )?(?:цифр\w?|"
    r"символ\w{0,2})|код из (?:смс|sms|сообщени\w)|смс-?код|кто вы|девичь\w|"
    r"(?:номер\w? )?(?:договор\w?|лицев\w{2,3}(?: счет\w?)?|полис\w?) и (?:фамили\w|фио|имя)|(?:фамили\w|фио|"
    r"полное имя) и (?:номер |последние )?(?:договор\w?|лицев\w{2,3}|адрес\w?|дат\w|код)|на кого (?:оформлен|"
    r"заключен|зарегистрирован)\w?|для проверки|совпад(?:ает|ают|ало)|совпало|сходится|(?:номер договора|договор|инн|"
    r"лицев\w{2,3}(?: счет\w{0,2})?) "
    r"(?:или|и|плюс) [^.!?\n]{0,30}(?:адрес|инн\b|фамили|фио|имя\b|телефон|цифр)|кто (?:владелец|собственник)|"
    r"кем вы приходитесь|"
    r"подтвердите(?:,? пожалуйста)?,? (?:что вы|личность|ваш\w? (?:фио|данн|адрес|"
    r"дат))|идентификац\w{1,2}|личност\w|владел\w{3,5}\?|"
    r"date of birth|birth ?date|(?:when(?:'s| is)|what(?:'s| is)) your birthday|when were you born|"
    r"year (?:you were born|of birth)|"
    r"(?:so|to make sure) (?:that )?(?:i|we) know (?:that )?(?:it's|it is|this is) (?:really )?you|you(?:'re|"
    r" are) (?:all )?verified|"
    r"(?:that |it |all )?matches\b|code (?:went|was sent|has been sent|is on its way|should (?:be|have))|code ?word|"
    r"passphrase|pass ?code|security (?:question|word|code|check)|"
    r"for security|verify (?:your|who|that|a|you|the|some)|verification|last (?:four|4|three|3|two)(?: digits)?|"
    r"mother's maiden|code (?:we|i)(?:'ve|'ll| have)? (?:just )?(?:sent|text)|(?:post ?code|postal code|"
    r"zip(?: code)?) on|service address|first line of (?:the|your) address|(?:account|policy|member|membership|"
    r"customer) number and|"
    r"confirm (?:your (?:full )?(?:name and|identity|date|address|billing)|who|the (?:address|email|postcode|"
    r"name) (?:on|we))|one-time|account (?:owner|holder)|to prove|data protection|pin number)\b"
)
_NOT_VERIFYING = re.compile(
    r"\b(?:карт[аыу] (?:не|больше)|без паспорта|возьмите|захватите|при себе|не забудьте|с собой|принесите|bring|"
    r"привезите|нужен будет|понадобится)\b"
)
_ACCOUNT_MATTER = re.compile(
    r"\b(?:(?:на вашем|по вашему|у вас) (?:\w{2,12} ){0,3}(?:счет|баланс|договор|лицев|долг|задолженност|"
    r"просроч)\w{0,4}|ваш\w? (?:баланс|задолженност|долг|тариф)\w{0,2}|отмен(?:яю|ил\w?|им) (?:ваш |вашу |заказ|"
    r"брон|запис|подписк|\d)|отключ(?:аю|ил\w?)|списан\w?|сумма к возврату|верн(?:ем|у|ул\w?) (?:деньги|вам|"
    r"на карту)|карт[еуы] (?:ваш|заканч)|измен(?:ил\w?|яю) (?:ваш|адрес|номер|тариф)|помен(?:ял\w?|"
    r"яю) (?:\w{1,8} )?(?:номер|адрес|почт|телефон|данн|тариф|плательщик|заявк|карточк)|"
    r"последн\w{2} (?:оплат|платеж)|"
    r"your (?:balance|account (?:is|shows|was|has)|card on file|last payment|payment (?:of|was|failed|bounced)|"
    r"past due|overdue|outstanding)|(?:you|it) (?:got|was|were) (?:charged|moved|billed)|i(?:'ve|"
    r" have) (?:cancelled|canceled|changed|updated|refunded|reset|removed|switched|moved) (?:it|that|your|"
    r"the (?:billing|account|contact|address|delivery|card|"
    r"phone|plan|email|number|order|booking|subscription))|updated (?:it )?to|you still owe|(?:got|see|have) (?:two|"
    r"three|a|\d) charges?|card (?:ending|on file)|you owe|"
    r"on your account)\b"
)
_NOTICE = re.compile(
    r"\b(?:(?:разговор|звон|бесед|линия|общение)\w{0,4} (?:(?:\w{1,14}) ){0,3}(?:записыва\w{2,5}|записан\w?|"
    r"пишется|пишутся)|ведется (?:аудио)?запись|запись разговора|(?:обработк\w|"
    r"обрабатыва\w{2,4}) (?:ваших )?(?:персональн\w{2,3}|личн\w{2,3}) данн\w{2}|персональн\w{2,3} данн\w{2}|"
    r"соглас(?:ие|ны|ен|на) на обработку|(?:не является|не публичная) (?:публичной )?оферт\w{1,2}|оферт\w{1,2}|"
    r"услови(?:я|ями) (?:договора|акции|тарифа|возврата|предложения|использования|отмены|оферты|на сайте|"
    r"обслуживания|бронирования)|"
    r"по (?:правилам|условиям|закону|договору|регламенту)|согласно (?:договору|правилам|условиям|тариф\w{2,3}|"
    r"закону|регламенту)|предупрежда\w{1,3}|не возвраща\w{2,4}|точн\w{2,3} (?:цен\w|стоимост\w|"
    r"сумм\w) (?:\w{2,12} ){0,4}(?:после|мастер|на месте|замерщик)|(?:такие|наши|это) (?:условия|правила) на|(?:цена|"
    r"цены|"
    r"скидка|предложение|условия|"
    r"стоимость) (?:действу\w{2,3}|держ[иа]тся|фиксиру\w{2,4}) (?:до|только|при|по)|правил[ао] (?:тарифа|возврата|"
    r"отмены|клуба|проживания)|"
    r"решение (?:\w{2,8} )?(?:принимает|за) (?:сам |банк)|обязан\w? (?:вас )?(?:предупредить|сообщить|уведомить|"
    r"сказать)|"
    r"должн\w{1,2} (?:вас )?(?:предупредить|уведомить)|невозвратн\w{2,3}|не подлежит возврату|"
    r"возврату не подлежит|штраф\w{0,2}|неустойк\w|(?:есть|имеются) противопоказания|"
    r"консультаци\w (?:со )?(?:специалист|врач)\w{0,2}|(?:на|под) (?:ваш|свой) (?:страх и )?риск|цен[аы] (?:может|"
    r"могут) (?:\w{2,12} )?измен\w{2,5}|предварительн\w{2,3} (?:стоимость|цена|расчет)|удержива\w{2,4}|"
    r"предложение (?:действ|огранич)\w{2,6}|ограничени\w|"
    r"(?:call|line|conversation|chat)s? (?:is|are|may be|might be|will be|could be|being|gets?|"
    r"on) (?:being )?(?:recorded|monitored|logged|a recorded)|recorded (?:line|call|for)|recording (?:this|"
    r"the) call|(?:terms|conditions|t&cs|t's and c's|small print|fine print|exclusions|"
    r"restrictions)\b[^.!?\n]{0,40}\b(?:apply|applies|are|is|at|here|attached|say)|(?:usual|standard|our|full|"
    r"general|following) terms|terms (?:and|&) conditions|privacy (?:policy|notice)|data protection|"
    r"personal (?:data|information)|gdpr|non-?refundable|subject to (?:a |an |the |our |availability|credit|"
    r"change|approval|status|terms)|(?:i have to|i must|i need to|required to|obliged to|legally|have to) (?:tell|"
    r"inform|warn|advise|mention|let|say|disclose)\b|at your own risk|there(?:'s| is) a risk|"
    r"(?:early )?(?:termination|cancellation|restocking|administration|admin|exit|late) fee|"
    r"(?:i have to|i must|let me) read (?:you|this|the|out)|(?:that's|it's|is) what the contract says|(?:that's|it's|"
    r"is) in (?:the|our|your) "
    r"(?:terms|contract|agreement)|(?:under|per|by) (?:the|our|your) (?:terms|contract|agreement|policy)|"
    r"the rules(?: are|:|,)|"
    r"\w{2,12} days?'? notice|(?:section|clause|article|paragraph) \d|take notice|security rule|for your security|"
    r"not paid out|(?:deposit|fee|payment)\b[^.?!\n]{0,40}(?:don'?t get back|not returned|won'?t get back|is kept)|"
    r"in contract until|"
    r"(?:early )?exit charge|early (?:exit|termination)|(?:no|not) refund(?:s|able)|fee (?:applies|may)|"
    r"not (?:financial|legal|"
    r"medical) advice|minimum term|attempt to collect|mini-miranda|prices? may (?:change|vary)|estimate only|"
    r"risks? (?:of|involved|include))\b"
)
_INSULT = re.compile(
    r"\b(?:идиот\w{0,4}|дурак\w{0,2}|дур[аыу]\b|дебил\w{0,3}|козл[ыа]|козел|сволоч\w{0,2}|твар[ьи]|урод\w{0,2}|"
    r"кретин\w{0,2}|мошенник\w{0,2}|жулик\w{0,2}|вор[ыа]\b|воры|ворюг\w|мраз[ьи]|гад[ыа]?\b|сук[аи]\b|"
    r"бляд?\w{0,3}|бля\b|хер\w{0,3}|хрен\w{0,3}|охрен\w{1,5}|охуе\w{1,4}|пизд\w{1,6}|хуй\w{0,3}|ху[яе]\w{0,3}|"
    r"еба\w{1,4}|ебан\w{1,4}|заеб\w{1,4}|нахер|нафиг|нахрен|к черту|черта с два|пош(?:ел|ла|ли) (?:ты|вы|на|вон)|"
    r"иди(?:те)? (?:ты |вы )?(?:на|к)|заткни\w{1,4}|тупы\w|туп(?:ые|ой|ая|ица)|бестолочи?|недоумк\w|"
    r"придурк\w{1,3}|придурок|шарашк\w{1,3}|лохотрон\w?|безмозгл\w{2}|рукожоп\w{0,2}|бездельник\w|хамк?[аыо]\w?|"
    r"хамло|вы больн\w{2,3}|совсем (?:уже )?(?:обнаглели|офигели|ошалели|с ума)|офиге\w{1,3}|обнагле\w{1,3}|"
    r"издеваетесь|"
    r"(?:я )?вас (?:на всех|засужу|посажу|уничтожу|закопаю|разнесу)|разнесу|засужу|пожалеете|башк[уи]|морд[уы]|"
    r"убью|найду (?:тебя|вас)|размажу|"
    r"idiots?|morons?|stupid|incompetent|clowns?|(?:are you|you're|you must be|you are) (?:actually |really |"
    r"all )?thick|useless|liars?|thie(?:f|ves)|crooks?|scammers?|scam|con artists?|"
    r"bastards?|bullshit|bull ?crap|crap|damn|goddamn|f\*+\w{0,4}|fuck\w{0,4}|shit\w{0,2}|asshole\w?|"
    r"hell (?:is wrong|are you|do you)|shut up|screw you|piss(?:ed)? off|jerks?|jackass|dumb|pathetic|imbeciles?|"
    r"rip-?offs?|robbing|scumbags?|go to hell|bloody (?:joke|useless|hell|idiots?)|joke of a company|"
    r"sue you|see you in court|you'll (?:regret|be sorry|pay for)|hear from my (?:lawyer|attorney|solicitor)|"
    r"burn (?:your|the) (?:place|office)|come down there|break your)\b"
)
_INSULT_NOT_AT_US = re.compile(
    r"won'?t shut up|никто не ворует|(?:я|i(?:'m| am| feel| was| felt)?) (?:like )?(?:such |so |a |an |"
    r"как )?(?:complete |"
    r"bit )?(?:идиот|дурак|дура|тупая|тупой|idiot|stupid|dumb|useless|moron)|stupid (?:question|mistake|me|of me)|"
    r"dumb question|глупый вопрос|тупой вопрос|damn (?:thing|good|cold|hot)|holy (?:shit|crap)"
)
_SHOUTS = re.compile(
    r"(?:\b(?:YOU|YOUR|ВЫ|ВАС|ВАМ|ВАШ[А-ЯЁ]{0,3})\b[\s,!?.]{1,4})(?:\b[A-ZА-ЯЁ]{2,}\b[\s,!?.]{1,4}){1,}|"
    r"(?:\b[A-ZА-ЯЁ]{3,}\b[\s,]{1,4}){2,6}[A-ZА-ЯЁ]{3,20}!|[А-ЯЁA-Z][^.!?\n]{2,80}!!!|\?\?\?|!!!"
)
_CALMS = re.compile(
    r"\b(?:понима\w{1,3}|извин\w{1,5}|прошу прощения|прости\w{1,3}|приношу|приносим|сожале\w{1,3}|сочувств\w{2,4}|"
    r"мне (?:очень )?жаль|неприятн\w{1,3}|наша (?:вина|ошибка)|давайте|разбер\w{2,5}|помо(?:гу|жем|чь)|"
    r"предлага\w{1,2}|могу предложить|могу|можем|решим|исправ\w{2,3}|верн(?:ем|у)|проверю|посмотрю|вы правы|"
    r"согласен|согласна|спокойн\w|не волнуйтесь|сделаю|постара\w{2,4}|хочу помочь|"
    r"understand|sorry|apologi[sz]e\w?|apolog\w{1,3}|frustrat\w{1,4}|you're right|you are right|hear you|let's|"
    r"let me|i can|i'll|we'll|we can|i will|fix|help|make (?:it|this) right|appreciate|upsetting|fair)\b"
)
RUDE = re.compile(
    r"\b(?:сам\w? (?:ты|вы) (?:так|дура|идиот|хам|\w{3,10})|пишите хоть|меня (?:это )?не (?:интересует|"
    r"волнует|касается)|это (?:не )?(?:ваши|мои) проблем\w|не (?:мои|наши) проблем\w|ваши проблемы|"
    r"(?:не )?(?:орите|кричите)(?: на меня)?|заткни\w{1,4}|не надо на меня|вы (?:что,? )?(?:глух\w{2}|"
    r"тупы?\w{0,2}|читать не умеете|русский язык)|русским языком|сколько (?:раз )?(?:можно )?(?:вам )?повторять|"
    r"отстань\w{0,2}|надоели|идите (?:вы )?(?:куда|в|жал|к)|жалуйтесь (?:куда|кому|хоть|сколько)|ну и (?:что|"
    r"жалуйтесь|идите|пожалуйста)|тебе (?:что|говорят)|вам (?:же )?(?:русским|сто раз) |дур[аы]\b|идиот\w{0,2}|"
    r"хам\w?\b|до свидания, я|ничем не могу|думать надо было|сами виноват\w|ваша (?:проблема|вина)|читать надо|"
    r"надо было читать|смотреть надо|не нравится|не хотите|"
    r"not my problem|your (?:problem|fault|own fault)|that's on you|shut up|calm down|whatever(?= ?[.!,]| ?$)|"
    r"threats don'?t|"
    r"deal with it|tough luck|too bad|get lost|stop (?:yelling|shouting|whining|wasting)|don'?t (?:yell|shout|"
    r"raise|swear) at me|you people|i don'?t (?:care|have time for)|read the (?:contract|manual|email|terms|page|"
    r"website)|like i (?:said|already)|as i (?:already )?(?:said|told)|how many times|are you (?:deaf|stupid|"
    r"serious)|good luck with that|complain (?:to|all|wherever)|go ahead and (?:sue|complain)|sue us|argue with|"
    r"then don'?t|suit yourself|you don'?t get to (?:talk|speak)|i can hang up|knock yourself out|idiot|moron|stupid|"
    r"grow up|boo hoo)\b"
)
_WARM = re.compile(
    r"\b(?:пожалуйста|с удовольствием|рад[ыа]? (?:помочь|будем|слышать|вас)|спасибо|благодар\w{1,3}|конечно|"
    r"понимаю вас|приятн\w{2,3}|всего (?:вам )?доброго|хорошего дня|не переживайте|не волнуйтесь|извините|"
    r"прошу прощения|"
    r"please|happy to|glad|pleasure|thank(?:s| you)|of course|absolutely|no (?:worries|problem)|sorry|lovely|"
    r"wonderful|have a (?:great|good|lovely|nice)|appreciate|congratulations)\b"
)


def verification_done(speech: Speech) -> Vote:
    quote = first(_VERIFIES, speech.operator, but=_NOT_VERIFYING)
    if quote:
        return yes(quote)
    return no() if next(matches(_ACCOUNT_MATTER, speech.operator), None) else not_applicable()


def disclaimer_stated(speech: Speech) -> Vote:
    quote = first(_NOTICE, speech.operator)
    if quote:
        return yes(quote)
    for notice in speech.conversation.company.notices[:50]:
        wanted = {word for word in fold(notice[:1000]).split() if len(word) > 3}
        for run in speech.operator if wanted else ():
            said = set(run.text.split())
            if len(wanted & said) >= _NOTICE_SHARE * len(wanted):
                at = min(run.text.find(word) for word in wanted & said)
                return yes(run.quote(at, at + 1))
    return no()


def aggression_response(speech: Speech) -> Vote:
    """Not applicable unless the client insults, shouts or threatens."""
    at = next((at for at, run in enumerate(speech.runs) if speech.is_client(run) and is_aggressive(run)), None)
    if at is None:
        return not_applicable()
    answers = [run for run in speech.runs[at + 1 :] if speech.is_operator(run)]
    for run in answers:
        rude = RUDE.search(run.text)
        if rude:
            return no(run.quote(*rude.span()))
    return yes_or_no(first(_CALMS, answers[:_CALM_RUNS]))


def is_aggressive(run: Run) -> bool:
    for match in _INSULT.finditer(run.text):
        around = run.text[max(0, match.start() - 30) : match.end() + 20]
        if not _INSULT_NOT_AT_US.search(around):
            return True
    return bool(_SHOUTS.search(run.original))


def tone_of_voice(speech: Speech) -> Vote:
    """Decided where it is unmistakable: rude words, or none and a lot of warm ones."""
    rude = [(run, match) for run, match in matches(RUDE, speech.operator)][:4]
    warm = [(run, match) for run, match in matches(_WARM, speech.operator)][:20]
    if len(rude) >= 2 or (rude and not warm):
        run, match = rude[0]
        return number(0.2 if len(rude) < 3 else 0.1, run.quote(*match.span()))
    if not rude and len({match.group() for _, match in warm}) >= 3:
        run, match = warm[0]
        return number(0.95, run.quote(*match.span()))
    return undecided()
