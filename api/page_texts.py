"""What the server's own pages say, in each language. `{...}` are filled in by the page."""

from __future__ import annotations

_RU = {
    "account": "Аккаунт",
    "address_unknown_text": "Проверьте адрес или запросите новую ссылку.",
    "address_unknown_title": "Такой страницы нет",
    "ask_again": "Запросить ссылку",
    "cabinet": "Кабинет",
    "cancelled_text": "Деньги не списаны. Чтобы оплатить, запросите новую ссылку.",
    "cancelled_title": "Оплата отменена",
    "check_again": "Проверить ещё раз",
    "checkout": "Оплата",
    "checkout_cancel": "Отменить",
    "checkout_fail": "Отклонить платёж",
    "checkout_pay": "Оплатить {amount}",
    "choose_text": "Ссылка сработает один раз, когда вы нажмёте кнопку.",
    "choose_title": "Куда войти?",
    "code_gone_text": "Ссылка открывает кабинет один раз и живёт около минуты. Запросите новую там, где взяли эту.",
    "code_gone_title": "Ссылка больше не действует",
    "code_wrong_text": "Адрес неполный или изменён. Откройте ссылку целиком или запросите новую.",
    "code_wrong_title": "Это не похоже на ссылку в кабинет",
    "continue_paying": "Продолжить оплату",
    "email": "Электронная почта",
    "email_wrong": "Это не похоже на адрес электронной почты. Проверьте, нет ли опечатки.",
    "enter_button": "Войти в кабинет",
    "enter_text": "Ссылка сработает один раз, когда вы нажмёте кнопку.",
    "enter_title": "Вход в кабинет",
    "expired_text": "Время на оплату вышло, деньги не списаны. Запросите новую ссылку.",
    "expired_title": "Ссылка на оплату устарела",
    "failed_text": "Деньги не списаны. Попробуйте ещё раз или выберите другой способ оплаты.",
    "failed_title": "Оплата не прошла",
    "foreign_text": "Форма отправлена с другого сайта, поэтому ничего не сделано. Откройте страницу заново.",
    "foreign_title": "Запрос отклонён",
    "go_back": "Вернуться на сайт",
    "invitation_mail_subject": "Приглашение в кабинет «{account}»",
    "invitation_mail_text": "Здравствуйте!\n\n"
    "Вас пригласили в кабинет «{account}» в Parley. Ваша роль: {role}.\n\n"
    "Чтобы войти, откройте ссылку и нажмите кнопку:\n{link}\n\n"
    "Ссылка срабатывает один раз и живёт {days} дней. Потом входить можно по ссылке на эту почту: "
    "{entrance}\n\n"
    "Если вы не ждали приглашения, просто удалите письмо.\n",
    "left_text": "Чтобы вернуться, запросите новую ссылку.",
    "left_title": "Вы вышли из кабинета",
    "link_logged_text": "Если адрес {email} здесь известен, ссылка для входа записана в журнал сервера: почта на нём "
    "не настроена. Ссылка живёт {minutes} минут и срабатывает один раз.",
    "link_logged_title": "Ссылка в журнале сервера",
    "link_sent_text": "Если адрес {email} здесь известен, письмо со ссылкой для входа придёт через минуту. Ссылка "
    "живёт {minutes} минут и срабатывает один раз. Не пришло — загляните в «Спам».",
    "link_sent_title": "Проверьте почту",
    "mailed_gone_text": "Ссылки из писем срабатывают один раз и живут недолго. Запросите новую.",
    "mailed_gone_title": "Ссылка больше не действует",
    "mailed_wrong_text": "Адрес неполный или изменён. Откройте ссылку из письма целиком или запросите новую.",
    "mailed_wrong_title": "Это не похоже на ссылку для входа",
    "no_mail_hint": "Здесь знают только адреса тех, кого пригласил владелец аккаунта. Ссылка из системы, через "
    "которую вы работаете, тоже открывает кабинет.",
    "paid_text": "{amount} зачислены на баланс.",
    "paid_title": "Оплата прошла",
    "pay_until": "Оплатите до {time}",
    "purpose": "Назначение",
    "receipt": "Чек придёт на",
    "role_operator": "Оператор",
    "role_owner": "Владелец",
    "role_viewer": "Наблюдатель",
    "sandbox": "Тестовый режим",
    "sandbox_text": "Деньги не списываются: выберите, чем закончится платёж.",
    "send_link": "Получить ссылку",
    "sign_in_mail_subject": "Вход в кабинет Parley",
    "sign_in_mail_text": "Здравствуйте!\n\n"
    "Чтобы войти в кабинет Parley, откройте ссылку и нажмите кнопку:\n{link}\n\n"
    "Ссылка срабатывает один раз и живёт {minutes} минут.\n\n"
    "Если вы её не запрашивали, просто удалите письмо: без кнопки ничего не произойдёт.\n",
    "sign_in_text": "Пароля нет: мы пришлём на почту одноразовую ссылку.",
    "sign_in_title": "Вход в кабинет",
    "too_many_links_text": "Проверьте почту: ссылка, возможно, уже пришла. Новую можно будет запросить позже.",
    "too_many_links_title": "Слишком много запросов",
    "waiting_text": "Обычно это занимает несколько секунд. Страница обновится сама.",
    "waiting_title": "Ждём подтверждения оплаты",
}

_EN = {
    "account": "Account",
    "address_unknown_text": "Check the address or ask for a new link.",
    "address_unknown_title": "There is no such page",
    "ask_again": "Get a link",
    "cabinet": "Cabinet",
    "cancelled_text": "You have not been charged. To pay, ask for a new link.",
    "cancelled_title": "Payment cancelled",
    "check_again": "Check again",
    "checkout": "Payment",
    "checkout_cancel": "Cancel",
    "checkout_fail": "Decline the payment",
    "checkout_pay": "Pay {amount}",
    "choose_text": "The link works once, when you press the button.",
    "choose_title": "Where to?",
    "code_gone_text": "A link opens the cabinet once and lives for about a minute. Ask for a new one where you got it.",
    "code_gone_title": "This link no longer works",
    "code_wrong_text": "The address is incomplete or was changed. Open the whole link, or ask for a new one.",
    "code_wrong_title": "This does not look like a link into the cabinet",
    "continue_paying": "Continue paying",
    "email": "E-mail",
    "email_wrong": "This does not look like an e-mail address. Is there a typing mistake?",
    "enter_button": "Open the cabinet",
    "enter_text": "The link works once, when you press the button.",
    "enter_title": "Open your cabinet",
    "expired_text": "The time to pay is over and you have not been charged. Ask for a new link.",
    "expired_title": "This payment link has expired",
    "failed_text": "You have not been charged. Try again or pay another way.",
    "failed_title": "Payment failed",
    "foreign_text": "The form came from another site, so nothing was done. Open the page again.",
    "foreign_title": "Request refused",
    "go_back": "Back to the site",
    "invitation_mail_subject": "Invitation to the cabinet of {account}",
    "invitation_mail_text": "Hello!\n\n"
    "You are invited to the cabinet of {account} in Parley. Your role: {role}.\n\n"
    "To come in, open the link and press the button:\n{link}\n\n"
    "The link works once and lives {days} days. Afterwards you sign in by a link to this address: "
    "{entrance}\n\n"
    "If you did not expect this, just delete the letter.\n",
    "left_text": "To come back, ask for a new link.",
    "left_title": "You are signed out",
    "link_logged_text": "If {email} is known here, a sign-in link is in the server's log: no mail is set up on it. The "
    "link lives {minutes} minutes and works once.",
    "link_logged_title": "The link is in the server's log",
    "link_sent_text": "If {email} is known here, a letter with a sign-in link comes within a minute. The link lives "
    "{minutes} minutes and works once. Nothing there? Look into spam.",
    "link_sent_title": "Check your mail",
    "mailed_gone_text": "Links from letters work once and do not live long. Get a new one.",
    "mailed_gone_title": "This link no longer works",
    "mailed_wrong_text": "The address is incomplete or was changed. Open the whole link of the letter, or get a new "
    "one.",
    "mailed_wrong_title": "This does not look like a sign-in link",
    "no_mail_hint": "Only addresses that an owner of the account invited are known here. A link from the system "
    "that you work with opens the cabinet too.",
    "paid_text": "{amount} added to the balance.",
    "paid_title": "Payment received",
    "pay_until": "Pay by {time}",
    "purpose": "For",
    "receipt": "Receipt goes to",
    "role_operator": "Operator",
    "role_owner": "Owner",
    "role_viewer": "Viewer",
    "sandbox": "Test mode",
    "sandbox_text": "No money moves: choose how the payment ends.",
    "send_link": "Get a link",
    "sign_in_mail_subject": "Sign in to Parley",
    "sign_in_mail_text": "Hello!\n\n"
    "To sign in to Parley, open the link and press the button:\n{link}\n\n"
    "The link works once and lives {minutes} minutes.\n\n"
    "If you did not ask for it, just delete the letter: without the button nothing happens.\n",
    "sign_in_text": "There is no password: we send a one-time link to your mail.",
    "sign_in_title": "Sign in to the cabinet",
    "too_many_links_text": "Look into your mail: the link may be there already. You can ask for another one later.",
    "too_many_links_title": "Too many requests",
    "waiting_text": "This usually takes a few seconds. The page refreshes by itself.",
    "waiting_title": "Waiting for the payment to be confirmed",
}

assert _RU.keys() == _EN.keys()
TEXTS = {"ru": _RU, "en": _EN}
