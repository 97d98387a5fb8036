"""Ports for servers that the kit starts: free now, and no other kit's in a moment."""

from __future__ import annotations

import socket
import sys

_claims: dict[int, socket.socket] = {}
"""What keeps the ports of this process from other kits."""


def free_port() -> int:
    """A port that was free a moment ago, and that no other kit on this machine will choose.

    A server takes seconds to listen. Were its port given to another's meanwhile, that one
    would answer the health probe, and be judged in its place.
    """
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        if _claimed(port):
            return port


def release_port(port: int) -> None:
    """Give up a port from :func:`free_port`; the end of the process does so too."""
    if claim := _claims.pop(port, None):
        claim.close()


def _claimed(port: int) -> bool:
    """Whether the port is ours now: Linux keeps names for sockets that are no files."""
    if not sys.platform.startswith("linux"):
        return True
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0aml-contract-port-{port}")
    except OSError:
        claim.close()
        return False
    _claims[port] = claim
    return True


def taken(port: int) -> bool:
    """Whether somebody listens there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return True
        return False
