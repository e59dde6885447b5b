"""An S3 server on loopback, which looks at the time of signatures as S3 does."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

_MOST_SKEW = timedelta(minutes=15)
_SKEWED = b"<Error><Code>RequestTimeTooSkewed</Code><Message>The difference is too large.</Message></Error>"


class Bucket:
    """An empty bucket, whose server can be stopped and started again with what it holds."""

    def __init__(self, host: str) -> None:
        self._module: Any = pytest.importorskip(
            "moto.server", reason="moto[server] is not installed: no S3 server to test with"
        )
        self.host, self.port = host, 0
        # One of its own: what such a server keeps outlives it in this process.
        self.name = f"recordings-{uuid.uuid4().hex}"
        self._answers = threading.Event()
        self._answers.set()
        self._server: Any = None

    @property
    def url(self) -> str:
        """For PARLEY_BLOB_URL."""
        return f"s3://{self.name}/parley"

    def start(self) -> None:
        self._server = self._module.ThreadedMotoServer(self.host, self.port, verbose=False)
        self._server.start()
        self._server._server.app = self._answering(_minding_the_time(self._server._server.app))
        _, self.port = self._server.get_host_and_port()

    def hang(self) -> None:
        """From now on it takes requests and answers none, until it goes on."""
        self._answers.clear()

    def go_on(self) -> None:
        self._answers.set()

    def _answering(self, application: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
        def answer(environment: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
            self._answers.wait()
            return application(environment, start_response)

        return answer

    def stop(self) -> None:
        self.go_on()
        if self._server is not None:
            self._server.stop()
        self._server = None


def _minding_the_time(application: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """moto takes a signature of any time."""

    def answer(environment: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
        if signed := environment.get("HTTP_X_AMZ_DATE"):
            at = datetime.strptime(signed, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
            if abs(at - datetime.now(UTC)) > _MOST_SKEW:
                start_response("403 Forbidden", [("Content-Type", "application/xml"), ("Connection", "close")])
                return [_SKEWED]
        return application(environment, start_response)

    return answer


@contextmanager
def running_bucket(host: str = "127.0.0.1") -> Iterator[Bucket]:
    """The `AWS_*` variables that this sets name its server."""
    bucket = Bucket(host)
    bucket.start()
    with pytest.MonkeyPatch.context() as patch:
        try:
            endpoint = f"http://{host}:{bucket.port}"
            patch.setenv("AWS_ENDPOINT_URL", endpoint)
            patch.setenv("AWS_ALLOW_HTTP", "true")
            patch.setenv("AWS_ACCESS_KEY_ID", "test")
            patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
            patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            import boto3  # type: ignore[import-untyped]

            boto3.client("s3", endpoint_url=endpoint).create_bucket(Bucket=bucket.name)
            yield bucket
        finally:
            bucket.stop()
