"""A real SMTP server on loopback that keeps what it is sent, with STARTTLS and a login where it is told to."""

from __future__ import annotations

import base64
import datetime
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import cast

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

WAIT_S = 120.0


@dataclass
class MailServer:
    """`refuses`: takes no letter while it is true."""

    port: int
    context: ssl.SSLContext | None
    login: tuple[str, str] | None
    letters: list[EmailMessage] = field(default_factory=list)
    refuses: bool = False

    def wait_for(self, count: int) -> list[EmailMessage]:
        deadline = time.monotonic() + WAIT_S
        while len(self.letters) < count:
            assert time.monotonic() < deadline, f"{len(self.letters)} letters of {count} came"
            time.sleep(0.02)
        return self.letters[:count]


@contextmanager
def receiving_mail(folder: Path | None = None, login: tuple[str, str] | None = None) -> Iterator[MailServer]:
    """A server; with a folder by STARTTLS alone, under a certificate that `ca.pem` there vouches for."""
    context = _context(folder) if folder is not None else None
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = MailServer(listener.getsockname()[1], context, login)
        threading.Thread(target=_accept, args=(listener, server), daemon=True).start()
        yield server


def _accept(listener: socket.socket, server: MailServer) -> None:
    with suppress(OSError):
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=_talk, args=(connection, server), daemon=True).start()


def _talk(connection: socket.socket, server: MailServer) -> None:
    with suppress(OSError), ExitStack() as opened:
        opened.enter_context(connection)
        secured = server.context is None
        known = server.login is None
        lines = opened.enter_context(connection.makefile("rb"))
        _say(connection, "220 ready")
        while line := lines.readline():
            verb = line.decode().split()[0].upper() if line.strip() else ""
            if verb == "EHLO":
                offers = ["localhost", *([] if secured else ["STARTTLS"]), *(["AUTH PLAIN"] if server.login else [])]
                for offer in offers[:-1]:
                    _say(connection, f"250-{offer}")
                _say(connection, f"250 {offers[-1]}")
            elif verb == "STARTTLS" and server.context is not None:
                _say(connection, "220 go on")
                connection = opened.enter_context(server.context.wrap_socket(connection, server_side=True))
                lines, secured = opened.enter_context(connection.makefile("rb")), True
            elif verb == "AUTH" and server.login is not None:
                given = base64.b64decode(line.split()[2]).decode().split("\0")[1:]
                known = secured and tuple(given) == server.login
                _say(connection, "235 welcome" if known else "535 who?")
            elif verb == "QUIT":
                _say(connection, "221 bye")
                return
            elif verb == "DATA":
                if server.refuses:
                    _say(connection, "554 not now")
                    continue
                _say(connection, "354 go on")
                body = b""
                while (part := lines.readline()) != b".\r\n":
                    body += part.removeprefix(b".") if part.startswith(b"..") else part
                server.letters.append(cast(EmailMessage, message_from_bytes(body, policy=policy.default)))
                _say(connection, "250 taken")
            elif not (secured and known):
                _say(connection, "530 not so")
            else:
                _say(connection, "250 fine")


def _say(connection: socket.socket, text: str) -> None:
    connection.sendall(text.encode() + b"\r\n")


def _context(folder: Path) -> ssl.SSLContext:
    """A certificate of 127.0.0.1 that is its own authority, written where a client may trust it: ca.pem."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    day = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(day - datetime.timedelta(days=1))
        .not_valid_after(day + datetime.timedelta(days=30))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "ca.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "ca.pem", folder / "key.pem")
    return context
