"""Which addresses count as public."""

from __future__ import annotations

import ipaddress

import pytest

from accounts.addresses import holds_a_secret, is_public, may_call, parse_networks
from store.errors import InvalidRequest

PUBLIC = ["8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "2606:4700::1111", "2a00::1"]
NOT_PUBLIC = {
    "unspecified": ["0.0.0.0", "::"],
    "this network": ["0.1.2.3"],
    "loopback": ["127.0.0.1", "127.255.255.254", "::1"],
    "private": ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fc00::1", "fd12:3456::1"],
    "shared": ["100.64.0.1", "100.127.255.255"],
    "link-local": ["169.254.0.1", "fe80::1", "fe80::1%eth0", "fec0::1"],
    "metadata": ["169.254.169.254", "100.100.100.200", "192.0.0.192", "168.63.129.16", "fd00:ec2::254"],
    "multicast": ["224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"],
    "reserved": ["240.0.0.1", "255.255.255.255", "100::1", "4000::1"],
    "documentation": ["192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"],
    "benchmarks": ["198.18.0.1", "198.19.255.255"],
    "mapped": ["::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"],
    "compatible": ["::127.0.0.1", "::8.8.8.8"],
    "translated": ["::ffff:0:127.0.0.1"],
    "6to4": ["2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:c0a8:101::1"],
    "NAT64": ["64:ff9b::7f00:1", "64:ff9b::10.1.2.3", "64:ff9b:1::7f00:1"],
    "Teredo": ["2001:0:7f00:1::", "2001:0:4136:e378:8000:63bf:80ff:fffe"],
    "ISATAP": ["2606:4700::5efe:127.0.0.1", "2606:4700::200:5efe:10.0.0.1"],
}


@pytest.mark.parametrize("text", PUBLIC)
def test_addresses_of_the_internet_are_public(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", ["::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1"])
def test_an_ipv6_form_of_a_public_ipv4_address_is_public(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


@pytest.mark.proves("webhooks.guard.public-only")
@pytest.mark.parametrize("text", [text for texts in NOT_PUBLIC.values() for text in texts])
def test_special_addresses_are_not_public_in_whatever_form(text: str) -> None:
    assert not may_call(ipaddress.ip_address(text))


@pytest.mark.proves("webhooks.guard.allowed-networks")
def test_a_listed_network_may_be_called_and_nothing_beside_it() -> None:
    allowed = parse_networks(["10.1.0.0/16", "fd00::/8", "192.168.1.7"], param="allowed_networks")
    for text in ("10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "192.168.1.7", "8.8.8.8"):
        assert may_call(ipaddress.ip_address(text), allowed), text
    for text in ("10.2.0.1", "192.168.1.8", "fc00::1", "127.0.0.1", "2002:a01:203::1", "64:ff9b::10.1.2.3"):
        assert not may_call(ipaddress.ip_address(text), allowed), text


def test_a_network_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="PARLEY_ALLOWED_NETWORKS"):
        parse_networks(["10.0.0.0/40"], param="PARLEY_ALLOWED_NETWORKS")


def test_a_link_whose_query_opens_something_is_told_from_others() -> None:
    assert holds_a_secret("https://bucket.example/rules.pdf?X-Amz-Date=1&X-Amz-Signature=ab12")
    assert holds_a_secret("https://store.example/rules.pdf?sv=2024&se=2026-01-01&sig=ab12")
    assert holds_a_secret("https://wiki.example/page?access_token=")
    assert not holds_a_secret("https://shop.example/rules?p=12&lang=ru#signature")
