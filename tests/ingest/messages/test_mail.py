from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from ingest.messages.reading import Own
from tests.ingest.messages.exports import SAMPLES, START, Read, box, mail

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (64).to_bytes(4) + (64).to_bytes(4) + b"\x08\x02\0\0\0"
PIXEL = PNG[:16] + (1).to_bytes(4) * 2 + PNG[24:]


def texts(conversation: object) -> list[str]:
    return [turn.text for turn in conversation.turns]  # type: ignore[attr-defined]


def test_a_box_becomes_threads_in_which_each_says_only_what_is_new(read: Read) -> None:
    roof, order = read(SAMPLES / "roof.mbox", own_addresses=["roof.example"])
    assert (roof.kind, roof.channel_type, roof.title, roof.direction) == ("email", "email", "замер", "in")
    assert roof.occured_at == START
    assert roof.grows
    assert [(turn.label, turn.text) for turn in roof.turns] == [
        ("SPEAKER_00", "Добрый день! Течёт крыша, нужен замер.\nFrom нас до города 20 километров.\n\nАнна"),
        ("SPEAKER_01", "Анна, здравствуйте! Приедем в пятницу."),
        ("SPEAKER_00", "Спасибо, ждём."),
    ]
    assert [(person.label, person.name, person.external_id, person.role) for person in roof.people] == [
        ("SPEAKER_00", "Анна Петрова", "anna@client.example", "client"),
        ("SPEAKER_01", "Ivan Orlov", "ivan@roof.example", "employee"),
        (None, "Sales", "sales@roof.example", "employee"),
        (None, None, "boss@roof.example", "employee"),
    ]
    assert texts(order) == ["Your order is on its way.\n\nFrom the warehouse it goes by truck."]
    assert roof.record_id != order.record_id
    assert len(roof.record_id) <= 64


def test_without_own_addresses_nobody_is_taken_for_client_or_employee(read: Read) -> None:
    (thread,) = read(mail("Hello").as_bytes())
    assert thread.direction is None
    assert {person.role for person in thread.people} == {"unknown"}


def test_a_thread_that_begins_with_the_company_goes_out(read: Read) -> None:
    (thread,) = read(mail("Hello", sender="Ivan <ivan@mail.roof.example>").as_bytes(), own_addresses=["@roof.example"])
    assert thread.direction == "out"


def test_a_later_box_adds_to_the_thread_and_keeps_its_name_even_where_the_first_mail_is_missing(read: Read) -> None:
    first = mail("One", number=1)
    second = mail("Two", number=2, answers=1, References="<1@mail.example>")
    third = mail("Three", number=3, answers=2, References="<1@mail.example> <2@mail.example>")
    (short,) = read(box(first, second))
    (long,) = read(box(first, second, third))
    (late,) = read(box(second, third))
    assert short.record_id == long.record_id == late.record_id
    assert long.turns[:2] == short.turns
    assert texts(late) == ["Two", "Three"]


def test_the_same_mail_twice_is_one_turn(read: Read) -> None:
    (thread,) = read(box(mail("One"), mail("One"), mail("Two", number=2, answers=1)))
    assert texts(thread) == ["One", "Two"]


def test_different_mails_under_one_id_are_all_kept(read: Read) -> None:
    threads = read(box(mail("One"), mail("Other", subject="Fence", sender="bob@shop.example")))
    assert sorted(texts(each)[0] for each in threads) == ["One", "Other"]
    assert len({each.record_id for each in threads}) == 2


@pytest.mark.parametrize("subject", ["Re: Roof", "Отв: Re[2]: Roof", "На: Roof", "RE: RE: roof"])
def test_a_reply_that_names_no_mail_is_found_by_subject_and_people(read: Read, subject: str) -> None:
    answer = mail("Two", number=2, subject=subject, sender="sales@roof.example", to="anna@client.example")
    (thread,) = read(box(mail("One"), answer))
    assert texts(thread) == ["One", "Two"]


def test_the_same_subject_among_others_or_without_a_reply_is_another_thread(read: Read) -> None:
    other = mail("Two", number=2, subject="Re: Roof", sender="bob@shop.example", to="carl@shop.example")
    again = mail("Three", number=3)
    assert len(read(box(mail("One"), other, again))) == 3


def test_circles_of_references_end(read: Read) -> None:
    (thread,) = read(box(mail("One", answers=2), mail("Two", number=2, answers=3), mail("Three", number=3, answers=1)))
    assert sorted(texts(thread)) == ["One", "Three", "Two"]


def test_an_answer_by_a_clock_that_is_behind_comes_after_its_question(read: Read) -> None:
    answer = mail("Answer", number=2, answers=1, Date="Mon, 02 Mar 2026 00:00:00 +0000")
    (thread,) = read(box(mail("Question"), answer))
    assert texts(thread) == ["Question", "Answer"]


@pytest.mark.parametrize(
    "date",
    ["Tue, 3 Mar 0001 07:15:00 +0000", "Fri, 31 Dec 9999 23:59:59 -1200", "yesterday", "99", "3 Mar 2040 1:00"],
)
def test_a_date_that_no_mail_can_have_gives_way_to_when_it_was_received(read: Read, date: str) -> None:
    received = b"Received: from a by b; Tue, 3 Mar 2026 10:15:00 +0300\n"
    message = mail("Hello").as_bytes()
    message = received + message.replace(b"Date: Tue, 03 Mar 2026 07:15:00 +0000", b"Date: " + date.encode())
    (thread,) = read(message)
    assert thread.turns[0].at == thread.occured_at == START


def test_a_date_without_a_zone_is_meant_in_the_given_one(read: Read) -> None:
    message = mail("Hello").as_bytes().replace(b"07:15:00 +0000", b"10:15:00")
    (thread,) = read(message, zone="Europe/Moscow")
    assert thread.occured_at == START


def test_a_mail_without_any_date_has_none(read: Read) -> None:
    message = mail("Hello").as_bytes().replace(b"Date:", b"X-Was:")
    (thread,) = read(message)
    assert thread.turns[0].at is None
    assert thread.occured_at.tzinfo is not None


@pytest.mark.parametrize(
    ("charset", "declared"),
    [
        ("koi8-r", "koi8-r"),
        ("cp1251", "windows-1251"),
        ("cp1251", "x-unknown"),
        ("utf-8", "koi8-r"),
        ("utf-8", "no such charset"),
        ("iso-8859-5", "ISO-8859-5"),
        ("utf-16-le", "utf-16le"),
    ],
)
def test_russian_text_is_read_whatever_its_charset_is_said_to_be(read: Read, charset: str, declared: str) -> None:
    words = "Добрый день, пришлите, пожалуйста, счёт на оплату забора и крыши."
    head = f'From: a@b.example\nDate: Tue, 3 Mar 2026 10:15:00 +0300\nContent-Type: text/plain; charset="{declared}"\n'
    from base64 import encodebytes

    (thread,) = read(head.encode() + b"Content-Transfer-Encoding: base64\n\n" + encodebytes(words.encode(charset)))
    assert texts(thread) == [words]


def test_headers_with_plain_eight_bit_letters_are_read(read: Read) -> None:
    head = "From: Анна Петрова <a@b.example>\nSubject: Счёт на оплату забора\nDate: 3 Mar 2026 10:15 +0300\n\nHi"
    for charset in ("utf-8", "cp1251"):
        (thread,) = read(head.encode(charset))
        assert (thread.title, thread.people[0].name) == ("Счёт на оплату забора", "Анна Петрова")


def test_an_html_mail_is_read_as_text(read: Read) -> None:
    message = mail("")
    message.set_content("<p>Hello <b>there</b></p><style>x{}</style><ul><li>one<li>two</ul>", subtype="html")
    (thread,) = read(message.as_bytes())
    assert texts(thread) == ["Hello there\n\n- one\n- two"]


def test_a_plain_part_that_only_says_to_look_at_the_html_one_is_not_taken(read: Read) -> None:
    message = mail("See the HTML part")
    message.add_alternative("<p>" + "The roof costs two hundred thousand. " * 10 + "</p>", subtype="html")
    (thread,) = read(message.as_bytes())
    assert texts(thread)[0].startswith("The roof costs")


def test_files_and_inline_images_become_media_but_trackers_and_repeated_logos_do_not(
    read: Read, tmp_path: Path
) -> None:
    def with_logo(message: EmailMessage) -> EmailMessage:
        message.add_attachment(PNG, maintype="image", subtype="png", cid="<logo>", disposition="inline")
        return message

    first = with_logo(mail("One"))
    first.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="../счёт: №1.pdf")
    first.add_attachment(PIXEL, maintype="image", subtype="png", cid="<pixel>", disposition="inline")
    (thread,) = read(box(first, with_logo(mail("Two", number=2, answers=1))))
    media = thread.turns[0].media
    assert [(each.type, each.name, each.mime) for each in media] == [
        ("image", None, "image/png"),
        ("file", "счёт_ №1.pdf", "application/pdf"),
    ]
    assert [each.path.read_bytes() for each in media] == [PNG, b"%PDF-1.4"]
    assert all(each.path.is_relative_to(tmp_path / "work") for each in media)
    assert thread.turns[1].media == ()


def test_a_mail_with_nothing_but_a_file_is_a_turn_with_an_empty_text(read: Read) -> None:
    message = mail("")
    message.add_attachment(b"data", maintype="audio", subtype="mpeg", filename="call.mp3")
    (thread,) = read(message.as_bytes())
    assert [(turn.text, turn.media[0].type) for turn in thread.turns] == [("", "audio")]


def test_an_invitation_says_what_when_and_where(read: Read) -> None:
    message = mail("Приглашение во вложении")
    message.add_alternative(
        "BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nBEGIN:VEVENT\r\nSUMMARY:Замер\\, крыша\r\n"
        "DTSTART;TZID=Europe/Moscow:20260306T100000\r\nLOCATION:Лес\r\n ная 5\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n",
        subtype="calendar",
    )
    (thread,) = read(message.as_bytes())
    assert "Приглашение: Замер, крыша\n2026-03-06 10:00 (Europe/Moscow)\nЛесная 5" in texts(thread)[0]


def test_a_mail_within_a_mail_is_read_unless_the_thread_has_it(read: Read) -> None:
    inner = mail("The fence is broken since Monday", number=7, subject="Fence", sender="Bob <bob@shop.example>")
    outer = mail("Please see this", subject="Fwd: Fence")
    outer.add_attachment(inner)
    (thread,) = read(outer.as_bytes())
    assert "Forwarded message" in texts(thread)[0]
    assert "Bob <bob@shop.example>" in texts(thread)[0]
    assert texts(thread)[0].endswith("The fence is broken since Monday")
    back = mail("Not delivered", number=8, answers=7, subject="Re: Fence")
    back.add_attachment(inner)
    (thread,) = read(box(inner, back))
    assert texts(thread)[1] == "Not delivered"


def test_an_encrypted_mail_is_noted(read: Read) -> None:
    message = b"From: a@b.example\nSubject: Hi\nContent-Type: application/pkcs7-mime; name=smime.p7m\n"
    (thread,) = read(message + b"Content-Transfer-Encoding: base64\n\nAAAA\n")
    assert texts(thread) == ["[Encrypted message]"]
    assert thread.turns[0].media[0].name == "smime.p7m"


def test_drafts_spam_and_deleted_mails_are_left_out(read: Read) -> None:
    kept = mail("One")
    others = [
        mail("Two", number=2, X_Gmail_Labels="Important,Drafts"),
        mail("Three", number=3, X_Gmail_Labels="=?UTF-8?Q?=D0=A1=D0=BF=D0=B0=D0=BC?="),
        mail("Four", number=4, X_Mozilla_Status="0009"),
    ]
    assert [texts(each) for each in read(box(kept, *others))] == [["One"]]


def test_a_very_long_address_still_names_one_person_in_64_characters(read: Read) -> None:
    one, other = ("a" * 80 + f"{number}@client.example" for number in (1, 2))
    ids = [read(mail("Hello", sender=sender).as_bytes())[0].people[0].external_id for sender in (one, other)]
    assert [len(each) for each in ids] == [64, 64]
    assert ids[0] != ids[1]


def test_names_and_files_in_plain_letters_are_read(read: Read) -> None:
    for charset in ("utf-8", "cp1251"):
        head = "From: a@b.example\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nСмета во вложении\n--b\n"
        file = 'Content-Type: application/pdf; name="Смета забора.pdf"\n\ndata\n--b--\n'
        (thread,) = read(f"Subject: x\n{head}{file}".encode(charset))
        assert [media.name for media in thread.turns[0].media] == ["Смета забора.pdf"]


def test_a_text_that_has_a_name_is_still_the_text(read: Read) -> None:
    (thread,) = read(b"From: a@b.example\nSubject: x\nContent-Type: text/html; name=mail.html\n\n<p>Hello</p>")
    assert (texts(thread), thread.turns[0].media) == (["Hello"], ())


def test_a_mail_of_nobody_has_no_people(read: Read) -> None:
    (thread,) = read(b"Subject: x\nDate: Tue, 3 Mar 2026 10:15:00 +0300\n\nHello")
    assert (texts(thread), thread.people) == (["Hello"], ())


@pytest.mark.parametrize(
    ("own", "address", "is_own"),
    [
        ("roof.example", "a@roof.example", True),
        ("@Roof.example", "a@mail.roof.example", True),
        ("ivan@roof.example", "ivan@roof.example", True),
        ("ivan@roof.example", "anna@roof.example", False),
        ("roof.example", "a@notroof.example", False),
        ("example", "a@roof.example", False),
        ("", "a@roof.example", False),
    ],
)
def test_own_people_are_told_by_address_or_domain(own: str, address: str, is_own: bool) -> None:
    assert Own(addresses=[own]).has_address(address) is is_own


def test_a_mail_whose_parts_cannot_be_told_apart_is_read_as_it_is(read: Read) -> None:
    (thread,) = read(b"From: a@b.example\nSubject: x\nContent-Type: multipart/mixed\n\n--b\n\nHello\n--b--\n")
    assert "Hello" in texts(thread)[0]
