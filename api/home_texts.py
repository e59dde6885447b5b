"""What the page at `/` says, in each language."""

from __future__ import annotations

from typing import Any

_EN: dict[str, Any] = {
    "title": "Parley: your company’s conversations, heard and findable",
    "description": "Parley turns calls, chats, mail, documents and cameras into one searchable memory, on your own "
    "server.",
    "skip": "Skip to the content",
    "ways": "Main",
    "try": "Try it",
    "what": "What it does",
    "docs": "Documentation",
    "cabinet": "Cabinet",
    "other_language": "Русский",
    "h1": "Every conversation of your company, heard and findable",
    "lead": "Parley listens to calls, reads chats, mail and documents, and answers from all of it: to your people, to "
    "your customers and to AI agents. It runs on a server of your own.",
    "to_try": "Try your own recording",
    "to_demo": "Ask the demo company",
    "facts": ["Russian and English", "Your own server", "Works without the cloud", "Each answer shows its source"],
    "trial_title": "Hear what it makes of a call",
    "trial_lead": "Send a recording: you get the text by voices and a summary.",
    "trial_noscript": "The trial needs JavaScript. Everything else on this page reads without it.",
    "trial_pick": "Choose a recording",
    "trial_drop": "or drop it here",
    "trial_bounds": "MP3, WAV, OGG, M4A, FLAC, video too. Up to 16 MB, two an hour.",
    "trial_promise": "Stays on this server, belongs to nobody’s account, and is deleted after a day, or at once when "
    "you say so. Whoever has the link of the result can open it, nobody else.",
    "trial_off": "This server offers no trial. Ask its owner for an account.",
    "sample_title": "What comes back",
    "sample_kind": "An example",
    "sample_summary": "The customer asks when the grinder comes. The order left on Monday; the courier calls on "
    "Wednesday before noon. Anna promises to check the address.",
    "sample": [
        ["0:04", "Anna", "Good morning, Polar Owl, this is Anna."],
        ["0:07", "Customer", "Hello, I ordered a grinder last week. When will it arrive?"],
        ["0:13", "Anna", "It left on Monday. The courier calls on Wednesday before noon."],
    ],
    "what_title": "One memory for everything that was said",
    "what_lead": "What one room of the company learns, the others can find.",
    "cards": [
        [
            "phone",
            "Calls",
            "Who said what and when, by voices. Summary, quality control and promises, each with the words it "
            "comes from.",
        ],
        [
            "search",
            "Search",
            "By words and by meaning, over calls, chats, mail and documents at once, in Russian and English.",
        ],
        [
            "chat",
            "A chat for your site",
            "One line of code. It answers from your own documents, shows its sources, and calls a person where it "
            "cannot help.",
        ],
        ["people", "People", "What customers said of themselves and what they were promised, remembered with dates."],
        ["plug", "AI agents", "An MCP server: Claude, Cursor and your own agents read all of it with one key."],
        ["camera", "Cameras", "Queues, entrances, plates and loitering, as events and figures, without a cloud."],
    ],
    "private_title": "Yours, and private",
    "private": [
        [
            "It all runs here",
            "Recognition, search and language model work on your own machine. No page of it loads anything from "
            "elsewhere.",
        ],
        [
            "You say how long",
            "Recordings, texts and snapshots each have their own time. What is over it goes from database, index and "
            "files.",
        ],
        ["Take it with you", "One button packs everything an account has; another deletes all of it, for good."],
    ],
    "demo_title": "See it work",
    "demo_lead": "The Polar Owl rents out coffee machines, and does not exist. Its calls and documents do: ask them "
    "something, and see where the answer comes from.",
    "demo_questions": [
        "What does Owl 60 cost a month?",
        "How long does a repair take?",
        "Do you deliver on Saturdays?",
    ],
    "demo_page": "Open the demo company’s site",
    "demo_none_title": "No demo company is loaded here yet.",
    "demo_none": ["Load it with", "and open this page again."],
    "begin_title": "Begin",
    "begin": [
        ["/docs/getting-started.md", "Getting started", "From an empty machine to the first analysed call."],
        ["/docs/", "Guides", "Calls, knowledge, chats, agents, cameras, privacy. Searchable."],
        ["/docs?api=public", "API reference", "Every operation, from the server’s own descriptions."],
        ["/cabinet", "Cabinet", "For operators: listen, search, check, set up."],
    ],
    "foot": "Parley · open source, on a server of your own",
}

_RU: dict[str, Any] = {
    "title": "Parley: разговоры компании — услышаны и под рукой",
    "description": "Parley превращает звонки, чаты, письма, документы и камеры в одну память с поиском — на вашем "
    "собственном сервере.",
    "skip": "Перейти к содержанию",
    "ways": "Разделы",
    "try": "Попробовать",
    "what": "Возможности",
    "docs": "Документация",
    "cabinet": "Кабинет",
    "other_language": "English",
    "h1": "Все разговоры компании — услышаны и под рукой",
    "lead": "Parley слушает звонки, читает чаты, почту и документы и отвечает по ним вашим сотрудникам, клиентам и "
    "ИИ-агентам. Работает на вашем собственном сервере.",
    "to_try": "Попробовать на своей записи",
    "to_demo": "Спросить демо-компанию",
    "facts": ["Русский и английский", "Ваш сервер", "Работает без облака", "У каждого ответа есть источник"],
    "trial_title": "Проверьте на своём звонке",
    "trial_lead": "Пришлите запись — получите текст по голосам и краткое содержание.",
    "trial_noscript": "Для пробы нужен JavaScript. Всё остальное на странице читается и без него.",
    "trial_pick": "Выбрать запись",
    "trial_drop": "или перетащите её сюда",
    "trial_bounds": "MP3, WAV, OGG, M4A, FLAC, можно видео. До 16 МБ, две записи в час.",
    "trial_promise": "Запись остаётся на этом сервере, не попадает ни в чей аккаунт и удаляется через сутки — или "
    "сразу, если попросите. Открыть результат может только тот, у кого есть ссылка.",
    "trial_off": "На этом сервере пробы нет. Попросите у владельца аккаунт.",
    "sample_title": "Что получится",
    "sample_kind": "Пример",
    "sample_summary": "Клиентка спрашивает, когда приедет кофемолка. Заказ отправили в понедельник, курьер позвонит в "
    "среду до обеда. Анна обещает проверить адрес.",
    "sample": [
        ["0:04", "Анна", "Доброе утро, «Полярная сова», меня зовут Анна."],
        ["0:07", "Клиентка", "Здравствуйте, я на той неделе заказала кофемолку. Когда её привезут?"],
        ["0:13", "Анна", "Она выехала в понедельник. Курьер позвонит в среду до обеда."],
    ],
    "what_title": "Одна память обо всём, что было сказано",
    "what_lead": "Что узнал один отдел, найдут и остальные.",
    "cards": [
        [
            "phone",
            "Звонки",
            "Кто, что и когда сказал — по голосам. Краткое содержание, контроль качества и обещания, и под каждым "
            "выводом — слова, из которых он сделан.",
        ],
        [
            "search",
            "Поиск",
            "По словам и по смыслу, сразу по звонкам, чатам, письмам и документам, на русском и английском.",
        ],
        [
            "chat",
            "Чат для сайта",
            "Одна строка кода. Отвечает по вашим документам, показывает источники и зовёт человека, если не знает "
            "ответа.",
        ],
        ["people", "Люди", "Что клиенты рассказали о себе и что им обещали — с датами."],
        ["plug", "ИИ-агенты", "MCP-сервер: Claude, Cursor и ваши агенты читают всё это по одному ключу."],
        ["camera", "Камеры", "Очереди, входы, номера и подозрительные остановки — событиями и цифрами, без облака."],
    ],
    "private_title": "Всё ваше и при вас",
    "private": [
        [
            "Работает у вас",
            "Распознавание, поиск и языковая модель — на вашей машине. Ни одна страница ничего не загружает со "
            "стороны.",
        ],
        [
            "Сроки задаёте вы",
            "У записей, текстов и снимков свой срок хранения. По его окончании они исчезают из базы, индекса и файлов.",
        ],
        ["Можно забрать с собой", "Одна кнопка собирает всё, что есть в аккаунте, другая — удаляет это навсегда."],
    ],
    "demo_title": "Посмотрите в деле",
    "demo_lead": "«Полярная сова» сдаёт в аренду кофемашины, и её не существует. А звонки и документы у неё есть: "
    "спросите о чём-нибудь и посмотрите, откуда взят ответ.",
    "demo_questions": ["Сколько стоит «Сова 60» в месяц?", "Сколько длится ремонт?", "Доставляете ли вы по субботам?"],
    "demo_page": "Открыть сайт демо-компании",
    "demo_none_title": "Демо-компания здесь ещё не загружена.",
    "demo_none": ["Загрузите её командой", "и откройте страницу снова."],
    "begin_title": "С чего начать",
    "begin": [
        ["/docs/getting-started.md", "Первые шаги", "От пустой машины до первого разобранного звонка."],
        ["/docs/", "Руководства", "Звонки, база знаний, чаты, агенты, камеры, приватность. С поиском."],
        ["/docs?api=public", "Справочник API", "Все операции — из описаний самого сервера."],
        ["/cabinet", "Кабинет", "Для операторов: слушать, искать, проверять, настраивать."],
    ],
    "foot": "Parley · открытый код на вашем собственном сервере",
}

HOME_TEXTS = {"en": _EN, "ru": _RU}
