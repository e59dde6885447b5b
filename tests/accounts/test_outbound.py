"""The guarded client against real sockets: what it refuses to call, and that no server can hold it."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from accounts.outbound import AddressRefused, Outbound, OutboundFailed, TimedOut, TooMuch, check_url
from store.errors import InvalidRequest
from tests.support.receiver import Receiver, Reply, receiving

TIMEOUT_S = 20.0
SHORT_S = 0.5


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as opened:
        yield opened


@pytest.fixture
def outbound() -> Outbound:
    """May call loopback, as a closed network's installation may."""
    return Outbound(["127.0.0.0/8"])


Resolve = Callable[[str, list[str]], None]


@pytest.fixture
def resolve(monkeypatch: pytest.MonkeyPatch) -> Resolve:
    """`resolve(host, addresses)`: the host has the first address when it is first asked for, then the next, and so on;
    a comma stands between addresses that are given together."""
    known: dict[str, list[str]] = {}
    real = socket.getaddrinfo

    def fake(host: str, port: int, *arguments: Any, **options: Any) -> list[Any]:
        if host not in known:
            return real(host, port, *arguments, **options)
        answers = known[host]
        texts = answers.pop(0) if len(answers) > 1 else answers[0]
        found = []
        for text in texts.split(","):
            is_v6 = ":" in text
            address = (text, port, 0, 0) if is_v6 else (text, port)
            found.append((socket.AF_INET6 if is_v6 else socket.AF_INET, socket.SOCK_STREAM, 6, "", address))
        return found

    monkeypatch.setattr(socket, "getaddrinfo", fake)
    return known.__setitem__


def post(outbound: Outbound, url: str, timeout_s: float = TIMEOUT_S) -> Any:
    return outbound.post(url, b'{"event":"x"}', [("Content-Type", "application/json")], timeout_s=timeout_s)


GOOD = [
    "http://example.com",
    "https://example.com:8443/hook?a=b#c",
    "HTTPS://EXAMPLE.COM./hook",
    "http://пример.рф/путь?ключ=значение",
    "http://192.0.2.7:8080/",
    "http://[2001:db8::1]:80/x",
    "http://h:/",
    "http://ex_ample.com/",
]
BAD = [
    "",
    "example.com/hook",
    "//example.com/hook",
    "ftp://example.com/",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "gopher://example.com/",
    "http://",
    "http:///hook",
    "http:example.com",
    "http://user:password@example.com/",
    "http://user@example.com/",
    "http://@example.com/",
    "http://example.com:0/",
    "http://example.com:65536/",
    "http://example.com:80:80/",
    "http://example.com:http/",
    "http://exa mple.com/",
    "http://example.com/\r\nX-Header: 1",
    "http://example.com/\x00",
    "http://example.com\\@127.0.0.1/",
    "http://a..b/",
    "http://.example.com/",
    "http://exa%6dple.com/",
    f"http://{'a' * 64}.com/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://1.2.3.4.5/",
    "http://example.1/",
    "http://１２７.0.0.1/",
    "http://[::1%25lo]/",
    "http://[::1/",
    "http://\ud800/",
    "http://example.com/" + "a" * 4096,
]


@pytest.mark.parametrize("url", GOOD)
def test_a_url_that_can_be_called_is_given_back_as_it_is(url: str) -> None:
    assert check_url(url, param="webhook_url") == url


@pytest.mark.proves("webhooks.delivery.schemes", "webhooks.guard.schemes")
@pytest.mark.parametrize("url", BAD)
def test_what_is_no_plain_http_url_is_refused_by_name(url: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        check_url(url, param="webhook_url")
    assert refused.value.param == "webhook_url"
    assert refused.value.message.startswith("webhook_url: ")


def test_a_url_may_have_4096_characters() -> None:
    url = "http://example.com/"
    assert check_url(url + "a" * (4096 - len(url)), param="u")


@pytest.mark.proves("webhooks.guard.public-only")
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.0.0.1.", "[::1]", "[::ffff:127.0.0.1]"])
def test_loopback_is_refused_in_all_its_names_before_anything_is_sent(receiver: Receiver, host: str) -> None:
    with pytest.raises(OutboundFailed) as refused:
        post(Outbound(), receiver.url(host=host))
    assert isinstance(refused.value, AddressRefused)
    assert "127" not in refused.value.message, "what is inside is not told"
    assert receiver.requests == []


@pytest.mark.proves("webhooks.guard.allowed-networks")
def test_a_listed_network_is_called(receiver: Receiver, outbound: Outbound) -> None:
    answer = post(outbound, receiver.url())
    assert (answer.status_code, answer.head) == (200, "thank you")
    (received,) = receiver.requests
    assert received.body == b'{"event":"x"}'
    assert received.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert "cookie" not in received.headers


@pytest.mark.proves("webhooks.guard.public-only")
def test_a_name_that_turns_from_a_good_address_to_a_bad_one_is_asked_once_and_never_leads_there(
    receiver: Receiver, resolve: Resolve
) -> None:
    resolve("rebinding.example", ["127.0.0.2", "127.0.0.1"])
    outbound = Outbound(["127.0.0.2"])  # stands for the internet; nobody listens there
    with pytest.raises(OutboundFailed, match="refused"):
        post(outbound, f"http://rebinding.example:{receiver.port}/")
    with pytest.raises(AddressRefused):
        post(outbound, f"http://rebinding.example:{receiver.port}/")
    assert receiver.requests == []


def test_the_connection_goes_to_the_address_that_was_judged(
    receiver: Receiver, outbound: Outbound, resolve: Resolve
) -> None:
    resolve("good.example", ["127.0.0.1", "10.255.255.1"])
    assert post(outbound, f"http://good.example:{receiver.port}/").status_code == 200
    assert receiver.requests[0].headers["host"] == f"good.example:{receiver.port}"


def test_a_name_with_one_address_inside_is_refused_whole(receiver: Receiver, resolve: Resolve) -> None:
    resolve("both.example", ["192.88.98.1,127.0.0.1"])
    with pytest.raises(AddressRefused):
        post(Outbound(), f"http://both.example:{receiver.port}/")
    assert receiver.requests == []


def test_a_dead_address_leaves_time_for_the_next(receiver: Receiver, outbound: Outbound, resolve: Resolve) -> None:
    resolve("two.example", ["127.0.0.2,127.0.0.1"])
    assert post(outbound, f"http://two.example:{receiver.port}/").status_code == 200


def test_a_resolver_that_hangs_ends_with_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    let_go = threading.Event()

    def hang(*_: Any, **__: Any) -> list[Any]:
        let_go.wait(TIMEOUT_S)
        raise socket.gaierror("gone")

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    try:
        with pytest.raises(TimedOut):
            post(Outbound(), "http://slow.example/", SHORT_S)
    finally:
        let_go.set()


def test_an_unknown_name_and_a_closed_port_are_said_plainly(outbound: Outbound) -> None:
    with pytest.raises(OutboundFailed, match="cannot be resolved"):
        post(outbound, "http://does-not-exist.invalid/")
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(OutboundFailed, match="refused"):
            post(outbound, f"http://127.0.0.1:{unused.getsockname()[1]}/")


@pytest.mark.proves("webhooks.delivery.timeout")
@pytest.mark.parametrize(
    "reply",
    [
        Reply(hangs=True),
        Reply(drips=True, raw=b"H"),
        Reply(drips=True, raw=b"HTTP/1.1 100 Continue\r\n\r\n"),
        Reply(drips=True, raw=b"X-Header: value\r\n"),
    ],
    ids=["silence", "dripping", "endless provisional answers", "endless headers"],
)
def test_no_server_holds_an_exchange_beyond_its_deadline(receiver: Receiver, outbound: Outbound, reply: Reply) -> None:
    url = receiver.answer("/slow", reply)
    with pytest.raises(OutboundFailed):
        post(outbound, url, SHORT_S)


def test_a_server_that_never_speaks_tls_ends_with_the_deadline(receiver: Receiver, outbound: Outbound) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(TimedOut):
        post(outbound, f"https://127.0.0.1:{silent.getsockname()[1]}/", SHORT_S)
    with pytest.raises(OutboundFailed, match="TLS"):
        post(outbound, receiver.url().replace("http:", "https:"))


def test_a_head_without_end_is_cut_off(receiver: Receiver, outbound: Outbound) -> None:
    url = receiver.answer("/head", Reply(raw=b"HTTP/1.1 200 OK\r\n" + b"X-Padding: abcdefgh\r\n" * 100_000))
    with pytest.raises(TooMuch):
        post(outbound, url)
    provisional = receiver.answer("/100", Reply(raw=b"HTTP/1.1 102 Processing\r\n\r\n" * 100_000))
    with pytest.raises(TooMuch):
        post(outbound, provisional)


def test_what_is_no_http_is_a_failure(receiver: Receiver, outbound: Outbound) -> None:
    for raw in (b"", b"220 smtp.example ESMTP\r\n", b"HTTP/1.1 20 OK\r\n\r\n", b"\x00" * 1000):
        with pytest.raises(OutboundFailed):
            post(outbound, receiver.answer("/raw", Reply(raw=raw)))


def test_a_status_counts_though_the_body_never_comes(receiver: Receiver, outbound: Outbound) -> None:
    url = receiver.answer("/cut", Reply(raw=b"HTTP/1.1 204 OK\r\n\r\n"))
    assert post(outbound, url).status_code == 204
    url = receiver.answer("/broken", Reply(raw=b"HTTP/1.1 500 No\r\nContent-Length: 90\r\n\r\npartly"))
    answer = post(outbound, url)
    assert (answer.status_code, answer.head) == (500, "partly")


def test_only_the_first_bytes_of_an_answer_are_read_and_they_can_be_shown(
    receiver: Receiver, outbound: Outbound
) -> None:
    answer = post(outbound, receiver.answer("/big", Reply(body=b"<b>\x00\x1b[31m\xff\n" + b"a" * 5_000_000)))
    assert len(answer.head) == 500
    assert answer.head.startswith("<b>\ufffd\ufffd[31m\ufffd\naaa")


@pytest.mark.proves("webhooks.delivery.no-redirects")
def test_a_redirect_is_an_answer_and_is_not_followed(receiver: Receiver, outbound: Outbound) -> None:
    for status in (301, 302, 303, 307, 308):
        url = receiver.answer("/moved", Reply(status=status, headers={"Location": receiver.url("/elsewhere")}))
        assert post(outbound, url).status_code == status
    assert receiver.at("/elsewhere") == []


def test_proxies_of_the_environment_are_not_used(
    receiver: Receiver, outbound: Outbound, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert post(outbound, receiver.url()).status_code == 200


def _issue(folder: Path, name: str) -> ssl.SSLContext:
    """A server's context with a certificate of its own for `name`, which is written to folder/ca.pem too."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "test")])
    begin = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + datetime.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    (folder / "ca.pem").write_bytes(pem)
    (folder / "server.pem").write_bytes(
        pem
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context


def test_tls_is_for_the_name_of_the_url_and_not_for_its_address(tmp_path: Path, resolve: Resolve) -> None:
    names: list[str | None] = []
    context = _issue(tmp_path, "hooks.example")
    context.sni_callback = lambda _socket, name, _context: names.append(name)
    trusting = ssl.create_default_context(cafile=str(tmp_path / "ca.pem"))
    resolve("hooks.example", ["127.0.0.1"])
    resolve("hooks.example.", ["127.0.0.1"])
    resolve("other.example", ["127.0.0.1"])
    with receiving() as receiver:
        receiver.speak_tls(context)
        outbound = Outbound(["127.0.0.0/8"], ssl_context=trusting)
        for host in ("hooks.example", "hooks.example."):
            assert post(outbound, f"https://{host}:{receiver.port}/").status_code == 200
        with pytest.raises(OutboundFailed, match="certificate"):
            post(outbound, f"https://other.example:{receiver.port}/")
        with pytest.raises(OutboundFailed, match="certificate"):
            post(Outbound(["127.0.0.0/8"]), f"https://hooks.example:{receiver.port}/")
    assert names == ["hooks.example", "hooks.example", "other.example", "hooks.example"]
