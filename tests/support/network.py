"""Several hosts on one machine: network namespaces joined by a bridge, over links that can be cut, made slow and
lossy, and healed.

The test's own side has an address on the bridge too: there the stores run that the hosts share. Needs root and the
`ip` of iproute2.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.slow_line import SlowLine

_FIRST_SUBNET, _SUBNETS = 16, 200
_IS_TAKEN = "File exists"
_HEALED_S = 30.0
_NOBODY_LISTENS = 9
_FIRST_JOINED = 200


class Host:
    """A network namespace. What runs in it is started behind `prefix`, and reached at `address`."""

    def __init__(self, name: str, link: str, address: str, line: SlowLine | None) -> None:
        self.name, self._link, self.address = name, link, address
        self.line = line
        """Of one whose link may be slow."""
        self.prefix = ["ip", "netns", "exec", name]

    def cut(self) -> None:
        """Nothing comes or goes any more, and nobody is told."""
        _ip("link", "set", self._link, "down")

    def heal(self) -> None:
        """Returns when the host is reached again: the kernel asks for its address anew, and that takes a moment."""
        _ip("link", "set", self._link, "up")
        deadline = time.monotonic() + _HEALED_S
        while not self._is_reached():
            assert time.monotonic() < deadline, f"{self.name} is not reached again"
            time.sleep(0.1)

    def _is_reached(self) -> bool:
        try:
            socket.create_connection((self.address, _NOBODY_LISTENS), timeout=1.0).close()
        except ConnectionRefusedError:
            return True  # The host itself said so.
        except OSError:
            return False
        return True


class Network:
    """Made and taken away by `running_network`."""

    def __init__(self) -> None:
        """Raises CalledProcessError where none can be made."""
        self._subnet, self._bridge = _new_bridge()
        self._hosts: list[Host] = []
        self._joined = 0
        self.address = self._address(1)
        _ip("addr", "add", f"{self.address}/24", "dev", self._bridge)
        _ip("link", "set", self._bridge, "up")

    def host(self, *, may_be_slow: bool = False) -> Host:
        """A new host with its own link to the others. Raises OSError where no slow one can be made."""
        number = len(self._hosts) + 2
        name, link = f"parley-{self._subnet}-{number}", f"plv{self._subnet}-{number}"
        far = f"plf{self._subnet}-{number}"
        host = Host(name, link, self._address(number), SlowLine((link, far)) if may_be_slow else None)
        _ip("netns", "add", name)
        self._hosts.append(host)
        if may_be_slow:
            _ip("link", "set", far, "netns", name, "name", "eth0")
        else:
            _ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
        self._tie(name, link, "eth0", host.address)
        _ip("-n", name, "link", "set", "lo", "up")
        return host

    def join(self, host: Host) -> None:
        """Gives a host of another network a link to this one too, which goes on when its other is cut."""
        self._joined += 1
        link = f"plj{self._subnet}-{self._joined}"
        _ip("link", "add", link, "type", "veth", "peer", "name", "eth1", "netns", host.name)
        self._tie(host.name, link, "eth1", self._address(_FIRST_JOINED + self._joined))

    def _tie(self, name: str, link: str, far: str, address: str) -> None:
        _ip("link", "set", link, "master", self._bridge)
        _ip("link", "set", link, "up")
        _ip("-n", name, "addr", "add", f"{address}/24", "dev", far)
        _ip("-n", name, "link", "set", far, "up")

    def close(self) -> None:
        for host in self._hosts:
            if host.line is not None:
                host.line.close()
            subprocess.run(["ip", "netns", "del", host.name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", self._bridge], check=False, capture_output=True)

    def _address(self, number: int) -> str:
        return f"10.213.{self._subnet}.{number}"


@contextmanager
def running_network() -> Iterator[Network]:
    """Skips the test where this machine lets nobody make one, and says so."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and iproute2")
    try:
        network = Network()
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network can be made here: {error.stderr.strip()}")
    try:
        yield network
    finally:
        network.close()


def _new_bridge() -> tuple[int, str]:
    """A subnet that nobody here has, and its bridge."""
    for number in range(_SUBNETS):
        subnet = _FIRST_SUBNET + (os.getpid() + number) % _SUBNETS
        try:
            _ip("link", "add", f"plb{subnet}", "type", "bridge")
        except subprocess.CalledProcessError as error:
            if _IS_TAKEN in error.stderr and number + 1 < _SUBNETS:
                continue
            raise
        return subnet, f"plb{subnet}"
    raise AssertionError


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)
