"""How people of many trades begin to say what they want, by intent, in both languages: examples to learn from."""

REQUESTS = {
    "internal": """
okay so a couple of points, the new rota, the delivery van and who does Easter
так, все подключились? тогда начинаем
всем привет, послезавтра заезд бригады, кто будет на месте?
returns went up again this month, mostly shoes, any thoughts?
так, ребята, смотрите, послезавтра придут пожарные с проверкой
who took the key to the stockroom
так коллеги все подключились давайте по пунктам, у нас сегодня три вопроса
кто завтра выходит в первую смену и кто закрывает
что у нас по цифрам за неделю, сколько заявок, сколько в работе
я сделал макет, жду правок от маркетинга, потом отдаю в вёрстку
народ, завтра приёмка объекта, кто едет и на чьей машине
давай обсудим твои цели на полгода, как тебе на новом месте
поставщик нас подвёл, надо решить, у кого теперь берём
на складе инвентаризация в субботу, нужны двое
напоминаю, отпуска до первого числа внести в график
okay everyone let's go through the list, first the menu then the rota
who's covering the bank holiday and who opens on Sunday
numbers for the week: forty leads, six closed, what happened with the rest
I finished the mock-ups, waiting on marketing, then it goes to dev
van two is off the road again, who can take the afternoon run
let's talk about your goals for the half year, how are you settling in
the supplier let us down again, we need to decide who to buy from
stock count on Saturday, I need two people
get your holiday requests in by the first please
""",
    "sales_in": """
we have a little restaurant and are thinking of a new dishwasher, could you let us have a price
добрый день, посчитайте натяжной потолок на две комнаты, сколько выйдет
our club's changing rooms need tiling before the season, do you take on jobs like that
a friend of mine has one of your small ride-on mowers, what do they go for
мне надо два окна на балкон посчитайте сколько выйдет с установкой
хочу поставить кондиционер в спальню что у вас есть и по какой цене
мы открываем кофейню, нужна машина и кофемолка, что подберёте
подскажите, сколько стоит обучение на категорию бэ и когда набор
нужен грузовик в аренду на месяц, какие условия
у вас ещё продаётся гараж у вокзала, какая цена, можно посмотреть
интересует домик на майские на шесть человек, почём сутки
нам на производство нужны перчатки, тысяч пять пар, дадите оптовую цену
хочу подключить интернет на даче, какие тарифы и сколько подключение
мы выбираем систему учёта на двадцать сотрудников, чем ваша лучше
сколько будет ремонт двушки под ключ, примерно
есть у вас зимняя резина на шестнадцать, какая выйдет подешевле
I need a couple of windows for the back room, what would that come to fitted
I'd like air conditioning in the bedroom, what do you have and how much
we're opening a coffee shop and need a machine and a grinder, what would you suggest
how much are the driving lessons and when could I start
we need to hire a truck for a month, what are your terms
is the flat by the station still for sale, could we see it
looking for a cottage for six over Easter, what's the price per night
we go through five thousand pairs of gloves a month, what's your trade price
what broadband deals do you have for my postcode
we're choosing an accounting system for twenty people, why should we pick yours
roughly what would a new bathroom cost
do you have winter tyres in sixteen inch and what's the cheapest
""",
    "sales_out": """
добрый день, мы делаем складские ворота, вам удобно сейчас говорить?
hello, we haven't spoken before, I'm calling from a sign maker's
good morning, is that the surgery? I'm with a laundry service round the corner
алло, вас беспокоит компания по утеплению домов
я видела что вы открываете второй склад, мы делаем стеллажи, хотела узнать, чем вы его будете оборудовать
здравствуйте это компания чистый офис, мы убираем помещения рядом с вами, кто у вас этим занимается
мы запускаем новый курс для бухгалтеров и предлагаем первым записавшимся скидку
вы у нас брали принтер, сейчас на картриджи скидка, может быть вам нужно
звоню из банка, вам одобрена карта с лимитом двести тысяч
давайте я пришлю расчёт просто для сравнения с тем, что у вас сейчас
вы скачали у нас каталог, хотела узнать, остались ли вопросы и что подобрать
здравствуйте вы были на нашем вебинаре, как вам, не думали попробовать
чем вы сейчас пользуетесь и всё ли вас устраивает
I was driving past your shop and noticed the sign is half dark, we make LED ones
hi, we clean a few of the buildings on your street, who deals with that for you
we're launching a new course for bookkeepers with an early bird price
you bought a printer from us last year and we have an offer on cartridges
I'm calling from the bank, you've been approved for a card
I could send you a quote just to compare with what you have now
you downloaded our catalogue and I wondered whether anything caught your eye
you came to our webinar, have you thought about giving it a go
who do you use at the moment and are you happy with them
""",
    "retention": """
hi, it's your swimming club, how have you been?
коллеги, на будущий год денег меньше, и мы думаем отказаться от вашего сервиса
здравствуйте, это ваша страховая, полис на квартиру у вас до двадцатого
добрый день! первого числа кончается подписка на редактор, выставлять счёт на следующий год?
I had a letter that my magazine goes from forty to sixty when it renews?
hello, it's the window cleaners, about next year
каско у вас до седьмого числа, хотела узнать, будете ли оформлять на следующий год
да я думаю у других оформить, там на восемь тысяч меньше
абонемент кончается через неделю, а вас давно не видно в зале
в связи с сокращением бюджета в следующем году мы рассматриваем отказ от вашей системы
подходит срок поддержки вашего сайта, предлагаем продлить на прежних условиях
вы заходили к нам последний раз в марте, что случилось, чего не хватило
конкуренты предлагают нам то же самое за полцены, что скажете
соглашение действует до конца декабря, нужно решить, остаёмся ли мы
подняли цену на треть, нам это не подходит, будем искать другой вариант
могу сохранить старую цену, если останетесь ещё на год
your car cover with us ends on the seventh, will you be taking it for another year
I'm thinking of going elsewhere, they're two hundred cheaper
I saw your twelve months finish on the third and you haven't been in since January
because of budget cuts we are reconsidering your system for next year
the support contract for your website is due, shall we keep it as it is
you last logged in in March, is there something missing
another firm offers us the same for half, what can you do
our agreement runs until December and we have to decide whether to stay
you've put the price up by a third and that doesn't work for us
I can hold the old price if you stay another year
""",
    "leaving": """
здравствуйте, как отменить подписку, чтобы деньги больше не снимали
we're emigrating next month so I want to stop the monthly payment to you
мы магазин закрываем, ваша охрана нам больше не понадобится
как отвязать карту и больше ничего не платить, сериалы не смотрю
хочу закрыть счёт, куда прийти
отключите мне телевидение, оставьте только интернет
снимите меня с рассылки и удалите мой профиль
мы больше не нуждаемся в охране, как расторгнуть
how do I take my card off and stop paying, I don't watch it
I'd like to close my account please
take the TV off and leave just the internet
please delete my profile and stop charging me
we no longer need the alarm service, how do we end it
""",
    "incident": """
the site logs me out whenever I try to pay
алло у нас в третьем подъезде лифт встал там бабушка внутри
the phone works but the broadband drops every evening and my daughter has homework online
со вчерашнего дня программа не печатает чеки: нажимаем кнопку, окно закрывается
выручайте, у курьеров в телефонах маршруты не грузятся, пустой экран
касса не пробивает чек, пишет, что накопитель переполнен, народ стоит
у нас лифт встал, там человек внутри
приложение вылетает, как только нажимаю оплатить
звонки не проходят, клиенты говорят, что линия молчит
вода горячая третий день еле тёплая
экран погас и больше не загорается, хотя провод воткнут
после обновления пропали все контакты
терминал не видит карту, просит другую
домофон открывает дверь через раз
отчёт пустой, хотя вчера цифры были
холодильник гудит и не морозит, всё потекло
не пускает в почту, говорит учётная запись заблокирована
касса зависла посреди чека
the till has frozen in the middle of a sale and people are waiting
the lift has stopped with somebody inside
the app kicks me out every time I hit checkout
calls aren't getting through, customers say the line is dead
the hot water has been lukewarm for three days
the screen went black and won't come back though it's plugged in
since the update all my contacts have disappeared
the card reader doesn't see the card
the door only opens every other time
the report is empty although the numbers were there yesterday
the freezer hums but everything is melting
it says my account is blocked and I can't get into my mail
the heating makes a banging noise and goes off by itself
""",
    "howto": """
я веду кружок, нужно чтобы родители видели расписание, куда нажимать
I was given an old printer of yours and I can't work out how to get it onto the wifi
купила у вас датчик, достала из коробки, а дальше что с ним делать?
I've just taken over the choir's page, what do I click to put up next week's concert?
мне надо, чтобы родители видели оценки, а куда нажимать, непонятно
хочу перенести фотографии с камеры на компьютер, что для этого нужно
где в кабинете посмотреть, сколько у меня осталось гигабайт
как сделать, чтобы письма приходили сразу двоим
не пойму, как поставить таймер на духовке
можно ли в программе разделить отпуск на две части и как
как передать показания через приложение
подскажите, где меняется язык
первый раз оформляю возврат в программе, что сначала, что потом
как подключить вторую кассу к той же базе
I can't work out how to get the songs from the recorder onto my laptop
I want the parents to see the grades but I don't know where to click
where do I see how much data I have left
how can I make the emails go to two people at once
I don't understand how to set the timer on the oven
can the holiday be split in two in your program and how
how do I send in a reading through the app
where do I change the language
I've never done a return in the system, what comes first
how do I connect a second till to the same database
""",
    "billing": """
I've just had the gas bill and it's nearly four hundred for a one bedroom flat, how?
просим прислать закрывающие документы за третий квартал, по почте они не дошли
you took fifteen pounds from my card and I don't know what for
пришла квитанция за воду на троих, а живу я одна
I'm closing our books and your June payment shows up twice, could you check
открыла конверт и чуть не упала, триста рублей разницы, я живу одна
зачем вы сняли с меня девятьсот рублей, я ни на что не подписывался
не пришли акты за второй квартал, отправьте оригиналы
в счёте стоит старое название фирмы, бухгалтерия не принимает
перевёл деньги в понедельник, а у вас до сих пор не отражаются
можно мне чек за прошлый заказ для отчёта
почему за отопление насчитали, если его ещё не включали
нам нужна справка об оплате лечения для налоговой
в квитанции чужие показания счётчика
по какому курсу вы посчитали и откуда такая комиссия
I opened the envelope and nearly fell off my chair, three hundred dollars and I live alone
why did you take ten pounds from me, I never signed up to anything
the April invoice has our old company name and accounts won't take it
I transferred the money on Monday and it still isn't on your side
could I have a receipt for my last order for expenses
why am I paying for heating when it hasn't been on
there are someone else's readings on my bill
where does this service fee come from
we were charged for five users but we only have three
could you send last month's statement again
""",
    "collection": """
добрый день, это банк, по вашему кредиту за этот месяц взнос ещё не пришёл
our invoice of last month is still open, please arrange the payment by Friday
good afternoon, I'm calling from the water company about your account
за хранение на складе за два месяца нами до сих пор не получена оплата
мебель вы забрали в начале месяца, а вторая половина так и не пришла
по карте с первого числа не внесён минимальный платёж
числа двадцатого смогу, меня уволили, сейчас нечем
по вашему договору за нами числится неоплаченный счёт за март
срок был пятнадцатого, деньги так и не пришли, когда ждать
отгрузку остановили, пока не закроете предыдущую партию
за квартиру не платили три месяца, передаём дело юристам
the minimum payment on your card hasn't been made since the first
I lost my job, I could manage something around the twentieth
our records show the March invoice remains open, please arrange transfer
it was due on the fifteenth and nothing has arrived
your trade account goes on stop until the last delivery is settled
the rent has not come in for three months and the file goes to our solicitors
""",
    "order_new": """
I want ten tons of sharp sand out to the school site tomorrow
мне как обычно четыре мешка корма и ещё один наполнитель
can I get a small skip dropped at the house for Monday? mostly garden waste
мне нужно восемнадцать тонн щебня на завтра с утра на тот же объект
привезите четыре бутыли воды, адрес прежний
во вторник забрать у нас три паллеты и отвезти в область
запишите заказ: мука десять мешков, сахар пять
нужно сто визиток, как в прошлый раз
закажу как обычно, только без молока
I want eighteen tons of gravel out to the site tomorrow first thing
four bottles of water to the same address please
three pallets to be picked up on Tuesday and taken to the coast
put me down for ten sacks of flour and five of sugar
we need another hundred business cards, same as before
the usual order please but without the milk
""",
    "booking": """
оля здравствуйте мне бы к хирургу зуб мудрости удалить
our dog needs his yearly jab, could you see him one day this week?
хотим записать дочку на танцы с осени, что для этого нужно?
my son wants to start judo next month, how do we get him a place?
у попугая перо не растёт, примете на этой неделе?
мне бы к хирургу, зуб мудрости удалить
кота привить надо, когда можно прийти
хотим водить сына на подготовку к школе, какие документы нужны и есть ли место
на шиномонтаж на субботу запишите
нужен мастер почистить котёл, когда сможете подъехать
столик на шестерых на пятницу вечером
хочу сделать доверенность, к вам по записи
подаём заявку на подключение дома к газу, с чего начать
нужна уборка трёшки после ремонта в воскресенье
можно маме на узи на этой неделе
I need my wisdom tooth out, when could the dentist see me
my cat is due her boosters, could you see her this week
we'd like our son to start in the preparatory class, is there a place
can you fit me in for a tyre change on Saturday
I need someone to service the boiler, when could you come
a table for six on Friday night please
I need a power of attorney drawn up, do I need an appointment
we want to apply to connect the house to gas, where do we start
I need a three-room flat cleaned after the builders on Sunday
could my mum come for a scan this week
""",
    "status": """
ирина добрый день у меня диван должен был быть в среду а сегодня суббота и никто не звонит
we got seven rolls instead of ten and no papers, when does the rest come?
а букет точно к обеду привезут? человек уезжает
добрый день это доставка сдэк я по вашей посылке буду через полчаса вы дома
слушай, саженцы-то где? сажать уже пора
the doors were meant to land on Tuesday and it's Friday now, where are they
диван должен был быть в среду, а сегодня суббота и никто не звонит
торт точно к трём будет, ребёнок ждёт
я по вашей посылке, буду через полчаса, вы дома
вместо двенадцати бочек пришло девять и нет паспорта на партию
можно поменять подъезд, не второй, а четвёртый
водитель стоит у ворот, его не пускают без пропуска
обещали отправить во вторник, трек так и не дали
груз на таможне, просят декларацию
мне пришёл синий вместо чёрного, как обменять
шкаф привезли без дверей
the sofa was meant to come on Wednesday, it's Saturday and nobody has called
will the cake definitely be there by three, the kids are waiting
I have a parcel for you and I'll be there in half an hour, are you in
we got nine drums instead of twelve and no certificate
could you change the entrance, it's number four not two
the driver is at the gate and they won't let him in without a pass
it was supposed to ship on Tuesday and I still have no tracking
the load is stuck at customs and they want the paperwork
I got the blue one instead of the black, how do I swap it
the wardrobe came without doors
""",
    "case": """
hi, me again about the printer you were going to exchange, it's been ten days
что слышно по моей заявке? четвёртый день
это снова я насчёт телефона, который обещали обменять, прошла неделя
я оставлял заявление в марте, ответа нет
мне говорили перезвонят из технического отдела, тишина
хотела узнать, готовы ли анализы
как там наш вопрос, решили что-нибудь
it's me again about the kettle that was meant to be exchanged, it's been a week
I put in an application in March and there's no answer
they told me the technical people would ring and it's been silence
I wanted to know whether my results are in
how is our request going, has anything been decided
""",
    "cancel": """
can you stop my order from this morning, I picked the wrong colour
здравствуйте у меня номер на девятнадцатое на фамилию жуков я заболел не приеду
the boat trip's off, half the group has gone down with flu
просим столы не отгружать: ремонт отложили, предоплату зачесть в следующий заказ
бронь на двенадцатое снимите, я приболел, не приеду
остановите заказ, я не тот размер выбрал
не везите завтра ничего, мы нашли в другом месте
вычеркните нас из субботы, ребёнок заболел
билеты на концерт хочу сдать
the room for the weekend, I've caught a cold and won't be coming
can you stop the order, I picked the wrong size
don't send anything tomorrow, we found it elsewhere
take us off Saturday, the little one is ill
I'd like to return the concert tickets
""",
    "complaint": """
we had our anniversary dinner with you, the mains came an hour late and two were cold
я полтора часа сидела в очереди с ребёнком, а ваш администратор только отмахнулась
the cleaner you sent left bleach on my walnut table. its ruined. photos attached
ваши рабочие укладывали у нас плитку: ванна в царапинах, дверь сломана, весь мусор бросили
I've been sent from one person to the next all week, and your drivers left my father's bed in the rain
это как понимать? пицца ехала полтора часа, приехала ледяная и с волосом!
мой сын пришёл с тренировки в слезах, ваш инструктор толкнул его и обозвал
I want to complain about our room, the building work went on until two and nobody picked up at the desk
я час просидела под кабинетом с температурой, а медсестра мне сказала не нравится, идите в платную
хочу, чтобы это дошло до главного врача и мне официально ответили
уборщица от вас залила хлоркой стол, он испорчен, платить не буду
официант вылил на меня суп и даже не извинился
обещали одно, а продали другое, я этого так не оставлю
вчера забрал машину после ремонта, сегодня она встала на трассе
ваш водитель перебросил посылку через забор, внутри всё вдребезги
в номере грязь, в душе плесень, за такие деньги стыдно
никто не предупредил, праздник сорван, дети плакали
менеджер бросила трубку, когда я попросила объяснить
соседи залили из-за вашей трубы, потолок рухнул, кто возместит
I sat outside the room for an hour with a fever and the nurse told me to go private
I want this to reach the head doctor and I want an official answer
the cleaner you sent left bleach on my table and it's ruined
the waiter poured soup over me and never even said sorry
we hosted my mother's birthday with you, the food was an hour late and the cake was dropped
I was promised one thing and sold another and I'm not leaving it there
I picked the car up after the repair yesterday and today it stopped on the motorway
the room was filthy, there was mould in the shower, for that kind of money
nobody warned us, the party was ruined and the children were in tears
your manager put the phone down on me when I asked her to explain
your pipe flooded my ceiling, who is going to pay for it
""",
}
