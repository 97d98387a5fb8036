"""Endpoints over TLS and at an IPv6 address, for real: what is sent on raw sockets too."""

import json
import socket

import pytest

from aml_adapters.hybrid import HybridMemory
from aml_sdk import create_app
from tests.servers import in_thread

RULES = ("--only", "structure", "--only", "transport", "--only", "visibility/immediate")


@pytest.fixture
def memory(tmp_path):
    """The reference memory behind the SDK's server."""
    (tmp_path / "data").mkdir()
    return create_app(HybridMemory(tmp_path / "data"))


def judged(said, tmp_path, url, **environment):
    """The rules that passed; none failed."""
    found = said("check", "--url", url, *RULES, "--json", "r.json", **environment)
    assert found.code == 0, found.out + found.err
    results = json.loads((tmp_path / "r.json").read_text())["rules"]
    assert not [one for one in results if one["outcome"] in ("failed", "kit_error")]
    return {one["rule"] for one in results if one["outcome"] == "passed"}


def test_over_tls_with_an_authority_of_ones_own(said, tmp_path, memory, certified):
    with in_thread(memory, **certified("localhost", "127.0.0.1")) as url:
        passed = judged(said, tmp_path, url, SSL_CERT_FILE="ca.pem")
    assert {"visibility/immediate", "transport/chunked"} <= passed


def test_at_an_ipv6_address(said, tmp_path, memory):
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            pytest.skip("this machine has no ::1")
    with in_thread(memory, host="::1") as url:
        assert url.startswith("http://[::1]:")
        assert {"visibility/immediate", "transport/chunked"} <= judged(said, tmp_path, url)
