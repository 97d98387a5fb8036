"""Addresses: which of them the platform can reach, and which it refuses (clause E5)."""

from __future__ import annotations

import ipaddress
from enum import StrEnum

_INVENTED = ipaddress.ip_network("198.18.0.0/15")
_SHARED = ipaddress.ip_network("100.64.0.0/10")
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""What resolvers of networks without IPv4 make of an IPv4 address, its last 32 bits."""


class Kind(StrEnum):
    """What an address is for; only a public one can be registered."""

    PUBLIC = "public"
    LOOPBACK = "loopback"
    LINK_LOCAL = "link-local"
    PRIVATE = "private"
    SHARED = "shared"
    """Behind a provider's address translation."""
    INVENTED = "invented"
    """Of the block for measurements, from which proxies on one's own machine answer."""
    RESERVED = "reserved"


def kind_of(address: str) -> Kind:
    """What an IP address, perhaps with a zone, is for."""
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        translated = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _TRANSLATED else None
        ip = ip.ipv4_mapped or translated or ip
    if ip.is_loopback:
        return Kind.LOOPBACK
    if ip.is_link_local:
        return Kind.LINK_LOCAL
    if isinstance(ip, ipaddress.IPv4Address):
        if ip in _INVENTED:
            return Kind.INVENTED
        if ip in _SHARED:
            return Kind.SHARED
    if ip.is_unspecified or ip.is_multicast or ip.is_reserved:
        return Kind.RESERVED
    return Kind.PUBLIC if ip.is_global else Kind.PRIVATE
